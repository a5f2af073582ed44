"""The store in process: complete, and gone with the process (`memory://`)."""

from __future__ import annotations

import asyncio
import heapq
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from datetime import date, datetime
from weakref import WeakValueDictionary

from dualgate.adapters.memory.doors import require_user
from dualgate.adapters.memory.erasing import Graves, dossier_of
from dualgate.adapters.memory.listing import after_cursor, cursor_of, lineage, newest_key
from dualgate.adapters.memory.person import Changes, Person
from dualgate.adapters.memory.queue import MemoryQueue
from dualgate.adapters.memory.serving import MemoryServing
from dualgate.adapters.memory.turns import placed
from dualgate.adapters.memory.unit import MemoryUnit, nearest_in, snapshot_of
from dualgate.domain.audit import Finding, FindingState
from dualgate.domain.belief import believed_at
from dualgate.domain.erasure import ErasureKind
from dualgate.domain.items import MemoryItem
from dualgate.domain.plan import Decision, Move, Pending
from dualgate.domain.signals import Signal
from dualgate.domain.view import OwnTime, Snapshot
from dualgate.errors import InvalidInputError, LeaseLostError
from dualgate.pipeline.dossier import AskedErasure, Dossier
from dualgate.pipeline.ports import (
    ItemFilter,
    ItemPage,
    Lease,
    ModelTask,
    PlacedTurn,
    Session,
    StoreStats,
    Transaction,
    UsageLine,
    Use,
    Vector,
    WordedTurns,
)

_NO_CHANGES = Changes()


