"""Rows to values of the domain, and back. Rule: no SQL here; every conversion once."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import fields
from datetime import UTC, datetime, timedelta
from typing import Any

from dualgate.adapters.sql import tables
from dualgate.adapters.sql.dialects import Row
from dualgate.domain.items import Candidate, MemoryItem, clean_text, folded
from dualgate.domain.plan import (
    Actor,
    Challenge,
    Decision,
    Move,
    Note,
    Outcome,
    Pending,
    PendingState,
)
from dualgate.domain.signals import Signal
from dualgate.domain.status import Cause, Status
from dualgate.domain.types import (
    Evidence,
    ItemType,
    Polarity,
    Role,
    Sensitivity,
    Source,
)
from dualgate.pipeline.ports import Job, Session, StoredTurn, Use

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def to_micros(when: datetime) -> int:
    """Return whole microseconds since 1970, exactly.

    >>> from_micros(to_micros(datetime(2026, 1, 5, 9, 0, 0, 7, tzinfo=UTC))).microsecond
    7
    """
    return (when - _EPOCH) // _MICROSECOND


def from_micros(micros: int) -> datetime:
    """Return the instant, in UTC."""
    return _EPOCH + timedelta(microseconds=micros)


def maybe_micros(when: datetime | None) -> int | None:
    """Return microseconds, or None for None."""
    return None if when is None else to_micros(when)


def maybe_time(micros: int | None) -> datetime | None:
    """Return the instant, or None for None."""
    return None if micros is None else from_micros(micros)


_names_of: dict[type, tuple[str, ...]] = {}


def _names(kind: Any) -> tuple[str, ...]:
    found = _names_of.get(kind)
    if found is None:
        found = _names_of[kind] = tuple(each.name for each in fields(kind))
    return found


def _plain(value: Any) -> dict[str, Any]:
    """Return a value's fields by name, as they are."""
    return {name: getattr(value, name) for name in _names(type(value))}


# Made once: json.dumps makes a new encoder at every call that is not all defaults.
_dumped = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
_dumped_with_times = json.JSONEncoder(
    ensure_ascii=False, separators=(",", ":"), default=datetime.isoformat
).encode


def _words(text: str) -> tuple[str, ...]:
    return () if text == "[]" else tuple(json.loads(text))


_ITEM_FIELDS = tuple(field.name for field in fields(MemoryItem))
ITEM_COLUMNS = tuple(tables.memory_items.c[name] for name in _ITEM_FIELDS)
_TIMES = frozenset(name for name in _ITEM_FIELDS if name.endswith("_at"))
_LISTS = frozenset({"qualifiers", "contested_with", "tags", "entities"})
_READER_OF: dict[str, Callable[[Any], Any]] = {
    # A look into a table: calling the enum takes six times as long, for thousands of items.
    "item_type": {word.value: word for word in ItemType}.__getitem__,
    "polarity": {word.value: word for word in Polarity}.__getitem__,
    "status": {word.value: word for word in Status}.__getitem__,
    "evidence": {word.value: word for word in Evidence}.__getitem__,
    "sensitivity": {word.value: word for word in Sensitivity}.__getitem__,
    "pinned": bool,
    "was_confirmed": bool,
}
_READ_AT = tuple(
    (place, _READER_OF[name]) for place, name in enumerate(_ITEM_FIELDS) if name in _READER_OF
)
_TIMES_AT = tuple(place for place, name in enumerate(_ITEM_FIELDS) if name in _TIMES)
_LISTS_AT = tuple(place for place, name in enumerate(_ITEM_FIELDS) if name in _LISTS)


def slot_of(subject: str, attribute: str | None) -> str | None:
    """Return what two statements about the same dimension have in common."""
    return None if attribute is None else f"{folded(subject)}\x1f{folded(attribute)}"


def item_row(item: MemoryItem) -> dict[str, Any]:
    """Return an item as a row of memory_items."""
    row: dict[str, Any] = {}
    for name in _ITEM_FIELDS:
        value = getattr(item, name)
        if name in _TIMES:
            value = maybe_micros(value)
        elif name in _LISTS:
            value = _dumped(value) if value else "[]"
        row[name] = value
    row["slot"] = slot_of(item.subject, item.attribute)
    row["folded"] = item.content.casefold()
    return row


