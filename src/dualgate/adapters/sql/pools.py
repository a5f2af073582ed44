"""How a user's Snapshot follows the plans that are applied, without reading it again.

Rule: pure functions of a Snapshot, what changed and what stood there before. The archive's tail is
read as a batch when it is needed and then kept in order, so that no write scans the archive.
"""

from __future__ import annotations

import heapq
import math
from bisect import insort
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta

from dualgate.adapters.sql.reading import Standing, UserRow
from dualgate.adapters.sql.rows import maybe_micros
from dualgate.domain.archiving import ArchivePolicy
from dualgate.domain.items import MemoryItem
from dualgate.domain.plan import Pending, PendingState, Plan
from dualgate.domain.status import HOT, Status
from dualgate.domain.view import OwnTime, Snapshot

TAIL = 64
_REFILL_UNDER = 16
# What expires within a day may leave a day late.
_TAIL_KEEPS = timedelta(days=1)
_RATE = ArchivePolicy().decay_rate

Rank = tuple[bool, bool, float, str]


def nearly_full(snapshot: Snapshot, capacity: int) -> bool:
    """Whether the snapshot has to show who leaves the archive first."""
    return capacity - snapshot.archive_count <= TAIL and snapshot.archive_count > 0


def tail_is_fresh(snapshot: Snapshot, known_at: datetime | None) -> bool:
    """Whether the tail that was put in order at `known_at` still serves."""
    tail = len(snapshot.archive_tail)
    if tail < min(_REFILL_UNDER, snapshot.archive_count):
        return False
    now = snapshot.own_time.active_at
    if known_at is None or now is None:
        return known_at is now
    return abs(now - known_at) < _TAIL_KEEPS


def first_to_leave(archived: Iterable[Standing], own_time: OwnTime) -> list[str]:
    """Return the ids of the items that leave the archive first, worst first [A7]."""
    now = maybe_micros(own_time.active_at)
    worst = heapq.nsmallest(TAIL, archived, key=lambda standing: rank(standing, now))
    return [standing.id for standing in worst]


def rank_of(item: MemoryItem, own_time: OwnTime) -> Rank:
    """Return the item's place in the order of leaving."""
    expires_at = maybe_micros(item.expires_at)
    standing = Standing(
        item.id,
        item.was_confirmed,
        item.score,
        item.accessed_day,
        item.access_count,
        expires_at,
    )
    return rank(standing, maybe_micros(own_time.active_at))


def rank(item: Standing, now: int | None) -> Rank:
    """Return the order of leaving; what has expired is judged at the user's last active moment.

    The logarithm of [D1] less what is the same for every item, the reading of the user's clock:
    so an order once made does not change as days go by.
    """
    kept = -math.inf
    if item.score > 0:
        often = math.log1p(math.log1p(item.access_count))
        kept = math.log(item.score) + _RATE * item.accessed_day + often
    expired = now is not None and item.expires_at is not None and item.expires_at <= now
    # domain.archiving.leaving_rank, on the few columns that it reads.
    return (bool(item.was_confirmed), not expired, kept, item.id)


def with_user(snapshot: Snapshot, user: UserRow) -> Snapshot:
    """Return the snapshot with what the user's row says."""
    return replace(
        snapshot,
        version=user.version,
        own_time=user.own_time,
        user_class=user.user_class,
        capture_paused=user.capture_paused,
        recall_paused=user.recall_paused,
        maintained_at=user.maintained_at,
    )


def after(snapshot: Snapshot, plan: Plan, before: Mapping[str, MemoryItem]) -> Snapshot:
    """Return the snapshot after a plan; `before` holds the plan's items as they were."""
    if not (plan.items or plan.pendings or plan.purged):
        return snapshot
    hot, frozen = dict(snapshot.hot), dict(snapshot.frozen)
    count = snapshot.archive_count
    tail = _Tail(snapshot)
    was = dict(before)
    for item in plan.items:
        old = was.get(item.id)
        count += (item.status is Status.ARCHIVED) - (
            old is not None and old.status is Status.ARCHIVED
        )
        _place(item, hot, frozen)
        tail.follow(item)
        was[item.id] = item
    for item_id in plan.purged:
        old = was.pop(item_id, None)
        count -= old is not None and old.status is Status.ARCHIVED
        hot.pop(item_id, None)
        frozen.pop(item_id, None)
        tail.drop(item_id)
    return replace(
        snapshot,
        hot=hot,
        frozen=frozen,
        pendings=_pendings_after(snapshot.pendings, plan),
        archive_count=count,
        archive_tail=tail.items(),
    )


def _place(item: MemoryItem, hot: dict[str, MemoryItem], frozen: dict[str, MemoryItem]) -> None:
    for pool, belongs in ((hot, item.status in HOT), (frozen, item.status is Status.FROZEN)):
        if belongs:
            pool[item.id] = item
        else:
            pool.pop(item.id, None)


def _pendings_after(pendings: tuple[Pending, ...], plan: Plan) -> tuple[Pending, ...]:
    if not plan.pendings and not plan.purged:
        return pendings
    found = {pending.id: pending for pending in (*pendings, *plan.pendings)}
    still_open = (
        pending
        for pending in found.values()
        if pending.state is PendingState.OPEN and pending.item_id not in plan.purged
    )
    return tuple(sorted(still_open, key=lambda pending: (pending.opened_at, pending.id)))


class _Tail:
    """The first to leave: always exactly the lowest-ranked, as many as are known."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._own_time = snapshot.own_time
        self._known = snapshot.archive_tail
        self._ranked: list[tuple[Rank, MemoryItem]] | None = None
        # Does the tail hold the whole archive? Then a newcomer belongs to it wherever it ranks.
        self._whole = len(self._known) == snapshot.archive_count

    def follow(self, item: MemoryItem) -> None:
        """Take the item's new state into account."""
        if not self._known:
            return  # not read yet: whoever needs it reads it
        self.drop(item.id)
        if item.status is not Status.ARCHIVED:
            return
        ranked = self._open()
        place = rank_of(item, self._own_time)
        if self._whole or (ranked and place < ranked[-1][0]):
            insort(ranked, (place, item), key=lambda pair: pair[0])
            if len(ranked) > TAIL:
                ranked.pop()
                self._whole = False

    def drop(self, item_id: str) -> None:
        """Take an item out."""
        if any(item.id == item_id for item in self._known) or self._ranked is not None:
            self._ranked = [pair for pair in self._open() if pair[1].id != item_id]

    def items(self) -> tuple[MemoryItem, ...]:
        """Return the tail as it stands."""
        if self._ranked is None:
            return self._known
        return tuple(item for _, item in self._ranked)

    def _open(self) -> list[tuple[Rank, MemoryItem]]:
        if self._ranked is None:
            self._ranked = [(rank_of(item, self._own_time), item) for item in self._known]
            # The order was made at an earlier moment of the user; keep to the present one.
            self._ranked.sort(key=lambda pair: pair[0])
        return self._ranked
