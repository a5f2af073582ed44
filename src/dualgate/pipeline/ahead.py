"""Reading several jobs at once, and reading once more what a stand-in has read [W5].

Rule: the queue keeps its order and its one job after the other; what is read together is only
read together.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from dualgate.errors import (
    DualgateError,
    ModelBudgetError,
    ModelRejectedError,
    ModelUnavailableError,
)
from dualgate.pipeline.hearing import WritePorts, read_ahead
from dualgate.pipeline.ports import JobKind, Lease, Queue
from dualgate.pipeline.reading import Reading

_LEASES = 64  # whose readings are kept at once; a lease that is over is pushed out in the end
_AT_ONCE = 100  # put-off jobs that are taken up in one go

# Whoever parked them waits for the model; what could not be read stays for an operator to see.
_WAITING_FOR_MODEL = tuple(
    f"{kind.__name__}:" for kind in (ModelUnavailableError, ModelBudgetError, ModelRejectedError)
)


class ReadAhead:
    """The turns of each lease, read together when its first job is run."""

    def __init__(self, on: WritePorts) -> None:
        self._on = on
        self._read: dict[str, dict[str, Reading]] = {}

    async def of(self, lease: Lease) -> Mapping[str, Reading]:
        """Return what was read of the lease's jobs, by turn id; what failed is left out."""
        if lease.token not in self._read:
            while len(self._read) >= _LEASES:
                del self._read[next(iter(self._read))]
            self._read[lease.token] = await self._together(lease)
        return self._read[lease.token]

    async def _together(self, lease: Lease) -> dict[str, Reading]:
        # What failed before is tried alone, or every attempt would pay for its neighbours again.
        if any(job.attempts for job in lease.jobs):
            return {}
        try:
            return await read_ahead(lease, self._on)
        except DualgateError:
            return {}  # the job it happened to meets it again, and says so


async def take_up_again(queue: Queue, user_id: str | None, now: datetime) -> int:
    """Let jobs run that wait for the model; return how many.

    Of one user, or of all: a hundred at most, the latest first; the rest has its turn after them.
    """
    parked = [
        dead
        for dead in await queue.dead(user_id, _AT_ONCE)
        if dead.job.kind == JobKind.REREAD and dead.error.startswith(_WAITING_FOR_MODEL)
    ]
    for dead in parked:
        await queue.revive(dead.job.user_id, dead.job.id, now)
    return len(parked)
