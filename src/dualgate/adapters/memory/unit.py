"""One atomic unit of one user's memory: it reads through its own changes [A8]."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from dualgate.adapters.memory.doors import require_own
from dualgate.adapters.memory.erasing import Graves, counted, dossier_of, settings_of
from dualgate.adapters.memory.person import TAIL, Changes, Person, slot_of
from dualgate.adapters.memory.queue import MemoryQueue
from dualgate.adapters.memory.turns import placed
from dualgate.domain.archiving import is_expired
from dualgate.domain.erasure import ErasureKind
from dualgate.domain.items import MemoryItem, folded
from dualgate.domain.plan import Decision, Pending, PendingState, Plan
from dualgate.domain.signals import Signal
from dualgate.domain.status import ACTIVE, HOT, LIVE, Status
from dualgate.domain.view import OwnTime, Snapshot
from dualgate.errors import InvalidInputError, NotFoundError, StoreError
from dualgate.pipeline.dossier import Dossier, Erasure, missing
from dualgate.pipeline.ports import (
    Due,
    IndexedTurn,
    Job,
    PlacedTurn,
    Session,
    StoredTurn,
    Vector,
)


class MemoryUnit:
    """Implements ports.Transaction. `changes` is committed by the store that opened the unit."""

    def __init__(
        self,
        user_id: str,
        person: Person,
        queue: MemoryQueue,
        capacity: int,
        graves: Graves,
    ) -> None:
        self._user_id = user_id
        self._person = person
        self._queue = queue
        self._capacity = capacity
        self._graves = graves
        self._open = True
        self.changes = Changes()

    async def snapshot(self) -> Snapshot:
        """Return the pools as this unit sees them."""
        return snapshot_of(self._user_id, self._person, self.changes, self._capacity)

    async def nearest(self, vector: Vector, *, limit: int, gate: float) -> list[tuple[str, float]]:
        """Return (item id, cosine) of live items, best first."""
        return nearest_in(self._person, self.changes, vector, limit=limit, gate=gate)

    async def in_slot(self, subject: str, attribute: str) -> list[MemoryItem]:
        """Return the live items of this slot."""
        slot = (folded(subject), folded(attribute))
        ids = (*sorted(self._person.slots.get(slot, ())), *self.changes.items)
        found = (self._item(item_id) for item_id in dict.fromkeys(ids))
        return [i for i in found if i is not None and i.status in LIVE and slot_of(i) == slot]

    async def partners(
        self, subject: str, attribute: str | None, item_ids: Sequence[str]
    ) -> dict[str, MemoryItem]:
        """Return the live items of the slot, then these items: pooled ones first."""
        slot = await self.in_slot(subject, attribute) if attribute else []
        found = {item.id: item for item in slot}
        others = await self.items(i for i in item_ids if i not in found)
        pooled = {i: item for i, item in others.items() if item.status in ACTIVE}
        return {**found, **pooled, **others}

    async def items(self, item_ids: Iterable[str]) -> dict[str, MemoryItem]:
        """Return these items, whatever their status."""
        found = {item_id: self._item(item_id) for item_id in item_ids}
        return {item_id: item for item_id, item in found.items() if item is not None}

    async def signals(
        self, item_ids: Iterable[str], session_id: str | None = None
    ) -> dict[str, list[Signal]]:
        """Return the signals of these items, oldest first."""
        found: dict[str, list[Signal]] = {}
        for item_id in item_ids:
            kept = [] if item_id in self.changes.purged else self._person.signals.get(item_id, [])
            mine = [signal for signal in self.changes.signals if signal.item_id == item_id]
            found[item_id] = sorted(
                (s for s in (*kept, *mine) if session_id is None or s.session_id == session_id),
                key=lambda signal: (signal.at, signal.id),
            )
        return found

    async def pending(self, pending_id: str) -> Pending | None:
        """Return a pending override, open or closed."""
        mine = self.changes.pendings.get(pending_id)
        known = mine or self._person.pendings.get(pending_id)
        gone = known is not None and mine is None and known.item_id in self.changes.purged
        return None if gone else known

    async def due(self, now: datetime, forgotten_before: datetime) -> Due:
        """Return what expired by `now`, and what was forgotten before the undo window."""
        every = self._every_item()
        return Due(
            expired=tuple(i for i in every if i.status in LIVE and is_expired(i, now)),
            forgotten=tuple(
                item
                for item in every
                if item.status is Status.FORGOTTEN and item.updated_at < forgotten_before
            ),
        )

    async def apply(self, plan: Plan, vectors: Mapping[str, Vector] | None = None) -> None:
        """Write a plan; see ports.Transaction."""
        self._require_open()
        self._require_own(plan)
        checked = self._checked({item.id for item in plan.items}, vectors or {})

        changes = self.changes
        changes.items |= {item.id: item for item in plan.items}
        changes.vectors |= checked
        changes.signals += plan.signals
        changes.moves += (replace(m, numbers=dict(m.numbers)) for m in plan.moves)
        changes.pendings |= {pending.id: pending for pending in plan.pendings}
        changes.notes += plan.notes
        if plan.decision is not None:
            self._record(plan.decision)
        if plan.purged:
            said = await self.signals(plan.purged)  # while they still say which turns these are
            rested = (s.message_id for signals in said.values() for s in signals)
            changes.emptied |= {turn_id for turn_id in rested if turn_id is not None}
            changes.purge(plan.purged)

    async def add_turns(self, turns: Sequence[StoredTurn]) -> list[str]:
        """Keep raw turns; return the ids that are new."""
        self._require_open()
        require_own(self._user_id, (turn.user_id for turn in turns))
        new = []
        for turn in turns:
            if turn.id not in self._person.turns and turn.id not in self.changes.turns:
                self.changes.turns[turn.id] = turn
                new.append(turn.id)
        return new

    async def known_turns(self, turn_ids: Iterable[str]) -> set[str]:
        """Return which of these turns are kept already."""
        return {i for i in turn_ids if i in self._person.turns or i in self.changes.turns}

    async def recent_turns(self, session_id: str, limit: int) -> list[StoredTurn]:
        """Return the last turns of a session, oldest first."""
        mine = [turn for turn in self.changes.turns.values() if turn.session_id == session_id]
        every = sorted(
            (*self._person.turns_of.get(session_id, ()), *mine), key=lambda turn: turn.at
        )
        kept = [turn for turn in every if self._is_kept(turn)]
        return kept[-limit:] if limit > 0 else []

    async def index_turns(self, entries: Sequence[IndexedTurn], now: datetime) -> None:
        """Make kept turns findable [R6]."""
        self._require_open()
        for entry in entries:
            turn = self._turn(entry.turn_id)
            if turn is not None and self._is_kept(turn):
                self.changes.indexed[entry.turn_id] = entry, now

    async def unindexed_turns(self, made_by: str, limit: int) -> list[PlacedTurn]:
        """Return kept turns that no index of this name holds, each with the turn before it."""
        kept = [turn for turn in self._every_turn() if not self._has_index(turn.id, made_by)]
        chosen = sorted(kept, key=lambda turn: (turn.session_id, turn.at))[: max(0, limit)]
        session = self._every_turn()
        return [
            placed(turn, (t for t in session if t.session_id == turn.session_id), 1, 0)
            for turn in chosen
        ]

    async def old_turns(self, stored_before: datetime, limit: int) -> list[str]:
        """Return the ids of indexed turns stored before that instant, oldest first."""
        old = self._person.turn_index.stored_before(stored_before)
        known = set(old)
        new = [i for i, (_, now) in self.changes.indexed.items() if now < stored_before]
        every = (*old, *(i for i in new if i not in known))
        return [i for i in every if i not in self.changes.emptied][: max(0, limit)]

    async def empty_turns(self, turn_ids: Iterable[str]) -> None:
        """Take the content of these turns, and all they are found by [P3, L3]."""
        self._require_open()
        self.changes.emptied |= set(turn_ids)

    def _is_kept(self, turn: StoredTurn) -> bool:
        return bool(turn.content) and turn.id not in self.changes.emptied

    def _turn(self, turn_id: str) -> StoredTurn | None:
        return self.changes.turns.get(turn_id) or self._person.turns.get(turn_id)

    def _every_turn(self) -> list[StoredTurn]:
        every = (*self._person.turns.values(), *self.changes.turns.values())
        return [turn for turn in every if self._is_kept(turn)]

    def _has_index(self, turn_id: str, made_by: str) -> bool:
        mine = self.changes.indexed.get(turn_id)
        if mine is not None:
            return mine[0].made_by == made_by
        return self._person.turn_index.has(turn_id, made_by)

    async def session(self, session_id: str, now: datetime, parent_id: str | None) -> Session:
        """Return the session, made if new; its root is settled then [F2]."""
        known = self._session(session_id)
        if known is not None and known.root_id:
            return known
        self._require_open()
        parent = None if parent_id is None else self._session(parent_id)
        root = session_id if parent_id is None else parent_id
        root = root if parent is None or parent_id == session_id else parent.root_id or root
        made = Session(user_id=self._user_id, id=session_id, root_id=root, started_at=now)
        if known is not None:  # it was only looked at so far, by its core
            made = replace(known, root_id=root)
        self.changes.sessions[session_id] = made
        return made

    async def end_session(self, session_id: str, now: datetime) -> None:
        """Mark the session ended and drop its working memory [L2]."""
        self._require_open()
        self.changes.ended.setdefault(session_id, now)
        self.changes.notes = [n for n in self.changes.notes if n.session_id != session_id]

    async def touch(self, own_time: OwnTime) -> None:
        """Set the user's own clock [D1]."""
        self._require_open()
        current = self.changes.own_time or self._person.own_time
        if own_time != current:
            self.changes.own_time = own_time

    async def set_user(
        self,
        *,
        user_class: str | None = None,
        capture_paused: bool | None = None,
        recall_paused: bool | None = None,
        maintained_at: datetime | None = None,
    ) -> None:
        """Change what is set for the user; None leaves it."""
        self._require_open()
        given = {
            "user_class": user_class,
            "capture_paused": capture_paused,
            "recall_paused": recall_paused,
            "maintained_at": maintained_at,
        }
        self.changes.settings |= {k: value for k, value in given.items() if value is not None}

    async def finish(self, job: Job, decisions: Sequence[Decision]) -> None:
        """End the job inside this unit [W1]."""
        self._require_open()
        require_own(self._user_id, (job.user_id, *(d.user_id for d in decisions)))
        if job.id in self.changes.jobs or not self._queue.waits(self._user_id, job.id):
            raise NotFoundError("job", job.id)
        for decision in decisions:
            if decision.id not in self.changes.decisions | self._person.decisions:
                self._record(decision)
        self.changes.jobs.append(job.id)

    async def dossier(self) -> Dossier:
        """Return all that is kept of the user [P3]."""
        jobs = self._queue.kept(self._user_id)
        return dossier_of(self._user_id, self._person, jobs, self._graves)

    async def erased(self, marks: Iterable[str]) -> dict[str, tuple[ErasureKind, datetime]]:
        """Return which of these marks have a tombstone [P3]."""
        return self._graves.erased(self._user_id, marks)

    async def erase(self, erasure: Erasure) -> Mapping[str, int]:
        """Take all of it out, leave tombstones [P3]; done when the unit is left."""
        self._require_open()
        require_own(self._user_id, (erasure.asked.user_id,))
        self.changes.erasure = erasure
        gone = counted(self._person, erasure)
        known = {kept.job.id for kept in self._queue.kept(self._user_id)}
        jobs = len(known) if erasure.whole else len(known & set(erasure.job_ids))
        return {**gone, "jobs": jobs} if jobs else gone

    async def put_back(self, dossier: Dossier, vectors: Mapping[str, Vector]) -> None:
        """Write what a dossier holds and the store does not [P3]."""
        self._require_open()
        require_own(self._user_id, (dossier.user_id,))
        kept = await self.dossier()
        given, changes = missing(dossier, kept), self.changes
        changes.put_back = given
        changes.items |= {item.id: item for item in given.items}
        changes.vectors |= self._checked(set(changes.items), vectors)
        changes.signals += given.signals
        changes.moves += given.moves
        changes.pendings |= {pending.id: pending for pending in given.pendings}
        changes.decisions |= {decision.id: decision for decision in given.decisions}
        changes.notes += given.notes
        changes.turns |= {turn.turn.id: turn.turn for turn in given.turns}
        changes.sessions |= {session.id: session for session in given.sessions}
        settings, own_time = settings_of(dossier, kept)
        self.changes.settings |= settings
        self.changes.own_time = own_time or self.changes.own_time

    def end(self) -> None:
        """Take no more changes: the unit was left."""
        self._open = False

    def _require_open(self) -> None:
        if not self._open:
            raise StoreError("the unit has ended", "Open a new one with Store.begin")

    def _require_own(self, plan: Plan) -> None:
        decisions = () if plan.decision is None else (plan.decision,)
        for parts in (plan.items, plan.signals, plan.moves, plan.pendings, plan.notes, decisions):
            require_own(self._user_id, (part.user_id for part in parts))

    def _checked(self, item_ids: set[str], vectors: Mapping[str, Vector]) -> dict[str, Vector]:
        """Return copies of the vectors of these items, all of the length of those kept."""
        checked: dict[str, Vector] = {}
        for item_id in item_ids & vectors.keys():
            vector = self._person.rows.check(vectors[item_id])
            for other in (*self.changes.vectors.values(), *checked.values()):
                if other.size != vector.size:
                    raise InvalidInputError(
                        "vector", f"must have {other.size} numbers", vector.size
                    )
                break
            checked[item_id] = vector
        return checked

    def _record(self, decision: Decision) -> None:
        self.changes.decisions[decision.id] = replace(decision, numbers=dict(decision.numbers))

    def _item(self, item_id: str) -> MemoryItem | None:
        mine = self.changes.items.get(item_id)
        if mine is not None or item_id in self.changes.purged:
            return mine
        return self._person.items.get(item_id)

    def _every_item(self) -> list[MemoryItem]:
        return list(_seen(self._person.items, self.changes).values())

    def _session(self, session_id: str) -> Session | None:
        known = self._person.sessions.get(session_id)
        if known is None or not known.root_id:
            known = self.changes.sessions.get(session_id) or known
        ended_at = self.changes.ended.get(session_id)
        if known is None or ended_at is None or known.ended_at is not None:
            return known
        return replace(known, ended_at=ended_at)


