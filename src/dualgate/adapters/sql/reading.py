"""What is read: plain functions over an open `Sql`, shared by the store and its units.

Rule: statements are constants, compiled once; every one carries user_id; nothing is decided here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import Column, Executable, bindparam, func, select

from dualgate.adapters.sql import tables
from dualgate.adapters.sql.dialects import LIST_LIMIT, Sql
from dualgate.adapters.sql.rows import (
    ITEM_COLUMNS,
    PENDING_COLUMNS,
    SESSION_COLUMNS,
    SIGNAL_COLUMNS,
    TURN_COLUMNS,
    item_of,
    items_of,
    maybe_micros,
    maybe_time,
    pending_of,
    session_of,
    signal_of,
    slot_of,
    to_micros,
    turn_of,
)
from dualgate.adapters.sql.vectors import Pool, restored
from dualgate.domain.items import MemoryItem
from dualgate.domain.plan import Pending, PendingState
from dualgate.domain.signals import Signal
from dualgate.domain.status import ACTIVE, HOT, LIVE, Status
from dualgate.domain.view import OwnTime, Snapshot
from dualgate.pipeline.ports import Due, Session, StoredTurn

_users = tables.users.c
_items = tables.memory_items.c
_vectors = tables.memory_vectors.c
_signals = tables.memory_signals.c
_pendings = tables.pending_overrides.c
_turns = tables.turns.c
_sessions = tables.sessions.c


def own(column: Column[Any]) -> Any:
    """Return the condition that every statement carries."""
    return column == bindparam("user_id")


_USER = select(*tables.users.columns).where(own(_users.user_id))
_COUNTERS_LEFT = select(tables.tombstone_keys.c.version, tables.tombstone_keys.c.units).where(
    own(tables.tombstone_keys.c.user_id)
)
_ACTIVE_ITEMS = (
    select(*ITEM_COLUMNS)
    .where(own(_items.user_id), _items.status.in_(bindparam("statuses", expanding=True)))
    .order_by(_items.id)
)
_BY_ID = select(*ITEM_COLUMNS).where(
    own(_items.user_id), _items.id.in_(bindparam("ids", expanding=True))
)
_STATUS_COUNT = select(func.count()).where(
    own(_items.user_id), _items.status == bindparam("status")
)
_IN_SLOT = (
    select(*ITEM_COLUMNS)
    .where(
        own(_items.user_id),
        _items.slot == bindparam("slot"),
        _items.status.in_(bindparam("statuses", expanding=True)),
    )
    .order_by(_items.created_at, _items.id)
)
_VECTORS = select(_vectors.item_id, _vectors.q).where(
    own(_vectors.user_id),
    _vectors.model == bindparam("model"),
    _vectors.dim == bindparam("dim"),
)
_UNEMBEDDED = (
    select(_items.id)
    .where(
        own(_items.user_id),
        _items.status.in_(bindparam("statuses", expanding=True)),
        ~select(_vectors.item_id)
        .where(
            _vectors.user_id == _items.user_id,
            _vectors.item_id == _items.id,
            _vectors.model == bindparam("model"),
            _vectors.dim == bindparam("dim"),
        )
        .exists(),
    )
    .order_by(_items.status == Status.ARCHIVED.value, _items.id)
    .limit(bindparam("limit"))
)
_IDS = select(_items.id).where(
    own(_items.user_id), _items.status.in_(bindparam("statuses", expanding=True))
)
_SIGNALS = (
    select(*SIGNAL_COLUMNS)
    .where(own(_signals.user_id), _signals.item_id.in_(bindparam("ids", expanding=True)))
    .order_by(_signals.at, _signals.id)
)
_SIGNALS_HERE = _SIGNALS.where(_signals.session_id == bindparam("session_id"))
_OPEN_PENDINGS = (
    select(*PENDING_COLUMNS)
    .where(own(_pendings.user_id), _pendings.state == bindparam("state"))
    .order_by(_pendings.opened_at, _pendings.id)
)
_ALL_PENDINGS = (
    select(*PENDING_COLUMNS)
    .where(own(_pendings.user_id))
    .order_by(_pendings.opened_at, _pendings.id)
)
_PENDING = select(*PENDING_COLUMNS).where(own(_pendings.user_id), _pendings.id == bindparam("id"))
_EXPIRED = (
    select(*ITEM_COLUMNS)
    .where(
        own(_items.user_id),
        _items.expires_at <= bindparam("now"),
        _items.status.in_(bindparam("statuses", expanding=True)),
    )
    .order_by(_items.expires_at, _items.id)
)
_FORGOTTEN = (
    select(*ITEM_COLUMNS)
    .where(
        own(_items.user_id),
        _items.status == bindparam("status"),
        _items.updated_at < bindparam("before"),
    )
    .order_by(_items.updated_at, _items.id)
)
_RECENT_TURNS = (
    select(*TURN_COLUMNS)
    .where(
        own(_turns.user_id), _turns.session_id == bindparam("session_id"), _turns.content != ""
    )
    .order_by(_turns.at.desc(), _turns.seq.desc())
    .limit(bindparam("limit"))
)
_KNOWN_TURNS = select(_turns.id).where(
    own(_turns.user_id), _turns.id.in_(bindparam("ids", expanding=True))
)
_SESSION = select(*SESSION_COLUMNS).where(own(_sessions.user_id), _sessions.id == bindparam("id"))


class Standing(NamedTuple):
    """The part of an archived item that its rank is made of [A7]."""

    id: str
    was_confirmed: bool
    score: float
    accessed_day: float
    access_count: int
    expires_at: int | None  # microseconds


_STANDINGS = select(*(_items[name] for name in Standing._fields)).where(
    own(_items.user_id), _items.status == bindparam("status")
)


@dataclass(frozen=True, slots=True)
class UserRow:
    """A user's row: the counters, the own clock and the settings."""

    user_id: str
    version: int = 0
    units: int = 0
    own_time: OwnTime = field(default_factory=OwnTime)
    user_class: str = "default"
    capture_paused: bool = False
    recall_paused: bool = False
    maintained_at: datetime | None = None

    def as_row(self) -> dict[str, Any]:
        """Return it as a row of users."""
        return {
            "user_id": self.user_id,
            "version": self.version,
            "units": self.units,
            "own_days": self.own_time.days,
            "active_at": maybe_micros(self.own_time.active_at),
            "user_class": self.user_class,
            "capture_paused": self.capture_paused,
            "recall_paused": self.recall_paused,
            "maintained_at": maybe_micros(self.maintained_at),
        }


