"""All that is kept of one user, as one value; and what an erasure takes out of it [P3].

Rule: data only. `export` writes a Dossier down, `import_` gives one back, erasing decides on one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING, TypeVar

from dualgate.domain.audit import Finding
from dualgate.domain.erasure import ErasureKind
from dualgate.domain.items import MemoryItem
from dualgate.domain.plan import Decision, Move, Note, Pending
from dualgate.domain.signals import Signal
from dualgate.domain.view import OwnTime

if TYPE_CHECKING:
    from dualgate.pipeline.ports import Job, Session, StoredTurn, Use

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptTurn:
    """A raw turn, and since when it is kept (None: upkeep has not looked at it yet)."""

    turn: StoredTurn
    stored_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptJob:
    """A job that waits, or was parked as dead with its error."""

    job: Job
    error: str | None = None
    died_at: datetime | None = None

    @property
    def dead(self) -> bool:
        """Whether it was parked."""
        return self.died_at is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class Tombstone:
    """The keyed hash of something erased: it recognises old text and tells nothing [P3]."""

    hash: str
    kind: ErasureKind
    erased_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Dossier:
    """All that is kept of one user at one moment, each part in the order of its writing.

    tombstone_key is "" while nothing was ever erased; else hexadecimal. Vectors and words to
    search by are not in it: they follow from the texts.
    """

    user_id: str
    user_class: str = "default"
    capture_paused: bool = False
    recall_paused: bool = False
    maintained_at: datetime | None = None
    own_time: OwnTime = field(default_factory=OwnTime)
    items: tuple[MemoryItem, ...] = ()
    signals: tuple[Signal, ...] = ()
    moves: tuple[Move, ...] = ()
    decisions: tuple[Decision, ...] = ()
    pendings: tuple[Pending, ...] = ()
    findings: tuple[Finding, ...] = ()
    uses: tuple[Use, ...] = ()
    notes: tuple[Note, ...] = ()
    sessions: tuple[Session, ...] = ()
    turns: tuple[KeptTurn, ...] = ()
    jobs: tuple[KeptJob, ...] = ()
    tombstones: tuple[Tombstone, ...] = ()
    tombstone_key: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedErasure:
    """An erasure that was asked for, kept until its bytes are gone, so that none is left half.

    target: the item's or the session's id, "" for a user; it is emptied once `done_at` is set.
    """

    id: str
    user_id: str
    kind: ErasureKind
    target: str
    asked_at: datetime
    done_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Erasure:
    """What one erasure takes out, and the whole new states of what it changes.

    whole: everything of the user goes, whatever else is said. signal_ids: (item id, signal id).
    note_keys: (session id, task id, key). stale_turn_ids: kept turns that are also found by the
    words of an erased one; they are made findable anew. job_ids end; `jobs` carry less than
    before. marks: what tombstones are made of.
    """

    asked: AskedErasure
    at: datetime
    whole: bool = False
    item_ids: tuple[str, ...] = ()
    items: tuple[MemoryItem, ...] = ()
    signal_ids: tuple[tuple[str, str], ...] = ()
    signals: tuple[Signal, ...] = ()
    moves: tuple[Move, ...] = ()
    decision_ids: tuple[str, ...] = ()
    decisions: tuple[Decision, ...] = ()
    pending_ids: tuple[str, ...] = ()
    pendings: tuple[Pending, ...] = ()
    note_keys: tuple[tuple[str, str, str], ...] = ()
    turn_ids: tuple[str, ...] = ()
    stale_turn_ids: tuple[str, ...] = ()
    session_ids: tuple[str, ...] = ()
    sessions: tuple[Session, ...] = ()
    job_ids: tuple[str, ...] = ()
    jobs: tuple[KeptJob, ...] = ()
    marks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ErasureReport:
    """What an erasure removed, and where.

    removed, changed: how many of each kind (items, signals, vectors, turns, jobs, …); no words.
    kept_items: of a session, the items that other sessions speak for as well. mentioned_in: other
    items that still say the same words; they are theirs to keep or to erase. bytes_gone: whether
    the file was rewritten; if not, it is too large or in use, and the next start or `scrub` does
    it.
    """

    id: str
    user_id: str
    kind: ErasureKind
    target: str
    at: datetime
    removed: Mapping[str, int] = field(default_factory=dict)
    changed: Mapping[str, int] = field(default_factory=dict)
    kept_items: tuple[str, ...] = ()
    mentioned_in: tuple[str, ...] = ()
    bytes_gone: bool = False


def is_blank(dossier: Dossier) -> bool:
    """Return whether nothing is known of the user: then a dossier's settings may be taken."""
    return not (dossier.items or dossier.turns or dossier.sessions or dossier.decisions)


def missing(given: Dossier, kept: Dossier) -> Dossier:
    """Return what `given` holds and `kept` does not. What has an id goes by it, the rest by value.

    A signal, a use or a move of a known item is new all the same, if it is not kept.
    """
    known_keys = kept.tombstone_key in ("", given.tombstone_key)
    return replace(
        given,
        items=_new(given.items, kept.items, lambda item: item.id),
        signals=_new(given.signals, kept.signals, lambda signal: (signal.item_id, signal.id)),
        moves=_beyond(given.moves, kept.moves),
        decisions=_new(given.decisions, kept.decisions, lambda decision: decision.id),
        pendings=_new(given.pendings, kept.pendings, lambda pending: pending.id),
        findings=_new(given.findings, kept.findings, lambda finding: finding.id),
        uses=_beyond(given.uses, kept.uses),
        notes=_new(given.notes, kept.notes, lambda n: (n.session_id, n.task_id, n.key)),
        sessions=_new(given.sessions, kept.sessions, lambda session: session.id),
        turns=_new(given.turns, kept.turns, lambda one: one.turn.id),
        jobs=_new(given.jobs, kept.jobs, lambda one: one.job.id),
        tombstones=_new(given.tombstones, kept.tombstones, lambda stone: stone.hash)
        if known_keys
        else (),
        tombstone_key=given.tombstone_key if known_keys else kept.tombstone_key,
    )


def _new(given: tuple[T, ...], kept: tuple[T, ...], key: Callable[[T], object]) -> tuple[T, ...]:
    known = {key(one) for one in kept}
    return tuple(one for one in given if key(one) not in known)


def _beyond(given: tuple[T, ...], kept: tuple[T, ...]) -> tuple[T, ...]:
    """Return what stands in `given` more often than in `kept`; mappings make it unhashable."""
    known = Counter(repr(one) for one in kept)
    found = []
    for one in given:
        if known[repr(one)]:
            known[repr(one)] -= 1
        else:
            found.append(one)
    return tuple(found)
