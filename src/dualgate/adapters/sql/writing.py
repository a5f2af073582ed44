"""What is written: plain functions over an open unit, in as few statements as there are tables.

Rule: a Plan holds whole new states, so writing is putting them down; nothing is decided here.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from sqlalchemy import Table, bindparam, delete, select, update

from dualgate.adapters.sql import accounts, reading, tables, transcripts
from dualgate.adapters.sql.dialects import Sql, inserting
from dualgate.adapters.sql.lines import Lines
from dualgate.adapters.sql.rows import (
    decision_row,
    item_row,
    move_row,
    note_row,
    pending_row,
    session_row,
    signal_row,
    to_micros,
    turn_row,
    use_row,
)
from dualgate.adapters.sql.text import searched_text
from dualgate.adapters.sql.vectors import checked, quantised
from dualgate.domain.items import MemoryItem, to_utc
from dualgate.domain.plan import Decision, Plan
from dualgate.domain.status import LIVE
from dualgate.errors import InvalidInputError
from dualgate.pipeline.ports import Session, StoredTurn, Use, Vector

USES_KEPT = 200  # of an item, the newest; its counters go on

_items = tables.memory_items.c
_sessions = tables.sessions.c
_notes = tables.working_notes.c

_DELETE_ITEM = delete(tables.memory_items).where(
    reading.own(_items.user_id), _items.id == bindparam("item_id")
)


def _delete_about(table: Table) -> Any:
    return delete(table).where(
        reading.own(table.c.user_id), table.c.item_id == bindparam("item_id")
    )


# What goes with an item for good [P3]. The moves stay: they hold no content.
_PURGES = (
    _DELETE_ITEM,
    *(
        _delete_about(table)
        for table in (
            tables.memory_vectors,
            tables.memory_signals,
            tables.item_uses,
            tables.pending_overrides,
            tables.memory_decisions,
        )
    ),
    accounts.ABOUT_ITEM,
)
_COUNT_USE = (
    update(tables.memory_items)
    .where(reading.own(_items.user_id), _items.id == bindparam("item_id"))
    .values(
        access_count=bindparam("count"),
        last_accessed_at=bindparam("accessed_at"),
        last_hit_at=bindparam("hit_at"),
        accessed_day=bindparam("day"),
    )
)
_uses = tables.item_uses.c
_OLD_USES = delete(tables.item_uses).where(
    reading.own(_uses.user_id),
    _uses.item_id == bindparam("item_id"),
    _uses.seq
    <= select(_uses.seq)
    .where(reading.own(_uses.user_id), _uses.item_id == bindparam("item_id"))
    .order_by(_uses.seq.desc())
    .limit(1)
    .offset(USES_KEPT)
    .correlate(None)
    .scalar_subquery(),
)
_END_SESSION = (
    update(tables.sessions)
    .where(reading.own(_sessions.user_id), _sessions.id == bindparam("session_id"))
    .values(ended_at=bindparam("now"))
)
_SETTLE_ROOT = (
    update(tables.sessions)
    .where(reading.own(_sessions.user_id), _sessions.id == bindparam("session_id"))
    .values(root_id=bindparam("root"))
)
_KEEP_CORE = (
    update(tables.sessions)
    .where(
        reading.own(_sessions.user_id),
        _sessions.id == bindparam("session_id"),
        _sessions.core_text.is_(None),
    )
    .values(
        core_text=bindparam("text"),
        core_item_ids=bindparam("item_ids"),
        core_tokens=bindparam("tokens"),
    )
)
_CORES = select(_sessions.id, _sessions.core_item_ids).where(
    reading.own(_sessions.user_id), _sessions.core_text.is_not(None)
)
_DROP_CORE = (
    update(tables.sessions)
    .where(reading.own(_sessions.user_id), _sessions.id == bindparam("session_id"))
    .values(core_text=None, core_item_ids="[]", core_tokens=0)
)
_DROP_SESSION_NOTES = delete(tables.working_notes).where(
    reading.own(_notes.user_id), _notes.session_id == bindparam("session_id")
)


def require_own(user_id: str, plan: Plan) -> None:
    """Refuse a plan that touches another user [P4]."""
    parts: list[tuple[str, Iterable[Any]]] = [
        ("items", plan.items),
        ("signals", plan.signals),
        ("moves", plan.moves),
        ("pendings", plan.pendings),
        ("notes", plan.notes),
        ("decision", () if plan.decision is None else (plan.decision,)),
    ]
    for name, values in parts:
        for value in values:
            if value.user_id != user_id:
                raise InvalidInputError(
                    "user_id", f"plan.{name} must be of the unit's user", value.user_id
                )


def apply(
    sql: Sql,
    user_id: str,
    plan: Plan,
    vectors: Mapping[str, Vector],
    known: Mapping[str, MemoryItem],
    lines: Lines,
    model: str,
) -> dict[str, MemoryItem]:
    """Write a plan; return its items as they stood before. `known` spares reading them."""
    ids = {item.id for item in plan.items} | set(plan.purged)
    before = {item_id: known[item_id] for item_id in ids if item_id in known}
    before |= reading.items(sql, user_id, sorted(ids - before.keys()))
    sql.upsert(tables.memory_items, [item_row(item) for item in plan.items])
    _index_words(sql, user_id, plan.items, before)
    own = {item.id: vectors[item.id] for item in plan.items if item.id in vectors}
    sql.upsert(tables.memory_vectors, [_vector_row(user_id, i, v, model) for i, v in own.items()])
    sql.upsert(tables.memory_signals, [signal_row(signal) for signal in plan.signals])
    sql.many(inserting(tables.memory_moves), [move_row(move, lines.next()) for move in plan.moves])
    if plan.decision is not None:
        sql.upsert(tables.memory_decisions, [decision_row(plan.decision)])
    sql.upsert(tables.pending_overrides, [pending_row(pending) for pending in plan.pendings])
    sql.upsert(tables.working_notes, [note_row(note) for note in plan.notes])
    if plan.purged:
        purge(sql, user_id, plan.purged)
    return before


def purge(sql: Sql, user_id: str, item_ids: Sequence[str]) -> None:
    """Remove items for good, with all that holds their content [P3]."""
    # While the signals still say which turns these are.
    transcripts.empty(sql, user_id, transcripts.sources(sql, user_id, item_ids))
    values = [{"user_id": user_id, "item_id": item_id} for item_id in item_ids]
    for statement in _PURGES:
        sql.many(statement, values)
    sql.drop_words(user_id, item_ids)
    _drop_cores(sql, user_id, set(item_ids))


def _drop_cores(sql: Sql, user_id: str, item_ids: set[str]) -> None:
    """Let go of every kept core that states one of the items: it is made anew when asked for."""
    rows = sql.rows(_CORES, {"user_id": user_id})
    stating = [session for session, shown in rows if not item_ids.isdisjoint(json.loads(shown))]
    sql.many(_DROP_CORE, [{"user_id": user_id, "session_id": session} for session in stating])


def record_decisions(sql: Sql, decisions: Sequence[Decision]) -> None:
    """Write those decisions that are not recorded yet."""
    rows = [decision_row(decision) for decision in decisions]
    sql.insert_new(tables.memory_decisions, rows)


def add_turns(sql: Sql, user_id: str, turns: Sequence[StoredTurn], lines: Lines) -> list[str]:
    """Keep raw turns; return the new ones' ids."""
    new = {turn.id: turn for turn in reversed(turns)}  # of two with one id, the first is kept
    known = reading.known_turns(sql, user_id, new)
    kept = [turn for turn_id, turn in reversed(new.items()) if turn_id not in known]
    sql.insert_new(tables.turns, [turn_row(turn, lines.next()) for turn in kept])
    return [turn.id for turn in kept]


