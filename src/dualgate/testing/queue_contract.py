"""What every Queue does: ordered per user, durable, exactly once in effect [W1]."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from dualgate.errors import InvalidInputError, LeaseLostError, NotFoundError, QueueFullError
from dualgate.pipeline.ports import Lease
from dualgate.testing.backend import Backend, OpenBackend, write
from dualgate.testing.builders import MONDAY, a_decision, a_job, a_plan, an_item

LEASE = 30.0
SECOND = timedelta(seconds=1)
EXPIRED = MONDAY + timedelta(seconds=LEASE)


class QueueContract:
    """Jobs wait in order, one worker holds one user, a late worker changes nothing."""

    async def test_a_job_comes_back_as_it_was_given(self, backend: Backend) -> None:
        job = a_job(idempotency_key="key")

        assert await backend.queue.enqueue(job) == "job-1"
        lease = await _claim(backend)
        assert lease.user_id == "ann"
        assert lease.token
        assert lease.until == EXPIRED
        assert lease.jobs == (job,)
        assert await backend.queue.job_state("ann", "job-1") == "waiting"

    async def test_an_empty_queue_gives_nothing(self, backend: Backend) -> None:
        depth = await backend.queue.depth()

        assert await backend.queue.claim(MONDAY, LEASE, 10) is None
        assert await backend.queue.next_due() is None
        assert (depth.waiting, depth.dead, depth.oldest_enqueued_at) == (0, 0, None)

    async def test_the_jobs_of_a_user_keep_their_order_and_the_limit(
        self, backend: Backend
    ) -> None:
        for n in range(5):
            await backend.queue.enqueue(a_job(f"job-{n}"))

        lease = await _claim(backend, limit=3)

        assert [job.id for job in lease.jobs] == ["job-0", "job-1", "job-2"]

    async def test_one_worker_holds_a_user_and_others_run_in_parallel(
        self, backend: Backend
    ) -> None:
        for user in ("ann", "bob"):
            for n in range(2):
                await backend.queue.enqueue(a_job(f"{user}-{n}", user_id=user))

        first, second = await _claim(backend, limit=1), await _claim(backend, limit=1)

        assert {first.user_id, second.user_id} == {"ann", "bob"}
        assert first.token != second.token
        assert await backend.queue.claim(MONDAY, LEASE, 10) is None

    async def test_racing_workers_get_one_lease(self, backend: Backend) -> None:
        await backend.queue.enqueue(a_job())

        claims = await asyncio.gather(*(backend.queue.claim(MONDAY, LEASE, 10) for _ in range(6)))

        assert len([lease for lease in claims if lease]) == 1

    async def test_who_waits_longest_is_served_first(self, backend: Backend) -> None:
        for n, user in enumerate(("bob", "ann", "eve")):
            at = MONDAY + n * SECOND
            await backend.queue.enqueue(a_job(f"job-{n}", user_id=user, enqueued_at=at))

        late = MONDAY + timedelta(minutes=1)
        served = {(await _claim(backend, late)).user_id for _ in range(3)}
        assert served == {"ann", "bob", "eve"}

    async def test_a_released_user_is_due_at_once(self, backend: Backend) -> None:
        await backend.queue.enqueue(a_job())
        lease = await _claim(backend)
        await backend.queue.release(lease)

        again = await _claim(backend)

        assert again.token != lease.token
        assert [job.attempts for job in again.jobs] == [0]

    async def test_a_job_ends_with_the_unit_that_did_its_work(self, backend: Backend) -> None:
        await backend.queue.enqueue(a_job("job-1"))
        await backend.queue.enqueue(a_job("job-2"))
        lease = await _claim(backend)
        recorded, by_finish = (
            a_decision(id="d1", job_id="job-1"),
            a_decision(id="d2", job_id="job-1"),
        )
        async with backend.store.begin("ann", lease) as unit:
            await unit.apply(a_plan(an_item(), decision=recorded))
            await unit.finish(lease.jobs[0], [recorded, by_finish])
        await backend.queue.release(lease)

        rest = await _claim(backend)
        assert [job.id for job in rest.jobs] == ["job-2"]
        assert await backend.queue.job_state("ann", "job-1") == "done"
        assert await backend.store.decisions("ann", job_id="job-1") == [by_finish, recorded]

    async def test_a_unit_left_by_an_exception_ends_no_job(self, backend: Backend) -> None:
        await backend.queue.enqueue(a_job())
        lease = await _claim(backend)
        with pytest.raises(ZeroDivisionError):
            async with backend.store.begin("ann", lease) as unit:
                await unit.finish(lease.jobs[0], [a_decision()])
                raise ZeroDivisionError

        assert await backend.queue.job_state("ann", "job-1") == "waiting"
        assert await backend.store.decisions("ann") == []

    async def test_a_job_ends_once(self, backend: Backend) -> None:
        await backend.queue.enqueue(a_job())
        async with backend.store.begin("ann") as unit:
            await unit.finish(a_job(), [])
        with pytest.raises(NotFoundError):
            async with backend.store.begin("ann") as unit:
                await unit.apply(a_plan(an_item()))
                await unit.finish(a_job(), [])

        assert await backend.store.items("ann", ["item-1"]) == {}

    async def test_an_expired_lease_is_taken_over(self, backend: Backend) -> None:
        await backend.queue.enqueue(a_job())
        late = await _claim(backend)
        early = await backend.queue.claim(EXPIRED - SECOND, LEASE, 10)
        taker = await _claim(backend, EXPIRED)

        assert early is None
        assert taker.token != late.token
        assert taker.jobs == late.jobs

    async def test_a_lease_that_ran_out_holds_until_somebody_takes_the_user(
        self, backend: Backend
    ) -> None:
        await backend.queue.enqueue(a_job())
        lease = await _claim(backend)
        await write(backend, a_plan(an_item()), lease=replace(lease, until=MONDAY))

        assert set(await backend.store.items("ann", ["item-1"])) == {"item-1"}

    async def test_a_clock_put_back_keeps_nobody_waiting_for_the_time_that_was(
        self, backend: Backend
    ) -> None:
        ahead = MONDAY + timedelta(days=40)
        for user in ("ann", "bob", "cem"):
            await backend.queue.enqueue(a_job(f"job-{user}", user_id=user, enqueued_at=ahead))
        held, delayed = await _claim(backend, ahead), await _claim(backend, ahead)
        await backend.queue.retry(delayed, delayed.jobs[0], "timeout", ahead + SECOND)
        taken = [await _claim(backend) for _ in range(3)]

        assert {lease.user_id for lease in taken} == {"ann", "bob", "cem"}
        assert held.token not in {lease.token for lease in taken}
        assert await backend.queue.claim(MONDAY, LEASE, 10) is None

    async def test_a_delay_that_may_be_is_kept(self, backend: Backend) -> None:
        await backend.queue.enqueue(a_job())
        lease = await _claim(backend)
        await backend.queue.retry(lease, lease.jobs[0], "away", MONDAY + 300 * SECOND)

        assert await backend.queue.claim(MONDAY, LEASE, 10, patience_seconds=300) is None
        assert await backend.queue.claim(MONDAY, LEASE, 10, patience_seconds=299) is not None

    async def test_a_late_worker_changes_nothing(self, backend: Backend) -> None:
        await backend.queue.enqueue(a_job())
        late = await _claim(backend)
        taker = await _claim(backend, EXPIRED)

        with pytest.raises(LeaseLostError):
            async with backend.store.begin("ann", late) as unit:
                await unit.apply(a_plan(an_item()))
        with pytest.raises(LeaseLostError):
            await backend.queue.retry(late, late.jobs[0], "late", EXPIRED + 9 * SECOND)
        with pytest.raises(LeaseLostError):
            await backend.queue.bury(late, late.jobs[0], "late", EXPIRED)
        await backend.queue.release(late)

        assert await backend.store.items("ann", ["item-1"]) == {}
        assert await backend.queue.claim(EXPIRED, LEASE, 10) is None  # the taker still holds
        async with backend.store.begin("ann", taker) as unit:
            await unit.finish(taker.jobs[0], [])
        assert await backend.queue.job_state("ann", "job-1") == "done"

    async def test_a_released_lease_opens_no_unit(self, backend: Backend) -> None:
        await backend.queue.enqueue(a_job())
        lease = await _claim(backend)
        await backend.queue.release(lease)
        with pytest.raises(LeaseLostError):
            await write(backend, a_plan(an_item()), lease=lease)

        assert await backend.store.items("ann", ["item-1"]) == {}

    async def test_a_lease_on_one_user_opens_no_unit_of_another(self, backend: Backend) -> None:
        await backend.queue.enqueue(a_job())
        lease = await _claim(backend)
        with pytest.raises(InvalidInputError, match="lease"):
            async with backend.store.begin("bob", lease):
                pass

    async def test_a_retry_delays_the_whole_user_and_keeps_the_order(
        self, backend: Backend
    ) -> None:
        for n in range(2):
            await backend.queue.enqueue(a_job(f"job-{n}"))
        lease = await _claim(backend)
        due = MONDAY + 60 * SECOND
        await backend.queue.retry(lease, lease.jobs[0], "timeout", due)
        await backend.queue.enqueue(a_job("job-2"))
        await backend.queue.release(lease)  # as a worker's clean-up would: the delay stays

        assert await backend.queue.next_due() == due
        assert await backend.queue.claim(due - SECOND, LEASE, 10) is None
        again = await _claim(backend, due)
        assert [(job.id, job.attempts) for job in again.jobs] == [
            ("job-0", 1),
            ("job-1", 0),
            ("job-2", 0),
        ]

    async def test_a_buried_job_lets_the_next_one_run(self, backend: Backend) -> None:
        for n in range(2):
            await backend.queue.enqueue(a_job(f"job-{n}"))
        lease = await _claim(backend)
        error = "ExtractionError: 无法解析 💥"
        await backend.queue.bury(lease, lease.jobs[0], error, MONDAY + SECOND)
        async with backend.store.begin("ann", lease) as unit:
            await unit.finish(lease.jobs[1], [])
        depth = await backend.queue.depth()

        (dead,) = await backend.queue.dead("ann")
        assert (dead.job.id, dead.error, dead.died_at) == ("job-0", error, MONDAY + SECOND)
        assert (dead.job.attempts, dead.job.payload) == (1, a_job().payload)
        assert await backend.queue.job_state("ann", "job-0") == "dead"
        assert (depth.waiting, depth.dead) == (0, 1)

    async def test_dead_jobs_are_listed_newest_first_for_one_user_or_all(
        self, backend: Backend
    ) -> None:
        for n, user in enumerate(("ann", "bob", "ann")):
            await backend.queue.enqueue(a_job(f"job-{n}", user_id=user))
            lease = await _claim(backend)
            await backend.queue.bury(lease, lease.jobs[0], "x", MONDAY + n * SECOND)
            await backend.queue.release(lease)

        async def ids(user: str | None, limit: int = 100) -> list[str]:
            return [dead.job.id for dead in await backend.queue.dead(user, limit)]

        assert await ids(None) == ["job-2", "job-1", "job-0"]
        assert await ids("ann") == ["job-2", "job-0"]
        assert await ids(None, 1) == ["job-2"]

    async def test_a_revived_job_runs_again_in_its_old_place(self, backend: Backend) -> None:
        for n in range(2):
            await backend.queue.enqueue(a_job(f"job-{n}"))
        lease = await _claim(backend)
        await backend.queue.bury(lease, lease.jobs[0], "x", MONDAY)
        await backend.queue.release(lease)
        await backend.queue.revive("ann", "job-0", MONDAY + SECOND)

        again = await _claim(backend, MONDAY + SECOND)
        assert [(job.id, job.attempts) for job in again.jobs] == [("job-0", 0), ("job-1", 0)]
        assert await backend.queue.dead() == []

    async def test_only_a_dead_job_is_revived(self, backend: Backend) -> None:
        await backend.queue.enqueue(a_job())
        for user, job in (("ann", "job-1"), ("ann", "unknown"), ("bob", "job-1")):
            with pytest.raises(NotFoundError):
                await backend.queue.revive(user, job, MONDAY)
        with pytest.raises(NotFoundError):
            await backend.queue.job_state("bob", "job-1")

    async def test_an_idempotency_key_gives_the_first_job(self, backend: Backend) -> None:
        queue = backend.queue
        first = await queue.enqueue(a_job("job-1", idempotency_key="key"))
        again = await queue.enqueue(a_job("job-2", idempotency_key="key"))
        theirs = await queue.enqueue(a_job("job-3", user_id="bob", idempotency_key="key"))
        async with backend.store.begin("ann") as unit:
            await unit.finish(a_job("job-1", idempotency_key="key"), [])
        after_done = await queue.enqueue(a_job("job-4", idempotency_key="key"))

        assert (first, again, theirs, after_done) == ("job-1", "job-1", "job-3", "job-1")
        assert (await queue.depth()).waiting == 1

    async def test_the_same_job_is_stored_once(self, backend: Backend) -> None:
        for _ in range(2):
            assert await backend.queue.enqueue(a_job()) == "job-1"

        assert (await backend.queue.depth()).waiting == 1

    async def test_depth_counts_what_waits_and_since_when(self, backend: Backend) -> None:
        await backend.queue.enqueue(a_job("job-1", enqueued_at=MONDAY))
        await backend.queue.enqueue(a_job("job-2", user_id="bob", enqueued_at=MONDAY + SECOND))
        await _claim(backend)

        depth = await backend.queue.depth()

        assert (depth.waiting, depth.oldest_enqueued_at) == (2, MONDAY)

    async def test_what_waits_is_due_and_what_is_held_when_the_lease_ends(
        self, backend: Backend
    ) -> None:
        await backend.queue.enqueue(a_job())
        due = await backend.queue.next_due()
        lease = await _claim(backend)

        assert due is not None
        assert due <= MONDAY
        assert await backend.queue.next_due() == lease.until

    async def test_a_full_user_queue_says_so(self, open_backend: OpenBackend) -> None:
        backend = await open_backend(per_user=2)
        await backend.queue.enqueue(a_job("job-1", idempotency_key="key"))
        await backend.queue.enqueue(a_job("job-2"))
        with pytest.raises(QueueFullError) as full:
            await backend.queue.enqueue(a_job("job-3"))
        other = await backend.queue.enqueue(a_job("job-4", user_id="bob"))
        known = await backend.queue.enqueue(a_job("job-5", idempotency_key="key"))

        assert (full.value.scope, full.value.depth, full.value.limit) == ("user", 2, 2)
        assert full.value.retry_after > 0
        assert (other, known) == ("job-4", "job-1")

    async def test_a_full_queue_says_so(self, open_backend: OpenBackend) -> None:
        backend = await open_backend(total=2)
        await backend.queue.enqueue(a_job("job-1"))
        await backend.queue.enqueue(a_job("job-2", user_id="bob"))
        with pytest.raises(QueueFullError) as full:
            await backend.queue.enqueue(a_job("job-3", user_id="eve"))
        async with backend.store.begin("ann") as unit:
            await unit.finish(a_job("job-1"), [])

        assert (full.value.scope, full.value.limit) == ("total", 2)
        assert await backend.queue.enqueue(a_job("job-3", user_id="eve")) == "job-3"

    async def test_dead_jobs_take_no_room(self, open_backend: OpenBackend) -> None:
        backend = await open_backend(per_user=1)
        await backend.queue.enqueue(a_job("job-1"))
        lease = await _claim(backend)
        await backend.queue.bury(lease, lease.jobs[0], "x", MONDAY)

        assert await backend.queue.enqueue(a_job("job-2")) == "job-2"

    @pytest.mark.parametrize("blank", ["", " \t"])
    async def test_a_blank_user_is_refused(self, backend: Backend, blank: str) -> None:
        doors = [
            backend.queue.enqueue(a_job(user_id=blank)),
            backend.queue.job_state(blank, "job-1"),
            backend.queue.dead(blank),
            backend.queue.revive(blank, "job-1", MONDAY),
        ]
        for door in doors:
            with pytest.raises(InvalidInputError, match="user_id"):
                await door

    async def test_a_payload_changed_by_its_giver_stays_as_it_was_given(
        self, backend: Backend
    ) -> None:
        payload = {"turns": ["one"]}
        await backend.queue.enqueue(a_job(payload=payload))
        payload["turns"].append("two")

        assert (await _claim(backend)).jobs[0].payload == {"turns": ["one"]}


async def _claim(backend: Backend, now: datetime = MONDAY, limit: int = 10) -> Lease:
    lease = await backend.queue.claim(now, LEASE, limit)
    assert lease is not None
    return lease
