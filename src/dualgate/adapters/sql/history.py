"""Reading back what happened: pages, the log, lineages, decisions, uses, notes and counts."""

from __future__ import annotations

import base64
import binascii
from datetime import datetime
from functools import lru_cache
from typing import Any

from sqlalchemy import Column, Executable, and_, bindparam, delete, func, or_, select

from dualgate.adapters.sql import reading, tables
from dualgate.adapters.sql.dialects import Sql
from dualgate.adapters.sql.events import ALL_USERS
from dualgate.adapters.sql.reading import own
from dualgate.adapters.sql.rows import (
    DECISION_COLUMNS,
    ITEM_COLUMNS,
    MOVE_COLUMNS,
    USE_COLUMNS,
    decision_of,
    item_of,
    items_of,
    move_of,
    to_micros,
    use_of,
)
from dualgate.domain import belief
from dualgate.domain.items import MemoryItem
from dualgate.domain.plan import Decision, Move, PendingState
from dualgate.domain.status import ACTIVE, Cause, Status
from dualgate.errors import InvalidInputError
from dualgate.pipeline.ports import ItemFilter, ItemPage, StoreStats, Use

_users = tables.users.c
_items = tables.memory_items.c
_moves = tables.memory_moves.c
_decisions = tables.memory_decisions.c
_uses = tables.item_uses.c
_notes = tables.working_notes.c
_turns = tables.turns.c
_pendings = tables.pending_overrides.c

_MOVES = select(*MOVE_COLUMNS).where(own(_moves.user_id)).order_by(_moves.seq)
_ITEM_MOVES = _MOVES.where(_moves.item_id == bindparam("item_id"))
_OVERRIDING = select(*ITEM_COLUMNS).where(
    own(_items.user_id), _items.override_of.in_(bindparam("ids", expanding=True))
)
_SUPERSEDED = select(*ITEM_COLUMNS).where(
    own(_items.user_id), _items.superseded_by.in_(bindparam("ids", expanding=True))
)
_USES = (
    select(*USE_COLUMNS)
    .where(own(_uses.user_id), _uses.item_id == bindparam("item_id"))
    .order_by(_uses.at.desc(), _uses.seq.desc())
    .limit(bindparam("limit"))
)
_NOTES = (
    select(_notes.key, _notes.text)
    .where(
        own(_notes.user_id),
        _notes.session_id == bindparam("session_id"),
        _notes.task_id == bindparam("task_id"),
        or_(_notes.expires_at.is_(None), _notes.expires_at > bindparam("now")),
    )
    .order_by(_notes.key)
)
_CLEAR_NOTES = delete(tables.working_notes).where(
    own(_notes.user_id),
    _notes.session_id == bindparam("session_id"),
    _notes.task_id == bindparam("task_id"),
)
_DROP_NOTE = _CLEAR_NOTES.where(_notes.key == bindparam("key"))
_USER_IDS = (
    select(_users.user_id)
    .where(_users.user_id > bindparam("after"))
    .order_by(_users.user_id)
    .limit(bindparam("limit"))
    .execution_options(**{ALL_USERS: "upkeep goes over all users"})
)


def page(
    sql: Sql, user_id: str, wanted: ItemFilter, *, limit: int, cursor: str | None
) -> ItemPage:
    """List items, newest first."""
    if isinstance(limit, bool) or not isinstance(limit, int) or limit < 1:
        raise InvalidInputError("limit", "must be at least 1", limit)
    values: dict[str, Any] = {"user_id": user_id, "limit": limit + 1}
    if cursor is not None:
        values["before"], values["before_id"] = _position(cursor)
    if wanted.statuses is not None:
        values["statuses"] = sorted(wanted.statuses)
    if wanted.item_type is not None:
        values["item_type"] = wanted.item_type
    if wanted.text is not None:
        values["pattern"] = _like(wanted.text)
    if wanted.statuses is not None and not wanted.statuses:
        return ItemPage(items=(), cursor=None)
    found = [item_of(row) for row in sql.rows(_page(frozenset(values)), values)]
    more = len(found) > limit
    shown = tuple(found[:limit])
    return ItemPage(items=shown, cursor=_cursor(shown[-1]) if more else None)


