"""For whoever runs dualgate: users, upkeep, parked jobs, keys, live events."""

from __future__ import annotations

from collections.abc import AsyncIterator
from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Header, Query, Request
from fastapi.sse import EventSourceResponse, ServerSentEvent
from starlette.exceptions import HTTPException

from dualgate.entrypoints.http.access import (
    Caller,
    Governing,
    Operating,
    Reading,
    Writing,
    may_still,
)
from dualgate.entrypoints.http.answers import (
    DeadJobOut,
    DeadPageOut,
    DecisionOut,
    KeyOut,
    KeyPageOut,
    MoveOut,
    MovesOut,
    NewKeyOut,
    UserPageOut,
)
from dualgate.entrypoints.http.bodies import DrainIn, Id, KeyIn, OfUser, RotateIn
from dualgate.entrypoints.http.events import Event, stream
from dualgate.entrypoints.http.keys import Access
from dualgate.entrypoints.http.once import OnceOnly
from dualgate.entrypoints.http.routes.parts import (
    Cursor,
    Limit,
    LiveEvents,
    Memories,
    UserId,
    paged,
)
from dualgate.pipeline.ports import DeadJob
from dualgate.pipeline.serving import NewKey

router = APIRouter(tags=["operating"])
DEAD_LIMIT = 1_000


@router.get("/users")
async def users(
    request: Request, caller: Governing, limit: Limit = 100, cursor: Cursor = None
) -> UserPageOut:
    """List the tenant's users, in order of their ids."""
    access: Access = request.app.state.access
    page, more = await access.user_page(caller, after=cursor or None, limit=limit)
    return UserPageOut(users=page, cursor=more)


@router.get("/events", response_class=EventSourceResponse)
async def events(
    request: Request, user_id: UserId, caller: Reading, memory: Memories, live: LiveEvents,
    last_event_id: Annotated[str | None, Header(max_length=512)] = None,
    limit: Annotated[int | None, Query(ge=1, description="End after so many events.")] = None,
) -> AsyncIterator[ServerSentEvent]:  # fmt: skip
    """What happens to a user's memory, as it happens.

    `decision`: a candidate ended (data as in /v1/why). `moved`: items moved. `failed`: a job
    failed. `missed`: this listener was too slow; look again. After a break a browser sends
    Last-Event-ID, and is told first what was decided since.
    """
    told = 0
    async for event in stream(memory, live, caller.user(user_id), after=last_event_id):
        if not await may_still(request, caller):
            return
        if event is None:
            yield ServerSentEvent(comment="nothing new")
            continue
        yield _sent(event, caller)
        told += 1
        if told == limit:
            return


@router.post("/maintain")
async def maintain(
    body: OfUser, caller: Writing, memory: Memories, once: OnceOnly
) -> MovesOut:
    """Do a user's upkeep that is due: weathering, decay, expiry, capacity."""
    user = caller.user(body.user_id)

    async def work() -> MovesOut:
        moved = await memory.maintain(user)
        return MovesOut(moves=[MoveOut.of(move, caller.shown) for move in moved])

    async def again(_: str) -> MovesOut:
        return MovesOut(moves=[])

    return await once.run(user, work, again)


@router.post("/maintain/all")
async def maintain_all(_: Operating, memory: Memories) -> MovesOut:
    """Do everybody's upkeep that is due. User ids are as they are stored."""
    moved = await memory.maintain()
    return MovesOut(moves=[MoveOut.of(move, lambda stored: stored) for move in moved])


@router.post("/drain", status_code=HTTPStatus.NO_CONTENT)
async def drain(body: DrainIn, _: Operating, memory: Memories) -> None:
    """Wait until nothing is queued or running; 504 is not an error of the server: try again."""
    try:
        await memory.drain(timeout=body.timeout)
    except TimeoutError:
        left = (await memory.stats()).queue.waiting
        raise HTTPException(HTTPStatus.REQUEST_TIMEOUT, f"{left} jobs still wait") from None