class MemoryStore:
    """Implements ports.Store over plain dictionaries, one Person a user."""

    def __init__(self, queue: MemoryQueue, *, archive_capacity: int = 5_000) -> None:
        if archive_capacity < 0:
            raise InvalidInputError("archive_capacity", "must not be negative", archive_capacity)
        self._queue = queue
        self._capacity = archive_capacity
        self._people: dict[str, Person] = {}
        self._graves = Graves()
        self.serving = MemoryServing()
        self._strangers: WeakValueDictionary[str, Person] = WeakValueDictionary()
        # A lock lives as long as somebody holds it or waits for it.
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._usage: dict[tuple[date, ModelTask, str, str], UsageLine] = {}

    async def close(self) -> None:
        """Let everything go."""
        self._people.clear()

    def begin(
        self, user_id: str, lease: Lease | None = None
    ) -> AbstractAsyncContextManager[Transaction]:
        """Open a unit for one user; see ports.Store."""
        return self._unit(user_id, lease)

    @asynccontextmanager
    async def _unit(self, user_id: str, lease: Lease | None) -> AsyncIterator[Transaction]:
        require_user(user_id)
        if lease is not None and lease.user_id != user_id:
            raise InvalidInputError("lease", f"must be on {user_id!r}", lease.user_id)
        async with self._lock(user_id):
            self._require_held(lease)
            person = self._person(user_id)
            unit = MemoryUnit(user_id, person, self._queue, self._capacity, self._graves)
            try:
                yield unit
            finally:
                unit.end()
            self._require_held(lease)
            if unit.changes:
                # The queue first: it refuses a job that was ended meanwhile, and then nothing
                # of the unit is applied.
                self._queue.end(user_id, unit.changes.jobs)
                person.commit(unit.changes)
                self._people[user_id] = person
                await self._committed_privacy(user_id, person, unit.changes)

    async def _committed_privacy(self, user_id: str, person: Person, changes: Changes) -> None:
        """Do what an erasure or an archive means for jobs, usage and tombstones [P3]."""
        erasure = changes.erasure
        if erasure is not None:
            self._graves.bury(erasure)
            for kept in erasure.jobs:
                self._queue.thin(user_id, kept)
            self._queue.cancel(user_id, erasure.job_ids)
            if erasure.whole:
                self._queue.drop_user(user_id)
                self.serving.drop_user(user_id)
                self._graves.versions[user_id] = person.version
                del self._people[user_id]
                for line in [line for line in self._usage if line[-1] == user_id]:
                    del self._usage[line]
        if changes.put_back is not None:
            self._queue.put_back(user_id, changes.put_back.jobs)
            self._graves.put_back(changes.put_back)

    async def dossier(self, user_id: str) -> Dossier:
        """Return all that is kept of the user [P3]."""
        person = self._person(user_id)
        return dossier_of(user_id, person, self._queue.kept(user_id), self._graves)

    async def erased(
        self, user_id: str, marks: Iterable[str]
    ) -> dict[str, tuple[ErasureKind, datetime]]:
        """Return which of these marks have a tombstone [P3]."""
        return self._graves.erased(require_user(user_id), marks)

    async def ask_erasure(self, asked: AskedErasure) -> None:
        """Keep that this erasure was asked for."""
        require_user(asked.user_id)
        self._graves.asked.setdefault(asked.id, asked)

    async def asked_erasures(self) -> list[AskedErasure]:
        """Return the erasures that are not finished, oldest first."""
        return sorted(self._graves.asked.values(), key=lambda one: (one.asked_at, one.id))

    async def scrub(self, limit_bytes: int | None = None) -> bool:  # noqa: ARG002  # no file
        """Ask no more for what is done: in process, what is let go of is gone."""
        for one in [one for one in self._graves.asked.values() if one.done_at is not None]:
            del self._graves.asked[one.id]
        return True

    async def snapshot(self, user_id: str) -> Snapshot:
        """Return the user's pools."""
        return snapshot_of(user_id, self._person(user_id), _NO_CHANGES, self._capacity)

    async def nearest(
        self, user_id: str, vector: Vector, *, limit: int, gate: float
    ) -> list[tuple[str, float]]:
        """Return (item id, cosine) of live items, best first: exact."""
        person = self._person(user_id)
        return nearest_in(person, _NO_CHANGES, vector, limit=limit, gate=gate)

    async def by_words(self, user_id: str, words: str, *, limit: int) -> list[tuple[str, float]]:
        """Return (item id, BM25 relevance) of live items, best first."""
        return self._person(user_id).words.search(words, limit)

    async def items(self, user_id: str, item_ids: Iterable[str]) -> dict[str, MemoryItem]:
        """Return these items, whatever their status."""
        kept = self._person(user_id).items
        return {item_id: kept[item_id] for item_id in item_ids if item_id in kept}

    async def unembedded(self, user_id: str, *, dim: int, limit: int) -> list[MemoryItem]:
        """Return live items that have no vector of this size; one model made all [T3]."""
        person = self._person(user_id)
        live = (*person.active.values(), *person.archive.values())
        missing = [item for item in live if not person.rows.holds(item.id, dim)]
        return missing[: max(0, limit)]

    async def turns_by_words(
        self, user_id: str, words: Sequence[str], *, limit: int
    ) -> WordedTurns:
        """Return the turns that hold the rarest of these words [R6]."""
        return self._person(user_id).turn_index.by_words(words, limit)

    async def turns_near(
        self, user_id: str, vector: Vector, *, made_by: str, limit: int, gate: float
    ) -> list[tuple[str, float]]:
        """Return (turn id, cosine) of indexed turns, best first: exact."""
        return self._person(user_id).turn_index.near(vector, made_by, limit, gate)

    async def placed_turns(
        self, user_id: str, turn_ids: Iterable[str], *, before: int, after: int
    ) -> dict[str, PlacedTurn]:
        """Return these turns with their neighbours."""
        person = self._person(user_id)
        found = (person.turns.get(turn_id) for turn_id in dict.fromkeys(turn_ids))
        return {
            turn.id: placed(turn, person.turns_of[turn.session_id], before, after)
            for turn in found
            if turn is not None and turn.content
        }

    async def resting_on(
        self, user_id: str, turn_ids: Iterable[str]
    ) -> dict[str, list[MemoryItem]]:
        """Return the items that have a signal from each of these turns."""
        person, wanted = self._person(user_id), set(turn_ids)
        found: dict[str, list[MemoryItem]] = {}
        for item_id in sorted(person.signals.keys() & person.items.keys()):
            for turn_id in {s.message_id for s in person.signals[item_id]} & wanted:
                found.setdefault(str(turn_id), []).append(person.items[item_id])
        return found

    async def page(
        self, user_id: str, wanted: ItemFilter, *, limit: int, cursor: str | None
    ) -> ItemPage:
        """List items, newest first; see ports.Store."""
        person = self._person(user_id)
        if limit < 1:
            raise InvalidInputError("limit", "must be at least 1", limit)
        listed = after_cursor(person.items.values(), wanted, cursor)
        found = heapq.nlargest(limit + 1, listed, key=newest_key)
        more = len(found) > limit
        shown = tuple(found[:limit])
        return ItemPage(items=shown, cursor=cursor_of(shown[-1]) if more else None)

    async def believed_at(self, user_id: str, when: datetime) -> list[MemoryItem]:
        """Return the items that were active at `when`, with their status then."""
        person = self._person(user_id)
        return believed_at(person.items, person.moves, when)

    async def moves(self, user_id: str, item_id: str | None = None) -> list[Move]:
        """Return the log, oldest first."""
        return [
            replace(move, numbers=dict(move.numbers))
            for move in self._person(user_id).moves
            if item_id is None or move.item_id == item_id
        ]

    async def signals(self, user_id: str, item_id: str) -> list[Signal]:
        """Return an item's signals, oldest first."""
        kept = self._person(user_id).signals.get(item_id, [])
        return sorted(kept, key=lambda signal: (signal.at, signal.id))

    async def signals_of(
        self, user_id: str, item_ids: Sequence[str]
    ) -> dict[str, list[Signal]]:
        """Return the signals of each of these items, oldest first."""
        return {item_id: await self.signals(user_id, item_id) for item_id in item_ids}

    async def versions(self, user_id: str, item_id: str) -> list[MemoryItem]:
        """Return the lineage the item belongs to, lowest version first."""
        return lineage(self._person(user_id).items, item_id)

    async def uses(self, user_id: str, item_id: str, limit: int = 50) -> list[Use]:
        """Return when the item was handed out, newest first."""
        kept = self._person(user_id).uses.get(item_id, [])
        return sorted(kept, key=lambda use: use.at)[::-1][: max(0, limit)]

    async def decisions(
        self,
        user_id: str,
        *,
        text: str | None = None,
        job_id: str | None = None,
        limit: int = 100,
        before: tuple[datetime, str] | None = None,
    ) -> list[Decision]:
        """Return recorded decisions, newest first: of a job, or whose content has `text`."""
        sought = None if text is None else text.casefold()
        listed = (
            decision
            for decision in self._person(user_id).decisions.values()
            if (job_id is None or decision.job_id == job_id)
            and (sought is None or sought in decision.candidate.content.casefold())
            and (before is None or (decision.at, decision.id) < before)
        )
        found = heapq.nlargest(max(0, limit), listed, key=lambda d: (d.at, d.id))
        return [replace(decision, numbers=dict(decision.numbers)) for decision in found]

    async def pendings(self, user_id: str, *, open_only: bool = True) -> list[Pending]:
        """Return pending overrides, oldest first."""
        person = self._person(user_id)
        listed = person.open_pendings if open_only else person.pendings
        return sorted(listed.values(), key=lambda pending: (pending.opened_at, pending.id))

    async def record_uses(self, user_id: str, uses: Sequence[Use], own_time: OwnTime) -> None:
        """Count accesses and relevance hits; see ports.Store."""
        require_user(user_id)
        async with self._lock(user_id):
            person = self._person(user_id)
            changes = Changes()
            for use in uses:
                item = changes.items.get(use.item_id) or person.items.get(use.item_id)
                if item is not None:
                    changes.items[item.id] = _used(item, use, own_time)
                    person.uses.setdefault(item.id, []).append(use)
            if _is_later(own_time, person.own_time):
                changes.own_time = own_time
            if changes:
                person.commit(changes)
                self._people[user_id] = person

    async def session(self, user_id: str, session_id: str) -> Session | None:
        """Return a session, None if unknown."""
        return self._person(user_id).sessions.get(session_id)

    async def keep_core(self, session: Session) -> Session:
        """Keep the session's core unless one is kept already; return what is kept [R1]."""
        person = self._person(session.user_id)
        known = person.sessions.get(session.id)
        if known is not None and known.core_text is not None:
            return known
        kept = session
        if known is not None:  # the core only: its root and times are settled
            kept = replace(
                known,
                core_text=session.core_text,
                core_item_ids=session.core_item_ids,
                core_tokens=session.core_tokens,
            )
        person.sessions[session.id] = kept
        self._people[session.user_id] = person
        return kept

    async def note(
        self,
        user_id: str,
        session_id: str,
        task_id: str,
        key: str,
        value: str | None,
        now: datetime,
        expires_at: datetime,
    ) -> None:
        """Set a working-memory note, or remove it (value None) [L2]."""
        person = self._person(user_id)
        place = (session_id, task_id)
        lasting = {
            known: kept for known, kept in person.notes.get(place, {}).items() if _lasts(kept, now)
        }
        lasting.pop(key, None)
        if value is not None:
            lasting[key] = (value, expires_at)
        person.notes[place] = lasting
        self._people[user_id] = person

    async def notes(
        self, user_id: str, session_id: str, task_id: str, now: datetime
    ) -> dict[str, str]:
        """Return the notes of a task that have not run out."""
        kept = self._person(user_id).notes.get((session_id, task_id), {})
        return {key: note[0] for key, note in kept.items() if _lasts(note, now)}

    async def clear_notes(self, user_id: str, session_id: str, task_id: str) -> None:
        """Remove all notes of a task."""
        self._person(user_id).notes.pop((session_id, task_id), None)

    async def add_usage(self, lines: Sequence[UsageLine]) -> None:
        """Add to what is recorded of the same user, day, task and model."""
        for line in lines:
            require_user(line.user_id)
        for line in lines:
            place = (line.day, line.task, line.model, line.user_id)
            known = self._usage.get(place)
            self._usage[place] = line if known is None else _together(known, line)

    async def usage(self, user_id: str | None, since: date) -> list[UsageLine]:
        """Return what models cost from that day on, of one user or of all."""
        if user_id is not None:
            require_user(user_id)
        found: dict[tuple[date, ModelTask, str], UsageLine] = {}
        for (day, task, model, user), line in sorted(self._usage.items()):
            if day < since or user_id not in (None, user):
                continue
            mine = replace(line, user_id=user_id or "")
            known = found.get((day, task, model))
            found[day, task, model] = mine if known is None else _together(known, mine)
        return list(found.values())

    async def keep_findings(
        self, user_id: str, findings: Sequence[Finding], audited_at: datetime | None = None
    ) -> None:
        """Write findings whole [U2]."""
        require_user(user_id)
        if any(finding.user_id != user_id for finding in findings):
            raise InvalidInputError("findings", "must be of this user")
        person = self._people.setdefault(user_id, self._person(user_id))
        person.findings |= {finding.id: finding for finding in findings}
        person.audited_at = audited_at or person.audited_at

    async def audited_at(self, user_id: str) -> datetime | None:
        """Return when the user's frozen pool was last looked through [U2]."""
        return self._person(user_id).audited_at

    async def findings(self, user_id: str, *, open_only: bool = True) -> list[Finding]:
        """Return what audits found, oldest first [U2]."""
        kept = self._person(user_id).findings.values()
        shown = [f for f in kept if not open_only or f.state is FindingState.OPEN]
        return sorted(shown, key=lambda finding: (finding.found_at, finding.id))

    async def users(self, after: str | None, limit: int) -> list[str]:
        """Return user ids in order, for upkeep over all."""
        listed = (user for user in self._people if after is None or user > after)
        return heapq.nsmallest(max(0, limit), listed)

    async def stats(self, user_id: str | None = None) -> StoreStats:
        """Return counts, of one user or of all."""
        people = list(self._people.values())
        if user_id is not None:
            people = [p for p in (self._people.get(require_user(user_id)),) if p is not None]
        return StoreStats(
            users=len(people),
            items=dict(Counter(item.status for p in people for item in p.items.values())),
            turns=sum(len(p.turns) for p in people),
            decisions=dict(Counter(str(d.outcome) for p in people for d in p.decisions.values())),
            pendings=sum(len(p.open_pendings) for p in people),
        )

    def _person(self, user_id: str) -> Person:
        # Reading creates nobody: a stranger's Person is shared by those who look at it now, and
        # is kept once something is written.
        known = self._people.get(require_user(user_id))
        begins_at = self._graves.versions.get(user_id, 0)
        return known or self._strangers.setdefault(user_id, Person(version=begins_at))

    def _lock(self, user_id: str) -> asyncio.Lock:
        return self._locks.setdefault(user_id, asyncio.Lock())

    def _require_held(self, lease: Lease | None) -> None:
        if lease is not None and not self._queue.holds(lease):
            raise LeaseLostError(lease.user_id)


def _together(one: UsageLine, other: UsageLine) -> UsageLine:
    return replace(
        one,
        usage=one.usage + other.usage,
        turns=one.turns + other.turns,
        skipped=one.skipped + other.skipped,
        fell_back=one.fell_back + other.fell_back,
    )


def _used(item: MemoryItem, use: Use, own_time: OwnTime) -> MemoryItem:
    last_hit_at = item.last_hit_at
    if use.hit and (last_hit_at is None or use.at > last_hit_at):
        last_hit_at = use.at
    return item.with_(
        access_count=item.access_count + 1,
        last_accessed_at=max(use.at, item.last_accessed_at or use.at),
        last_hit_at=last_hit_at,
        accessed_day=max(item.accessed_day, own_time.days),
    )


def _is_later(own_time: OwnTime, known: OwnTime) -> bool:
    if own_time.active_at is None:
        return False
    return known.active_at is None or own_time.active_at > known.active_at


def _lasts(note: tuple[str, datetime | None], now: datetime) -> bool:
    return note[1] is None or note[1] > now
