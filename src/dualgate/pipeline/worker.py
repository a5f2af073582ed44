"""Take a user, run his jobs in order, retry or park what fails [W1].

Queue times are the machine's own, whatever clock the memory lives by: a lease or a backoff must
not stand still because a test holds the clock.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta

from dualgate.errors import (
    DualgateError,
    LeaseLostError,
    ModelUnavailableError,
    StoreUnavailableError,
)
from dualgate.pipeline.observer import Observer
from dualgate.pipeline.ports import Clock, Job, JobKind, Lease, Queue


@dataclass(frozen=True, slots=True, kw_only=True)
class QueuePolicy:
    """How the queue is worked off."""

    lease_seconds: float = 60.0  # a job that takes longer is taken over, and fenced
    batch: int = 16  # jobs of one user per lease
    max_attempts: int = 6
    backoff_seconds: float = 0.5  # doubles with every attempt
    backoff_limit_seconds: float = 60.0
    # A job whose model does not answer is never parked: it waits, and looks this often at most.
    # Nor is one whose database is full or locked; that waits by the backoff alone.
    outage_seconds: float = 300.0
    poll_seconds: float = 0.5  # how soon jobs of other processes are seen
    workers: int = 1  # users worked on at once, in this process
    per_user_limit: int = 10_000
    total_limit: int = 1_000_000

    @property
    def patience_seconds(self) -> float:
        """Longer than anybody is held or put off; see ports.Queue.claim.

        >>> QueuePolicy().patience_seconds
        600.0
        """
        return 2 * max(self.lease_seconds, self.backoff_limit_seconds, self.outage_seconds)

    def problems(self) -> list[str]:
        """Return what is wrong with these numbers."""
        positive = (
            "lease_seconds", "batch", "max_attempts", "backoff_seconds", "backoff_limit_seconds",
            "outage_seconds", "poll_seconds", "workers", "per_user_limit", "total_limit",
        )  # fmt: skip
        return [f"queue.{n} must be positive" for n in positive if getattr(self, n) <= 0]


class Worker:
    """Runs the queue until stopped. `run_job` does the work; it raises what went wrong."""

    def __init__(
        self,
        queue: Queue,
        run_job: Callable[[Job, Lease], Awaitable[object]],
        after_user: Callable[[str], Awaitable[object]],
        policy: QueuePolicy,
        clock: Clock,
        observer: Observer,
        *,
        debounce_seconds: float = 0.0,
    ) -> None:
        self._queue = queue
        self._run_job = run_job
        self._after_user = after_user
        self._policy = policy
        self._clock = clock
        self._observer = observer
        self._wake = asyncio.Event()
        self._stopping = False
        self._running = 0
        self._debounce_seconds = debounce_seconds
        self._hurried = 0
        self._tasks: list[asyncio.Task[None]] = []

    def start(self) -> None:
        """Begin to work in the background."""
        self._tasks = [
            asyncio.create_task(self._run(), name=f"dualgate-worker-{n}")
            for n in range(self._policy.workers)
        ]

    @property
    def busy(self) -> bool:
        """Whether this process is working on a user right now."""
        return self._running > 0

    @contextlib.contextmanager
    def hurried(self) -> Iterator[None]:
        """Wait for no more turns of anybody while somebody waits for an answer."""
        self._hurried += 1
        self.wake()
        try:
            yield
        finally:
            self._hurried -= 1

    def wake(self) -> None:
        """Say that there is something to do."""
        self._wake.set()

    async def stop(self) -> None:
        """Finish the job in hand, release the user, end."""
        self._stopping = True
        self._wake.set()
        await asyncio.gather(*self._tasks)

    async def run_once(self) -> bool:
        """Work one lease off; return whether there was anything to do."""
        lease = await self._claim()
        if lease is None:
            return False
        self._running += 1
        try:
            await self._work_off(lease)
        finally:
            self._running -= 1
        return True

    async def _claim(self) -> Lease | None:
        """Take a user; one who has only just begun to speak may first go on for a moment.

        Whoever has waited longest is taken first, so nobody waits for another's moment: who comes
        up too early is the one who has waited longest.
        """
        lease = await self._take()
        if lease is None:
            return None
        while (moment := self._moment(lease)) > 0:
            await self._queue.release(lease)
            self._wake.clear()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(moment):
                    await self._wake.wait()
            lease = await self._take()
            if lease is None:
                return None
        return lease

    async def _take(self) -> Lease | None:
        policy = self._policy
        return await self._queue.claim(
            self._clock.now(), policy.lease_seconds, policy.batch,
            patience_seconds=policy.patience_seconds,
        )  # fmt: skip

    def _moment(self, lease: Lease) -> float:
        """Return how many seconds more turns of this user are waited for."""
        if self._hurried or self._stopping or not lease.jobs:
            return 0.0
        first = lease.jobs[0]
        full = len(lease.jobs) >= self._policy.batch
        if full or first.attempts or first.kind != JobKind.TURNS:
            return 0.0
        waited = (self._clock.now() - first.enqueued_at).total_seconds()
        # A clock that was put back must not make anybody wait for it to catch up.
        return self._debounce_seconds - waited if waited >= 0 else 0.0

    async def _run(self) -> None:
        while not self._stopping:
            self._wake.clear()
            try:
                if await self.run_once():
                    continue
            except Exception as error:  # noqa: BLE001 - told; the queue is asked again after a while
                self._observer.stumbled(_said(error))
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self._policy.poll_seconds):
                    await self._wake.wait()

    async def _work_off(self, lease: Lease) -> None:
        for job in lease.jobs:
            if self._stopping:
                break
            try:
                await self._run_job(job, lease)
            except LeaseLostError:
                return  # another worker has the user now, and runs the job
            except Exception as error:  # noqa: BLE001 - goes to the retry or the dead letters
                with contextlib.suppress(LeaseLostError):  # then its new holder runs the job
                    await self._failed(lease, job, error)
                return
        await self._queue.release(lease)
        try:
            await self._after_user(lease.user_id)
        except Exception as error:  # noqa: BLE001 - told; the jobs are done, upkeep comes again
            self._observer.stumbled(f"upkeep of {lease.user_id}: {_said(error)}")

    async def _failed(self, lease: Lease, job: Job, error: Exception) -> None:
        """Retry with backoff, then park as dead with the real error; order is kept.

        What waits for the database is never parked, nor what waits for a model, but for turns
        that a stand-in has read already: they must not stand in the way of what is said now. A
        retry ends the lease by itself; after a burial the user is let go for his next job.
        """
        if isinstance(error, StoreUnavailableError):
            dead = False
        elif job.kind == JobKind.REREAD:
            dead = isinstance(error, DualgateError)
        else:
            away = isinstance(error, ModelUnavailableError)
            dead = not away and job.attempts + 1 >= self._policy.max_attempts
        now, told = self._clock.now(), _said(error)
        if dead:
            await self._queue.bury(lease, job, told, now)
            await self._queue.release(lease)
        else:
            await self._queue.retry(lease, job, told, now + self._wait(job, error))
        self._observer.failed(job, told, dead=dead)

    def _wait(self, job: Job, error: Exception) -> timedelta:
        policy = self._policy
        # Doubling without end would leave what a number can hold.
        wait = policy.backoff_seconds * 2 ** min(job.attempts, 30)
        if not isinstance(error, ModelUnavailableError):
            return timedelta(seconds=min(wait, policy.backoff_limit_seconds))
        wait = max(wait, error.retry_after or 0.0)
        return timedelta(seconds=min(wait, policy.outage_seconds))


_RAW_LIMIT = 8_000  # characters of an unreadable answer that are kept with the dead letter


def _said(error: Exception) -> str:
    told = f"{type(error).__name__}: {error}"
    raw = getattr(error, "raw", "")
    return f"{told}\nThe answer was:\n{raw[:_RAW_LIMIT]}" if raw else told