def user_row(sql: Sql, user_id: str) -> UserRow:
    """Return the user's row, or a new user's."""
    row = sql.one(_USER, {"user_id": user_id})
    if row is None:
        # Who was erased begins where the counters stood: see tables.tombstone_keys.
        left = sql.one(_COUNTERS_LEFT, {"user_id": user_id})
        return UserRow(user_id) if left is None else UserRow(user_id, *left)
    version, units, days, active_at, user_class, capture, recall, maintained = row[1:]
    return UserRow(
        user_id,
        version,
        units,
        OwnTime(days, maybe_time(active_at)),
        user_class,
        bool(capture),
        bool(recall),
        maybe_time(maintained),
    )


def load_snapshot(sql: Sql, user: UserRow) -> Snapshot:
    """Return the user's pools, without the archive's tail."""
    rows = sql.rows(_ACTIVE_ITEMS, {"user_id": user.user_id, "statuses": sorted(ACTIVE)})
    active = items_of(rows)
    archived = sql.one(_STATUS_COUNT, {"user_id": user.user_id, "status": Status.ARCHIVED})
    return Snapshot(
        user_id=user.user_id,
        version=user.version,
        hot={i: item for i, item in active.items() if item.status in HOT},
        frozen={i: item for i, item in active.items() if item.status is Status.FROZEN},
        pendings=tuple(pendings(sql, user.user_id, open_only=True)),
        archive_count=0 if archived is None else archived[0],
        own_time=user.own_time,
        user_class=user.user_class,
        capture_paused=user.capture_paused,
        recall_paused=user.recall_paused,
        maintained_at=user.maintained_at,
    )


def load_standings(sql: Sql, user_id: str) -> list[Standing]:
    """Return what decides who leaves the archive first, of every item in it."""
    rows = sql.rows(_STANDINGS, {"user_id": user_id, "status": Status.ARCHIVED})
    return [Standing(*row) for row in rows]


def load_pool(sql: Sql, user_id: str, model: str, dim: int) -> Pool:
    """Return the vectors of the user's live items [T3]."""
    live = {row[0] for row in sql.rows(_IDS, {"user_id": user_id, "statuses": sorted(LIVE)})}
    # Two runs through clustered rows; a join would look each vector up by itself.
    every = sql.rows(_VECTORS, {"user_id": user_id, "model": model, "dim": dim})
    rows = [row for row in every if row[0] in live]
    return Pool(dim, [row[0] for row in rows], restored((row[1] for row in rows), dim))