@router.get("/dead")
async def dead(
    user_id: UserId, caller: Reading, memory: Memories, limit: Limit = 100, cursor: Cursor = None
) -> DeadPageOut:
    """Return a user's parked jobs with the real error, newest first [W1]."""
    found = await memory.dead(caller.user(user_id), DEAD_LIMIT)
    page, more = paged(found, lambda each: each.job.id, limit, cursor)
    return DeadPageOut(dead=[_dead(each, caller.shown(each.job.user_id)) for each in page],
                       cursor=more)  # fmt: skip


@router.get("/dead/all")
async def all_dead(
    _: Operating, memory: Memories, limit: Limit = 100, cursor: Cursor = None
) -> DeadPageOut:
    """Return everybody's parked jobs, newest first. User ids are as they are stored."""
    found = await memory.dead(None, DEAD_LIMIT)
    page, more = paged(found, lambda each: each.job.id, limit, cursor)
    return DeadPageOut(dead=[_dead(each, each.job.user_id) for each in page], cursor=more)


@router.post("/dead/{job_id}/revive", status_code=HTTPStatus.NO_CONTENT)
async def revive(
    job_id: Id, body: OfUser, caller: Writing, memory: Memories, once: OnceOnly
) -> None:
    """Let a parked job run again, in its old place."""
    user = caller.user(body.user_id)
    await once.run(user, lambda: memory.revive(user, job_id), _nothing)


@router.get("/keys")
async def list_keys(
    caller: Governing, memory: Memories, limit: Limit = 100, cursor: Cursor = None
) -> KeyPageOut:
    """Return the tenant's keys, oldest first, without their secrets."""
    found = await memory.keys.list(caller.tenant)
    page, more = paged(found, lambda each: each.id, limit, cursor)
    return KeyPageOut(keys=[KeyOut.of(key, str) for key in page], cursor=more)


@router.post("/keys", status_code=HTTPStatus.CREATED)
async def create_key(body: KeyIn, caller: Governing, memory: Memories) -> NewKeyOut:
    """Make a key of the caller's tenant. Its secret is in this answer and nowhere else."""
    made = await memory.keys.create(
        caller.tenant, name=body.name, scope=body.scope, days=body.days
    )
    return _new(made)


@router.post("/keys/{key_id}/rotate", status_code=HTTPStatus.CREATED)
async def rotate_key(
    key_id: Id, body: RotateIn, caller: Governing, memory: Memories
) -> NewKeyOut:
    """Make a key with the same rights; the old one ends after the grace."""
    made = await memory.keys.rotate(
        key_id, tenant=caller.tenant, grace_hours=body.grace_hours
    )
    return _new(made)


@router.post("/keys/{key_id}/revoke")
async def revoke_key(key_id: Id, caller: Governing, memory: Memories) -> KeyOut:
    """End a key at once."""
    return KeyOut.of(await memory.keys.revoke(key_id, tenant=caller.tenant), str)


def _sent(event: Event, caller: Caller) -> ServerSentEvent:
    if event.decision is not None:
        told = DecisionOut.of(event.decision, caller.shown)
        return ServerSentEvent(event="decision", id=event.decision.id, data=told)
    if event.kind == "moved":
        moves = [MoveOut.of(move, caller.shown) for move in event.moves]
        return ServerSentEvent(event="moved", data=MovesOut(moves=moves))
    told_of = {} if event.job_id is None else {"job_id": event.job_id, "dead": event.dead}
    return ServerSentEvent(event=event.kind, data=told_of)


def _dead(found: DeadJob, user_id: str) -> DeadJobOut:
    job = found.job
    return DeadJobOut(
        job_id=job.id, user_id=user_id, session_id=job.session_id, kind=job.kind,
        attempts=job.attempts, enqueued_at=job.enqueued_at, died_at=found.died_at,
        error=found.error,
    )  # fmt: skip


def _new(made: NewKey) -> NewKeyOut:
    return NewKeyOut(key=KeyOut.of(made.key, str), secret=made.secret)


async def _nothing(_: str) -> None:
    return None
