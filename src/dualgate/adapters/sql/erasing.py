"""Taking out, for good [P3]: rows, words to search by, jobs; and the keyed hashes that stay.

Rule: plain functions over an open unit. That the bytes go, too, is the engine's work
(`Database.scrub`): deleted rows are overwritten at once (secure_delete), but when SQLite shifts
rows between pages it leaves copies in the gaps, and an older FTS5 keeps deleted entries until its
segments are merged. Measured: of 200 erased texts in a busy table, one or two stayed readable.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Executable, Table, and_, bindparam, delete, select, update

from dualgate.adapters.sql import accounts, jobs, tables, transcripts
from dualgate.adapters.sql.dialects import Sql, inserting
from dualgate.adapters.sql.events import ALL_USERS
from dualgate.adapters.sql.lines import Lines
from dualgate.adapters.sql.reading import in_parts, own
from dualgate.adapters.sql.rows import (
    decision_row,
    from_micros,
    item_row,
    job_row,
    maybe_micros,
    maybe_time,
    move_row,
    pending_row,
    session_row,
    signal_row,
    to_micros,
)
from dualgate.domain.erasure import KEY_BYTES, ErasureKind, keyed
from dualgate.pipeline.dossier import AskedErasure, Erasure, Tombstone

_stones = tables.tombstones.c
_keys = tables.tombstone_keys.c
_erasures = tables.erasures.c
_jobs = tables.queue_jobs.c

_STONES = select(_stones.hash, _stones.kind, _stones.erased_at).where(own(_stones.user_id))
_ALL_STONES = _STONES.order_by(_stones.erased_at, _stones.hash)
_SOME_STONES = _STONES.where(_stones.hash.in_(bindparam("hashes", expanding=True)))
_KEY = select(_keys.key, _keys.version, _keys.units).where(own(_keys.user_id))
_ASKED = (
    select(*tables.erasures.columns)
    .order_by(_erasures.asked_at, _erasures.id)
    .execution_options(**{ALL_USERS: "what a killed process left undone, whoever asked"})
)
_DONE = (
    update(tables.erasures)
    .where(own(_erasures.user_id), _erasures.id == bindparam("erasure_id"))
    .values(done_at=bindparam("now"), target=bindparam("nothing"))
)
_GONE = delete(tables.erasures).where(
    own(_erasures.user_id), _erasures.id == bindparam("erasure_id")
)
_END_JOB = (
    update(tables.queue_jobs)
    .where(own(_jobs.user_id), _jobs.id == bindparam("job_id"))
    .values(state=jobs.DONE, payload="", error=None, died_at=None)
)
_THIN_JOB = (
    update(tables.queue_jobs)
    .where(own(_jobs.user_id), _jobs.id == bindparam("job_id"))
    .values(payload=bindparam("left"), error=bindparam("what"))
)
_JOB_STATE = select(_jobs.state).where(own(_jobs.user_id), _jobs.id == bindparam("job_id"))


def _deleting(table: Table, *names: str) -> Executable:
    """Return the deletion of the user's rows with these values, given as `by_<name>`."""
    given = (table.c[name] == bindparam(f"by_{name}") for name in names)
    return delete(table).where(and_(own(table.c.user_id), *given))


# Of an item, with the name of what goes.
_OF_ITEM = tuple(
    (name, _deleting(table, "item_id"))
    for name, table in (
        ("vectors", tables.memory_vectors),
        ("signals", tables.memory_signals),
        ("uses", tables.item_uses),
        ("pendings", tables.pending_overrides),
        ("decisions", tables.memory_decisions),
    )
)
_ITEM = _deleting(tables.memory_items, "id")
_SIGNAL = _deleting(tables.memory_signals, "item_id", "id")
_DECISION = _deleting(tables.memory_decisions, "id")
_PENDING = _deleting(tables.pending_overrides, "id")
_NOTE = _deleting(tables.working_notes, "session_id", "task_id", "key")
_SESSION = _deleting(tables.sessions, "id")
_TURN = _deleting(tables.turns, "id")
_TURN_INDEX = _deleting(tables.turn_index, "turn_id")