def item_of(row: Row) -> MemoryItem:
    """Return the item of a row of ITEM_COLUMNS."""
    # Written out, not by a reader a column: one context() reads sixty items.
    values = list(row)
    for place, reader in _READ_AT:
        values[place] = reader(values[place])
    for place in _TIMES_AT:
        if values[place] is not None:
            values[place] = _EPOCH + timedelta(0, 0, values[place])
    for place in _LISTS_AT:
        values[place] = _words(values[place])
    return MemoryItem(**dict(zip(_ITEM_FIELDS, values, strict=True)))


def candidate_text(candidate: Candidate) -> str:
    """Return a candidate as JSON."""
    values = _plain(candidate)
    return _dumped_with_times(values)


def candidate_of(text: str) -> Candidate:
    """Return the candidate of its JSON."""
    values = json.loads(text)
    for name in ("event_at", "expires_at"):
        if values[name] is not None:
            values[name] = datetime.fromisoformat(values[name])
    return Candidate(values.pop("item_type"), values.pop("content"), **values)


def signal_row(signal: Signal) -> dict[str, Any]:
    """Return a signal as a row."""
    row = _plain(signal)
    row["at"] = to_micros(signal.at)
    return row


SIGNAL_COLUMNS = tuple(tables.memory_signals.c[field.name] for field in fields(Signal))


def signal_of(row: Row) -> Signal:
    """Return the signal of a row of SIGNAL_COLUMNS."""
    values = dict(zip(_names(Signal), row, strict=True))
    values["at"] = from_micros(values["at"])
    values["evidence"] = Evidence(values["evidence"])
    values["source"] = Source(values["source"])
    values["agrees"] = bool(values["agrees"])
    return Signal(**values)


def move_row(move: Move, seq: int) -> dict[str, Any]:
    """Return a move as a row."""
    row = _plain(move)
    return {**row, "seq": seq, "at": to_micros(move.at), "numbers": _dumped(dict(move.numbers))}


MOVE_COLUMNS = tuple(tables.memory_moves.c[field.name] for field in fields(Move))


def move_of(row: Row) -> Move:
    """Return the move of a row of MOVE_COLUMNS."""
    values = dict(zip(_names(Move), row, strict=True))
    values["before"] = None if values["before"] is None else Status(values["before"])
    values["after"] = Status(values["after"])
    values["cause"] = Cause(values["cause"])
    values["actor"] = Actor(values["actor"])
    values["at"] = from_micros(values["at"])
    values["numbers"] = json.loads(values["numbers"])
    return Move(**values)


def decision_row(decision: Decision) -> dict[str, Any]:
    """Return a decision as a row."""
    row = _plain(decision)
    row["at"] = to_micros(decision.at)
    row["candidate"] = candidate_text(decision.candidate)
    row["folded"] = decision.candidate.content.casefold()
    row["numbers"] = _dumped(dict(decision.numbers))
    return row


DECISION_COLUMNS = tuple(tables.memory_decisions.c[field.name] for field in fields(Decision))


def decision_of(row: Row) -> Decision:
    """Return the decision of a row of DECISION_COLUMNS."""
    values = dict(zip(_names(Decision), row, strict=True))
    values["at"] = from_micros(values["at"])
    values["outcome"] = Outcome(values["outcome"])
    values["candidate"] = candidate_of(values["candidate"])
    values["numbers"] = json.loads(values["numbers"])
    return Decision(**values)


def pending_row(pending: Pending) -> dict[str, Any]:
    """Return a pending override as a row."""
    row = _plain(pending)
    row["candidate"] = candidate_text(pending.candidate)
    row["challenges"] = _dumped(
        [(c.session_id, to_micros(c.at), c.confidence) for c in pending.challenges]
    )
    for name in ("opened_at", "last_at", "counting_since", "closed_at"):
        row[name] = maybe_micros(row[name])
    return row


