"""Every statement keeps to one user, and none reads a whole user where an index would do [T5]."""

# ruff: noqa: SLF001  # pragmas and statements have no public face

from __future__ import annotations

import contextlib
import sqlite3

import pytest
from sqlalchemy import create_engine, text

from dualgate.adapters.sql import (
    accounts,
    dialects,
    events,
    history,
    open_sqlite,
    queue,
    reading,
    transcripts,
    writing,
)
from dualgate.adapters.sql.events import ShardRuleError, check
from dualgate.adapters.sql.tables import NO_USERS, metadata
from dualgate.domain.erasure import ErasureKind
from dualgate.domain.view import OwnTime
from dualgate.pipeline.dossier import AskedErasure, Erasure
from dualgate.pipeline.ports import IndexedTurn, ItemFilter, Use
from dualgate.testing.accounts_contract import a_finding, a_line
from dualgate.testing.backend import a_vector, write
from dualgate.testing.builders import MONDAY, a_decision, a_job, a_plan, a_turn, an_item
from dualgate.testing.serving_contract import an_answer


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT id FROM memory_items WHERE status = 'frozen'",
        "SELECT i.id FROM memory_items AS i JOIN turns AS t ON t.id = i.id WHERE i.user_id = :u",
        "SELECT i.id FROM memory_items, turns WHERE memory_items.user_id = :u",
        "UPDATE memory_items SET status = 'forgotten' WHERE id = :id",
        "DELETE FROM turns",
        "INSERT INTO turns (id, user_id) VALUES (:id, :user_id)",
        "SELECT item_id FROM memory_words WHERE memory_words MATCH :words",
        "SELECT id FROM memory_items WHERE user_id IN (:a, :b)",
        "UPDATE queue_heads SET due_at = now() WHERE user_id = :u",
    ],
)
def test_a_statement_without_its_user_is_refused(sql):
    with pytest.raises(ShardRuleError):
        check(sql)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT id FROM memory_items WHERE memory_items.user_id = :u",
        "SELECT i.id FROM memory_items i JOIN turns t ON i.user_id = t.user_id WHERE t.user_id=?",
        "DELETE FROM turns WHERE user_id = $1 AND id = $2",
        "INSERT INTO turns (user_id, id) VALUES (?, ?)",
        "BEGIN IMMEDIATE",
        "SELECT name FROM sqlite_master",
    ],
)
def test_a_statement_of_one_user_passes(sql):
    check(sql)


def test_only_reading_may_cover_all_users():
    check("SELECT count(*) FROM users", all_users=True)
    with pytest.raises(ShardRuleError, match="report"):
        check("DELETE FROM users", all_users=True)


def test_a_watched_engine_refuses_what_breaks_the_rules():
    engine = create_engine("sqlite://")
    metadata.create_all(engine)
    events.watch(engine)
    with engine.connect() as connection:
        connection.execute(text("SELECT id FROM turns WHERE user_id = :u"), {"u": "a"})
        with pytest.raises(ShardRuleError):
            connection.execute(text("SELECT id FROM turns"))
    engine.dispose()


def test_the_user_leads_every_key_and_index():
    led_by_another = [
        index.name
        for table in metadata.tables.values()
        for index in table.indexes
        if table.name not in NO_USERS
        and next(iter(index.columns)).name != "user_id"
    ]

    assert led_by_another == ["ix_usage_day", "ix_heads_due"]  # their reasons stand beside them
    for table in metadata.tables.values():
        first = next(iter(table.primary_key.columns)).name
        assert (first == "user_id") is (table.name not in NO_USERS), table.name
        assert not table.foreign_keys


async def test_every_statement_of_a_long_day_passes_the_check(tmp_path, monkeypatch):
    seen = []
    original = events.check

    def listening(sql, *, all_users=False):
        seen.append(sql)
        original(sql, all_users=all_users)

    monkeypatch.setattr(events, "check", listening)
    monkeypatch.setattr(dialects, "_compiled", {})
    await _live_a_day(tmp_path / "memory.db")
    touched = {table for sql in seen for table in events.tables_of(sql)}

    assert set(metadata.tables) - NO_USERS <= touched


INDEXED = IndexedTurn(
    turn_id="turn-1", made_by="words", words=frozenset({"tea"}), vector=a_vector(1)
)


