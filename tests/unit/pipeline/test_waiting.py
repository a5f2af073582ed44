"""wait=True: until the job is done, whoever runs it [W1]."""

from __future__ import annotations

import asyncio

import pytest

from dualgate.adapters.memory import open_memory
from dualgate.errors import JobFailedError, NotFoundError
from dualgate.pipeline.waiting import Waiting
from dualgate.testing.builders import MONDAY, a_decision, a_job


class Office:
    def __init__(self) -> None:
        self.backend = open_memory()
        self.waiting = Waiting(self.backend.queue, self.backend.store)

    async def enqueue(self, job_id="job-1"):
        await self.backend.queue.enqueue(a_job(job_id))

    async def finish(self, *decision_ids):
        lease = await self.backend.queue.claim(MONDAY, 60, 1)
        (job,) = lease.jobs
        decisions = [a_decision(id=i, job_id=job.id) for i in decision_ids]
        async with self.backend.store.begin(job.user_id, lease) as unit:
            await unit.finish(job, decisions)
        await self.backend.queue.release(lease)
        return job.id

    async def bury(self, error):
        lease = await self.backend.queue.claim(MONDAY, 60, 1)
        await self.backend.queue.bury(lease, lease.jobs[0], error, MONDAY)
        await self.backend.queue.release(lease)


async def test_the_decisions_come_back_in_the_order_in_which_they_were_made():
    office = Office()
    await office.enqueue()
    await office.finish("d-1", "d-2", "d-3")

    found = await office.waiting.for_job("ann", "job-1", None)

    assert [d.id for d in found] == ["d-1", "d-2", "d-3"]


async def test_who_waits_is_told_by_the_worker_of_this_process():
    office = Office()
    await office.enqueue()
    waiter = asyncio.create_task(office.waiting.for_job("ann", "job-1", None))
    await asyncio.sleep(0)
    office.waiting.done(await office.finish("d-1"))

    async with asyncio.timeout(5):
        assert [d.id for d in await waiter] == ["d-1"]


async def test_who_waits_sees_it_when_another_process_has_done_it():
    office = Office()
    await office.enqueue()
    waiter = asyncio.create_task(office.waiting.for_job("ann", "job-1", None))
    await asyncio.sleep(0)
    await office.finish("d-1")  # nobody says so

    async with asyncio.timeout(5):
        assert [d.id for d in await waiter] == ["d-1"]


async def test_two_may_wait_for_one_job():
    office = Office()
    await office.enqueue()
    waiters = [
        asyncio.create_task(office.waiting.for_job("ann", "job-1", None)) for _ in range(2)
    ]
    await asyncio.sleep(0)
    office.waiting.done(await office.finish("d-1"))

    async with asyncio.timeout(5):
        assert [[d.id for d in await w] for w in waiters] == [["d-1"], ["d-1"]]


async def test_a_process_without_a_worker_helps_itself():
    office = Office()
    await office.enqueue()

    async def helper():
        await office.finish("d-1")
        return True

    assert len(await office.waiting.for_job("ann", "job-1", helper)) == 1


async def test_a_parked_job_raises_its_real_error():
    office = Office()
    await office.enqueue()
    await office.bury("ValueError: what?")

    with pytest.raises(JobFailedError, match="ValueError: what") as caught:
        await office.waiting.for_job("ann", "job-1", None)

    assert (caught.value.job_id, caught.value.error) == ("job-1", "ValueError: what?")


async def test_nobody_waits_for_a_job_that_never_was():
    with pytest.raises(NotFoundError):
        await Office().waiting.for_job("ann", "job-1", None)


async def test_a_job_that_nobody_waits_for_is_no_trouble():
    Office().waiting.done("job-1")
