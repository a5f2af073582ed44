"""One atomic unit of one user's memory.

The unit reads through the process's warm state and keeps what it changes to itself: the snapshot
after its own plans, and which vectors came and went. On commit both become the warm state; when
it is left by an exception, nothing of it was ever seen.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from dualgate.adapters.sql import dossier as dossiers
from dualgate.adapters.sql import (
    erasing,
    jobs,
    pools,
    reading,
    tables,
    transcripts,
    warm,
    writing,
)
from dualgate.adapters.sql.cache import Entry, UserCache
from dualgate.adapters.sql.dialects import Sql
from dualgate.adapters.sql.engine import Unit
from dualgate.adapters.sql.lines import Lines
from dualgate.adapters.sql.reading import UserRow
from dualgate.adapters.sql.vectors import checked, rounded
from dualgate.domain.erasure import ErasureKind
from dualgate.domain.items import MemoryItem
from dualgate.domain.plan import Decision, Pending, Plan
from dualgate.domain.signals import Signal
from dualgate.domain.status import LIVE
from dualgate.domain.view import OwnTime, Snapshot
from dualgate.errors import InvalidInputError
from dualgate.pipeline.dossier import Dossier, Erasure, is_blank, missing
from dualgate.pipeline.ports import (
    Due,
    IndexedTurn,
    Job,
    PlacedTurn,
    Session,
    StoredTurn,
    Use,
    Vector,
)


class SqlTransaction:
    """A unit; made by SqlStore.begin."""

    def __init__(self, unit: Unit, user: UserRow, cache: UserCache, profile: warm.Profile) -> None:
        self._unit = unit
        self._user = user
        self._began_as = user
        self._cache = cache
        self._profile = profile
        kept = cache.get(user.user_id)
        valid = kept is not None and kept.snapshot.version == user.version
        self._entry: Entry | None = kept if valid else None
        self._wrote = False
        self._pools_changed = False
        self._added: dict[str, Vector] = {}
        self._removed: set[str] = set()
        self._pool_outdated = False
        self._lines = Lines(user.units + 1)
        self._is_gone = False

    async def snapshot(self) -> Snapshot:
        """Return the pools as this unit sees them, its own plans included."""
        return (await self._warm()).snapshot

    async def nearest(self, vector: Vector, *, limit: int, gate: float) -> list[tuple[str, float]]:
        """Return (item id, cosine) of live items, best first."""
        query = checked("vector", vector)
        if limit < 1:
            return []
        entry = await self._warm()
        pool = entry.pool
        if pool is None or pool.dim != query.size or self._pool_outdated:
            bare = replace(entry, pool=None)
            entry = await self._unit.step(
                lambda sql: warm.with_pool(sql, bare, self._profile, query.size)
            )
            # Read inside the unit: what it changed so far is in there already.
            self._entry, pool = entry, entry.pool
            self._added, self._removed, self._pool_outdated = {}, set(), False
        if pool is None:
            return []
        without = self._removed | self._added.keys()
        return pool.nearest(query, limit=limit, gate=gate, without=without, added=self._added)

    async def in_slot(self, subject: str, attribute: str) -> list[MemoryItem]:
        """Return the live items of this slot."""
        user_id = self._user.user_id
        return await self._unit.step(lambda sql: reading.in_slot(sql, user_id, subject, attribute))

    async def partners(
        self, subject: str, attribute: str | None, item_ids: Sequence[str]
    ) -> dict[str, MemoryItem]:
        """Return the live items of the slot, then these items: pooled ones first."""
        user_id, snapshot = self._user.user_id, (await self._warm()).snapshot
        pooled = {
            i: item for i in item_ids if (item := snapshot.hot.get(i) or snapshot.frozen.get(i))
        }
        if not attribute and len(pooled) == len(item_ids):
            return pooled

        def work(sql: Sql) -> dict[str, MemoryItem]:
            slot = reading.in_slot(sql, user_id, subject, attribute) if attribute else []
            found = {item.id: item for item in slot} | pooled
            missing = [i for i in item_ids if i not in found]
            return found | reading.items(sql, user_id, missing)

        return await self._unit.step(work)

    async def items(self, item_ids: Iterable[str]) -> dict[str, MemoryItem]:
        """Return these items of the user, whatever their status."""
        wanted = list(dict.fromkeys(item_ids))
        snapshot = (await self._warm()).snapshot
        known = {**snapshot.hot, **snapshot.frozen}
        found = {i: known[i] for i in wanted if i in known}
        missing = [i for i in wanted if i not in found]
        if missing:
            user_id = self._user.user_id
            found |= await self._unit.step(lambda sql: reading.items(sql, user_id, missing))
        return found

    async def signals(
        self, item_ids: Iterable[str], session_id: str | None = None
    ) -> dict[str, list[Signal]]:
        """Return the signals of these items, oldest first."""
        wanted = list(item_ids)
        if not wanted:
            return {}
        user_id = self._user.user_id
        return await self._unit.step(lambda sql: reading.signals(sql, user_id, wanted, session_id))

    async def pending(self, pending_id: str) -> Pending | None:
        """Return a pending override, open or closed."""
        user_id = self._user.user_id
        return await self._unit.step(lambda sql: reading.pending(sql, user_id, pending_id))

    async def due(self, now: datetime, forgotten_before: datetime) -> Due:
        """Return what expired, and what was forgotten before the undo window."""
        user_id = self._user.user_id
        return await self._unit.step(lambda sql: reading.due(sql, user_id, now, forgotten_before))

    async def apply(self, plan: Plan, vectors: Mapping[str, Vector] | None = None) -> None:
        """Write a plan, whole."""
        user_id = self._user.user_id
        writing.require_own(user_id, plan)
        given = {
            item.id: checked("vectors", vectors[item.id])
            for item in plan.items
            if vectors and item.id in vectors
        }
        shows = bool(plan.items or plan.pendings or plan.purged)
        entry = await self._warm() if shows else None
        known = {} if entry is None else _at_hand(entry.snapshot)

        def work(sql: Sql) -> dict[str, MemoryItem]:
            return writing.apply(
                sql, user_id, plan, given, known, self._lines, self._profile.model
            )

        before = await self._unit.step(work)
        self._wrote = True
        if entry is not None:
            self._pools_changed = True
            self._entry = replace(entry, snapshot=pools.after(entry.snapshot, plan, before))
            self._follow_vectors(plan, before, given)

    async def add_turns(self, turns: Sequence[StoredTurn]) -> list[str]:
        """Keep raw turns; return the ids that are new."""
        user_id = self._user.user_id
        for turn in turns:
            if turn.user_id != user_id:
                raise InvalidInputError(
                    "user_id", "turns must be of the unit's user", turn.user_id
                )
        self._wrote = self._wrote or bool(turns)
        return await self._unit.step(
            lambda sql: writing.add_turns(sql, user_id, turns, self._lines)
        )

    async def known_turns(self, turn_ids: Iterable[str]) -> set[str]:
        """Return which of these turns are kept already."""
        user_id, wanted = self._user.user_id, list(turn_ids)
        return await self._unit.step(lambda sql: reading.known_turns(sql, user_id, wanted))

    async def recent_turns(self, session_id: str, limit: int) -> list[StoredTurn]:
        """Return the last turns of a session, oldest first."""
        user_id = self._user.user_id
        return await self._unit.step(
            lambda sql: reading.recent_turns(sql, user_id, session_id, limit)
        )

    async def index_turns(self, entries: Sequence[IndexedTurn], now: datetime) -> None:
        """Make kept turns findable [R6]."""
        user_id = self._user.user_id
        self._wrote = self._wrote or bool(entries)
        await self._unit.step(
            lambda sql: transcripts.index_turns(sql, user_id, entries, now, self._lines)
        )

    async def unindexed_turns(self, made_by: str, limit: int) -> list[PlacedTurn]:
        """Return kept turns that no index of this name holds."""
        user_id = self._user.user_id
        return await self._unit.step(
            lambda sql: transcripts.unindexed(sql, user_id, made_by, limit)
        )

    async def old_turns(self, stored_before: datetime, limit: int) -> list[str]:
        """Return indexed turns stored before that instant."""
        user_id = self._user.user_id
        return await self._unit.step(
            lambda sql: transcripts.old(sql, user_id, stored_before, limit)
        )

    async def empty_turns(self, turn_ids: Iterable[str]) -> None:
        """Take the content of these turns, and all they are found by [P3, L3]."""
        user_id, wanted = self._user.user_id, list(turn_ids)
        self._wrote = self._wrote or bool(wanted)
        await self._unit.step(lambda sql: transcripts.empty(sql, user_id, wanted))

    async def session(self, session_id: str, now: datetime, parent_id: str | None) -> Session:
        """Return the session, made if new [F2]."""
        user_id = self._user.user_id
        found, made = await self._unit.step(
            lambda sql: writing.make_session(sql, user_id, session_id, now, parent_id)
        )
        self._wrote = self._wrote or made
        return found

    async def end_session(self, session_id: str, now: datetime) -> None:
        """Mark the session ended and drop its working memory [L2]."""
        user_id = self._user.user_id
        self._wrote = True
        await self._unit.step(lambda sql: writing.end_session(sql, user_id, session_id, now))

    async def touch(self, own_time: OwnTime) -> None:
        """Set the user's own clock [D1]."""
        self._user = replace(self._user, own_time=own_time)
        self._wrote = True

    async def set_user(
        self,
        *,
        user_class: str | None = None,
        capture_paused: bool | None = None,
        recall_paused: bool | None = None,
        maintained_at: datetime | None = None,
    ) -> None:
        """Change what is set for the user; None leaves it."""
        user = self._user
        self._user = replace(
            user,
            user_class=user.user_class if user_class is None else user_class,
            capture_paused=user.capture_paused if capture_paused is None else capture_paused,
            recall_paused=user.recall_paused if recall_paused is None else recall_paused,
            maintained_at=user.maintained_at if maintained_at is None else maintained_at,
        )
        self._wrote = True

    async def finish(self, job: Job, decisions: Sequence[Decision]) -> None:
        """End the job inside this unit [W1]."""
        user_id = self._user.user_id
        for owner in (job.user_id, *(decision.user_id for decision in decisions)):
            if owner != user_id:
                raise InvalidInputError("user_id", "must be the unit's user", owner)

        def work(sql: Sql) -> None:
            jobs.finish(sql, user_id, job.id)
            writing.record_decisions(sql, decisions)

        self._wrote = self._wrote or bool(decisions)
        await self._unit.step(work)

    async def dossier(self) -> Dossier:
        """Return all that is kept of the user [P3]."""
        user = self._began_as
        return await self._unit.step(lambda sql: dossiers.dossier(sql, user))

    async def erased(self, marks: Iterable[str]) -> dict[str, tuple[ErasureKind, datetime]]:
        """Return which of these marks have a tombstone [P3]."""
        user_id, wanted = self._user.user_id, list(marks)
        return await self._unit.step(lambda sql: erasing.erased(sql, user_id, wanted))

    async def erase(self, erasure: Erasure) -> Mapping[str, int]:
        """Take all of it out, leave tombstones [P3]."""
        self._require_mine(erasure.asked.user_id)
        gone = await self._unit.step(lambda sql: erasing.erase(sql, erasure, self._lines))
        self._is_gone = erasure.whole
        self._read_anew()
        return gone

    async def put_back(self, dossier: Dossier, vectors: Mapping[str, Vector]) -> None:
        """Write what a dossier holds and the store does not [P3]."""
        self._require_mine(dossier.user_id)
        model, kept = self._profile.model, await self.dossier()
        new = missing(dossier, kept)
        await self._unit.step(
            lambda sql: dossiers.put_back(sql, new, vectors, self._lines, model)
        )
        if is_blank(kept):
            self._user = replace(
                self._user,
                own_time=dossier.own_time,
                user_class=dossier.user_class,
                capture_paused=dossier.capture_paused,
                recall_paused=dossier.recall_paused,
                maintained_at=dossier.maintained_at,
            )
        self._read_anew()

    def _require_mine(self, user_id: str) -> None:
        if user_id != self._user.user_id:
            raise InvalidInputError("user_id", "must be the unit's user", user_id)

    def _read_anew(self) -> None:
        """Keep nothing of what was read: rows went or came beside the plans."""
        self._entry = None
        self._added, self._removed, self._pool_outdated = {}, set(), True
        self._wrote = self._pools_changed = True

    async def count_uses(
        self, items: Sequence[MemoryItem], before: Mapping[str, MemoryItem], uses: Sequence[Use]
    ) -> None:
        """Write the counters of used items; for SqlStore.record_uses."""
        entry = await self._warm()
        user_id = self._user.user_id

        def work(sql: Sql) -> None:
            writing.count_uses(sql, items)
            writing.log_uses(sql, user_id, uses, self._lines)

        await self._unit.step(work)
        used = Plan(items=tuple(items))
        self._entry = replace(entry, snapshot=pools.after(entry.snapshot, used, before))
        self._wrote = self._pools_changed = True

    @property
    def own_time(self) -> OwnTime:
        """Return the user's own clock as it stands in this unit."""
        return self._user.own_time

    async def commit(self) -> None:
        """Write the user's row and commit; then the process knows the new state."""
        shown = self._pools_changed or self._user != self._began_as
        user = self._user
        if self._wrote:
            user = replace(user, version=user.version + shown, units=user.units + 1)

        def work(sql: Sql) -> None:
            if self._is_gone:
                erasing.leave_counters(sql, user.user_id, user.version, user.units)
            elif self._wrote:
                sql.upsert(tables.users, [user.as_row()])

        await self._unit.end(work)
        if self._is_gone:
            self._cache.drop(user.user_id)
        elif self._entry is not None and (user.version or shown):
            self._keep_warm(self._entry, user)

    def _keep_warm(self, entry: Entry, user: UserRow) -> None:
        pool = None if self._pool_outdated else entry.pool
        if pool is not None:
            for item_id in self._removed:
                pool.drop(item_id)
            for item_id, vector in self._added.items():
                if vector.size == pool.dim:
                    pool.put(item_id, vector)
                else:
                    pool.drop(item_id)
        snapshot = pools.with_user(entry.snapshot, user)
        self._cache.put(user.user_id, replace(entry, snapshot=snapshot, pool=pool))

    async def _warm(self) -> Entry:
        """Return the state as this unit sees it, its own settings and clock included."""
        kept = self._entry
        if kept is None:
            began = self._began_as
            kept = Entry(await self._unit.step(lambda sql: reading.load_snapshot(sql, began)))
        seen = replace(kept, snapshot=pools.with_user(kept.snapshot, self._user))
        if warm.lacks_tail(seen, self._profile):
            seen = await self._unit.step(lambda sql: warm.with_tail(sql, seen, self._profile))
        self._entry = seen
        return seen

    def _follow_vectors(
        self, plan: Plan, before: Mapping[str, MemoryItem], given: Mapping[str, Vector]
    ) -> None:
        for item_id in plan.purged:
            self._added.pop(item_id, None)
            self._removed.add(item_id)
        for item in plan.items:
            old = before.get(item.id)
            if item.status not in LIVE:
                self._added.pop(item.id, None)
                self._removed.add(item.id)
            elif item.id in given:
                self._added[item.id] = rounded(given[item.id])
            elif old is not None and old.status not in LIVE:
                # It comes back with a vector that only the database holds.
                self._pool_outdated = True


def _at_hand(snapshot: Snapshot) -> dict[str, MemoryItem]:
    """Return the items that need not be read: the pools, and who leaves the archive first."""
    tail = {item.id: item for item in snapshot.archive_tail}
    return {**tail, **snapshot.hot, **snapshot.frozen}
