"""The durable queue: it leases the user, not the job [W1].

Two tables: queue_jobs in the order of acceptance, and queue_heads with one row a user who has
jobs. A worker takes a head by a compare-and-set of that single row, so no statement ever locks
two users; leasing single jobs did 29 jobs/s with one busy user where this does hundreds.

Rules of this file: `version` rises with every enqueue, and an empty head is deleted only at the
version that was seen, or a job that arrives meanwhile would be stranded; `claim` looks for such
jobs all the same when it finds nothing to do.
"""

from __future__ import annotations

import secrets
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import and_, bindparam, case, func, or_, select, update

from dualgate.adapters.sql import tables
from dualgate.adapters.sql.dialects import Sql, inserting
from dualgate.adapters.sql.engine import Database
from dualgate.adapters.sql.events import ALL_USERS
from dualgate.adapters.sql.jobs import (
    DEAD,
    WAITING,
    drop_idle_head,
    heads,
    jobs,
    one_less,
    one_more,
    require_held,
)
from dualgate.adapters.sql.reading import own
from dualgate.adapters.sql.rows import JOB_COLUMNS, from_micros, job_of, job_row, to_micros
from dualgate.adapters.sql.store import require_user
from dualgate.domain.items import clean_text
from dualgate.errors import InvalidInputError, NotFoundError, QueueFullError
from dualgate.pipeline.ports import PATIENCE_SECONDS, DeadJob, Job, Lease, QueueDepth

_CANDIDATES = 16  # heads looked at in one claim
_SWEEP_EVERY = 64  # idle claims between two looks for stranded jobs
_RECOUNT_SHARE = 16  # the total is counted anew after this part of the free room is used

_all_users = {ALL_USERS: "workers and operators look at every user's queue"}

_KNOWN_JOB = select(jobs.id).where(
    own(jobs.user_id),
    or_(jobs.id == bindparam("job_id"), jobs.idempotency_key == bindparam("key")),
)
_LAST_SEQ = select(func.coalesce(func.max(jobs.seq), 0)).where(own(jobs.user_id))
_HEAD = select(*tables.queue_heads.columns).where(own(heads.user_id))
_TOTAL = select(func.coalesce(func.sum(heads.open_count), 0)).execution_options(**_all_users)
# What ends after `far` was set by a clock that has been put back since: it ends at once.
_free = or_(
    heads.lease_until.is_(None),
    heads.lease_until <= bindparam("now"),
    heads.lease_until > bindparam("far"),
)
_DUE = (
    select(heads.user_id)
    .where(heads.due_at <= bindparam("now"), _free)
    .order_by(heads.due_at, heads.user_id)
    .limit(_CANDIDATES)
    .execution_options(**_all_users)
)
# A statement of its own: each of the two reads a few entries of the index on due_at.
_ASTRAY = (
    select(heads.user_id)
    .where(heads.due_at > bindparam("far"), _free)
    .order_by(heads.due_at, heads.user_id)
    .limit(_CANDIDATES)
    .execution_options(**_all_users)
)
_TAKE = (
    update(tables.queue_heads)
    .where(
        own(heads.user_id),
        or_(heads.due_at <= bindparam("now"), heads.due_at > bindparam("far")),
        _free,
    )
    .values(lease_until=bindparam("until"), token=bindparam("new_token"))
)
_READY = (
    select(*JOB_COLUMNS)
    .where(own(jobs.user_id), jobs.state == WAITING)
    .order_by(jobs.seq)
    .limit(bindparam("limit"))
)
_NEXT_SINCE = (
    select(jobs.enqueued_at)
    .where(own(jobs.user_id), jobs.state == WAITING)
    .order_by(jobs.seq)
    .limit(1)
)
_LET_GO = (
    update(tables.queue_heads)
    .where(own(heads.user_id), heads.token == bindparam("held"))
    .values(lease_until=None, token=None, due_at=bindparam("due"))
)
_FAILED = (
    update(tables.queue_jobs)
    .where(own(jobs.user_id), jobs.id == bindparam("job_id"), jobs.state == WAITING)
    .values(attempts=jobs.attempts + 1, error=bindparam("what"))
)
_BURIED = (
    update(tables.queue_jobs)
    .where(own(jobs.user_id), jobs.id == bindparam("job_id"), jobs.state == WAITING)
    .values(
        state=DEAD,
        attempts=jobs.attempts + 1,
        error=bindparam("what"),
        died_at=bindparam("now"),
    )
)
_REVIVED = (
    update(tables.queue_jobs)
    .where(own(jobs.user_id), jobs.id == bindparam("job_id"), jobs.state == DEAD)
    .values(state=WAITING, attempts=0, error=None, died_at=None)
)
_DUE_NOW = update(tables.queue_heads).where(own(heads.user_id)).values(due_at=bindparam("due"))
_STATE = select(jobs.state).where(own(jobs.user_id), jobs.id == bindparam("job_id"))
_DEPTH = (
    select(func.count(), func.min(jobs.enqueued_at))
    .where(jobs.state == WAITING)
    .execution_options(**_all_users)
)
_DEAD_COUNT = select(func.count()).where(jobs.state == DEAD).execution_options(**_all_users)
_NEXT_DUE = select(
    func.min(
        case(
            (
                and_(heads.lease_until.is_not(None), heads.lease_until > heads.due_at),
                heads.lease_until,
            ),
            else_=heads.due_at,
        )
    )
).execution_options(**_all_users)
_DEAD = (
    select(*JOB_COLUMNS, jobs.error, jobs.died_at)
    .where(jobs.state == DEAD)
    .order_by(jobs.died_at.desc(), jobs.seq.desc())
    .limit(bindparam("limit"))
    .execution_options(**_all_users)
)
_DEAD_OF_USER = (
    select(*JOB_COLUMNS, jobs.error, jobs.died_at)
    .where(own(jobs.user_id), jobs.state == DEAD)
    .order_by(jobs.died_at.desc(), jobs.seq.desc())
    .limit(bindparam("limit"))
)
_STRANDED = (
    select(jobs.user_id, func.count(), func.min(jobs.enqueued_at))
    .where(
        jobs.state == WAITING,
        ~select(heads.user_id).where(heads.user_id == jobs.user_id).exists(),
    )
    .group_by(jobs.user_id)
    .limit(100)
    .execution_options(**_all_users)
)


