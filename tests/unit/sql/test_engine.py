"""The thread of a connection does what was asked of it, even when nobody waits any more."""

from __future__ import annotations

import asyncio
import sqlite3
import threading

from dualgate.adapters.sql.engine import Database, connect

BUSY_SECONDS = 5


def database_threads():
    return {one for one in threading.enumerate() if "_work_off" in one.name}


def test_a_loop_that_ends_in_the_middle_of_a_unit_leaves_no_lock_and_no_dead_thread(tmp_path):
    path = tmp_path / "memory.db"
    connect(path, BUSY_SECONDS).execute("CREATE TABLE t (x)").connection.close()
    reached, may_go_on = threading.Event(), threading.Event()
    database = Database(path, BUSY_SECONDS)

    def slow(_):
        reached.set()
        may_go_on.wait(10)

    async def interrupted():
        await database.open()
        task = asyncio.ensure_future(database.write(slow))
        await asyncio.to_thread(reached.wait, 10)
        task.cancel()

    before = database_threads()
    asyncio.run(interrupted())
    may_go_on.set()

    raw = sqlite3.connect(path, timeout=BUSY_SECONDS)
    raw.execute("INSERT INTO t VALUES (1)")
    raw.commit()
    raw.close()
    (ours,) = database_threads() - before
    assert ours.is_alive()
    asyncio.run(database.close())
    ours.join(10)
    assert not ours.is_alive()


def test_a_call_given_up_before_its_answer_came_does_not_stop_the_next_one(tmp_path):
    path = tmp_path / "memory.db"

    async def story():
        database = Database(path, BUSY_SECONDS)
        await database.open()
        slow = database.read(lambda _: threading.Event().wait(0.05))
        given_up = asyncio.ensure_future(slow)
        await asyncio.sleep(0.01)
        given_up.cancel()
        answer = await database.read(lambda _: 42)
        await database.close()
        return answer

    assert asyncio.run(story()) == 42