# Of a user: every table that names one, but for what an erasure leaves.
_NAMES = {
    "users": "users", "memory_items": "items", "memory_vectors": "vectors",
    "memory_signals": "signals", "memory_moves": "moves", "memory_decisions": "decisions",
    "pending_overrides": "pendings", "item_uses": "uses", "working_notes": "notes",
    "sessions": "sessions", "turns": "turns", "turn_index": "turn_vectors",
    "model_usage": "model_usage", "audit_findings": "findings", "queue_jobs": "jobs",
    "queue_heads": "queue_heads", "answered_requests": "answered_requests",
}  # fmt: skip
_EVERYTHING = tuple(
    (_NAMES.get(table.name, table.name), _deleting(table))
    for table in tables.metadata.sorted_tables
    if "user_id" in table.c and table.name not in tables.LEFT_BY_ERASURES
)


def tombstones(sql: Sql, user_id: str) -> tuple[str, tuple[Tombstone, ...]]:
    """Return the key, "" if there is none, and all tombstones."""
    row = sql.one(_KEY, {"user_id": user_id})
    found = sql.rows(_ALL_STONES, {"user_id": user_id})
    return "" if row is None else str(row[0]), tuple(
        Tombstone(hash=digest, kind=ErasureKind(kind), erased_at=from_micros(at))
        for digest, kind, at in found
    )


def erased(
    sql: Sql, user_id: str, marks: Iterable[str]
) -> dict[str, tuple[ErasureKind, datetime]]:
    """Return which marks have a tombstone."""
    row = sql.one(_KEY, {"user_id": user_id})
    if row is None:
        return {}
    key = bytes.fromhex(row[0])
    by_hash = {keyed(key, mark): mark for mark in marks}
    return {
        by_hash[digest]: (ErasureKind(kind), from_micros(at))
        for part in in_parts(by_hash)
        for digest, kind, at in sql.rows(_SOME_STONES, {"user_id": user_id, "hashes": part})
    }


def put_tombstones(
    sql: Sql, user_id: str, key: str, stones: Sequence[Tombstone]
) -> None:
    """Keep tombstones made with this key; the user's own key wins."""
    if not key:
        return
    row = {"user_id": user_id, "key": key, "version": 0, "units": 0}
    sql.insert_new(tables.tombstone_keys, [row])
    if sql.rows(_KEY, {"user_id": user_id})[0][0] == key:
        sql.insert_new(
            tables.tombstones,
            [
                {
                    "user_id": user_id, "hash": stone.hash, "kind": str(stone.kind),
                    "erased_at": to_micros(stone.erased_at),
                }
                for stone in stones
            ],
        )  # fmt: skip


def leave_counters(sql: Sql, user_id: str, version: int, units: int) -> None:
    """Keep where an erased user's counters stood."""
    row = {"user_id": user_id, "key": _key(sql, user_id), "version": version, "units": units}
    sql.upsert(tables.tombstone_keys, [row])


def erase(sql: Sql, erasure: Erasure, lines: Lines) -> dict[str, int]:
    """Take it out, leave tombstones; return how many rows went of each kind."""
    user_id = erasure.asked.user_id
    _leave_tombstones(sql, erasure)
    gone = _erase_user(sql, user_id) if erasure.whole else _erase_parts(sql, erasure, lines)
    named = {"user_id": user_id, "erasure_id": erasure.asked.id}
    sql.run(_DONE, {**named, "now": to_micros(erasure.at), "nothing": ""})
    return {name: count for name, count in gone.items() if count}


def ask(sql: Sql, asked: AskedErasure) -> None:
    """Keep that an erasure was asked for."""
    row = {
        "user_id": asked.user_id, "id": asked.id, "kind": str(asked.kind),
        "target": asked.target, "asked_at": to_micros(asked.asked_at),
        "done_at": maybe_micros(asked.done_at),
    }  # fmt: skip
    sql.insert_new(tables.erasures, [row])


def asked(sql: Sql) -> list[AskedErasure]:
    """Return the erasures whose bytes are not gone."""
    return [
        AskedErasure(
            id=id_, user_id=user_id, kind=ErasureKind(kind), target=target,
            asked_at=from_micros(at), done_at=maybe_time(done),
        )
        for user_id, id_, kind, target, at, done in sql.rows(_ASKED)
    ]  # fmt: skip


def are_gone(sql: Sql, done: Sequence[AskedErasure]) -> None:
    """Ask no more for these: their bytes are gone."""
    sql.many(_GONE, [{"user_id": one.user_id, "erasure_id": one.id} for one in done])


