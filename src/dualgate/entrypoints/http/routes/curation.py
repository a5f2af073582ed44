"""The person's verbs: they always win, and are logged like any other move [F6]."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from http import HTTPStatus

from fastapi import APIRouter

from dualgate import MemoryItem
from dualgate.entrypoints.http.access import Caller, Writing
from dualgate.entrypoints.http.answers import ItemOut
from dualgate.entrypoints.http.bodies import (
    ClassIn,
    CorrectIn,
    ForgetIn,
    Id,
    OfUser,
    PauseIn,
    SettleIn,
)
from dualgate.entrypoints.http.once import Once, OnceOnly
from dualgate.entrypoints.http.routes.parts import Memories

router = APIRouter(tags=["curation"])
Verb = Callable[[str, str], Awaitable[MemoryItem]]


@router.post("/items/{item_id}/correct")
async def correct(
    item_id: Id, body: CorrectIn, caller: Writing, memory: Memories, once: OnceOnly
) -> ItemOut:
    """Reword an item; it keeps its id, place and counts, the old version is kept."""

    async def work(user: str, item: str) -> MemoryItem:
        return await memory.correct(user, item, body.content)

    return await _done(caller, body, item_id, once, work, memory.item)


@router.post("/items/{item_id}/like")
async def like(
    item_id: Id, body: OfUser, caller: Writing, memory: Memories, once: OnceOnly
) -> ItemOut:
    """Count one explicit confirmation, once a day."""
    return await _done(caller, body, item_id, once, memory.like, memory.item)


@router.post("/items/{item_id}/dislike")
async def dislike(
    item_id: Id, body: OfUser, caller: Writing, memory: Memories, once: OnceOnly
) -> ItemOut:
    """Take one confirmation off; a frozen item thaws."""
    return await _done(caller, body, item_id, once, memory.dislike, memory.item)


@router.post("/items/{item_id}/pin")
async def pin(
    item_id: Id, body: OfUser, caller: Writing, memory: Memories, once: OnceOnly
) -> ItemOut:
    """Protect an item: it freezes as soon as there is a place, and never weathers."""
    return await _done(caller, body, item_id, once, memory.pin, memory.item)


@router.post("/items/{item_id}/unpin")
async def unpin(
    item_id: Id, body: OfUser, caller: Writing, memory: Memories, once: OnceOnly
) -> ItemOut:
    """Take the protection back."""
    return await _done(caller, body, item_id, once, memory.unpin, memory.item)


@router.post("/items/{item_id}/forget")
async def forget(
    item_id: Id, body: ForgetIn, caller: Writing, memory: Memories, once: OnceOnly
) -> ItemOut:
    """Remove an item, undoably for 30 days. Forgetting a frozen one needs `confirm`."""

    async def work(user: str, item: str) -> MemoryItem:
        return await memory.forget(user, item, confirm=body.confirm)

    return await _done(caller, body, item_id, once, work, memory.item)


@router.post("/items/{item_id}/restore")
async def restore(
    item_id: Id, body: OfUser, caller: Writing, memory: Memories, once: OnceOnly
) -> ItemOut:
    """Take a forget back, or bring an archived item back."""
    return await _done(caller, body, item_id, once, memory.restore, memory.item)


@router.post("/items/{item_id}/choose")
async def choose(
    item_id: Id, body: OfUser, caller: Writing, memory: Memories, once: OnceOnly
) -> ItemOut:
    """Settle a contest for this item: what contradicts it is superseded [C2]."""
    return await _done(caller, body, item_id, once, memory.choose, memory.item)


@router.post("/items/{item_id}/keep_both")
async def keep_both(
    item_id: Id, body: OfUser, caller: Writing, memory: Memories, once: OnceOnly
) -> ItemOut:
    """End a contest without a loser: this item and what contradicts it hold [C2]."""
    return await _done(caller, body, item_id, once, memory.keep_both, memory.item)


@router.post("/pending/{pending_id}/settle")
async def settle(
    pending_id: Id, body: SettleIn, caller: Writing, memory: Memories, once: OnceOnly
) -> ItemOut:
    """Accept or reject a pending override; the answer is the item that stands now [F3]."""
    user = caller.user(body.user_id)

    async def work() -> MemoryItem:
        return await memory.settle(user, pending_id, body.accept, body.keep_old)

    async def again(item_id: str) -> MemoryItem:
        return await memory.item(user, item_id)

    stands = await once.run(user, work, again, lambda item: item.id)
    return ItemOut.of(stands, caller.shown)


@router.post("/pause", status_code=HTTPStatus.NO_CONTENT)
async def pause(body: PauseIn, caller: Writing, memory: Memories, once: OnceOnly) -> None:
    """Stop writing, or reading, for a user until `resume` [P2]."""
    user = caller.user(body.user_id)
    await once.run(user, lambda: memory.pause(user, body.capture, body.recall), _nothing)


@router.post("/resume", status_code=HTTPStatus.NO_CONTENT)
async def resume(body: OfUser, caller: Writing, memory: Memories, once: OnceOnly) -> None:
    """Write and read again."""
    user = caller.user(body.user_id)
    await once.run(user, lambda: memory.resume(user), _nothing)


@router.post("/set_user_class", status_code=HTTPStatus.NO_CONTENT)
async def set_user_class(
    body: ClassIn, caller: Writing, memory: Memories, once: OnceOnly
) -> None:
    """Give a user another profile of the gates [F7]."""
    user = caller.user(body.user_id)
    await once.run(user, lambda: memory.set_user_class(user, body.name), _nothing)


async def _done(
    caller: Caller, body: OfUser, item_id: str, once: Once, verb: Verb, look: Verb
) -> ItemOut:
    user = caller.user(body.user_id)
    item = await once.run(user, lambda: verb(user, item_id), lambda _: look(user, item_id))
    return ItemOut.of(item, caller.shown)


async def _nothing(_: str) -> None:
    return None