def make_session(
    sql: Sql, user_id: str, session_id: str, now: datetime, parent_id: str | None
) -> tuple[Session, bool]:
    """Return the session, and whether it was made now [F2]."""
    kept = reading.session(sql, user_id, session_id)
    if kept is not None and kept.root_id:
        return kept, False
    root_id = session_id
    if parent_id is not None and parent_id != session_id:
        parent = reading.session(sql, user_id, parent_id)
        root_id = (parent_id if parent is None else parent.root_id) or parent_id
    if kept is not None:  # it was only looked at so far, by its core
        named = {"user_id": user_id, "session_id": session_id, "root": root_id}
        sql.run(_SETTLE_ROOT, named)
        return replace(kept, root_id=root_id), True
    made = Session(user_id=user_id, id=session_id, root_id=root_id, started_at=now)
    sql.insert_new(tables.sessions, [session_row(made)])
    return replace(made, started_at=to_utc(now)), True


def end_session(sql: Sql, user_id: str, session_id: str, now: datetime) -> None:
    """Mark a session ended and drop its notes [L2]."""
    named = {"user_id": user_id, "session_id": session_id}
    sql.run(_END_SESSION, {**named, "now": to_micros(now)})
    sql.run(_DROP_SESSION_NOTES, named)


def make_user(sql: Sql, user_id: str) -> None:
    """Make the user's row if there is none: a user exists from the first write on."""
    sql.insert_new(tables.users, [reading.user_row(sql, user_id).as_row()])