def _key(sql: Sql, user_id: str) -> str:
    row = sql.one(_KEY, {"user_id": user_id})
    return secrets.token_hex(KEY_BYTES) if row is None else str(row[0])


def _leave_tombstones(sql: Sql, erasure: Erasure) -> None:
    user_id = erasure.asked.user_id
    key = _key(sql, user_id)
    row = {"user_id": user_id, "key": key, "version": 0, "units": 0}
    sql.insert_new(tables.tombstone_keys, [row])
    common = {
        "user_id": user_id, "kind": str(erasure.asked.kind), "erased_at": to_micros(erasure.at),
    }  # fmt: skip
    made = bytes.fromhex(key)
    hashes = dict.fromkeys(keyed(made, mark) for mark in erasure.marks)
    sql.upsert(tables.tombstones, [{**common, "hash": digest} for digest in hashes])


def _erase_user(sql: Sql, user_id: str) -> dict[str, int]:
    gone = {name: sql.run(statement, {"user_id": user_id}) for name, statement in _EVERYTHING}
    sql.drop_all_words(user_id)
    return gone


def _erase_parts(sql: Sql, erasure: Erasure, lines: Lines) -> dict[str, int]:
    user_id = erasure.asked.user_id

    def each(statement: Executable, names: Sequence[str], keys: Iterable[Sequence[str]]) -> int:
        return sum(
            sql.run(statement, {"user_id": user_id, **dict(zip(names, key, strict=True))})
            for key in keys
        )

    def one(statement: Executable, ids: Iterable[str], name: str = "by_id") -> int:
        return each(statement, (name,), ((i,) for i in ids))

    gone = {name: one(statement, erasure.item_ids, "by_item_id") for name, statement in _OF_ITEM}
    gone["items"] = one(_ITEM, erasure.item_ids)
    for item_id in erasure.item_ids:
        sql.run(accounts.ABOUT_ITEM, {"user_id": user_id, "item_id": item_id})
    sql.drop_words(user_id, erasure.item_ids)
    gone["signals"] += each(_SIGNAL, ("by_item_id", "by_id"), erasure.signal_ids)
    gone["decisions"] += one(_DECISION, erasure.decision_ids)
    gone["pendings"] += one(_PENDING, erasure.pending_ids)
    names = ("by_session_id", "by_task_id", "by_key")
    gone["notes"] = each(_NOTE, names, erasure.note_keys)
    gone["sessions"] = one(_SESSION, erasure.session_ids)
    gone["turns"] = one(_TURN, erasure.turn_ids)
    gone["turn_vectors"] = one(_TURN_INDEX, erasure.turn_ids, "by_turn_id")
    sql.drop_turn_words(user_id, erasure.turn_ids)
    transcripts.make_stale(sql, user_id, erasure.stale_turn_ids)
    _write_changes(sql, erasure, lines)
    gone["jobs"] = _end_jobs(sql, user_id, erasure.job_ids)
    return gone


def _write_changes(sql: Sql, erasure: Erasure, lines: Lines) -> None:
    sql.upsert(tables.memory_items, [item_row(item) for item in erasure.items])
    sql.upsert(tables.memory_signals, [signal_row(signal) for signal in erasure.signals])
    moves = [move_row(move, lines.next()) for move in erasure.moves]
    sql.many(inserting(tables.memory_moves), moves)
    sql.upsert(tables.memory_decisions, [decision_row(one) for one in erasure.decisions])
    sql.upsert(tables.pending_overrides, [pending_row(one) for one in erasure.pendings])
    sql.upsert(tables.sessions, [session_row(session) for session in erasure.sessions])
    for kept in erasure.jobs:
        left = job_row(kept.job, seq=0)["payload"]
        named = {"user_id": erasure.asked.user_id, "job_id": kept.job.id}
        sql.run(_THIN_JOB, {**named, "left": left, "what": kept.error})


def _end_jobs(sql: Sql, user_id: str, job_ids: Sequence[str]) -> int:
    ended = 0
    for job_id in job_ids:
        named: dict[str, Any] = {"user_id": user_id, "job_id": job_id}
        row = sql.one(_JOB_STATE, named)
        ended += sql.run(_END_JOB, named)
        if row is not None and row[0] == jobs.WAITING:
            jobs.one_less(sql, user_id)
    return ended
