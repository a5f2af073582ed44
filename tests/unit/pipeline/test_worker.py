"""The worker: order per user, retries with backoff, dead letters with the real error [W1]."""

from __future__ import annotations

import asyncio

import pytest

from dualgate.adapters.memory import open_memory
from dualgate.errors import LeaseLostError, StoreError, StoreUnavailableError
from dualgate.pipeline.ports import JobKind
from dualgate.pipeline.worker import QueuePolicy, Worker
from dualgate.testing import ManualClock
from dualgate.testing.builders import MONDAY, a_job

POLICY = QueuePolicy(max_attempts=3, backoff_seconds=2.0, backoff_limit_seconds=3.0,
                     poll_seconds=0.01)  # fmt: skip


class Notebook:
    """An observer that writes everything down."""

    def __init__(self) -> None:
        self.failures: list[tuple[str, str, bool]] = []
        self.stumbles: list[str] = []

    def decided(self, decision) -> None: ...

    def moved(self, moves) -> None: ...

    def failed(self, job, error, *, dead) -> None:
        self.failures.append((job.id, error, dead))

    def stumbled(self, error) -> None:
        self.stumbles.append(error)


class Shop:
    """A worker over the in-memory queue, whose jobs do what the test says."""

    def __init__(self, policy: QueuePolicy = POLICY) -> None:
        self.clock = ManualClock(MONDAY)
        self.backend = open_memory()
        self.queue = self.backend.queue
        self.notebook = Notebook()
        self.ran: list[str] = []
        self.kept: list[str] = []
        self.behaviour: dict[str, Exception] = {}
        self.upkeep_fails = False
        self.worker = Worker(
            self.queue, self.run_job, self.after_user, policy, self.clock, self.notebook
        )

    async def run_job(self, job, lease) -> None:
        self.ran.append(job.id)
        if job.id in self.behaviour:
            raise self.behaviour[job.id]
        async with self.backend.store.begin(job.user_id, lease) as unit:
            await unit.finish(job, [])

    async def after_user(self, user_id) -> None:
        self.kept.append(user_id)
        if self.upkeep_fails:
            raise StoreError("the disk is full")

    async def add(self, *job_ids, **fields) -> None:
        for job_id in job_ids:
            await self.queue.enqueue(a_job(job_id, **fields))

    async def work(self) -> None:
        while await self.worker.run_once():
            pass


async def test_a_users_jobs_run_in_order_and_upkeep_comes_after_them():
    shop = Shop()
    await shop.add("one", "two", "three")

    await shop.work()

    assert shop.ran == ["one", "two", "three"]
    assert shop.kept == ["ann"]
    assert not await shop.worker.run_once()


async def test_a_failing_job_waits_longer_each_time_and_holds_back_the_next():
    shop = Shop()
    await shop.add("bad", "next")
    shop.behaviour["bad"] = ValueError("what?")

    for seconds in (2, 3):  # 2 · 2^0, then 2 · 2^1 cut to the limit
        await shop.work()
        assert shop.ran[-1] == "bad"
        attempts = len(shop.ran)
        shop.clock.advance(seconds=seconds - 0.01)
        await shop.work()
        assert len(shop.ran) == attempts, "too early"
        shop.clock.advance(seconds=0.01)

    assert shop.notebook.failures == [("bad", "ValueError: what?", False)] * 2
    assert "next" not in shop.ran


async def test_after_the_last_attempt_a_job_is_parked_with_its_error_and_the_next_runs_at_once():
    shop = Shop()
    await shop.add("bad", "next")
    shop.behaviour["bad"] = ValueError("what?")

    for _ in range(3):
        await shop.work()
        shop.clock.advance(seconds=5)

    assert shop.ran == ["bad", "bad", "bad", "next"]
    (dead,) = await shop.queue.dead("ann")
    assert (dead.job.id, dead.error, dead.job.attempts) == ("bad", "ValueError: what?", 3)
    assert shop.notebook.failures[-1] == ("bad", "ValueError: what?", True)
    assert await shop.queue.job_state("ann", "next") == "done"


async def test_a_full_disk_parks_no_job_however_long_it_lasts():
    """[W1] What was accepted waits for room; nobody has to revive it."""
    shop = Shop()
    await shop.add("one")
    await shop.add("again", kind=JobKind.REREAD, user_id="bob")
    full = StoreUnavailableError("the disk is full", "Free some space")
    shop.behaviour |= {"one": full, "again": full}
    for _ in range(3 * POLICY.max_attempts):
        await shop.work()
        shop.clock.advance(seconds=5)
    assert await shop.queue.dead() == []

    shop.behaviour.clear()
    await shop.work()

    assert await shop.queue.job_state("ann", "one") == "done"
    assert await shop.queue.job_state("bob", "again") == "done"
    assert {told for _, told, _ in shop.notebook.failures} == {
        "StoreUnavailableError: the disk is full. Free some space."
    }


