"""Looking at what is remembered: lists, history, numbers. Nothing here changes anything."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from dualgate.domain import admission
from dualgate.domain.freezing import waiting_line
from dualgate.domain.items import MemoryItem, choice
from dualgate.domain.plan import Move
from dualgate.domain.policy import GatePolicy
from dualgate.domain.score import live_score
from dualgate.domain.signals import Signal
from dualgate.domain.status import Status
from dualgate.domain.types import ItemType
from dualgate.pipeline.ports import ItemFilter, Queue, QueueDepth, Store, UsageLine, Use

_USAGE_DAYS = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """Everything known about how an item came to stand where it stands."""

    moves: tuple[Move, ...]
    signals: tuple[Signal, ...]
    versions: tuple[MemoryItem, ...]
    recalls: tuple[Use, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pools:
    """One user's pools against their capacities, and what entry costs right now."""

    hot: int
    hot_capacity: int
    frozen: int
    frozen_capacity: int
    archive: int
    archive_capacity: int
    waiting_to_freeze: int
    threshold: float
    user_class: str
    capture_paused: bool
    recall_paused: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Stats:
    """Counts of one user (with his pools), or of all (pools None)."""

    users: int
    items: Mapping[Status, int]
    decisions: Mapping[str, int]
    turns: int
    pendings: int
    queue: QueueDepth
    bytes: int | None
    pools: Pools | None = None
    # What models cost in the last 30 days, a line for each day, task and model [W5].
    models: tuple[UsageLine, ...] = ()


def wanted(
    status: Status | str | Collection[Status | str] | None,
    item_type: ItemType | None,
    text: str | None,
) -> ItemFilter:
    """Return the filter for a listing; None leaves out what the user forgot."""
    if status is None:
        statuses = frozenset(Status) - {Status.FORGOTTEN}
    elif isinstance(status, str) or not isinstance(status, Collection):
        statuses = frozenset({choice("status", Status, status)})
    else:
        statuses = frozenset(choice("status", Status, s) for s in status)
    return ItemFilter(statuses=statuses, item_type=item_type, text=text)


def live(
    items: Sequence[MemoryItem], now: datetime, policy: GatePolicy
) -> tuple[MemoryItem, ...]:
    """Return the items with their scores as of now."""
    return tuple(item.with_(score=live_score(item, now, policy.score)) for item in items)


async def history(store: Store, user_id: str, item_id: str) -> History:
    """Return an item's history; the moves of its older and newer versions are part of it."""
    versions = await store.versions(user_id, item_id)
    ids = [item.id for item in versions] or [item_id]
    moves = [move for version in ids for move in await store.moves(user_id, version)]
    moves.sort(key=lambda move: move.at)  # stable: the log's own order breaks ties
    signals = [s for version in ids for s in await store.signals(user_id, version)]
    signals.sort(key=lambda signal: signal.at)
    return History(
        moves=tuple(moves),
        signals=tuple(signals),
        versions=tuple(versions),
        recalls=tuple(await store.uses(user_id, item_id)),
    )


async def stats(
    store: Store,
    queue: Queue,
    policy_of: Callable[[str], GatePolicy],
    now: datetime,
    user_id: str | None,
    today: date,
) -> Stats:
    """Return the numbers of one user or of all."""
    counts = await store.stats(user_id)
    pools = None if user_id is None else await _pools(store, policy_of, now, user_id)
    return Stats(
        users=counts.users,
        items=counts.items,
        decisions=counts.decisions,
        turns=counts.turns,
        pendings=counts.pendings,
        queue=await queue.depth(),
        bytes=counts.bytes,
        pools=pools,
        models=tuple(await store.usage(user_id, today - timedelta(days=_USAGE_DAYS - 1))),
    )


async def _pools(
    store: Store, policy_of: Callable[[str], GatePolicy], now: datetime, user_id: str
) -> Pools:
    snapshot = await store.snapshot(user_id)
    policy = policy_of(snapshot.user_class)
    scores = [live_score(item, now, policy.score) for item in snapshot.hot.values()]
    return Pools(
        hot=len(snapshot.hot),
        hot_capacity=policy.admission.capacity,
        frozen=len(snapshot.frozen),
        frozen_capacity=policy.freeze.capacity,
        archive=snapshot.archive_count,
        archive_capacity=policy.archive.capacity,
        waiting_to_freeze=len(waiting_line(snapshot.hot.values(), policy.freeze)),
        threshold=admission.threshold(scores, policy.admission),
        user_class=snapshot.user_class,
        capture_paused=snapshot.capture_paused,
        recall_paused=snapshot.recall_paused,
    )