@lru_cache(maxsize=32)
def _page(given: frozenset[str]) -> Executable:
    statement = select(*ITEM_COLUMNS).where(own(_items.user_id))
    if "before" in given:
        at = _items.created_at
        statement = statement.where(
            or_(
                at < bindparam("before"),
                and_(at == bindparam("before"), _items.id < bindparam("before_id")),
            )
        )
    if "statuses" in given:
        statement = statement.where(_items.status.in_(bindparam("statuses", expanding=True)))
    if "item_type" in given:
        statement = statement.where(_items.item_type == bindparam("item_type"))
    if "pattern" in given:
        statement = statement.where(_has_text(_items.folded))
    return statement.order_by(_items.created_at.desc(), _items.id.desc()).limit(bindparam("limit"))


def moves(sql: Sql, user_id: str, item_id: str | None) -> list[Move]:
    """Return the log, oldest first."""
    if item_id is None:
        return [move_of(row) for row in sql.rows(_MOVES, {"user_id": user_id})]
    values = {"user_id": user_id, "item_id": item_id}
    return [move_of(row) for row in sql.rows(_ITEM_MOVES, values)]


def believed_at(sql: Sql, user_id: str, when: datetime) -> list[MemoryItem]:
    """Return the items that were active at `when`, with status and wording of then [R5]."""
    log = moves(sql, user_id, None)
    active: dict[str, bool] = {}
    corrections = []
    for move in log:
        if move.at <= when:
            active[move.item_id] = move.after in ACTIVE
        elif move.cause is Cause.CORRECTED:
            corrections.append(move.item_id)
    wanted = [*(item_id for item_id, is_active in active.items() if is_active), *corrections]
    found = reading.items(sql, user_id, dict.fromkeys(wanted))
    return belief.believed_at(found, log, when)


def versions(sql: Sql, user_id: str, item_id: str) -> list[MemoryItem]:
    """Return the lineage the item belongs to, lowest version first."""
    lineage = reading.items(sql, user_id, [item_id])
    seen: set[str] = set()
    ahead = set(lineage)
    while ahead:
        ids = sorted(ahead)
        named = {"user_id": user_id, "ids": ids}
        found = reading.items(sql, user_id, ids)
        for statement in (_OVERRIDING, _SUPERSEDED):
            found |= items_of(sql.rows(statement, named))
        lineage |= found
        seen |= ahead
        pointed = {i for item in found.values() for i in (item.override_of, item.superseded_by)}
        # An id whose item is purged still joins those that point to it.
        ahead = {i for i in (*found, *pointed) if i is not None} - seen
    return sorted(lineage.values(), key=lambda item: (item.version, item.created_at, item.id))


def uses(sql: Sql, user_id: str, item_id: str, limit: int) -> list[Use]:
    """Return when the item was handed out, newest first."""
    values = {"user_id": user_id, "item_id": item_id, "limit": max(0, limit)}
    return [use_of(row) for row in sql.rows(_USES, values)]


def decisions(
    sql: Sql,
    user_id: str,
    *,
    text: str | None,
    job_id: str | None,
    limit: int,
    before: tuple[datetime, str] | None = None,
) -> list[Decision]:
    """Return recorded decisions, newest first."""
    values: dict[str, Any] = {"user_id": user_id, "limit": max(0, limit)}
    if text is not None:
        values["pattern"] = _like(text)
    if job_id is not None:
        values["job_id"] = job_id
    if before is not None:
        values["before"], values["before_id"] = to_micros(before[0]), before[1]
    return [decision_of(row) for row in sql.rows(_decided(frozenset(values)), values)]


