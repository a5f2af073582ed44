"""A working copy of one user's pools: changes go in, a Plan comes out, the bounds hold [A8].

A Draft lives inside one pure call. It knows the pools, their capacities and the log; it does not
know why a candidate came, that is decided by the modules that use it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from dualgate.domain import admission
from dualgate.domain.archiving import is_expired, kept_strength, leaving_rank
from dualgate.domain.freezing import waiting_line
from dualgate.domain.items import MemoryItem
from dualgate.domain.plan import Actor, Decision, Move, Note, Numbers, Pending, PendingState, Plan
from dualgate.domain.policy import GatePolicy
from dualgate.domain.score import live_score, live_scores
from dualgate.domain.signals import Signal
from dualgate.domain.status import HOT, Cause, Status, move
from dualgate.domain.view import Snapshot
from dualgate.domain.weathering import idle_days, weathers


class Draft:
    """Pools as they stand within one decision, and what has changed so far."""

    def __init__(
        self, snapshot: Snapshot, policy: GatePolicy, now: datetime, actor: Actor
    ) -> None:
        self.policy = policy
        self.now = now
        self.actor = actor
        self.user_id = snapshot.user_id
        self.own_time = snapshot.own_time
        self.hot = dict(snapshot.hot)
        self.frozen = dict(snapshot.frozen)
        self.pendings = {pending.id: pending for pending in snapshot.pendings}
        self.archive_count = snapshot.archive_count
        self._tail = {item.id: item for item in snapshot.archive_tail}
        self._touched: dict[str, MemoryItem] = {}
        self._changed_pendings: dict[str, Pending] = {}
        self._signals: list[Signal] = []
        self._moves: list[Move] = []
        self._notes: list[Note] = []
        self._scores: dict[str, float] | None = None

    # --- looking

    def scores(self) -> dict[str, float]:
        """Return the live score of every hot item; worked out once per draft."""
        if self._scores is None:
            self._scores = live_scores(self.hot, self.now, self.policy.score)
        return self._scores

    def protected(self) -> frozenset[str]:
        """Return the hot items that cannot be evicted [A6]."""
        return admission.protected(self.hot.values(), self.scores(), self.policy.admission)

    def current(self, item: MemoryItem) -> MemoryItem:
        """Return the item as it stands now, whatever was given."""
        placed = self.hot.get(item.id) or self.frozen.get(item.id)
        return placed or self._touched.get(item.id, item)

    def own_day(self) -> float:
        """Return the reading of the user's own clock [D1]."""
        return self.own_time.reading(self.now, self.policy.archive.longest_absence_days)

    # --- changing

    def put(self, item: MemoryItem) -> MemoryItem:
        """Take note of an item's new state; its pool follows from its status."""
        item = item.with_(
            score=live_score(item, self.now, self.policy.score), updated_at=self.now
        )
        self._touched[item.id] = item
        if item.status in HOT:
            self.hot[item.id] = item
            self.scores()[item.id] = item.score
        elif item.status is Status.FROZEN:
            self.frozen[item.id] = item
        return item

    def shift(
        self,
        item: MemoryItem,
        cause: Cause,
        to: Status | None = None,
        numbers: Numbers | None = None,
        *,
        is_new: bool = False,
    ) -> MemoryItem:
        """Move an item by the table and log it. Use `enter_hot` to bring one into the hot pool."""
        before = None if is_new else item.status
        after = move(before, cause, to)
        self._moves.append(
            Move(
                user_id=self.user_id,
                item_id=item.id,
                before=before,
                after=after,
                cause=cause,
                at=self.now,
                actor=self.actor,
                numbers=dict(numbers or {}),
            )
        )
        if item.id in self.hot:
            self.scores().pop(item.id, None)
        self.hot.pop(item.id, None)
        self.frozen.pop(item.id, None)
        self._tail.pop(item.id, None)
        self.archive_count += (after is Status.ARCHIVED) - (before is Status.ARCHIVED)
        changes: dict[str, Any] = {"status": after}
        if after in (Status.CONFIRMED, Status.FROZEN):
            changes["was_confirmed"] = True
        if after is Status.FROZEN:
            changes["frozen_at"] = self.now
        if before is Status.FROZEN:
            changes["thawed_at"] = self.now
        if before is Status.FROZEN and after not in HOT:
            self._drop_challenges(item.id)
        if after in (Status.SUPERSEDED, Status.FORGOTTEN, Status.ARCHIVED):
            self._release(item)
            changes["contested_with"] = ()
        return self.put(item.with_(**changes))

    def enter_hot(
        self,
        item: MemoryItem,
        cause: Cause,
        to: Status,
        numbers: Numbers | None = None,
        *,
        is_new: bool = False,
        force: bool = False,
    ) -> MemoryItem | None:
        """Bring an item into the hot pool, a weaker one making room; None if none is weaker [A5].

        With force it enters whatever its score: the weakest leaves, protected or not.
        """
        pool = {k: v for k, v in self.scores().items() if k != item.id}
        mine = live_score(item, self.now, self.policy.score)
        verdict = admission.place(mine, pool, self.protected(), self.policy.admission)
        if isinstance(verdict, admission.Refuse):
            if not force:
                return None
            exposed = {k: v for k, v in pool.items() if k not in self.protected()} or pool
            verdict = admission.Displace(min(exposed, key=lambda k: (exposed[k], k)))
        if isinstance(verdict, admission.Displace):
            victim = self.hot[verdict.victim]
            # Who comes out of the archive makes room in it, and must not be crowded out of it.
            leaving = item.status is Status.ARCHIVED and not is_new
            self._tail.pop(item.id, None)
            self.archive_count -= leaving
            self.archive(victim, Cause.EVICTED, {"for": item.id, "newcomer_score": mine})
            self.archive_count += leaving  # `shift` takes it off
        return self.shift(item, cause, to, numbers, is_new=is_new)

    def archive(
        self, item: MemoryItem, cause: Cause, numbers: Numbers | None = None
    ) -> MemoryItem:
        """Move an item to the archive; when that is full, whoever ranks last leaves it [A7]."""
        score = live_score(item, self.now, self.policy.score)
        moved = self.shift(item, cause, Status.ARCHIVED, {"score": score, **(numbers or {})})
        self._tail[moved.id] = moved
        self.fit_archive()
        return moved

    def fit_archive(self) -> None:
        """Let the first to leave go until the archive fits, or the known tail is used up [A7]."""
        while self.archive_count > self.policy.archive.capacity and self._tail:
            last = self._first_to_leave()
            self.shift(last, Cause.CROWDED_OUT, Status.FORGOTTEN, {"retention": self.kept(last)})

    def kept(self, item: MemoryItem) -> float:
        """Return the item's retention [D1]."""
        policy = self.policy
        return kept_strength(item, self.now, self.own_time, policy.score, policy.archive)

    def weather(self, item: MemoryItem) -> None:
        """Let a frozen item go back to the hot pool by disuse [F5]."""
        numbers = {"idle_days": idle_days(item, self.now), "confirm_count": item.confirm_count}
        self.thaw(item, Cause.WEATHERED, numbers)

    def thaw(self, item: MemoryItem, cause: Cause, numbers: Numbers | None = None) -> MemoryItem:
        """Bring a frozen item back to the hot pool."""
        thawed = self.enter_hot(item, cause, Status.CONFIRMED, numbers, force=True)
        if thawed is None:  # pragma: no cover - force always finds room
            raise AssertionError(item.id)
        return thawed

    def freeze_waiting(self) -> None:
        """Freeze the best-scored waiters while there is room; weathering makes room first [F4]."""
        waiting = waiting_line(self.hot.values(), self.policy.freeze)
        if not waiting:
            return
        scores = self.scores()
        waiting.sort(key=lambda item: (not item.pinned, -scores[item.id], item.id))
        if len(self.frozen) + len(waiting) > self.policy.freeze.capacity:
            for frozen in list(self.frozen.values()):
                if weathers(frozen, self.now, self.policy.weathering):
                    self.weather(frozen)
            waiting = [item for item in waiting if item.id in self.hot]
        room = self.policy.freeze.capacity - len(self.frozen)
        for item in waiting[: max(0, room)]:
            numbers = {
                "confirm_count": item.confirm_count,
                "calm_confidence": item.calm_confidence,
                "score": scores[item.id],
                "frozen": len(self.frozen),
                "pinned": item.pinned,
            }
            self.shift(item, Cause.FROZE, numbers=numbers)

    def contest(self, one: MemoryItem, other: MemoryItem) -> tuple[MemoryItem, MemoryItem]:
        """Mark two items as saying opposite things [C1]."""
        one = self.put(one.with_(contested_with=_with(one.contested_with, other.id)))
        other = self.put(other.with_(contested_with=_with(other.contested_with, one.id)))
        return one, other

    def hold(self, pending: Pending) -> None:
        """Park or update a pending override [F3]."""
        self._changed_pendings[pending.id] = pending
        if pending.state is PendingState.OPEN:
            self.pendings[pending.id] = pending
        else:
            self.pendings.pop(pending.id, None)

    def end_challenge(self, pending: Pending, state: PendingState) -> None:
        """Close a pending override, kept for the record."""
        self.hold(_closed(pending, state, self.now))

    def hear(self, signal: Signal) -> None:
        """Record a signal."""
        self._signals.append(signal)

    def note(self, note: Note) -> None:
        """Record a working-memory note [L2]."""
        self._notes.append(note)

    def plan(
        self,
        decision: Decision | None = None,
        purged: tuple[str, ...] = (),
        *,
        freeze: bool = True,
    ) -> Plan:
        """Return everything that changed, as one unit; `freeze` lets waiters into free places."""
        if freeze:
            self.freeze_waiting()
        return Plan(
            decision=decision,
            items=tuple(self._touched.values()),
            signals=tuple(self._signals),
            moves=tuple(self._moves),
            pendings=tuple(self._changed_pendings.values()),
            notes=tuple(self._notes),
            purged=purged,
        )

    # --- inside

    def _first_to_leave(self) -> MemoryItem:
        # Retention, which takes long to work out, decides only among the first of a kind.
        kind = min(self._leaving_kind(item) for item in self._tail.values())
        first = [item for item in self._tail.values() if self._leaving_kind(item) == kind]
        return min(first, key=self._leaving_rank)

    def _leaving_kind(self, item: MemoryItem) -> tuple[bool, bool]:
        return leaving_rank(item, 0.0, expired=is_expired(item, self.now))[:2]

    def _leaving_rank(self, item: MemoryItem) -> tuple[bool, bool, float, str]:
        return leaving_rank(item, self.kept(item), expired=is_expired(item, self.now))

    def _release(self, item: MemoryItem) -> None:
        """Whoever was contested with an item that leaves is no longer so by it."""
        for other_id in item.contested_with:
            other = self.hot.get(other_id)
            if other is not None:
                left = tuple(i for i in other.contested_with if i != item.id)
                self.put(other.with_(contested_with=left))

    def _drop_challenges(self, item_id: str) -> None:
        """An item that is gone cannot be challenged.

        One that only thawed can: a challenge ends in the ways that [F3] lists, and by no other.
        """
        for pending in list(self.pendings.values()):
            if pending.item_id == item_id:
                self.end_challenge(pending, PendingState.LAPSED)


def _closed(pending: Pending, state: PendingState, now: datetime) -> Pending:
    return replace(pending, state=state, closed_at=now)


def _with(ids: tuple[str, ...], item_id: str) -> tuple[str, ...]:
    return ids if item_id in ids else (*ids, item_id)


def numbers_of(draft: Draft, extra: Mapping[str, float | str | bool]) -> dict[str, Any]:
    """Return the gate's standing numbers with some of the decision's own [W2]."""
    scores = tuple(draft.scores().values())
    return {
        "hot": len(scores),
        "hot_capacity": draft.policy.admission.capacity,
        "threshold": admission.threshold(scores, draft.policy.admission),
        **extra,
    }