async def _live_a_day(path):  # noqa: PLR0915  (a day is a story, told in order)
    backend = await open_sqlite(path, archive_capacity=1)
    store = backend.store
    await backend.queue.enqueue(a_job())
    lease = await backend.queue.claim(MONDAY, 60, 1)
    async with store.begin("ann", lease) as unit:
        await unit.add_turns([a_turn()])
        await unit.session("s1", MONDAY, None)
        await unit.apply(a_plan(an_item(), decision=a_decision()), {"item-1": a_vector(1)})
        await unit.nearest(a_vector(1), limit=1, gate=0)
        await unit.in_slot("user", "length")
        await unit.signals(["item-1"])
        await unit.due(MONDAY, MONDAY)
        await unit.pending("none")
        await unit.index_turns([INDEXED], MONDAY)
        await unit.unindexed_turns("other", 1)
        await unit.old_turns(MONDAY, 1)
        await unit.finish(lease.jobs[0], [])
    await backend.queue.release(lease)
    await store.record_uses(
        "ann", [Use(item_id="item-1", at=MONDAY, hit=True)], OwnTime(1, MONDAY)
    )
    await store.note("ann", "s1", "", "k", "v", MONDAY, MONDAY)
    await store.page("ann", ItemFilter(text="x"), limit=1, cursor=None)
    await store.versions("ann", "item-1")
    await store.turns_by_words("ann", ["tea"], limit=1)
    await store.turns_near("ann", a_vector(1), made_by="words", limit=1, gate=0)
    await store.placed_turns("ann", ["turn-1"], before=1, after=1)
    await store.resting_on("ann", ["turn-1"])
    await store.add_usage([a_line()])
    await store.usage(None, MONDAY.date())
    await store.keep_findings("ann", [a_finding()])
    await store.keep_findings("ann", [], audited_at=MONDAY)
    await store.findings("ann")
    await store.stats()
    await backend.queue.depth()
    await backend.serving.begin_answer(an_answer(), MONDAY)
    await backend.serving.end_answer(an_answer(done_at=MONDAY))
    await backend.serving.drop_answer("ann", "key")
    await write(backend, a_plan(purged=("item-1",)))
    wish = AskedErasure(
        id="e", user_id="ann", kind=ErasureKind.USER, target="", asked_at=MONDAY
    )
    await store.ask_erasure(wish)
    await store.asked_erasures()
    async with store.begin("ann") as unit:
        given = await unit.dossier()
        part = Erasure(asked=wish, at=MONDAY, turn_ids=("turn-1",), marks=("m",))
        await unit.erase(part)
    async with store.begin("ann") as unit:
        await unit.put_back(given, {})
    async with store.begin("ann") as unit:
        await unit.erase(Erasure(asked=wish, at=MONDAY, whole=True))
    await store.erased("ann", ["m"])
    await store.scrub()
    await backend.close()


PLANNED = {
    "in_slot": (reading._IN_SLOT, "ix_items_slot"),
    "active": (reading._ACTIVE_ITEMS, "ix_items_status"),
    "by id": (reading._BY_ID, "PRIMARY KEY (user_id=? AND id=?)"),
    "expired": (reading._EXPIRED, "ix_items_expires"),
    "signals": (reading._SIGNALS, "PRIMARY KEY (user_id=? AND item_id=?)"),
    "turns": (reading._RECENT_TURNS, "ix_turns_session"),
    "overriding": (history._OVERRIDING, "ix_items_override"),
    "superseded": (history._SUPERSEDED, "ix_items_superseded"),
    "moves of an item": (history._ITEM_MOVES, "ix_moves_item"),
    "page": (history._page(frozenset({"user_id", "limit"})), "ix_items_created"),
    "decisions of a job": (history._decided(frozenset({"job_id"})), "ix_decisions_job"),
    "purged decisions": (writing._PURGES[-2], "ix_decisions_item"),
    "findings about an item": (accounts.ABOUT_ITEM, "PRIMARY KEY (user_id=?)"),
    "a day's usage": (accounts._SPENT_BY_ALL, "ix_usage_day"),
    "due heads": (queue._DUE, "ix_heads_due"),
    "turns by id": (transcripts._BY_ID, "PRIMARY KEY (user_id=? AND id=?)"),
    "the turn before": (transcripts._BEFORE, "ix_turns_session (user_id=? AND session_id=? AND"),
    "the turn after": (transcripts._AFTER, "ix_turns_session (user_id=? AND session_id=? AND"),
    "vectors of turns": (transcripts._VECTORS, "PRIMARY KEY (user_id=?)"),
    "new vectors of turns": (transcripts._NEW_VECTORS, "ix_turn_index_seq"),
    "how many vectors": (transcripts._STATE, "COVERING INDEX ix_turn_index_seq"),
    "old turns": (transcripts._OLD, "ix_turn_index_stored (user_id=? AND stored_at<?"),
    "unindexed turns": (transcripts._UNINDEXED, "ix_turns_session (user_id=?)"),
    "items resting on turns": (transcripts._RESTING, "ix_signals_message"),
    "ready jobs": (queue._READY, "ix_jobs_waiting"),
    "depth": (queue._DEPTH, "ix_jobs_waiting"),
}


@pytest.mark.parametrize("name", PLANNED)
async def test_a_statement_uses_its_index_however_large_the_file(tmp_path, name):
    statement, index = PLANNED[name]
    await (await open_sqlite(tmp_path / "memory.db")).close()
    ready = dialects._ready(statement)
    missing = {p: ["x"] if p in ready.lists else 1 for p in ready.names}
    sql, values = ready.bound(missing)
    with contextlib.closing(sqlite3.connect(tmp_path / "memory.db")) as raw:
        plan = raw.execute(f"EXPLAIN QUERY PLAN {sql}", values).fetchall()

    assert index in " ".join(row[3] for row in plan)