PENDING_COLUMNS = tuple(tables.pending_overrides.c[field.name] for field in fields(Pending))


def pending_of(row: Row) -> Pending:
    """Return the pending override of a row of PENDING_COLUMNS."""
    values = dict(zip(_names(Pending), row, strict=True))
    values["candidate"] = candidate_of(values["candidate"])
    values["challenges"] = tuple(
        Challenge(session_id=session_id, at=from_micros(at), confidence=confidence)
        for session_id, at, confidence in json.loads(values["challenges"])
    )
    values["state"] = PendingState(values["state"])
    for name in ("opened_at", "last_at", "counting_since", "closed_at"):
        values[name] = maybe_time(values[name])
    return Pending(**values)


def note_row(note: Note) -> dict[str, Any]:
    """Return a working-memory note as a row."""
    row = _plain(note)
    row["at"] = to_micros(note.at)
    row["expires_at"] = maybe_micros(note.expires_at)
    return row


def use_row(user_id: str, use: Use, seq: int) -> dict[str, Any]:
    """Return a use as a row."""
    row = _plain(use)
    return {**row, "user_id": user_id, "seq": seq, "at": to_micros(use.at)}


USE_COLUMNS = tuple(tables.item_uses.c[field.name] for field in fields(Use))


def use_of(row: Row) -> Use:
    """Return the use of a row of USE_COLUMNS."""
    values = dict(zip(_names(Use), row, strict=True))
    return Use(**{**values, "at": from_micros(values["at"]), "hit": bool(values["hit"])})


def turn_row(turn: StoredTurn, seq: int) -> dict[str, Any]:
    """Return a raw turn as a row."""
    row = _plain(turn)
    content = clean_text("content", turn.content)
    return {**row, "seq": seq, "at": to_micros(turn.at), "content": content}


TURN_COLUMNS = tuple(tables.turns.c[field.name] for field in fields(StoredTurn))


def turn_of(row: Row) -> StoredTurn:
    """Return the turn of a row of TURN_COLUMNS."""
    values = dict(zip(_names(StoredTurn), row, strict=True))
    return StoredTurn(**{**values, "at": from_micros(values["at"]), "role": Role(values["role"])})


def session_row(session: Session) -> dict[str, Any]:
    """Return a session as a row."""
    row = _plain(session)
    row["started_at"] = to_micros(session.started_at)
    row["ended_at"] = maybe_micros(session.ended_at)
    row["core_item_ids"] = _dumped(session.core_item_ids)
    return row


SESSION_COLUMNS = tuple(tables.sessions.c[field.name] for field in fields(Session))


def session_of(row: Row) -> Session:
    """Return the session of a row of SESSION_COLUMNS."""
    values = dict(zip(_names(Session), row, strict=True))
    values["started_at"] = from_micros(values["started_at"])
    values["ended_at"] = maybe_time(values["ended_at"])
    values["core_item_ids"] = _words(values["core_item_ids"])
    return Session(**values)


JOB_COLUMNS = tuple(tables.queue_jobs.c[field.name] for field in fields(Job))


def job_of(row: Row) -> Job:
    """Return the job of a row of JOB_COLUMNS."""
    values = dict(zip(_names(Job), row, strict=True))
    values["payload"] = json.loads(values["payload"]) if values["payload"] else {}
    return Job(**{**values, "enqueued_at": from_micros(values["enqueued_at"])})


def job_row(job: Job, seq: int) -> dict[str, Any]:
    """Return a job as a row that waits."""
    # Escaped, so that text no database can hold (a lone surrogate) comes back as it was.
    payload = json.dumps(dict(job.payload), separators=(",", ":"))
    row = _plain(job)
    row |= {"payload": payload, "seq": seq, "enqueued_at": to_micros(job.enqueued_at)}
    return {**row, "state": "waiting", "error": None, "died_at": None}


def items_of(rows: Sequence[Row]) -> dict[str, MemoryItem]:
    """Return rows of ITEM_COLUMNS as items by id."""
    return {item.id: item for item in map(item_of, rows)}
