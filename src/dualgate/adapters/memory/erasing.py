"""Taking out of one user's memory, and giving back, in one step [P3]."""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from dualgate.domain.erasure import KEY_BYTES, ErasureKind, keyed
from dualgate.domain.plan import Note
from dualgate.domain.view import OwnTime
from dualgate.pipeline.dossier import (
    AskedErasure,
    Dossier,
    Erasure,
    KeptJob,
    KeptTurn,
    Tombstone,
    is_blank,
)

if TYPE_CHECKING:
    from dualgate.adapters.memory.person import Person

_EARLY = datetime(1970, 1, 1, tzinfo=UTC)
_SETTINGS = ("user_class", "capture_paused", "recall_paused", "maintained_at")


@dataclass(slots=True)
class Graves:
    """What erasures leave: tombstones by user, and what is not finished yet."""

    keys: dict[str, str] = field(default_factory=dict)
    stones: dict[str, dict[str, Tombstone]] = field(default_factory=dict)
    versions: dict[str, int] = field(default_factory=dict)  # where an erased user begins anew
    asked: dict[str, AskedErasure] = field(default_factory=dict)

    def bury(self, erasure: Erasure) -> None:
        """Leave the tombstones of an erasure, and end it."""
        user_id = erasure.asked.user_id
        key = self.keys.setdefault(user_id, secrets.token_hex(KEY_BYTES))
        kept = self.stones.setdefault(user_id, {})
        for mark in erasure.marks:
            digest = keyed(bytes.fromhex(key), mark)
            kept[digest] = Tombstone(
                hash=digest, kind=erasure.asked.kind, erased_at=erasure.at
            )
        done = replace(erasure.asked, done_at=erasure.at, target="")
        if done.id in self.asked:
            self.asked[done.id] = done

    def put_back(self, dossier: Dossier) -> None:
        """Take over tombstones made with the same key, or where there is none."""
        user_id, key = dossier.user_id, dossier.tombstone_key
        if key and self.keys.setdefault(user_id, key) == key:
            given = {stone.hash: stone for stone in dossier.tombstones}
            self.stones[user_id] = given | self.stones.get(user_id, {})

    def erased(
        self, user_id: str, marks: Iterable[str]
    ) -> dict[str, tuple[ErasureKind, datetime]]:
        """Return which marks have a tombstone."""
        key, kept = self.keys.get(user_id), self.stones.get(user_id, {})
        if key is None:
            return {}
        found = {mark: kept.get(keyed(bytes.fromhex(key), mark)) for mark in marks}
        return {m: (stone.kind, stone.erased_at) for m, stone in found.items() if stone}

    def of(self, user_id: str) -> tuple[str, tuple[Tombstone, ...]]:
        """Return the key, "" if there is none, and all tombstones."""
        kept = self.stones.get(user_id, {}).values()
        order = sorted(kept, key=lambda stone: (stone.erased_at, stone.hash))
        return self.keys.get(user_id, ""), tuple(order)


def dossier_of(
    user_id: str, person: Person, jobs: Iterable[KeptJob], graves: Graves
) -> Dossier:
    """Return all that is kept of the user."""
    key, stones = graves.of(user_id)
    return Dossier(
        user_id=user_id,
        own_time=person.own_time,
        items=tuple(sorted(person.items.values(), key=lambda item: (item.created_at, item.id))),
        signals=tuple(
            sorted(
                (one for kept in person.signals.values() for one in kept),
                key=lambda signal: (signal.at, signal.id),
            )
        ),
        moves=tuple(person.moves),
        decisions=tuple(sorted(person.decisions.values(), key=lambda d: (d.at, d.id))),
        pendings=tuple(sorted(person.pendings.values(), key=lambda p: (p.opened_at, p.id))),
        findings=tuple(sorted(person.findings.values(), key=lambda f: (f.found_at, f.id))),
        uses=tuple(use for kept in person.uses.values() for use in kept),
        notes=tuple(_notes(user_id, person)),
        sessions=tuple(sorted(person.sessions.values(), key=lambda s: (s.started_at, s.id))),
        turns=tuple(
            KeptTurn(turn=turn, stored_at=person.turn_index.stored_at(turn.id))
            for turn in person.turns.values()
        ),
        jobs=tuple(jobs),
        tombstones=stones,
        tombstone_key=key,
        **{k: value for k, value in person.settings.items() if k in _SETTINGS},
    )


