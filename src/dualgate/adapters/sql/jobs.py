"""The queue's statements that a memory unit runs too: the lease's check and a job's end [W1].

Rule: jobs end only where their effects are committed. The job's text goes with its end; what
stays answers idempotency keys and questions about its state.
"""

from __future__ import annotations

from sqlalchemy import bindparam, delete, exists, select, update

from dualgate.adapters.sql import tables
from dualgate.adapters.sql.dialects import Sql, inserting
from dualgate.adapters.sql.reading import own
from dualgate.errors import LeaseLostError, NotFoundError
from dualgate.pipeline.ports import Lease

WAITING = "waiting"
DONE = "done"
DEAD = "dead"

jobs = tables.queue_jobs.c
heads = tables.queue_heads.c

# Locks the row on PostgreSQL, so that nobody takes the user over before this unit ends.
_HELD = (
    select(heads.version)
    .where(own(heads.user_id), heads.token == bindparam("token"))
    .with_for_update()
)
_FINISH = (
    update(tables.queue_jobs)
    .where(
        own(jobs.user_id),
        jobs.id == bindparam("job_id"),
        jobs.state == bindparam("state_was"),
    )
    .values(state=bindparam("state_is"), payload="", error=None)
)
_ONE_LESS = (
    update(tables.queue_heads).where(own(heads.user_id)).values(open_count=heads.open_count - 1)
)
_ONE_MORE = (
    update(tables.queue_heads)
    .where(own(heads.user_id))
    .values(open_count=heads.open_count + 1, version=heads.version + 1)
)
_waiting_jobs = select(jobs.id).where(
    jobs.user_id == bindparam("user_id"), jobs.state == bindparam("waiting")
)
# An unheld head nobody waits for; `enqueue` raises the version, so a job that arrives meanwhile
# keeps its head.
_DROP_IDLE_HEAD = delete(tables.queue_heads).where(
    own(heads.user_id),
    heads.token.is_(None),
    heads.version == bindparam("seen"),
    ~exists(_waiting_jobs),
)
_HEAD_VERSION = select(heads.version, heads.token).where(own(heads.user_id))


def require_held(sql: Sql, lease: Lease) -> int:
    """Return the version of the leased head. Raises LeaseLostError."""
    row = sql.one(_HELD, {"user_id": lease.user_id, "token": lease.token})
    if row is None:
        raise LeaseLostError(lease.user_id)
    return int(row[0])


def finish(sql: Sql, user_id: str, job_id: str) -> None:
    """End a waiting job. Raises NotFoundError."""
    named = {"user_id": user_id, "job_id": job_id, "state_was": WAITING, "state_is": DONE}
    if sql.run(_FINISH, named) != 1:
        raise NotFoundError("waiting job", job_id)
    one_less(sql, user_id)


def one_less(sql: Sql, user_id: str) -> None:
    """Count a job that waits no more, and drop a head that nobody holds or needs."""
    sql.run(_ONE_LESS, {"user_id": user_id})
    drop_idle_head(sql, user_id)


def drop_idle_head(sql: Sql, user_id: str) -> None:
    """Delete the user's head if nobody holds it and nothing waits."""
    row = sql.one(_HEAD_VERSION, {"user_id": user_id})
    if row is not None and row[1] is None:
        sql.run(_DROP_IDLE_HEAD, {"user_id": user_id, "seen": row[0], "waiting": WAITING})


def one_more(sql: Sql, user_id: str, due_at: int) -> None:
    """Count a job that waits, and give its user a head if there is none."""
    # First the head: it serialises who enqueues for this user, and with it the order of jobs.
    if sql.run(_ONE_MORE, {"user_id": user_id}) == 0:
        head = {"user_id": user_id, "due_at": due_at, "lease_until": None, "token": None}
        sql.many(inserting(tables.queue_heads), [{**head, "version": 1, "open_count": 1}])
