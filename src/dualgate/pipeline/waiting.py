"""wait=True: until a job is done, whoever runs it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from dualgate.domain.plan import Decision
from dualgate.errors import JobFailedError
from dualgate.pipeline.ports import Queue, Store

_LOOK_SECONDS = 0.05  # how often a job that another process runs is looked at


@dataclass(frozen=True, slots=True, kw_only=True)
class JobReport:
    """How a job stands: waiting, done or dead; what it decided; why it failed for good."""

    job_id: str
    state: str
    decisions: tuple[Decision, ...] = ()
    error: str | None = None


class Waiting:
    """Callers that wait for their jobs."""

    def __init__(self, queue: Queue, store: Store) -> None:
        self._queue = queue
        self._store = store
        self._events: dict[str, asyncio.Event] = {}

    def done(self, job_id: str) -> None:
        """Say that this process has finished a job."""
        if job_id in self._events:
            self._events[job_id].set()

    async def for_job(
        self, user_id: str, job_id: str, helper: Callable[[], Awaitable[bool]] | None
    ) -> list[Decision]:
        """Return the job's decisions once it is done. Raises JobFailedError if it was parked.

        helper: works a lease off, for a process that has no worker of its own.
        """
        event = self._events.setdefault(job_id, asyncio.Event())
        try:
            while (state := await self._queue.job_state(user_id, job_id)) == "waiting":
                if helper is not None and await helper():
                    continue
                try:
                    async with asyncio.timeout(_LOOK_SECONDS):
                        await event.wait()
                except TimeoutError:
                    continue
        finally:
            self._events.pop(job_id, None)
        if state == "dead":
            raise JobFailedError(job_id, await self._why_dead(user_id, job_id))
        return await self._decisions(user_id, job_id)

    async def report(self, user_id: str, job_id: str) -> JobReport:
        """Return how the job stands now. Raises NotFoundError."""
        state = await self._queue.job_state(user_id, job_id)
        error = await self._why_dead(user_id, job_id) if state == "dead" else None
        decisions = await self._decisions(user_id, job_id)
        return JobReport(job_id=job_id, state=state, decisions=tuple(decisions), error=error)

    async def _decisions(self, user_id: str, job_id: str) -> list[Decision]:
        return (await self._store.decisions(user_id, job_id=job_id, limit=10_000))[::-1]

    async def _why_dead(self, user_id: str, job_id: str) -> str:
        dead = {d.job.id: d.error for d in await self._queue.dead(user_id, limit=10_000)}
        return dead.get(job_id, "unknown")
