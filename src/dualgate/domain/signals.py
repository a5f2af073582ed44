"""Who said it, when, in which session and in what mood; what that adds up to [A2, F2]."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from dualgate.domain.types import Evidence, Source

EMOTIONAL_WEIGHT = 0.5  # G 5.2: what is said in an outburst counts half


@dataclass(frozen=True, slots=True, kw_only=True)
class Signal:
    """One candidate that agrees or disagrees with a stored item.

    session_id is the root of the session's lineage: a resumed, forked or re-imported session is
    not a new one [F2].
    """

    id: str
    user_id: str
    item_id: str
    session_id: str
    at: datetime
    confidence: float
    evidence: Evidence
    agrees: bool = True
    quote: str | None = None
    message_id: str | None = None
    source: Source = Source.LOCAL


def weight(evidence: Evidence, emotional: float = EMOTIONAL_WEIGHT) -> float:
    """Return how much one signal counts: 1, or less if emotional [F2].

    >>> weight(Evidence.EMOTIONAL)
    0.5
    """
    return emotional if evidence is Evidence.EMOTIONAL else 1.0


def belief(
    confidence: float,
    evidence: Evidence,
    emotional: float = EMOTIONAL_WEIGHT,
    source: Source = Source.LOCAL,
) -> float:
    """Return c·w, what one signal adds to the support of an item [A2].

    A hint counts as little as an outburst: nobody heard the user say it.
    """
    doubted = emotional if source is Source.HINT else 1.0
    return confidence * min(doubted, weight(evidence, emotional))


def counted(
    evidence: Evidence, emotional: float = EMOTIONAL_WEIGHT, source: Source = Source.LOCAL
) -> float:
    """Return what one signal counts towards, or against, confirm_count [F2]; a hint nothing [W5].

    >>> counted(Evidence.EXPLICIT), counted(Evidence.EXPLICIT, source=Source.HINT)
    (1.0, 0.0)
    """
    return 0.0 if source is Source.HINT else weight(evidence, emotional)


def support_of(signals: Iterable[Signal], emotional: float = EMOTIONAL_WEIGHT) -> float:
    """Return 1 - Π(1 - c·w) over the strongest agreeing signal of each session [A2]."""
    strongest: dict[str, float] = {}
    for signal in signals:
        if signal.agrees:
            said = belief(signal.confidence, signal.evidence, emotional, signal.source)
            strongest[signal.session_id] = max(strongest.get(signal.session_id, 0.0), said)
    doubt = 1.0
    for said in strongest.values():
        doubt *= 1.0 - said
    return 1.0 - doubt


def added_support(support: float, before: float, now: float) -> float:
    """Return the support after a session's strongest belief rose from `before` to `now` [A2].

    The same number as `support_of` over all signals, without reading them again.

    >>> round(added_support(0.8, 0.0, 0.5), 3)
    0.9
    """
    if now <= before:
        return support
    return 1.0 - (1.0 - support) * (1.0 - now) / (1.0 - before)


def strongest_in_session(signals: Sequence[Signal], emotional: float = EMOTIONAL_WEIGHT) -> float:
    """Return the strongest agreeing belief among one session's signals, 0 if there is none."""
    said = (belief(s.confidence, s.evidence, emotional, s.source) for s in signals if s.agrees)
    return max(said, default=0.0)


def counted_in_session(signals: Sequence[Signal], emotional: float = EMOTIONAL_WEIGHT) -> float:
    """Return what a session's agreeing signals already count towards confirm_count [F2]."""
    said = (counted(s.evidence, emotional, s.source) for s in signals if s.agrees)
    return max(said, default=0.0)
