"""All that is kept of one user, and the changes a unit makes to it.

Rule: a Person changes only by `commit`, in one step without awaiting, so that a reader never sees
half a unit. Values are immutable; what is handed out is not touched again.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, TypeAlias

from dualgate.adapters.memory.erasing import follow
from dualgate.adapters.memory.turns import TurnIndex
from dualgate.adapters.memory.vectors import VectorRows
from dualgate.adapters.memory.words import WordIndex, searched_text
from dualgate.domain.archiving import is_expired, leaving_rank
from dualgate.domain.audit import Finding
from dualgate.domain.items import MemoryItem, folded
from dualgate.domain.plan import Decision, Move, Note, Pending, PendingState
from dualgate.domain.signals import Signal
from dualgate.domain.status import ACTIVE, LIVE, Status
from dualgate.domain.view import OwnTime
from dualgate.pipeline.dossier import Dossier, Erasure
from dualgate.pipeline.ports import IndexedTurn, Session, StoredTurn, Use, Vector

TAIL = 64  # how many of the first to leave are shown, and how near to full is "nearly full"
DECAY_RATE = 0.03  # λ of [D1]

Rank: TypeAlias = tuple[bool, bool, float, str]  # as `leaving_rank` gives it; ends in the id


@dataclass(slots=True, kw_only=True)
class Changes:
    """What a unit is about to do; nothing of it is seen outside until it is committed."""

    purged: set[str] = field(default_factory=set)
    items: dict[str, MemoryItem] = field(default_factory=dict)
    vectors: dict[str, Vector] = field(default_factory=dict)
    signals: list[Signal] = field(default_factory=list)
    moves: list[Move] = field(default_factory=list)
    pendings: dict[str, Pending] = field(default_factory=dict)
    decisions: dict[str, Decision] = field(default_factory=dict)
    notes: list[Note] = field(default_factory=list)
    turns: dict[str, StoredTurn] = field(default_factory=dict)
    indexed: dict[str, tuple[IndexedTurn, datetime]] = field(default_factory=dict)
    emptied: set[str] = field(default_factory=set)
    sessions: dict[str, Session] = field(default_factory=dict)
    ended: dict[str, datetime] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)
    own_time: OwnTime | None = None
    jobs: list[str] = field(default_factory=list)
    erasure: Erasure | None = None
    put_back: Dossier | None = None

    def purge(self, item_ids: Iterable[str]) -> None:
        """Drop what this unit itself has written about these items, and mark them."""
        gone = set(item_ids)
        self.purged |= gone
        for item_id in gone:
            self.items.pop(item_id, None)
            self.vectors.pop(item_id, None)
        self.signals = [s for s in self.signals if s.item_id not in gone]
        self.pendings = {i: p for i, p in self.pendings.items() if p.item_id not in gone}
        self.decisions = {i: d for i, d in self.decisions.items() if d.item_id not in gone}

    def show_in_snapshot(self) -> bool:
        """Return whether anything the Snapshot shows changes."""
        shown = self.items or self.purged or self.pendings or self.settings
        beside = self.own_time, self.erasure, self.put_back
        return bool(shown) or any(one is not None for one in beside)

    def __bool__(self) -> bool:
        return any(getattr(self, name) for name in self.__dataclass_fields__)


@dataclass(slots=True, weakref_slot=True, kw_only=True)
class Person:
    """One user's memory as committed."""

    version: int = 0
    items: dict[str, MemoryItem] = field(default_factory=dict)
    active: dict[str, MemoryItem] = field(default_factory=dict)  # hot and frozen
    archive: dict[str, MemoryItem] = field(default_factory=dict)
    ranks: dict[str, Rank] = field(default_factory=dict)  # of the archive, if none is expired
    expiring: set[str] = field(default_factory=set)  # of the archive: those with a time limit
    slots: dict[tuple[str, str], set[str]] = field(default_factory=dict)
    rows: VectorRows = field(default_factory=VectorRows)
    words: WordIndex = field(default_factory=WordIndex)
    signals: dict[str, list[Signal]] = field(default_factory=dict)
    uses: dict[str, list[Use]] = field(default_factory=dict)
    moves: list[Move] = field(default_factory=list)
    pendings: dict[str, Pending] = field(default_factory=dict)
    open_pendings: dict[str, Pending] = field(default_factory=dict)
    decisions: dict[str, Decision] = field(default_factory=dict)
    turns: dict[str, StoredTurn] = field(default_factory=dict)
    turns_of: dict[str, list[StoredTurn]] = field(default_factory=dict)
    turn_index: TurnIndex = field(default_factory=TurnIndex)
    sessions: dict[str, Session] = field(default_factory=dict)
    # By session and task, then by key: the text, and when it runs out.
    notes: dict[tuple[str, str], dict[str, tuple[str, datetime | None]]] = field(
        default_factory=dict
    )
    settings: dict[str, Any] = field(default_factory=dict)
    own_time: OwnTime = field(default_factory=OwnTime)
    findings: dict[str, Finding] = field(default_factory=dict)
    audited_at: datetime | None = None

    def commit(self, changes: Changes) -> None:
        """Make a unit's changes, all of them, in one step."""
        for item_id in changes.purged:
            self.purge(item_id)
        for item in changes.items.values():
            self.put(item)
        for item_id, vector in changes.vectors.items():
            self.rows.put(item_id, vector)
        for signal in changes.signals:
            self.signals.setdefault(signal.item_id, []).append(signal)
        self.moves += changes.moves
        for pending in changes.pendings.values():
            self.put_pending(pending)
        self.decisions |= changes.decisions
        self._commit_turns(changes)
        self._commit_sessions(changes)
        follow(self, changes.erasure, changes.put_back)
        self.settings |= changes.settings
        self.own_time = changes.own_time or self.own_time
        self.version += changes.show_in_snapshot()

    def put(self, item: MemoryItem) -> None:
        """Keep this state of an item, on the shelf of its status."""
        known = self.items.get(item.id)
        self.items[item.id] = item
        self.active.pop(item.id, None)
        self.archive.pop(item.id, None)
        self.ranks.pop(item.id, None)
        self.expiring.discard(item.id)
        if item.status in ACTIVE:
            self.active[item.id] = item
        elif item.status is Status.ARCHIVED:
            self.archive[item.id] = item
            self.ranks[item.id] = _rank(item, None)
            if item.expires_at is not None:
                self.expiring.add(item.id)
        if known is None or slot_of(known) != slot_of(item):
            self._enter_slot(known, item)
        if item.status not in LIVE:
            self.words.drop(item.id)
        elif known is None or known.status not in LIVE or _text_differs(known, item):
            self.words.put(item.id, searched_text(item))

    def tail(
        self, archive: dict[str, MemoryItem], changed: Iterable[str], now: datetime | None
    ) -> tuple[MemoryItem, ...]:
        """Return those who leave this archive first, worst first [A7].

        The archive may differ from the one kept in the `changed` ids.
        """
        ranks = dict(self.ranks)
        anew = set(changed)
        for item_id in anew:
            ranks.pop(item_id, None)
        for item_id in (anew | self.expiring) & archive.keys():
            ranks[item_id] = _rank(archive[item_id], now)
        return tuple(archive[rank[-1]] for rank in heapq.nsmallest(TAIL, ranks.values()))

    def forget_notes(self, session_id: str) -> None:
        """Drop the working memory of a session, of every task [L2]."""
        for place in [place for place in self.notes if place[0] == session_id]:
            del self.notes[place]

    def _empty(self, turn_id: str) -> None:
        """Take a turn's content and all it is found by; its id stays known [P3, F2]."""
        self.turn_index.drop(turn_id)
        known = self.turns.get(turn_id)
        if known is not None:
            order = sorted(self.turns_of[known.session_id], key=lambda turn: turn.at)
            later = order[order.index(known) + 1 :]
            for follower in [turn for turn in later if turn.content][:1]:
                # It is found by the words of this one, too.
                self.turn_index.make_stale(follower.id)
            self.turns[turn_id] = replace(known, content="")
            session = self.turns_of[known.session_id]
            session[:] = [self.turns[turn.id] for turn in session]

    def _enter_slot(self, known: MemoryItem | None, item: MemoryItem) -> None:
        if known is not None:
            self._leave_slot(known)
        slot = slot_of(item)
        if slot is not None:
            self.slots.setdefault(slot, set()).add(item.id)

    def _leave_slot(self, item: MemoryItem) -> None:
        slot = slot_of(item)
        if slot is not None:
            self.slots[slot].discard(item.id)
            if not self.slots[slot]:
                del self.slots[slot]

    def _commit_turns(self, changes: Changes) -> None:
        for turn in changes.turns.values():
            self.turns[turn.id] = turn
            self.turns_of.setdefault(turn.session_id, []).append(turn)
        for entry, now in changes.indexed.values():
            self.turn_index.put(entry, now)
        for turn_id in changes.emptied:
            self._empty(turn_id)

    def _commit_sessions(self, changes: Changes) -> None:
        for session in changes.sessions.values():
            # A core may have been kept since the unit looked.
            kept = self.sessions.setdefault(session.id, session)
            if not kept.root_id:
                self.sessions[session.id] = replace(kept, root_id=session.root_id)
        for note in changes.notes:
            shelf = self.notes.setdefault((note.session_id, note.task_id), {})
            shelf[note.key] = (note.text, note.expires_at)
        for session_id, at in changes.ended.items():
            self.forget_notes(session_id)
            known = self.sessions.get(session_id)
            if known is not None and known.ended_at is None:
                self.sessions[session_id] = replace(known, ended_at=at)

    def put_pending(self, pending: Pending) -> None:
        """Keep this state of a pending override."""
        self.pendings[pending.id] = pending
        self.open_pendings.pop(pending.id, None)
        if pending.state is PendingState.OPEN:
            self.open_pendings[pending.id] = pending

    def purge(self, item_id: str) -> None:
        """Take an item out, with all that is about it [P3]."""
        known = self.items.pop(item_id, None)
        if known is not None:
            self._leave_slot(known)
        self.active.pop(item_id, None)
        self.archive.pop(item_id, None)
        self.ranks.pop(item_id, None)
        self.expiring.discard(item_id)
        self.signals.pop(item_id, None)
        self.uses.pop(item_id, None)
        self.rows.drop(item_id)
        self.words.drop(item_id)
        for session in [s for s in self.sessions.values() if item_id in s.core_item_ids]:
            self.sessions[session.id] = replace(
                session, core_text=None, core_item_ids=(), core_tokens=0
            )
        for pending in [p for p in self.pendings.values() if p.item_id == item_id]:
            del self.pendings[pending.id]
            self.open_pendings.pop(pending.id, None)
        for decision in [d for d in self.decisions.values() if d.item_id == item_id]:
            del self.decisions[decision.id]
        for finding in list(self.findings.values()):
            if item_id in (finding.item_id, finding.other_id):
                del self.findings[finding.id]


def slot_of(item: MemoryItem) -> tuple[str, str] | None:
    """Return the item's slot as it is compared; None if it has none."""
    return None if item.attribute is None else (folded(item.subject), folded(item.attribute))


def _rank(item: MemoryItem, now: datetime | None) -> Rank:
    expired = now is not None and is_expired(item, now)
    return leaving_rank(item, _strength(item), expired=expired)


def _strength(item: MemoryItem) -> float:
    """Return the logarithm of the item's retention, but for the reading of the user's clock.

    That reading lowers all alike, so the order stands, and nothing is computed again as time
    passes: ln(score) + λ·day of last access + ln(1 + ln(1 + accesses)) [D1].
    """
    if item.score <= 0:
        return -math.inf
    often = math.log1p(math.log1p(item.access_count))
    return math.log(item.score) + DECAY_RATE * item.accessed_day + often


def _text_differs(known: MemoryItem, item: MemoryItem) -> bool:
    return searched_text(known) != searched_text(item)