def snapshot_of(user_id: str, person: Person, changes: Changes, capacity: int) -> Snapshot:
    """Return a user's pools as they will be once these changes are made."""
    mine = changes.items.values()
    active = _seen(person.active, changes, (i for i in mine if i.status in ACTIVE))
    archive = person.archive
    if changes.items or changes.purged:
        archive = _seen(archive, changes, (i for i in mine if i.status is Status.ARCHIVED))
    kept = {i: p for i, p in person.open_pendings.items() if p.item_id not in changes.purged}
    pendings = [p for p in (kept | changes.pendings).values() if p.state is PendingState.OPEN]
    settings = person.settings | changes.settings
    own_time = changes.own_time or person.own_time
    changed = (*changes.items, *changes.purged)
    nearly_full = len(archive) >= capacity - TAIL
    return Snapshot(
        user_id=user_id,
        version=person.version + changes.show_in_snapshot(),
        hot={item_id: item for item_id, item in active.items() if item.status in HOT},
        frozen={i: item for i, item in active.items() if item.status is Status.FROZEN},
        pendings=tuple(sorted(pendings, key=lambda p: (p.opened_at, p.id))),
        archive_count=len(archive),
        archive_tail=person.tail(archive, changed, own_time.active_at) if nearly_full else (),
        own_time=own_time,
        **settings,
    )


