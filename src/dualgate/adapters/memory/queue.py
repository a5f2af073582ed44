"""The queue in process: one line of jobs per user, one lease per line [W1].

Rule: nothing here awaits, so every method is one atomic step of the event loop. What is durable
lives as long as the process: `memory://` promises no more.
"""

from __future__ import annotations

import copy
from bisect import insort
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from dualgate.adapters.memory.doors import require_user
from dualgate.errors import InvalidInputError, LeaseLostError, NotFoundError, QueueFullError
from dualgate.pipeline.dossier import KeptJob
from dualgate.pipeline.ports import PATIENCE_SECONDS, DeadJob, Job, Lease, QueueDepth


@dataclass(order=True, slots=True)
class _Entry:
    number: int
    job: Job = field(compare=False)


@dataclass(slots=True)
class _Line:
    """One user's jobs. `waiting` is sorted by number, the order of arrival."""

    since: datetime  # from when on its turn counts: the lines take turns by it
    waiting: list[_Entry] = field(default_factory=list)
    by_id: dict[str, _Entry] = field(default_factory=dict)  # of those that wait
    dead: dict[str, tuple[_Entry, DeadJob]] = field(default_factory=dict)
    done: set[str] = field(default_factory=set)
    keys: dict[str, str] = field(default_factory=dict)
    delayed_until: datetime | None = None
    token: str | None = None
    until: datetime | None = None
    claimed_at: datetime | None = None

    def join(self, entry: _Entry) -> None:
        insort(self.waiting, entry)
        self.by_id[entry.job.id] = entry

    def leave(self, entry: _Entry) -> None:
        self.waiting.remove(entry)
        del self.by_id[entry.job.id]

    def free_at(self) -> datetime:
        if self.token is not None and self.until is not None:
            return self.until
        return self.delayed_until or self.since

    def is_due(self, now: datetime, far: datetime) -> bool:
        # A free line is due whatever its `since` says: a clock that was put back stalls nobody.
        held_or_delayed = self.token is not None or self.delayed_until is not None
        return bool(self.waiting) and not (held_or_delayed and now < self.free_at() <= far)