class SqlQueue:
    """The queue beside the store, in the same database and the same units."""

    def __init__(self, database: Database, per_user: int, total: int) -> None:
        self._database = database
        self._per_user = per_user
        self._total = total
        self._room_before_recount = 0
        self._idle_claims = 0

    async def enqueue(self, job: Job) -> str:
        """Store the job durably and return its id."""
        require_user(job.user_id)
        row = job_row(job, seq=0)
        return await self._database.write(lambda sql: self._enqueued(sql, job, row))

    async def claim(
        self,
        now: datetime,
        lease_seconds: float,
        limit: int,
        *,
        patience_seconds: float = PATIENCE_SECONDS,
    ) -> Lease | None:
        """Take one user whose jobs are due and nobody holds."""
        if limit < 1:
            raise InvalidInputError("limit", "must be at least 1", limit)
        moment = {
            "now": to_micros(now),
            "far": to_micros(now + timedelta(seconds=patience_seconds)),
        }
        if not await self._database.read(lambda sql: _due(sql, moment)):
            self._idle_claims += 1
            if self._idle_claims % _SWEEP_EVERY != 1:
                return None
            await self._database.write(_sweep)
        until = now + timedelta(seconds=lease_seconds)
        return await self._database.write(lambda sql: _claimed(sql, moment, until, limit))

    async def release(self, lease: Lease) -> None:
        """Let the user go."""

        def work(sql: Sql) -> None:
            since = sql.one(_NEXT_SINCE, {"user_id": lease.user_id})
            # Due since the next job came, so that a busy user does not overtake the others.
            due = 0 if since is None else since[0]
            _let_go(sql, lease, due)

        await self._database.write(work)

    async def retry(self, lease: Lease, job: Job, error: str, due_at: datetime) -> None:
        """Count a failed attempt and let the user's jobs wait until `due_at`."""
        named = {"user_id": lease.user_id, "job_id": job.id, "what": clean_text("error", error)}

        def work(sql: Sql) -> None:
            require_held(sql, lease)
            sql.run(_FAILED, named)
            _let_go(sql, lease, to_micros(due_at))

        await self._database.write(work)

    async def bury(self, lease: Lease, job: Job, error: str, now: datetime) -> None:
        """Park the job as dead with its error."""
        named = {
            "user_id": lease.user_id,
            "job_id": job.id,
            "what": clean_text("error", error),
            "now": to_micros(now),
        }

        def work(sql: Sql) -> None:
            require_held(sql, lease)
            if sql.run(_BURIED, named) != 1:
                raise NotFoundError("waiting job", job.id)
            one_less(sql, lease.user_id)

        await self._database.write(work)

    async def job_state(self, user_id: str, job_id: str) -> str:
        """Return waiting, done or dead."""
        named = {"user_id": require_user(user_id), "job_id": job_id}
        row = await self._database.read(lambda sql: sql.one(_STATE, named))
        if row is None:
            raise NotFoundError("job", job_id)
        return str(row[0])

    async def depth(self) -> QueueDepth:
        """Return how much waits in all."""

        def work(sql: Sql) -> QueueDepth:
            waiting, oldest = sql.rows(_DEPTH)[0]
            return QueueDepth(
                waiting=waiting,
                dead=sql.rows(_DEAD_COUNT)[0][0],
                oldest_enqueued_at=None if oldest is None else from_micros(oldest),
            )

        return await self._database.read(work)

    async def next_due(self) -> datetime | None:
        """Return when the next job becomes due."""
        found = await self._database.read(lambda sql: sql.rows(_NEXT_DUE))
        return None if found[0][0] is None else from_micros(found[0][0])

    async def dead(self, user_id: str | None = None, limit: int = 100) -> list[DeadJob]:
        """Return parked jobs, newest first."""
        values: dict[str, Any] = {"limit": max(0, limit)}
        statement = _DEAD
        if user_id is not None:
            values["user_id"] = require_user(user_id)
            statement = _DEAD_OF_USER
        rows = await self._database.read(lambda sql: sql.rows(statement, values))
        return [
            DeadJob(job=job_of(row[:-2]), error=row[-2], died_at=from_micros(row[-1]))
            for row in rows
        ]

    async def revive(self, user_id: str, job_id: str, now: datetime) -> None:
        """Let a dead job run again."""
        named = {"user_id": require_user(user_id), "job_id": job_id}

        def work(sql: Sql) -> None:
            if sql.run(_REVIVED, named) != 1:
                raise NotFoundError("dead job", job_id)
            one_more(sql, user_id, to_micros(now))
            sql.run(_DUE_NOW, {"user_id": user_id, "due": to_micros(now)})

        await self._database.write(work)

    def _enqueued(self, sql: Sql, job: Job, row: dict[str, Any]) -> str:
        user_id = job.user_id
        known = sql.one(
            _KNOWN_JOB, {"user_id": user_id, "job_id": job.id, "key": job.idempotency_key}
        )
        if known is not None:
            return str(known[0])
        self._require_room(sql, user_id)
        one_more(sql, user_id, row["enqueued_at"])
        last = sql.rows(_LAST_SEQ, {"user_id": user_id})[0][0]
        sql.many(inserting(tables.queue_jobs), [{**row, "seq": last + 1}])
        self._room_before_recount -= 1
        return job.id

    def _require_room(self, sql: Sql, user_id: str) -> None:
        head = sql.one(_HEAD, {"user_id": user_id})
        waiting = 0 if head is None else head[-1]
        if waiting >= self._per_user:
            raise QueueFullError("user", waiting, self._per_user)
        if self._room_before_recount > 0:
            return
        # Counting every head at every enqueue would make it slower the more users wait.
        total = sql.rows(_TOTAL)[0][0]
        if total >= self._total:
            raise QueueFullError("total", total, self._total)
        self._room_before_recount = (self._total - total) // _RECOUNT_SHARE


