"""Accesses and hits are written in batches, off the reading path, and none is lost [F5, D1]."""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
from datetime import timedelta

import pytest

from dualgate import Candidate, Memory, Settings
from dualgate.adapters.memory import open_memory
from dualgate.errors import StoreError
from dualgate.pipeline.observer import Silent
from dualgate.pipeline.ports import Use
from dualgate.pipeline.uses import UseBook
from dualgate.testing import HashEmbedder
from dualgate.testing.backend import write
from dualgate.testing.builders import MONDAY, a_plan, an_item

LATER = MONDAY + timedelta(days=2)


def use(at=MONDAY, item_id="item-1", *, hit=False):
    return Use(item_id=item_id, at=at, hit=hit)


async def a_store(*items):
    backend = open_memory()
    for item in items or (an_item(),):
        await write(backend, a_plan(item), user_id=item.user_id)
    return backend.store


async def item_of(store, user="ann"):
    return (await store.items(user, ["item-1"]))["item-1"]


async def test_nothing_is_written_before_its_time_and_all_of_it_then():
    store = await a_store()
    book = UseBook(store, 0.01)
    book.add("ann", [use()], MONDAY)
    book.add("ann", [use(LATER, hit=True)], LATER)
    assert (await item_of(store)).access_count == 0

    async with asyncio.timeout(5):
        while (await item_of(store)).access_count < 2:  # noqa: ASYNC110
            await asyncio.sleep(0.005)

    item = await item_of(store)
    assert (item.last_accessed_at, item.last_hit_at) == (LATER, LATER)


async def test_being_shown_is_an_access_but_no_hit():
    """[F5]"""
    store = await a_store()
    book = UseBook(store, 60)
    book.add("ann", [use()], MONDAY)
    await book.flush()

    item = await item_of(store)
    assert (item.access_count, item.last_accessed_at, item.last_hit_at) == (1, MONDAY, None)


async def test_reading_moves_the_users_own_clock_though_nothing_was_found():
    """[D1]"""
    store = await a_store()
    book = UseBook(store, 60)
    for at in (MONDAY, LATER):
        book.add("ann", [], at)
        await book.flush()

    own_time = (await store.snapshot("ann")).own_time
    assert (own_time.days, own_time.active_at) == (pytest.approx(2.0), LATER)


async def test_a_clock_that_went_back_moves_nothing_back():
    store = await a_store()
    book = UseBook(store, 60)
    for at in (LATER, MONDAY):
        book.add("ann", [use(at)], at)
        await book.flush()

    item = await item_of(store)
    assert (item.access_count, item.last_accessed_at) == (2, LATER)
    assert (await store.snapshot("ann")).own_time.active_at == LATER


async def test_flushing_an_empty_book_writes_nothing():
    store = await a_store()
    await UseBook(store, 60).flush()

    assert (await store.snapshot("ann")).own_time.active_at is None


async def test_uses_of_an_item_that_was_erased_meanwhile_are_left_out():
    store = await a_store()
    book = UseBook(store, 60)
    book.add("ann", [use(item_id="gone"), use()], MONDAY)
    await book.flush()

    assert (await item_of(store)).access_count == 1


async def test_what_could_not_be_written_is_written_the_next_time():
    """One user's failure takes nothing from the others, and the uses are not lost."""
    store = await a_store(an_item(), an_item(user_id="bob"))
    record, failing = store.record_uses, {"ann"}

    async def record_uses(user_id, uses, own_time):
        if user_id in failing:
            raise StoreError("the database is locked")
        await record(user_id, uses, own_time)

    store.record_uses = record_uses
    book = UseBook(store, 60)
    for user in ("ann", "bob"):
        book.add(user, [use()], MONDAY)
    with pytest.raises(StoreError):
        await book.flush()
    assert (await item_of(store, "bob")).access_count == 1

    failing.clear()
    await book.flush()

    assert (await item_of(store)).access_count == 1
    assert (await item_of(store, "bob")).access_count == 1


class Stumbles(Silent):
    def __init__(self):
        self.told = []

    def stumbled(self, error):
        self.told.append(error)


def locked(store):
    """Let writing uses fail until the returned list is emptied."""
    record, locks = store.record_uses, ["locked"]

    async def record_uses(user_id, uses, own_time):
        if locks:
            raise StoreError("the database is locked", "Try again")
        await record(user_id, uses, own_time)

    store.record_uses = record_uses
    return locks


async def test_what_fails_in_the_background_is_told_and_tried_again(monkeypatch):
    monkeypatch.setattr("dualgate.pipeline.uses.RETRY_SECONDS", 0.01)
    store, stumbles = await a_store(), Stumbles()
    locks = locked(store)
    book = UseBook(store, 0.01, stumbles)
    book.add("ann", [use()], MONDAY)
    async with asyncio.timeout(5):
        while len(stumbles.told) < 2:  # noqa: ASYNC110
            await asyncio.sleep(0.005)
        locks.clear()
        while (await item_of(store)).access_count < 1:  # noqa: ASYNC110
            await asyncio.sleep(0.005)

    assert set(stumbles.told) == {"uses: StoreError: the database is locked. Try again."}
    await book.close()


async def test_a_failure_that_is_over_does_not_fail_the_closing():
    store = await a_store()
    locks = locked(store)
    book = UseBook(store, 0.0)
    book.add("ann", [use()], MONDAY)
    await asyncio.sleep(0.05)
    locks.clear()
    await book.close()

    assert (await item_of(store)).access_count == 1


def _without_uses(path):
    with contextlib.closing(sqlite3.connect(path)) as raw:
        raw.execute("DROP TABLE item_uses")


async def test_a_memory_whose_uses_cannot_be_written_says_so_and_is_closed(tmp_path):
    path = tmp_path / "memory.db"
    memory = await Memory.open(
        f"sqlite:///{path}", settings=Settings(flush_seconds=60), embedder=HashEmbedder()
    )
    await memory.propose(
        "ann", "s1", [Candidate("fact", "Ann has a cat", confidence=0.9)], wait=True
    )
    await memory.context("ann", "s2")
    await asyncio.to_thread(_without_uses, path)
    with pytest.raises(StoreError, match="item_uses"):
        await memory.close()

    with pytest.raises(StoreError, match="closed"):
        await memory.stats()
