"""Upkeep of one user, or of all: what time does to memory, fetched, decided, applied."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from dualgate.domain.plan import Move
from dualgate.domain.policy import GatePolicy
from dualgate.domain.transcript import TranscriptPolicy
from dualgate.domain.upkeep import maintain
from dualgate.errors import ModelError
from dualgate.pipeline.observer import Observer
from dualgate.pipeline.ports import Clock, Embedder, Lexer, Store
from dualgate.pipeline.reembedding import reembed
from dualgate.pipeline.transcripts import Transcript, keep_transcript

_PAGE = 200
# One plan moves at most so many due items; the rest follows in the next round of the same call.
_ROUNDS = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class KeepPorts:
    """What upkeep talks to."""

    store: Store
    clock: Clock
    policy_of: Callable[[str], GatePolicy]
    observer: Observer
    embedder: Embedder
    lexer: Lexer
    transcripts: TranscriptPolicy = field(default_factory=TranscriptPolicy)
    every_hours: float = 24.0


async def keep_user(user_id: str, on: KeepPorts) -> list[Move]:
    """Do what is due for one user; return what moved."""
    moves: list[Move] = []
    for _ in range(_ROUNDS):
        async with on.store.begin(user_id) as tx:
            snapshot, now = await tx.snapshot(), on.clock.now()
            policy = on.policy_of(snapshot.user_class)
            due = await tx.due(now, now - timedelta(days=policy.archive.undo_days))
            plan = maintain(snapshot, policy, now, due.expired, due.forgotten)
            await tx.apply(plan)
            await tx.set_user(maintained_at=now)
        moves += plan.moves
        if not plan.moves and not plan.purged:
            break
    on.observer.moved(moves)
    try:
        await keep_turns(user_id, on)
        await reembed(user_id, on.store, on.embedder)
    except ModelError as error:
        # Vectors wait for the endpoint; the upkeep of others does not.
        on.observer.stumbled(f"upkeep of {user_id}: {error}")
    return moves


async def keep_turns(user_id: str, on: KeepPorts) -> None:
    """Empty a user's turns that were kept long enough; index those that are not indexed yet."""
    transcript = Transcript(on.store, on.embedder, on.lexer, user_id)
    await keep_transcript(transcript, on.transcripts, on.clock)


async def keep_if_due(user_id: str, on: KeepPorts) -> None:
    """Do a user's upkeep if the last one is long enough ago; rides along with his writes."""
    snapshot = await on.store.snapshot(user_id)
    if _is_due(snapshot.maintained_at, on.clock.now(), on.every_hours):
        await keep_user(user_id, on)


async def keep_all(on: KeepPorts) -> list[Move]:
    """Do what is due for everybody, a page of users at a time."""
    moves: list[Move] = []
    after: str | None = None
    while page := await on.store.users(after, _PAGE):
        for user_id in page:
            moves += await keep_user(user_id, on)
        after = page[-1]
    return moves


def _is_due(last: datetime | None, now: datetime, every_hours: float) -> bool:
    # A clock that was ahead for a while must not put upkeep off until it is caught up with.
    return last is None or abs(now - last) >= timedelta(hours=every_hours)