@lru_cache(maxsize=8)
def _decided(given: frozenset[str]) -> Executable:
    statement = select(*DECISION_COLUMNS).where(own(_decisions.user_id))
    if "pattern" in given:
        statement = statement.where(_has_text(_decisions.folded))
    if "job_id" in given:
        statement = statement.where(_decisions.job_id == bindparam("job_id"))
    if "before" in given:
        same = and_(_decisions.at == bindparam("before"), _decisions.id < bindparam("before_id"))
        statement = statement.where(or_(_decisions.at < bindparam("before"), same))
    newest = (_decisions.at.desc(), _decisions.id.desc())
    return statement.order_by(*newest).limit(bindparam("limit"))


def put_note(
    sql: Sql,
    key: tuple[str, str, str, str],
    value: str | None,
    now: datetime,
    expires_at: datetime,
) -> None:
    """Set or remove the note of (user, session, task, key)."""
    row: dict[str, Any] = dict(zip(("user_id", "session_id", "task_id", "key"), key, strict=True))
    if value is None:
        sql.run(_DROP_NOTE, row)
        return
    row |= {"text": value, "at": to_micros(now), "expires_at": to_micros(expires_at)}
    sql.upsert(tables.working_notes, [row])


def notes(sql: Sql, user_id: str, session_id: str, task_id: str, now: datetime) -> dict[str, str]:
    """Return the notes of a task that have not run out."""
    values = {
        "user_id": user_id,
        "session_id": session_id,
        "task_id": task_id,
        "now": to_micros(now),
    }
    return dict(sql.rows(_NOTES, values))


def clear_notes(sql: Sql, user_id: str, session_id: str, task_id: str) -> None:
    """Remove all notes of a task."""
    named = {"user_id": user_id, "session_id": session_id, "task_id": task_id}
    sql.run(_CLEAR_NOTES, named)


def user_ids(sql: Sql, after: str | None, limit: int) -> list[str]:
    """Return user ids in order."""
    values = {"after": after or "", "limit": max(0, limit)}
    return [row[0] for row in sql.rows(_USER_IDS, values)]


def stats(sql: Sql, user_id: str | None) -> StoreStats:
    """Return counts, of one user or of all."""
    every = user_id is None
    values: dict[str, Any] = {} if every else {"user_id": user_id}

    def counted(column: Column[Any], by: Column[Any] | None, **only: Any) -> list[Any]:
        return sql.rows(_counted(column, by, frozenset(only), every), {**values, **only})

    statuses = counted(_items.user_id, _items.status)
    outcomes = counted(_decisions.user_id, _decisions.outcome)
    return StoreStats(
        users=counted(_users.user_id, None)[0][0],
        items={Status(status): count for status, count in statuses},
        turns=counted(_turns.user_id, None)[0][0],
        decisions=dict(outcomes),
        pendings=counted(_pendings.user_id, None, state=PendingState.OPEN)[0][0],
        bytes=sql.bytes() if every else None,
    )


@lru_cache(maxsize=32)
def _counted(
    column: Column[Any], by: Column[Any] | None, only: frozenset[str], every: bool
) -> Executable:
    table = column.table
    statement = select(*([] if by is None else [by]), func.count()).select_from(table)
    for name in only:
        statement = statement.where(table.c[name] == bindparam(name))
    if by is not None:
        statement = statement.group_by(by)
    if every:
        return statement.execution_options(**{ALL_USERS: "the operator's counts"})
    return statement.where(own(column))


def _has_text(folded: Column[str]) -> Any:
    return folded.like(bindparam("pattern"), escape="\\")


def _like(text: str) -> str:
    quoted = text.casefold().replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return f"%{quoted}%"


def _cursor(item: MemoryItem) -> str:
    position = f"{to_micros(item.created_at)}:{item.id}"
    return base64.urlsafe_b64encode(position.encode()).decode()


def _position(cursor: str) -> tuple[int, str]:
    try:
        at, colon, item_id = (
            base64.b64decode(cursor.encode(), altchars=b"-_", validate=True)
            .decode()
            .partition(":")
        )
        if colon:
            return int(at), item_id
    except (binascii.Error, ValueError, AttributeError):
        pass  # said below
    raise InvalidInputError("cursor", "must be one that `page` gave", cursor)