def counted(person: Person, erasure: Erasure) -> dict[str, int]:
    """Return how many of each kind an erasure takes out."""
    if erasure.whole:
        counts = {
            "users": 1, "items": len(person.items), "vectors": len(person.rows),
            "signals": sum(map(len, person.signals.values())), "moves": len(person.moves),
            "decisions": len(person.decisions), "pendings": len(person.pendings),
            "findings": len(person.findings), "uses": sum(map(len, person.uses.values())),
            "notes": sum(map(len, person.notes.values())), "sessions": len(person.sessions),
            "turns": len(person.turns),
        }  # fmt: skip
    else:
        gone = set(erasure.item_ids)
        counts = {
            "items": len(gone & person.items.keys()),
            "vectors": sum(item_id in person.rows for item_id in gone),
            "signals": sum(len(person.signals.get(i, ())) for i in gone)
            + len(erasure.signal_ids),
            "uses": sum(len(person.uses.get(i, ())) for i in gone),
            "pendings": sum(p.item_id in gone for p in person.pendings.values())
            + len(set(erasure.pending_ids) & person.pendings.keys()),
            "decisions": sum(d.item_id in gone for d in person.decisions.values())
            + len(set(erasure.decision_ids) & person.decisions.keys()),
            "notes": len(erasure.note_keys), "sessions": len(erasure.session_ids),
            "turns": len(set(erasure.turn_ids) & person.turns.keys()),
        }  # fmt: skip
    return {name: count for name, count in counts.items() if count}


def follow(person: Person, erasure: Erasure | None, given: Dossier | None) -> None:
    """Take out what a unit erased, write what it gave back."""
    if erasure is not None:
        erase(person, erasure)
    if given is not None:
        put_back(person, given)


def erase(person: Person, erasure: Erasure) -> None:
    """Take it out of the person."""
    for item_id in erasure.item_ids:
        person.purge(item_id)
    gone = set(erasure.signal_ids)
    changed = {(signal.item_id, signal.id): signal for signal in erasure.signals}
    for item_id, kept in list(person.signals.items()):
        person.signals[item_id] = [
            changed.get((item_id, one.id), one) for one in kept if (item_id, one.id) not in gone
        ]
    for item in erasure.items:
        person.put(item)
    person.moves += erasure.moves
    for decision_id in erasure.decision_ids:
        person.decisions.pop(decision_id, None)
    person.decisions |= {one.id: one for one in erasure.decisions}
    for pending_id in erasure.pending_ids:
        person.pendings.pop(pending_id, None)
        person.open_pendings.pop(pending_id, None)
    for pending in erasure.pendings:
        person.put_pending(pending)
    _erase_talk(person, erasure)


def _erase_talk(person: Person, erasure: Erasure) -> None:
    for session_id, task_id, key in erasure.note_keys:
        person.notes.get((session_id, task_id), {}).pop(key, None)
    for session_id in erasure.session_ids:
        person.sessions.pop(session_id, None)
    person.sessions |= {session.id: session for session in erasure.sessions}
    for turn_id in erasure.turn_ids:
        turn = person.turns.pop(turn_id, None)
        person.turn_index.drop(turn_id)
        if turn is not None:
            person.turns_of[turn.session_id].remove(turn)
    for turn_id in erasure.stale_turn_ids:
        person.turn_index.make_stale(turn_id)


def put_back(person: Person, given: Dossier) -> None:
    """Write what no other part of a unit's changes holds."""
    person.findings |= {one.id: one for one in given.findings}
    for use in given.uses:
        person.uses.setdefault(use.item_id, []).append(use)
    for kept in given.turns:
        if kept.stored_at is not None and kept.turn.content:
            person.turn_index.keep_time(kept.turn.id, kept.stored_at)


def settings_of(given: Dossier, kept: Dossier) -> tuple[dict[str, object], OwnTime | None]:
    """Return the settings and the clock to take over: those of a user who was unknown."""
    if not is_blank(kept):
        return {}, None
    return {name: getattr(given, name) for name in _SETTINGS}, given.own_time


def _notes(user_id: str, person: Person) -> Iterable[Note]:
    # Here a note has no time of its own; when it runs out is what matters.
    for (session_id, task_id), shelf in sorted(person.notes.items()):
        for key, (text, expires_at) in sorted(shelf.items()):
            yield Note(
                user_id=user_id, session_id=session_id, task_id=task_id, key=key, text=text,
                at=expires_at or _EARLY, expires_at=expires_at,
            )  # fmt: skip
