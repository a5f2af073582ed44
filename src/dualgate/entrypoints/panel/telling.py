"""Why a memory is here, in plain sentences; what happened, in plain words. Pure.

Rule: every sentence is chosen and filled by a recorded signal, move, decision or number.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from dualgate.domain.items import MemoryItem
from dualgate.domain.plan import Actor, Decision, Move, Numbers, Outcome
from dualgate.domain.policy import GatePolicy
from dualgate.domain.signals import Signal
from dualgate.domain.status import Cause, Status
from dualgate.domain.types import Evidence, ItemType, Sensitivity, Source
from dualgate.domain.weathering import lasting_days
from dualgate.entrypoints.cli.words import reason_told
from dualgate.entrypoints.panel.words import Words

OWN_SESSION = "own:"  # sessions of the user's own verbs; see domain/curation.py


def is_own(session_id: str) -> bool:
    """Return whether it is no conversation, but what the user did here."""
    return session_id.startswith(OWN_SESSION)


def why_here(
    item: MemoryItem, signals: Sequence[Signal], policy: GatePolicy, say: Words
) -> list[str]:
    """Return the sentences that say why an item is here and how it stands, first things first."""
    return [
        *_where_from(item, signals, say),
        *_what_it_is(item, say),
        *_how_it_stands(item, policy, say),
    ]


def _where_from(item: MemoryItem, signals: Sequence[Signal], say: Words) -> list[str]:
    agreeing = [signal for signal in signals if signal.agrees]
    said = [signal for signal in agreeing if not is_own(signal.session_id)]
    own = [signal for signal in agreeing if is_own(signal.session_id)]
    told = []
    if said:
        told.append(_said(item, said, say))
        angry = _sessions(s for s in said if s.evidence is Evidence.EMOTIONAL)
        if angry:
            alone = angry == _sessions(said) == 1
            told.append(say("why.angry") if alone else say("why.anger", n=angry))
    if own:
        told.append(say("why.own", date=say.day(max(signal.at for signal in own))))
    against = sum(not signal.agrees for signal in signals)
    if against:
        name = "why.against_once" if against == 1 else "why.against"
        told.append(say(name, n=against))
    return told or [say("why.known", date=say.day(item.created_at))]


def _said(item: MemoryItem, said: Sequence[Signal], say: Words) -> str:
    date = say.day(max(signal.at for signal in said))
    if item.subject == "assistant":
        return say("why.promised", date=date)
    verb = "noted" if all(signal.source is Source.HOST for signal in said) else "said"
    sessions = _sessions(said)
    if sessions == 1:
        return say(f"why.{verb}_once", date=date)
    return say(f"why.{verb}", n=sessions, date=date)


def _what_it_is(item: MemoryItem, say: Words) -> list[str]:
    told = []
    if item.subject not in ("user", "assistant"):
        told.append(say("why.about", subject=item.subject))
    if item.item_type is ItemType.COMMITMENT and item.event_at is not None:
        told.append(say("why.due", date=say.day(item.event_at)))
    if item.sensitivity is Sensitivity.SENSITIVE:
        until = item.expires_at
        told.append(
            say("why.sensitive_kept")
            if until is None
            else say("why.sensitive", date=say.day(until))
        )
    elif item.expires_at is not None:
        told.append(say("why.expires", date=say.day(item.expires_at)))
    return told


def _how_it_stands(item: MemoryItem, policy: GatePolicy, say: Words) -> list[str]:
    told = []
    if item.status is Status.FROZEN and item.frozen_at is not None:
        told.append(say("why.frozen", date=say.day(item.frozen_at)))
    if item.pinned:
        told.append(say("why.pinned"))
    elif item.status is Status.FROZEN:
        told.append(say("why.lasts", date=say.day(weathers_at(item, policy))))
    if item.contested:
        told.append(say("why.contested"))
    if item.status is Status.ARCHIVED:
        told.append(say("why.archived", date=say.day(item.updated_at)))
    if item.status is Status.SUPERSEDED:
        told.append(say("why.superseded", date=say.day(item.updated_at)))
    if item.status is Status.FORGOTTEN:
        until = item.updated_at + timedelta(days=policy.archive.undo_days)
        told.append(
            say("why.forgotten", date=say.day(item.updated_at), until=say.day(until))
        )
    return told


def weathers_at(item: MemoryItem, policy: GatePolicy) -> datetime:
    """Return when a frozen item weathers if nothing happens to it until then [F5]."""
    moments = (item.last_seen_at, item.last_hit_at, item.frozen_at)
    latest = max(moment for moment in moments if moment is not None)
    return latest + timedelta(days=lasting_days(item.spaced_count, policy.weathering))


def _sessions(signals: Iterable[Signal]) -> int:
    return len({signal.session_id for signal in signals})


# --- what happened ------------------------------------------------------------------------------

FILTERS = ("all", "remembered", "left", "changed", "moved", "own")
_KINDS = {
    Outcome.ADMITTED: "remembered",
    Outcome.MERGED: "remembered",
    Outcome.SUPERSEDED: "changed",
    Outcome.CONTESTED: "changed",
    Outcome.HELD: "changed",
    Outcome.REFUSED: "left",
    Outcome.IGNORED: "left",
    Outcome.WORKING_MEMORY: "left",
}
# What a decision has told already.
_TOLD = frozenset({Cause.ADMITTED, Cause.REPLACED_ANOTHER, Cause.SUPERSEDED})


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One line of the timeline. kind is one of FILTERS; said is the user's, never translated."""

    at: datetime
    kind: str
    title: str
    said: str
    quote: str | None = None
    why: str
    item_id: str | None = None
    numbers: tuple[tuple[str, object], ...] = ()


def of_decision(decision: Decision, say: Words) -> Event:
    """Return a decision as a line [W2]."""
    candidate = decision.candidate
    quote = candidate.quote if candidate.quote != candidate.content else None
    return Event(
        at=decision.at,
        kind=_KINDS[decision.outcome],
        title=say(f"outcome.{decision.outcome}"),
        said=candidate.content,
        quote=quote,
        why=reason_told(decision.reason, say.lang),
        item_id=decision.item_id,
        numbers=numbers_told(decision.numbers, say),
    )


def kind_of(what: Decision | Move) -> str | None:
    """Return under which filter it is shown; None for a move that its decision tells [S1]."""
    if isinstance(what, Decision):
        return _KINDS[what.outcome]
    if what.cause in _TOLD and what.actor is Actor.CONVERSATION:
        return None
    return "own" if what.actor is Actor.USER else "moved"


def of_move(move: Move, said: str | None, say: Words) -> Event:
    """Return a move as a line. said: the memory's words, None if it is erased."""
    return Event(
        at=move.at,
        kind=kind_of(move) or "moved",
        title=say(f"cause.{move.cause}"),
        said=say("item.erased_item") if said is None else said,
        why=say(f"actor.{move.actor}"),
        item_id=None if said is None else move.item_id,
        numbers=numbers_told(move.numbers, say),
    )


def numbers_told(numbers: Numbers, say: Words) -> tuple[tuple[str, object], ...]:
    """Return numbers with their names, as they are shown."""
    return tuple((name.replace("_", " "), say.number(value)) for name, value in numbers.items())