async def test_a_user_is_let_go_after_a_dead_letter():
    """Not held until the lease runs out: what he says next is done at once."""
    shop = Shop(QueuePolicy(max_attempts=1))
    await shop.add("bad")
    shop.behaviour["bad"] = ValueError("what?")
    await shop.work()

    await shop.add("next")
    await shop.work()

    assert shop.ran == ["bad", "next"]


async def test_a_revived_job_runs_again():
    shop = Shop(QueuePolicy(max_attempts=1))
    await shop.add("bad")
    shop.behaviour["bad"] = ValueError("what?")
    await shop.work()
    del shop.behaviour["bad"]

    await shop.queue.revive("ann", "bad", shop.clock.now())
    await shop.work()

    assert await shop.queue.job_state("ann", "bad") == "done"


async def test_a_job_whose_lease_is_lost_is_no_failure():
    shop = Shop()
    await shop.add("one", "two")
    shop.behaviour["one"] = LeaseLostError("ann")

    await shop.worker.run_once()

    assert shop.ran == ["one"]
    assert shop.notebook.failures == []
    assert await shop.queue.job_state("ann", "one") == "waiting"


async def test_a_failure_after_the_lease_was_lost_is_left_to_the_new_holder():
    shop = Shop()
    await shop.add("one")

    async def too_slow(*_):
        shop.clock.advance(seconds=POLICY.lease_seconds)
        await shop.queue.claim(shop.clock.now(), 60, 1)
        raise ValueError("too late")

    shop.worker._run_job = too_slow  # noqa: SLF001
    await shop.worker.run_once()

    assert shop.notebook.failures == []
    assert await shop.queue.job_state("ann", "one") == "waiting"


async def test_failed_upkeep_is_told_and_undoes_no_job():
    shop = Shop()
    shop.upkeep_fails = True
    await shop.add("one")

    await shop.work()

    assert await shop.queue.job_state("ann", "one") == "done"
    assert shop.notebook.stumbles == ["upkeep of ann: StoreError: the disk is full."]


async def test_a_database_that_fails_for_a_while_does_not_end_the_worker():
    shop = Shop()
    claim, failures = shop.queue.claim, 3

    async def failing(*args, **named):
        nonlocal failures
        if failures:
            failures -= 1
            raise StoreError("the database is locked")
        return await claim(*args, **named)

    shop.queue.claim = failing
    await shop.add("one")
    shop.worker.start()
    async with asyncio.timeout(5):
        while await shop.queue.job_state("ann", "one") != "done":  # noqa: ASYNC110
            await asyncio.sleep(0.005)
    await shop.worker.stop()

    assert shop.notebook.stumbles == ["StoreError: the database is locked."] * 3


async def test_stopping_finishes_the_job_in_hand_and_lets_the_user_go():
    shop = Shop()
    await shop.add("one", "two")
    started, go_on = asyncio.Event(), asyncio.Event()
    run_job = shop.run_job

    async def slow(job, lease):
        started.set()
        await go_on.wait()
        await run_job(job, lease)

    shop.worker._run_job = slow  # noqa: SLF001
    shop.worker.start()
    await started.wait()
    assert shop.worker.busy
    stopping = asyncio.create_task(shop.worker.stop())
    await asyncio.sleep(0)
    go_on.set()
    await stopping

    assert shop.ran == ["one"]
    assert not shop.worker.busy
    lease = await shop.queue.claim(shop.clock.now(), 60, 10)
    assert [job.id for job in lease.jobs] == ["two"]


async def test_users_are_worked_on_side_by_side():
    shop = Shop(QueuePolicy(workers=2, poll_seconds=0.01))
    await shop.add("a", user_id="ann")
    await shop.add("b", user_id="bob")
    both, running = asyncio.Event(), set()
    run_job = shop.run_job

    async def meet(job, lease):
        running.add(job.user_id)
        if len(running) == 2:
            both.set()
        await both.wait()
        await run_job(job, lease)

    shop.worker._run_job = meet  # noqa: SLF001
    shop.worker.start()
    async with asyncio.timeout(5):
        await both.wait()
    await shop.worker.stop()

    assert sorted(shop.ran) == ["a", "b"]


@pytest.mark.parametrize("name", ["lease_seconds", "batch", "max_attempts", "poll_seconds"])
def test_numbers_that_make_no_sense_are_named(name):
    assert QueuePolicy(**{name: 0}).problems() == [f"queue.{name} must be positive"]