def keep_core(sql: Sql, session: Session) -> Session:
    """Keep the session's core unless one is kept; return what is kept [R1]."""
    row = session_row(session)
    sql.insert_new(tables.sessions, [row])
    sql.run(
        _KEEP_CORE,
        {
            "user_id": session.user_id,
            "session_id": session.id,
            "text": session.core_text,
            "item_ids": row["core_item_ids"],
            "tokens": session.core_tokens,
        },
    )
    return reading.session(sql, session.user_id, session.id) or session


def count_uses(sql: Sql, items: Iterable[MemoryItem]) -> None:
    """Write what using the items changed, and nothing else of them."""
    rows = [(item, item_row(item)) for item in items]
    sql.many(
        _COUNT_USE,
        [
            {
                "user_id": item.user_id,
                "item_id": item.id,
                "count": item.access_count,
                "accessed_at": row["last_accessed_at"],
                "hit_at": row["last_hit_at"],
                "day": item.accessed_day,
            }
            for item, row in rows
        ],
    )


def log_uses(sql: Sql, user_id: str, uses: Sequence[Use], lines: Lines) -> None:
    """Add uses to the items' logs, and let go of the oldest."""
    sql.many(inserting(tables.item_uses), [use_row(user_id, use, lines.next()) for use in uses])
    named = [{"user_id": user_id, "item_id": i} for i in dict.fromkeys(u.item_id for u in uses)]
    sql.many(_OLD_USES, named)


def _index_words(
    sql: Sql, user_id: str, items: Sequence[MemoryItem], before: Mapping[str, MemoryItem]
) -> None:
    """Keep the words of live items, and of no others, in the full-text index."""
    changed: dict[str, str] = {}
    gone: list[str] = []
    for item in items:
        old = before.get(item.id)
        was_found = old is not None and old.status in LIVE
        if item.status not in LIVE:
            if was_found:
                gone.append(item.id)
            continue
        text = searched_text(item)
        if old is None or not was_found or searched_text(old) != text:
            changed[item.id] = text
    if changed:
        sql.put_words(user_id, changed)
    if gone:
        sql.drop_words(user_id, gone)


def _vector_row(user_id: str, item_id: str, vector: Vector, model: str) -> dict[str, Any]:
    scale, q = quantised(checked("vectors", vector))
    return {
        "user_id": user_id,
        "item_id": item_id,
        "model": model,
        "dim": len(q),
        "scale": scale,
        "q": q,
    }
