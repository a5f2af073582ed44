"""May this candidate change a frozen item? Ignore, hold or override [F3]."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum

from dualgate.domain.conflict import is_explicit_correction
from dualgate.domain.items import Candidate
from dualgate.domain.plan import Challenge, Pending
from dualgate.domain.types import Evidence, Scope


@dataclass(frozen=True, slots=True, kw_only=True)
class OverridePolicy:
    """What it takes to shake a frozen item."""

    hold_at: float = 0.7
    override_at: float = 0.9
    thaw_sessions: int = 5
    thaw_span_days: float = 21.0
    quiet_days: float = 60.0
    # Challenges kept at once for one frozen item; a stronger one takes the weakest's place.
    per_item: int = 5

    def problems(self) -> list[str]:
        """Return what is wrong with these numbers."""
        found = []
        if not 0 <= self.hold_at <= self.override_at <= 1:
            found.append("override: 0 <= hold_at <= override_at <= 1 must hold")
        if self.thaw_sessions < 1:
            found.append("override.thaw_sessions must be at least 1")
        if self.thaw_span_days < 0 or self.quiet_days <= 0:
            found.append("override: thaw_span_days and quiet_days must be positive")
        if self.per_item < 1:
            found.append("override.per_item must be at least 1")
        return found


class Stand(StrEnum):
    """What a frozen item does to a challenge."""

    IGNORE = "ignore"
    HOLD = "hold"
    OVERRIDE = "override"


def stand(candidate: Candidate, policy: OverridePolicy) -> tuple[Stand, str]:
    """Return what happens to a challenge to a frozen item, and the reason's code [F3]."""
    if candidate.scope is not Scope.LASTING:
        return Stand.IGNORE, "frozen_not_lasting"
    if candidate.evidence is Evidence.EMOTIONAL:
        return Stand.IGNORE, "frozen_emotional"
    if candidate.confidence < policy.hold_at:
        return Stand.IGNORE, "frozen_low_confidence"
    if candidate.confidence >= policy.override_at and is_explicit_correction(candidate):
        return Stand.OVERRIDE, "explicit_correction"
    return Stand.HOLD, "frozen_held"


def challenged(pending: Pending, challenge: Challenge, counting_cap: int = 64) -> Pending:
    """Return the pending override with one more session's word; a session counts once."""
    others = [c for c in pending.challenges if c.session_id != challenge.session_id]
    mine = [c for c in pending.challenges if c.session_id == challenge.session_id]
    strongest = max([*mine, challenge], key=lambda c: c.confidence)
    kept = replace(strongest, at=min(c.at for c in (*mine, challenge)))
    challenges = sorted([*others, kept], key=lambda c: c.at)[-counting_cap:]
    return replace(
        pending, challenges=tuple(challenges), last_at=max(pending.last_at, challenge.at)
    )


def counting(pending: Pending) -> Sequence[Challenge]:
    """Return the challenges since the old value was last confirmed."""
    return [c for c in pending.challenges if c.at >= pending.counting_since]


def may_thaw(pending: Pending, policy: OverridePolicy) -> bool:
    """Return whether the challenge was long and steady enough [F3]."""
    said = counting(pending)
    if len(said) < policy.thaw_sessions:
        return False
    span = max(c.at for c in said) - min(c.at for c in said)
    return span >= timedelta(days=policy.thaw_span_days)


def has_lapsed(pending: Pending, now: datetime, policy: OverridePolicy) -> bool:
    """Return whether the challenge has been quiet for too long [F3]."""
    return now - pending.last_at >= timedelta(days=policy.quiet_days)