def nearest_in(
    person: Person, changes: Changes, vector: Vector, *, limit: int, gate: float
) -> list[tuple[str, float]]:
    """Return (item id, cosine) of live items as they will be once these changes are made."""
    cosines = person.rows.cosines(vector, gate)
    asked = person.rows.check(vector)
    for item_id, mine in changes.vectors.items():
        if mine.size != asked.size:
            raise InvalidInputError("vector", f"must have {mine.size} numbers", asked.size)
        cosines[item_id] = float(mine @ asked)
    near = [(item_id, cosine) for item_id, cosine in cosines.items() if cosine >= gate]
    near.sort(key=lambda hit: (-hit[1], hit[0]))
    found: list[tuple[str, float]] = []
    for item_id, cosine in near:
        if len(found) >= limit:
            break
        if item_id in changes.purged and item_id not in changes.vectors:
            continue
        item = changes.items.get(item_id) or person.items.get(item_id)
        if item is not None and item.status in LIVE:
            found.append((item_id, cosine))
    return found


def _seen(
    shelf: dict[str, MemoryItem], changes: Changes, mine: Iterable[MemoryItem] | None = None
) -> dict[str, MemoryItem]:
    """Return a shelf of the person under the changes; `mine` are those that belong there."""
    seen = dict(shelf)
    for item_id in (*changes.purged, *changes.items):
        seen.pop(item_id, None)
    for item in changes.items.values() if mine is None else mine:
        seen[item.id] = item
    return seen