def _due(sql: Sql, moment: dict[str, int]) -> list[str]:
    rows = [*sql.rows(_ASTRAY, moment), *sql.rows(_DUE, moment)]
    return [user_id for (user_id,) in rows]


def _claimed(sql: Sql, moment: dict[str, int], until: datetime, limit: int) -> Lease | None:
    token = secrets.token_hex(16)
    for user_id in _due(sql, moment):
        values = {**moment, "user_id": user_id, "until": to_micros(until), "new_token": token}
        if sql.run(_TAKE, values) != 1:
            continue  # another worker was faster
        rows = sql.rows(_READY, {"user_id": user_id, "limit": limit})
        lease = Lease(
            user_id=user_id, token=token, until=until, jobs=tuple(job_of(row) for row in rows)
        )
        if lease.jobs:
            return lease
        _let_go(sql, lease, moment["now"])
    return None


def _let_go(sql: Sql, lease: Lease, due_at: int) -> None:
    named = {"user_id": lease.user_id, "held": lease.token, "due": due_at}
    if sql.run(_LET_GO, named):
        drop_idle_head(sql, lease.user_id)


def _sweep(sql: Sql) -> None:
    """Give jobs without a head one, so that nothing accepted is ever stranded."""
    for user_id, waiting, since in sql.rows(_STRANDED):
        head = {"user_id": user_id, "due_at": since, "lease_until": None, "token": None}
        sql.insert_new(tables.queue_heads, [{**head, "version": 1, "open_count": waiting}])
