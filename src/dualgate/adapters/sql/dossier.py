"""All that is kept of one user, read in one go and given back [P3]."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import and_, bindparam, select

from dualgate.adapters.sql import accounts, erasing, history, reading, tables
from dualgate.adapters.sql.dialects import Row, Sql, inserting
from dualgate.adapters.sql.jobs import DEAD, DONE, one_more
from dualgate.adapters.sql.lines import Lines
from dualgate.adapters.sql.reading import UserRow, own
from dualgate.adapters.sql.rows import (
    DECISION_COLUMNS,
    ITEM_COLUMNS,
    JOB_COLUMNS,
    SESSION_COLUMNS,
    SIGNAL_COLUMNS,
    TURN_COLUMNS,
    USE_COLUMNS,
    decision_of,
    decision_row,
    item_of,
    item_row,
    job_of,
    job_row,
    maybe_micros,
    maybe_time,
    move_row,
    note_row,
    pending_row,
    session_of,
    session_row,
    signal_of,
    signal_row,
    turn_of,
    turn_row,
    use_of,
    use_row,
)
from dualgate.adapters.sql.text import searched_text
from dualgate.adapters.sql.vectors import checked, quantised
from dualgate.domain.plan import Note
from dualgate.domain.status import LIVE
from dualgate.pipeline.dossier import Dossier, KeptJob, KeptTurn
from dualgate.pipeline.ports import Vector

_items = tables.memory_items.c
_signals = tables.memory_signals.c
_decisions = tables.memory_decisions.c
_uses = tables.item_uses.c
_notes = tables.working_notes.c
_sessions = tables.sessions.c
_turns = tables.turns.c
_index = tables.turn_index.c
_jobs = tables.queue_jobs.c

_NOTE_FIELDS = ("user_id", "session_id", "task_id", "key", "text", "at", "expires_at")
_ITEMS = select(*ITEM_COLUMNS).where(own(_items.user_id)).order_by(_items.created_at, _items.id)
_SIGNALS = select(*SIGNAL_COLUMNS).where(own(_signals.user_id)).order_by(_signals.at, _signals.id)
_DECISIONS = (
    select(*DECISION_COLUMNS)
    .where(own(_decisions.user_id))
    .order_by(_decisions.at, _decisions.id)
)
_USES = select(*USE_COLUMNS).where(own(_uses.user_id)).order_by(_uses.seq)
_NOTES = select(*(_notes[name] for name in _NOTE_FIELDS)).where(own(_notes.user_id))
_SESSIONS = (
    select(*SESSION_COLUMNS)
    .where(own(_sessions.user_id))
    .order_by(_sessions.started_at, _sessions.id)
)
_TURNS = (
    select(*TURN_COLUMNS, _index.stored_at)
    .select_from(
        tables.turns.outerjoin(
            tables.turn_index,
            and_(_index.user_id == _turns.user_id, _index.turn_id == _turns.id),
        )
    )
    .where(own(_turns.user_id))
    .order_by(_turns.seq)
)
_JOBS = (
    select(*JOB_COLUMNS, _jobs.error, _jobs.died_at)
    .where(own(_jobs.user_id), _jobs.state != DONE)
    .order_by(_jobs.seq)
)
_LAST_JOB = (
    select(_jobs.seq).where(own(_jobs.user_id)).order_by(_jobs.seq.desc()).limit(bindparam("one"))
)


def dossier(sql: Sql, user: UserRow) -> Dossier:
    """Return all that is kept of the user."""
    user_id = user.user_id
    mine = {"user_id": user_id}
    key, stones = erasing.tombstones(sql, user_id)
    return Dossier(
        user_id=user_id,
        user_class=user.user_class,
        capture_paused=user.capture_paused,
        recall_paused=user.recall_paused,
        maintained_at=user.maintained_at,
        own_time=user.own_time,
        items=tuple(map(item_of, sql.rows(_ITEMS, mine))),
        signals=tuple(map(signal_of, sql.rows(_SIGNALS, mine))),
        moves=tuple(history.moves(sql, user_id, None)),
        decisions=tuple(map(decision_of, sql.rows(_DECISIONS, mine))),
        pendings=tuple(reading.pendings(sql, user_id, open_only=False)),
        findings=tuple(accounts.findings(sql, user_id, open_only=False)),
        uses=tuple(map(use_of, sql.rows(_USES, mine))),
        notes=tuple(map(_note_of, sql.rows(_NOTES, mine))),
        sessions=tuple(map(session_of, sql.rows(_SESSIONS, mine))),
        turns=tuple(
            KeptTurn(turn=turn_of(row[:-1]), stored_at=maybe_time(row[-1]))
            for row in sql.rows(_TURNS, mine)
        ),
        jobs=tuple(
            KeptJob(job=job_of(row[:-2]), error=row[-2], died_at=maybe_time(row[-1]))
            for row in sql.rows(_JOBS, mine)
        ),
        tombstones=stones,
        tombstone_key=key,
    )


def put_back(
    sql: Sql, given: Dossier, vectors: Mapping[str, Vector], lines: Lines, model: str
) -> None:
    """Write what is not known yet; `given` holds no more than that."""
    user_id = given.user_id
    sql.insert_new(tables.memory_items, [item_row(item) for item in given.items])
    live = {item.id: searched_text(item) for item in given.items if item.status in LIVE}
    sql.put_words(user_id, live)
    sql.insert_new(
        tables.memory_vectors,
        [
            _vector_row(user_id, item.id, vectors[item.id], model)
            for item in given.items
            if item.id in vectors
        ],
    )
    sql.insert_new(tables.memory_signals, [signal_row(signal) for signal in given.signals])
    sql.many(
        inserting(tables.memory_moves), [move_row(move, lines.next()) for move in given.moves]
    )
    sql.insert_new(tables.memory_decisions, [decision_row(one) for one in given.decisions])
    sql.insert_new(tables.pending_overrides, [pending_row(one) for one in given.pendings])
    accounts.keep_findings(sql, given.findings)
    uses = [use_row(user_id, use, lines.next()) for use in given.uses]
    sql.many(inserting(tables.item_uses), uses)
    sql.insert_new(tables.working_notes, [note_row(note) for note in given.notes])
    sql.insert_new(tables.sessions, [session_row(session) for session in given.sessions])
    turns = [turn_row(kept.turn, lines.next()) for kept in given.turns]
    sql.insert_new(tables.turns, turns)
    _put_back_storing_times(sql, given, lines)
    _put_back_jobs(sql, given)
    erasing.put_tombstones(sql, user_id, given.tombstone_key, given.tombstones)


def _put_back_storing_times(sql: Sql, given: Dossier, lines: Lines) -> None:
    # Found by nothing yet: `unindexed_turns` returns them. The retention goes on from then [L3].
    sql.insert_new(
        tables.turn_index,
        [
            {
                "user_id": given.user_id, "turn_id": kept.turn.id, "made_by": "",
                "stored_at": maybe_micros(kept.stored_at), "seq": lines.next(), "dim": 0,
                "q": None,
            }
            for kept in given.turns
            if kept.stored_at is not None and kept.turn.content
        ],
    )  # fmt: skip


def _put_back_jobs(sql: Sql, given: Dossier) -> None:
    found = sql.one(_LAST_JOB, {"user_id": given.user_id, "one": 1})
    last = 0 if found is None else int(found[0])
    rows = []
    for place, kept in enumerate(given.jobs, start=last + 1):
        row = job_row(kept.job, seq=place)
        if kept.dead:
            row |= {"state": DEAD, "error": kept.error, "died_at": maybe_micros(kept.died_at)}
        else:
            one_more(sql, given.user_id, row["enqueued_at"])
        rows.append(row)
    sql.many(inserting(tables.queue_jobs), rows)


def _note_of(row: Row) -> Note:
    values: dict[str, Any] = dict(zip(_NOTE_FIELDS, row, strict=True))
    values["at"] = maybe_time(values["at"])
    values["expires_at"] = maybe_time(values["expires_at"])
    return Note(**values)


def _vector_row(user_id: str, item_id: str, vector: Vector, model: str) -> dict[str, Any]:
    scale, q = quantised(checked("vectors", vector))
    return {
        "user_id": user_id, "item_id": item_id, "model": model, "dim": len(q), "scale": scale,
        "q": q,
    }  # fmt: skip