def unembedded(sql: Sql, user_id: str, made_by: tuple[str, int], limit: int) -> list[MemoryItem]:
    """Return live items without a vector made by this (model, dim) [T3]."""
    values = {
        "user_id": user_id, "statuses": sorted(LIVE), "model": made_by[0], "dim": made_by[1],
        "limit": max(0, limit),
    }  # fmt: skip
    ids = [row[0] for row in sql.rows(_UNEMBEDDED, values)]
    found = items(sql, user_id, ids)
    return [found[item_id] for item_id in ids]


def items(sql: Sql, user_id: str, item_ids: Iterable[str]) -> dict[str, MemoryItem]:
    """Return these items; unknown ids are left out."""
    found: dict[str, MemoryItem] = {}
    for ids in in_parts(item_ids):
        found |= items_of(sql.rows(_BY_ID, {"user_id": user_id, "ids": ids}))
    return found


def in_slot(sql: Sql, user_id: str, subject: str, attribute: str) -> list[MemoryItem]:
    """Return the live items of this slot."""
    slot = slot_of(subject, attribute)
    values = {"user_id": user_id, "slot": slot, "statuses": sorted(LIVE)}
    return [item_of(row) for row in sql.rows(_IN_SLOT, values)]


def signals(
    sql: Sql, user_id: str, item_ids: Iterable[str], session_id: str | None = None
) -> dict[str, list[Signal]]:
    """Return the signals of each item, oldest first."""
    wanted = list(dict.fromkeys(item_ids))
    found: dict[str, list[Signal]] = {item_id: [] for item_id in wanted}
    statement: Executable = _SIGNALS if session_id is None else _SIGNALS_HERE
    for ids in in_parts(wanted):
        values: dict[str, Any] = {"user_id": user_id, "ids": ids}
        if session_id is not None:
            values["session_id"] = session_id
        for row in sql.rows(statement, values):
            signal = signal_of(row)
            found[signal.item_id].append(signal)
    return found


def pendings(sql: Sql, user_id: str, *, open_only: bool) -> list[Pending]:
    """Return pending overrides, oldest first."""
    if not open_only:
        return [pending_of(row) for row in sql.rows(_ALL_PENDINGS, {"user_id": user_id})]
    values = {"user_id": user_id, "state": PendingState.OPEN}
    return [pending_of(row) for row in sql.rows(_OPEN_PENDINGS, values)]


def pending(sql: Sql, user_id: str, pending_id: str) -> Pending | None:
    """Return one pending override."""
    row = sql.one(_PENDING, {"user_id": user_id, "id": pending_id})
    return None if row is None else pending_of(row)


def due(sql: Sql, user_id: str, now: datetime, forgotten_before: datetime) -> Due:
    """Return what upkeep has to look at."""
    expired = sql.rows(
        _EXPIRED, {"user_id": user_id, "now": to_micros(now), "statuses": sorted(LIVE)}
    )
    forgotten = sql.rows(
        _FORGOTTEN,
        {"user_id": user_id, "status": Status.FORGOTTEN, "before": to_micros(forgotten_before)},
    )
    return Due(expired=tuple(map(item_of, expired)), forgotten=tuple(map(item_of, forgotten)))


def recent_turns(sql: Sql, user_id: str, session_id: str, limit: int) -> list[StoredTurn]:
    """Return the last turns of a session, oldest first."""
    values = {"user_id": user_id, "session_id": session_id, "limit": max(0, limit)}
    return [turn_of(row) for row in reversed(sql.rows(_RECENT_TURNS, values))]


def known_turns(sql: Sql, user_id: str, ids: Iterable[str]) -> set[str]:
    """Return those of the ids that are kept."""
    return {
        row[0]
        for part in in_parts(ids)
        for row in sql.rows(_KNOWN_TURNS, {"user_id": user_id, "ids": part})
    }


def session(sql: Sql, user_id: str, session_id: str) -> Session | None:
    """Return a session."""
    row = sql.one(_SESSION, {"user_id": user_id, "id": session_id})
    return None if row is None else session_of(row)


def in_parts(ids: Iterable[str]) -> Iterator[Sequence[str]]:
    """Yield the ids in lists short enough for one statement."""
    wanted = list(ids)
    for start in range(0, len(wanted), LIST_LIMIT):
        yield wanted[start : start + LIST_LIMIT]