class MemoryQueue:
    """Implements ports.Queue. A Store of the same backend ends its jobs inside its units."""

    def __init__(self, *, per_user: int = 10_000, total: int = 1_000_000) -> None:
        for name, limit in (("per_user", per_user), ("total", total)):
            if limit < 1:
                raise InvalidInputError(name, "must be at least 1", limit)
        self._per_user = per_user
        self._total = total
        self._lines: dict[str, _Line] = {}
        self._waiting = 0
        self._numbers = 0
        self._leases = 0

    async def enqueue(self, job: Job) -> str:
        """Store the job; see ports.Queue."""
        require_user(job.user_id)
        line = self._lines.get(job.user_id) or _Line(since=job.enqueued_at)
        known = self._known(line, job)
        if known is not None:
            return known
        if len(line.waiting) >= self._per_user:
            raise QueueFullError("user", len(line.waiting), self._per_user)
        if self._waiting >= self._total:
            raise QueueFullError("total", self._waiting, self._total)
        if not line.waiting and line.token is None:
            line.since = job.enqueued_at
        self._numbers += 1
        line.join(_Entry(self._numbers, _copied(job)))
        if job.idempotency_key is not None:
            line.keys[job.idempotency_key] = job.id
        self._lines[job.user_id] = line
        self._waiting += 1
        return job.id

    async def claim(
        self,
        now: datetime,
        lease_seconds: float,
        limit: int,
        *,
        patience_seconds: float = PATIENCE_SECONDS,
    ) -> Lease | None:
        """Take the user who has waited longest; see ports.Queue."""
        if limit < 1:
            raise InvalidInputError("limit", "must be at least 1", limit)
        far = now + timedelta(seconds=patience_seconds)
        due = [(line.since, user) for user, line in self._lines.items() if line.is_due(now, far)]
        if not due:
            return None
        user_id = min(due)[1]
        line = self._lines[user_id]
        self._leases += 1
        line.token = f"lease-{self._leases}"
        line.until = now + timedelta(seconds=lease_seconds)
        line.claimed_at = now
        line.delayed_until = None
        jobs = tuple(_copied(entry.job) for entry in line.waiting[:limit])
        return Lease(user_id=user_id, token=line.token, until=line.until, jobs=jobs)

    async def release(self, lease: Lease) -> None:
        """Let the user go; a lease that is no longer held changes nothing."""
        if self.holds(lease):
            self._let_go(self._lines[lease.user_id])

    async def retry(
        self,
        lease: Lease,
        job: Job,
        error: str,  # noqa: ARG002  # the last one counts: it comes with `bury`
        due_at: datetime,
    ) -> None:
        """Count a failed attempt and let the user wait; see ports.Queue."""
        line, entry = self._held(lease, job)
        entry.job = replace(entry.job, attempts=entry.job.attempts + 1)
        self._let_go(line)
        line.delayed_until = due_at

    async def bury(self, lease: Lease, job: Job, error: str, now: datetime) -> None:
        """Park the job as dead with its error; see ports.Queue."""
        line, entry = self._held(lease, job)
        entry.job = replace(entry.job, attempts=entry.job.attempts + 1)
        line.leave(entry)
        self._waiting -= 1
        line.dead[job.id] = (entry, DeadJob(job=entry.job, error=error, died_at=now))

    async def job_state(self, user_id: str, job_id: str) -> str:
        """Return waiting, done or dead; see ports.Queue."""
        line = self._lines.get(require_user(user_id))
        if line is not None:
            if job_id in line.done:
                return "done"
            if job_id in line.dead:
                return "dead"
            if job_id in line.by_id:
                return "waiting"
        raise NotFoundError("job", job_id)

    async def depth(self) -> QueueDepth:
        """Return how much waits in all; see ports.Queue."""
        lines = self._lines.values()
        oldest = (line.waiting[0].job.enqueued_at for line in lines if line.waiting)
        return QueueDepth(
            waiting=self._waiting,
            dead=sum(len(line.dead) for line in lines),
            oldest_enqueued_at=min(oldest, default=None),
        )

    async def next_due(self) -> datetime | None:
        """Return when the next job becomes due; None if nothing waits."""
        return min((x.free_at() for x in self._lines.values() if x.waiting), default=None)

    async def dead(self, user_id: str | None = None, limit: int = 100) -> list[DeadJob]:
        """Return parked jobs, newest first."""
        if user_id is not None:
            require_user(user_id)
        parked = [
            pair
            for user, line in self._lines.items()
            if user_id is None or user == user_id
            for pair in line.dead.values()
        ]
        parked.sort(key=lambda pair: (pair[1].died_at, pair[0].number), reverse=True)
        return [replace(dead, job=_copied(dead.job)) for _, dead in parked[: max(0, limit)]]

    async def revive(self, user_id: str, job_id: str, now: datetime) -> None:
        """Let a dead job run again in its old place; see ports.Queue."""
        line = self._lines.get(require_user(user_id))
        if line is None or job_id not in line.dead:
            raise NotFoundError("job", job_id)
        entry, _ = line.dead.pop(job_id)
        entry.job = replace(entry.job, attempts=0)
        if not line.waiting and line.token is None:
            line.since = now
        line.join(entry)
        self._waiting += 1

    # --- for the Store of the same backend ------------------------------------------------------

    def holds(self, lease: Lease) -> bool:
        """Return whether the lease still holds its user: nobody has taken over."""
        line = self._lines.get(lease.user_id)
        return line is not None and line.token == lease.token

    def waits(self, user_id: str, job_id: str) -> bool:
        """Return whether the job is still to be done."""
        line = self._lines.get(user_id)
        return line is not None and job_id in line.by_id

    def end(self, user_id: str, job_ids: Iterable[str]) -> None:
        """Take jobs that wait out of the line: they are done."""
        ended = list(job_ids)
        for job_id in ended:  # all of them, before the first one is taken out
            if not self.waits(user_id, job_id):
                raise NotFoundError("job", job_id)
        for job_id in ended:
            line = self._lines[user_id]
            line.leave(line.by_id[job_id])
            line.done.add(job_id)
            self._waiting -= 1

    def kept(self, user_id: str) -> list[KeptJob]:
        """Return the user's jobs that wait or are dead, in order of arrival."""
        line = self._lines.get(user_id)
        if line is None:
            return []
        waiting = [(entry, KeptJob(job=entry.job)) for entry in line.waiting]
        dead = [
            (entry, KeptJob(job=entry.job, error=one.error, died_at=one.died_at))
            for entry, one in line.dead.values()
        ]
        return [
            replace(kept, job=_copied(kept.job))
            for _, kept in sorted([*waiting, *dead], key=lambda pair: pair[0].number)
        ]

    def thin(self, user_id: str, kept: KeptJob) -> None:
        """Let a job carry less than before [P3]."""
        line = self._lines[user_id]
        parked = line.dead.get(kept.job.id)
        entry = line.by_id.get(kept.job.id) if parked is None else parked[0]
        if entry is None:
            return
        entry.job = replace(entry.job, payload=copy.deepcopy(dict(kept.job.payload)))
        if parked is not None:
            line.dead[kept.job.id] = (
                entry, replace(parked[1], job=entry.job, error=kept.error or ""),
            )  # fmt: skip

    def cancel(self, user_id: str, job_ids: Iterable[str]) -> int:
        """End jobs that wait or are dead, unrun [P3]; return how many there were."""
        line = self._lines.get(user_id)
        if line is None:
            return 0
        ended = 0
        for job_id in job_ids:
            if job_id in line.by_id:
                self.end(user_id, [job_id])
            elif line.dead.pop(job_id, None) is None:
                continue
            line.done.add(job_id)
            ended += 1
        return ended

    def drop_user(self, user_id: str) -> int:
        """Forget the user's jobs, done ones too [P3]; return how many there were."""
        line = self._lines.pop(user_id, None)
        if line is None:
            return 0
        self._waiting -= len(line.waiting)
        return len(line.waiting) + len(line.dead) + len(line.done)

    def put_back(self, user_id: str, jobs: Iterable[KeptJob]) -> None:
        """Take jobs over from an archive: they wait, or are dead, as they were."""
        for kept in jobs:
            line = self._lines.setdefault(user_id, _Line(since=kept.job.enqueued_at))
            if self._known(line, kept.job) is not None:
                continue
            self._numbers += 1
            entry = _Entry(self._numbers, _copied(kept.job))
            if kept.died_at is None:
                line.join(entry)
                self._waiting += 1
            else:
                parked = DeadJob(job=entry.job, error=kept.error or "", died_at=kept.died_at)
                line.dead[kept.job.id] = (entry, parked)

    def _known(self, line: _Line, job: Job) -> str | None:
        key = job.idempotency_key
        if key is not None and key in line.keys:
            return line.keys[key]
        known = job.id in line.by_id or job.id in line.done or job.id in line.dead
        return job.id if known else None

    def _held(self, lease: Lease, job: Job) -> tuple[_Line, _Entry]:
        if not self.holds(lease):
            raise LeaseLostError(lease.user_id)
        line = self._lines[lease.user_id]
        entry = line.by_id.get(job.id)
        if entry is None:
            raise NotFoundError("job", job.id)
        return line, entry

    @staticmethod
    def _let_go(line: _Line) -> None:
        # The line goes to the back: one user's backlog must not keep the others waiting.
        line.since = line.claimed_at or line.since
        line.token = line.until = line.claimed_at = None


def _copied(job: Job) -> Job:
    return replace(job, payload=copy.deepcopy(dict(job.payload)))
