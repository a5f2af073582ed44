"""Killing processes at any instant loses nothing accepted and applies nothing twice [W1]."""

from __future__ import annotations

import asyncio
import contextlib
import random
import sqlite3
import time
from collections import Counter, defaultdict
from pathlib import Path

from dualgate.adapters.sql import open_sqlite

ROLES = Path(__file__).parent / "crash_roles.py"
KILLS = 32


def test_killed_workers_and_writers_lose_nothing_and_apply_nothing_twice(stage):
    for role in ("work", "work", "work", "enqueue", "enqueue", "enqueue"):
        stage.start(role)
    chance = random.Random(20261130)  # noqa: S311
    time.sleep(0.5)
    for kill in range(KILLS):
        time.sleep(chance.uniform(0.05, 0.35))
        # Every sixth time one who writes; the rest are workers in the middle of their work.
        role = "enqueue" if kill % 6 == 5 else "work"
        stage.kill(chance.choice(stage.playing(role)))
        stage.start(role)
    stage.tell_to_stop()
    # An empty queue says that all is done only once nobody writes to it any more.
    _wait(lambda: len(stage.lines("ended")) == len(stage.playing("enqueue")), seconds=60)
    order = asyncio.run(_drained(stage.directory / "memory.db"))

    assert stage.lines("errors") == []
    acknowledged = [tuple(line.split()) for line in stage.lines("acknowledged")]
    accepted = _accepted(stage.directory / "memory.db")
    assert len(acknowledged) > 3 * KILLS
    # An enqueue that was killed after its commit is accepted though nobody heard of it.
    assert set(acknowledged) <= {(user, job) for user, jobs in accepted.items() for job in jobs}
    for user, jobs in accepted.items():
        assert order[user].moves == jobs  # each once, in the order of acceptance
        assert order[user].decided == Counter(jobs)
        assert order[user].count == len(jobs)
    assert _integrity(stage.directory / "memory.db") == "ok"
    assert _texts_left(stage.directory / "memory.db") == 0


def test_processes_read_and_write_one_user_without_a_lock_error(stage_in_memory):
    stage = stage_in_memory
    for role in ("add", "add", "add", "add", "read", "read"):
        stage.start(role)
    _wait(lambda: len(stage.lines("done")) + len(stage.lines("errors")) >= 4, seconds=200)
    stage.tell_to_stop()
    _wait(lambda: len(stage.lines("done")) + len(stage.lines("errors")) >= 6, seconds=60)

    assert stage.lines("errors") == []
    snapshot = asyncio.run(_snapshot(stage.directory / "memory.db"))
    assert snapshot.hot["count"].confirm_count == 4 * 40
    assert snapshot.version == 4 * 40


class Seen:
    """What a user's memory holds of the jobs."""

    def __init__(self, moves, decided, count) -> None:
        self.moves = moves
        self.decided = decided
        self.count = count


async def _drained(path: Path) -> dict[str, Seen]:
    backend = await open_sqlite(path, busy_seconds=30)
    try:
        async with asyncio.timeout(30):
            while (await backend.queue.depth()).waiting:  # noqa: ASYNC110  # other processes work
                await asyncio.sleep(0.05)
        found = {}
        for user in await backend.store.users(None, 100):
            moves = [move.item_id for move in await backend.store.moves(user)]
            decisions = await backend.store.decisions(user, limit=100_000)
            items = await backend.store.items(user, ["count"])
            found[user] = Seen(
                moves, Counter(d.job_id for d in decisions), items["count"].confirm_count
            )
        return found
    finally:
        await backend.close()


async def _snapshot(path: Path):
    backend = await open_sqlite(path)
    try:
        return await backend.store.snapshot("ann")
    finally:
        await backend.close()


def _accepted(path: Path) -> dict[str, list[str]]:
    found = defaultdict(list)
    with contextlib.closing(sqlite3.connect(path)) as raw:
        for user, job in raw.execute("select user_id, id from queue_jobs order by user_id, seq"):
            found[user].append(job)
    return found


def _integrity(path: Path) -> str:
    with contextlib.closing(sqlite3.connect(path)) as raw:
        return raw.execute("pragma integrity_check").fetchone()[0]


def _texts_left(path: Path) -> int:
    with contextlib.closing(sqlite3.connect(path)) as raw:
        return raw.execute("select count(*) from queue_jobs where payload <> ''").fetchone()[0]


def _wait(true, seconds: float) -> None:
    until = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < until, "it took too long"
        time.sleep(0.05)
