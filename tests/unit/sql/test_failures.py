"""When the database fails, nothing is half-applied and the error says what to do."""

# ruff: noqa: SLF001  # pragmas and statements have no public face

from __future__ import annotations

import asyncio
import contextlib
import resource
import sqlite3

import pytest
import pytest_asyncio

from dualgate.adapters.sql import open_sqlite
from dualgate.errors import InvalidInputError, StoreError, StoreUnavailableError
from dualgate.testing.backend import a_vector, write
from dualgate.testing.builders import a_job, a_plan, a_turn, an_item


@pytest_asyncio.fixture
async def backend(tmp_path):
    found = await open_sqlite(tmp_path / "memory.db", busy_seconds=0.1)
    yield found
    await found.close()


@contextlib.contextmanager
def held_by_another(path):
    raw = sqlite3.connect(path, isolation_level=None)
    raw.execute("BEGIN IMMEDIATE")
    try:
        yield
    finally:
        raw.close()


async def limit_pages(backend, pages):
    await backend.store._database._writer.run(
        lambda raw: raw.execute(f"PRAGMA max_page_count = {pages}")
    )


async def test_a_full_disk_applies_nothing_and_says_so(backend):
    await write(backend, a_plan(an_item()))
    before = await backend.store.snapshot("ann")
    await limit_pages(backend, 1)
    many = [an_item("long " * 300, id=f"item-{n}") for n in range(200)]
    with pytest.raises(StoreUnavailableError, match="disk is full") as full:
        await write(backend, a_plan(*many))

    assert "space" in full.value.advice
    assert await backend.store.snapshot("ann") == before
    await limit_pages(backend, 1_000_000)
    await write(backend, a_plan(*many))
    assert len((await backend.store.snapshot("ann")).hot) == 200


@contextlib.contextmanager
def files_limited_to(size):
    """Let no file of this process grow further, as a quota does."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


async def test_a_limit_on_the_size_of_files_applies_nothing_and_says_so(backend, tmp_path):
    await write(backend, a_plan(an_item()))
    before = await backend.store.snapshot("ann")
    many = [an_item("long " * 300, id=f"item-{n}") for n in range(200)]
    with (
        files_limited_to((tmp_path / "memory.db-wal").stat().st_size),
        pytest.raises(StoreUnavailableError, match="cannot be written") as full,
    ):
        await write(backend, a_plan(*many))

    assert "quota" in full.value.advice
    assert await backend.store.snapshot("ann") == before
    await write(backend, a_plan(*many))
    assert len((await backend.store.snapshot("ann")).hot) == 200


async def test_a_lock_that_is_held_for_long_is_an_error_and_readers_do_not_feel_it(
    backend, tmp_path
):
    await write(backend, a_plan(an_item()))
    with held_by_another(tmp_path / "memory.db"):
        with pytest.raises(StoreUnavailableError, match="locked") as locked:
            await backend.queue.enqueue(a_job())
        with pytest.raises(StoreUnavailableError, match="locked"):
            await write(backend, a_plan(an_item(id="b")))
        seen = await backend.store.snapshot("ann")

    assert "try again" in locked.value.advice.lower()
    assert set(seen.hot) == {"item-1"}
    assert await backend.queue.enqueue(a_job()) == "job-1"


async def test_a_unit_inside_a_unit_of_the_same_task_is_refused_at_once(backend):
    async with backend.store.begin("ann") as unit:
        await unit.apply(a_plan(an_item()))
        with pytest.raises(StoreError, match="open in this task"):
            await backend.queue.enqueue(a_job())

    assert set((await backend.store.snapshot("ann")).hot) == {"item-1"}


async def test_a_unit_cannot_be_used_after_it_was_left(backend):
    async with backend.store.begin("ann") as unit:
        await unit.apply(a_plan(an_item()))
    with pytest.raises(StoreError, match="closed"):
        await unit.apply(a_plan(an_item(id="late")))


@pytest.mark.parametrize("steps", range(6))
async def test_a_unit_cancelled_at_any_step_applies_nothing(backend, steps):
    async def never_done():
        async with backend.store.begin("ann") as unit:
            await unit.apply(a_plan(an_item()), {"item-1": a_vector(1)})
            await unit.add_turns([a_turn()])
            await asyncio.sleep(60)

    task = asyncio.create_task(never_done())
    for _ in range(steps):
        await asyncio.sleep(0.002)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert await backend.store.items("ann", ["item-1"]) == {}
    await write(backend, a_plan(an_item(id="next")))
    assert set((await backend.store.snapshot("ann")).hot) == {"next"}


async def test_cancelled_readers_leave_their_connections_usable(backend):
    await write(backend, a_plan(an_item()))
    for _ in range(20):
        task = asyncio.create_task(backend.store.stats())
        await asyncio.sleep(0)
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task

    assert (await backend.store.stats()).users == 1


async def test_an_id_that_no_database_can_hold_names_the_argument(backend):
    with pytest.raises(InvalidInputError, match="surrogate"):
        await backend.store.items("ann", ["\ud83d"])
    with pytest.raises(InvalidInputError, match="surrogate"):
        await backend.store.snapshot("ann\ud83d")


async def test_a_payload_with_a_lone_surrogate_comes_back_as_it_was(backend):
    payload = {"turns": [{"content": "teal \ud83d 你好 👋\x00"}]}
    job = a_job(payload=payload)
    await backend.queue.enqueue(job)
    lease = await backend.queue.claim(job.enqueued_at, 60, 1)

    assert lease.jobs[0].payload == payload


async def test_a_megabyte_of_text_is_kept(backend):
    turn = a_turn("花生过敏 🥜 " * 150_000)
    async with backend.store.begin("ann") as unit:
        await unit.add_turns([turn])
        kept = await unit.recent_turns("s1", 1)

    assert kept == [turn]
