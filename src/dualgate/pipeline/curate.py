"""What the person does: correct, like, dislike, pin, forget, restore, settle [F6]."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from dualgate.domain import curation
from dualgate.domain.items import Candidate, MemoryItem
from dualgate.domain.plan import Pending, PendingState, Plan
from dualgate.domain.policy import GatePolicy
from dualgate.domain.view import Snapshot
from dualgate.errors import InvalidInputError, NotFoundError
from dualgate.pipeline.observer import Observer
from dualgate.pipeline.ports import Clock, Embedder, IdSource, Store, Structurer, Transaction


@dataclass(frozen=True, slots=True, kw_only=True)
class CuratePorts:
    """What the verbs talk to."""

    store: Store
    embedder: Embedder
    structurer: Structurer
    clock: Clock
    ids: IdSource
    policy_of: Callable[[str], GatePolicy]
    observer: Observer


Verb = Callable[[MemoryItem, Snapshot, GatePolicy, datetime], Plan]


async def like(user_id: str, item_id: str, on: CuratePorts) -> MemoryItem:
    """Count one explicit confirmation, once a day."""
    signal_id = on.ids.new()
    return await _do(user_id, item_id, on, partial(curation.like, signal_id=signal_id))


async def dislike(user_id: str, item_id: str, on: CuratePorts) -> MemoryItem:
    """Take one confirmation off."""
    signal_id = on.ids.new()
    return await _do(user_id, item_id, on, partial(curation.dislike, signal_id=signal_id))


async def pin(user_id: str, item_id: str, on: CuratePorts) -> MemoryItem:
    """Protect an item."""
    return await _do(user_id, item_id, on, curation.pin)


async def unpin(user_id: str, item_id: str, on: CuratePorts) -> MemoryItem:
    """Take the protection back."""
    return await _do(user_id, item_id, on, curation.unpin)


async def choose(user_id: str, item_id: str, on: CuratePorts) -> MemoryItem:
    """Settle a contest for this item."""
    return await _do(user_id, item_id, on, curation.choose)


async def keep_both(user_id: str, item_id: str, on: CuratePorts) -> MemoryItem:
    """End a contest without a loser."""
    return await _do(user_id, item_id, on, curation.keep_both)


async def restore(user_id: str, item_id: str, on: CuratePorts) -> MemoryItem:
    """Take a forget back."""
    return await _do(user_id, item_id, on, curation.restore)


async def forget(user_id: str, item_id: str, on: CuratePorts, *, confirmed: bool) -> MemoryItem:
    """Remove an item, undoably."""
    return await _do(user_id, item_id, on, partial(curation.forget, confirmed=confirmed))


async def correct(user_id: str, item_id: str, content: str, on: CuratePorts) -> MemoryItem:
    """Reword an item; the old version is kept."""
    async with on.store.begin(user_id) as tx:
        item = await _item(tx, item_id)
        wording = Candidate(item.item_type, content, subject=item.subject, confidence=1.0)
        read = on.structurer.complete(wording)
        structure = (read.attribute, read.value, read.polarity, read.qualifiers)
        vectors = await on.embedder.embed([wording.content, item.content])
        snapshot, version_id, now = await tx.snapshot(), on.ids.new(), on.clock.now()
        plan = curation.correct(
            item, wording.content, snapshot, on.policy_of(snapshot.user_class), now,
            version_id, structure,
        )  # fmt: skip
        await tx.apply(plan, {item_id: vectors[0], version_id: vectors[1]})
        result = await _item(tx, item_id)
    on.observer.moved(plan.moves)
    return result


async def settle(
    user_id: str, pending_id: str, on: CuratePorts, *, accept: bool, keep_old: bool = False
) -> MemoryItem:
    """Accept or reject a pending override; return the item that stands now [F3]."""
    for name, flag in (("accept", accept), ("keep_old", keep_old)):
        if not isinstance(flag, bool):
            raise InvalidInputError(name, "must be True or False", flag)
    async with on.store.begin(user_id) as tx:
        pending = await _open_pending(tx, pending_id)
        item = await _item(tx, pending.item_id)
        snapshot, now = await tx.snapshot(), on.clock.now()
        policy = on.policy_of(snapshot.user_class)
        if accept:
            verb = curation.admit if keep_old else curation.accept
            plan = verb(pending, item, snapshot, policy, now)
            vectors = await on.embedder.embed([pending.candidate.content])
            await tx.apply(plan, {pending.id: vectors[0]})
        else:
            plan = curation.reject(pending, item, snapshot, policy, now)
            await tx.apply(plan)
        result = await _item(tx, pending.id if accept else item.id)
    on.observer.moved(plan.moves)
    return result


async def _do(user_id: str, item_id: str, on: CuratePorts, verb: Verb) -> MemoryItem:
    async with on.store.begin(user_id) as tx:
        item = await _item(tx, item_id)
        snapshot = await tx.snapshot()
        plan = verb(item, snapshot, on.policy_of(snapshot.user_class), on.clock.now())
        await tx.apply(plan)
        result = await _item(tx, item_id)
    on.observer.moved(plan.moves)
    return result


async def _item(tx: Transaction, item_id: str) -> MemoryItem:
    found = await tx.items([item_id])
    if item_id not in found:
        raise NotFoundError("item", item_id)
    return found[item_id]


async def _open_pending(tx: Transaction, pending_id: str) -> Pending:
    pending = await tx.pending(pending_id)
    if pending is None:
        raise NotFoundError("pending override", pending_id)
    if pending.state is not PendingState.OPEN:
        raise InvalidInputError("pending_id", "must be an open pending override", pending.state)
    return pending
