"""What the pipeline needs from the outside world. Adapters implement these; nothing else is said.

Conventions: every method that touches memory takes a user_id [P4]; ids and times come from here,
never from the database [T5]; a Transaction is one atomic unit for one user.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from datetime import date, datetime
from enum import StrEnum
from typing import Any, Generic, Protocol, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from dualgate.domain.audit import Finding
from dualgate.domain.compaction import Digest
from dualgate.domain.erasure import ErasureKind
from dualgate.domain.items import Candidate, MemoryItem, Message
from dualgate.domain.plan import Decision, Move, Pending, Plan
from dualgate.domain.signals import Signal
from dualgate.domain.status import Status
from dualgate.domain.types import ItemType, Role
from dualgate.domain.view import Likeness, OwnTime, Snapshot
from dualgate.pipeline.dossier import AskedErasure, Dossier, Erasure

Vector: TypeAlias = NDArray[np.float32]  # (dim,), unit length
Vectors: TypeAlias = NDArray[np.float32]  # (n, dim), unit length


class Clock(Protocol):
    """The time. Only adapters/system.py reads the real one."""

    def now(self) -> datetime:
        """Return the current instant, aware, UTC."""
        ...


class IdSource(Protocol):
    """Fresh ids: UUIDv7 text, so that they sort by time and no database has to make them."""

    def new(self) -> str:
        """Return an id never returned before."""
        ...


class Embedder(Protocol):
    """Turns sentences into unit vectors [T3]. `model` and `dim` go with every stored vector."""

    model: str
    dim: int

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one unit vector a text, in order."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """What an extractor reads: one message, with the few turns before it for context.

    at is aware, and its offset is the speaker's time zone: relative dates resolve there [W4].
    history is oldest first; facts that stand only there are not asked for.
    """

    user_id: str
    session_id: str
    message: Message
    at: datetime
    history: tuple[Message, ...] = ()


class Extractor(Protocol):
    """Reads a turn, proposes candidates [W3-W5].

    It may carry an attribute `source` (types.Source); without one it counts as a model. One whose
    attribute `structures` is true fills slots itself: what it leaves without one has none.
    Raises ExtractionError for what it cannot read; never answers "no facts" instead.
    """

    async def extract(self, turn: Turn) -> Sequence[Candidate]:
        """Return what the turn states, with its quote; empty if it states nothing."""
        ...


class Summarizer(Protocol):
    """Reads the oldest turns of a conversation for what must outlive them [L1].

    input_tokens: the most one call takes; None if it does not matter. Longer conversations come
    in several calls, oldest first.
    """

    input_tokens: int | None

    async def summarize(self, turns: Sequence[Message]) -> Digest:
        """Return the lines to keep, in the order in which they were said."""
        ...


class Judge(Protocol):
    """Compares a candidate with stored items: fitted on data, no I/O [C1]."""

    def compare(
        self, candidate: Candidate, items: Sequence[MemoryItem], cosines: Sequence[float]
    ) -> list[Likeness]:
        """Return one Likeness an item, in order."""
        ...


class Structurer(Protocol):
    """Fills in the structure a candidate lacks (attribute, value, qualifiers, polarity) [C1]."""

    def complete(self, candidate: Candidate) -> Candidate:
        """Return the candidate with what could be read out of its content; never overrides."""
        ...


class Redactor(Protocol):
    """Finds secrets before anything is queued [P1]."""

    def redact(self, text: str) -> str:
        """Return text with every secret replaced by a mark such as [secret: password]."""
        ...


class Lexer(Protocol):
    """Cuts texts into the words by which raw turns are found [R6], and knows what they mean [R2].

    `name` goes with the index of words.
    """

    name: str

    def words(self, text: str) -> list[str]:
        """Return the words of a turn, in order, with repetitions."""
        ...

    def asked(self, text: str) -> list[str]:
        """Return the words that a question asks for, each once."""
        ...

    def stated(self, text: str) -> frozenset[str]:
        """Return the concepts of a statement and their kinds, the same in every language [R2]."""
        ...

    def asked_for(self, text: str) -> frozenset[str]:
        """Return the concepts that a question names, and the kinds of things it asks for."""
        ...


class TokenCounter(Protocol):
    """Counts tokens for a model family."""

    def count(self, text: str) -> int:
        """Return the number of tokens of `text`."""
        ...


# --- a model that answers [W5] -------------------------------------------------------------------

T = TypeVar("T")


class ModelTask(StrEnum):
    """What a model is asked for; each task may have its own model, and its own line of usage."""

    EXTRACT = "extract"
    JUDGE = "judge"  # [C1] do two statements overlap
    SUMMARIZE = "summarize"  # [L1]
    AUDIT = "audit"  # [U2]
    CHECK = "check"  # doctor, probing what an endpoint can do


@dataclass(frozen=True, slots=True)
class Said:
    """One message of what a model is shown. The system's come first."""

    role: Role
    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerForm(Generic[T]):
    """The form an answer must have.

    name: letters, digits, - and _, at most 64: endpoints want one. schema: JSON Schema, its root
    an object; every object closed and every property required, or strict endpoints refuse it.
    read: turns parsed JSON into the value, raises ValueError saying what is wrong and where:
    the endpoint's promise to keep to a schema is never taken for granted.
    """

    name: str
    schema: Mapping[str, Any]
    read: Callable[[object], T]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelUsage:
    """What calls cost. Tokens are the endpoint's own count; estimated if it gave none."""

    calls: int = 0  # requests that reached the model, retries and probes included
    input_tokens: int = 0
    output_tokens: int = 0  # reasoning included
    estimated: bool = False

    def __add__(self, other: ModelUsage) -> ModelUsage:
        return ModelUsage(
            calls=self.calls + other.calls,
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            estimated=self.estimated or other.estimated,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatAnswer(Generic[T]):
    """A readable answer. raw is the text it was read from, for records and complaints."""

    value: T
    raw: str
    usage: ModelUsage
    model: str  # as the endpoint names what answered
    seconds: float


class ChatModel(Protocol):
    """A model behind an endpoint. Retries what may pass (429, 5xx, timeouts, cut streams).

    It does not ask again for an answer in the right form: whoever asked knows what to say.
    """

    def name_for(self, task: ModelTask) -> str:
        """Return the name of the model that works on this task."""
        ...

    async def complete(
        self,
        messages: Sequence[Said],
        form: AnswerForm[T],
        *,
        task: ModelTask,
        output_tokens: int | None = None,
    ) -> ChatAnswer[T]:
        """Return one answer in the form asked for.

        output_tokens: the most it may write, thinking included; None is the setting's. Raises
        UnreadableAnswerError (raw and usage in it), ModelRefusedError, ModelUnavailableError,
        ModelRejectedError: all are ModelErrors and carry the usage so far.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageLine:
    """What one model cost one user for one task on one day (UTC).

    user_id "" sums over all users; calls that serve no user (compaction) are kept under NOBODY.
    turns: what the model read. skipped: turns that the pre-filter kept from it. fell_back: turns
    read by the local extractor in its place.
    """

    user_id: str
    day: date
    task: ModelTask
    model: str
    usage: ModelUsage = ModelUsage()
    turns: int = 0
    skipped: int = 0
    fell_back: int = 0


NOBODY = "(nobody)"


# --- the queue [W1] -----------------------------------------------------------------------------


class JobKind:
    """What a job carries."""

    TURNS = "turns"
    CANDIDATES = "candidates"
    REREAD = "reread"  # turns that a stand-in has read, for the model [W5]


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One accepted piece of work of one user. payload is plain JSON."""

    id: str
    user_id: str
    session_id: str
    kind: str
    payload: Mapping[str, Any]
    enqueued_at: datetime
    attempts: int = 0
    idempotency_key: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """One worker's hold on one user, with the jobs it may run, oldest first.

    token is fresh with every lease: a late worker's unit finds another token and is rolled back.
    """

    user_id: str
    token: str
    until: datetime
    jobs: tuple[Job, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadJob:
    """A job that was parked after its last attempt, with the real error."""

    job: Job
    error: str
    died_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueDepth:
    """How much waits, and since when."""

    waiting: int
    dead: int
    oldest_enqueued_at: datetime | None


PATIENCE_SECONDS = 600.0  # twice the longest wait of the default QueuePolicy


class Queue(Protocol):
    """Durable, ordered per user, exactly-once in effect. It leases the user, not the job."""

    async def enqueue(self, job: Job) -> str:
        """Store the job durably and return its id, or the id first given to its idempotency key.

        A job whose id is known is the same job: stored once. An idempotency key belongs to its
        user and outlives the job. Raises QueueFullError (scope "user" or "total"); dead jobs do
        not count, and a job that is known already is never refused.
        """
        ...

    async def claim(
        self,
        now: datetime,
        lease_seconds: float,
        limit: int,
        *,
        patience_seconds: float = PATIENCE_SECONDS,
    ) -> Lease | None:
        """Take one user whose jobs are due and nobody holds; None if there is none.

        A lease that ran out (until <= now) holds nobody. At most `limit` jobs, oldest first.
        patience_seconds: longer than any lease or delay there is. What would end later than this
        from now was set by a clock that has been put back since, and ends at once.
        """
        ...

    async def release(self, lease: Lease) -> None:
        """Let the user go; jobs that are left become due at once.

        Does nothing if the lease is no longer held: it ended by `retry`, or another took over.
        """
        ...

    async def retry(self, lease: Lease, job: Job, error: str, due_at: datetime) -> None:
        """Count a failed attempt and let the user's jobs wait until `due_at`, order kept.

        Ends the lease. What is enqueued meanwhile waits as well. Raises LeaseLostError.
        """
        ...

    async def bury(self, lease: Lease, job: Job, error: str, now: datetime) -> None:
        """Park the job as dead with its error; the user's next job may run.

        The lease goes on; the job counts this last attempt. Raises LeaseLostError.
        """
        ...

    async def job_state(self, user_id: str, job_id: str) -> str:
        """Return waiting, done or dead. Raises NotFoundError."""
        ...

    async def depth(self) -> QueueDepth:
        """Return how much waits in all, what is being worked on included."""
        ...

    async def next_due(self) -> datetime | None:
        """Return when the next job becomes due; None if nothing waits.

        The jobs of a user who is held become due when the lease runs out.
        """
        ...

    async def dead(self, user_id: str | None = None, limit: int = 100) -> list[DeadJob]:
        """Return parked jobs, newest first."""
        ...

    async def revive(self, user_id: str, job_id: str, now: datetime) -> None:
        """Let a dead job run again, in its old place, with no attempts.

        Raises NotFoundError.
        """
        ...


# --- the store ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredTurn:
    """A raw turn as kept: the transcript [L3]."""

    id: str
    user_id: str
    session_id: str
    role: Role
    content: str
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexedTurn:
    """What a kept turn is found by: its words with those of the turn before it, and their vector.

    made_by names the lexer and the model [T3]; a search never mixes two. vector is None for a
    turn with nothing in it that could be embedded.
    """

    turn_id: str
    made_by: str
    words: frozenset[str]
    vector: Vector | None


@dataclass(frozen=True, slots=True, kw_only=True)
class WordedTurns:
    """Turns that hold some of the words asked for.

    kept: how many turns the user's index holds. holders: how many of them hold each word.
    turns: (turn id, summed rarity of the words it holds), best first.
    """

    kept: int = 0
    holders: Mapping[str, int] = field(default_factory=dict)
    turns: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedTurn:
    """A turn with its neighbours in its session, oldest first."""

    turn: StoredTurn
    before: tuple[StoredTurn, ...] = ()
    after: tuple[StoredTurn, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """A session and the root of its lineage: forks and resumptions share the root [F2].

    root_id is "" while the session was only looked at: `keep_core` came before its first unit.
    core_* is the rendered core of the first `context()`, kept so that it stays byte-identical
    for the whole session [R1].
    """

    user_id: str
    id: str
    root_id: str
    started_at: datetime
    ended_at: datetime | None = None
    core_text: str | None = None
    core_item_ids: tuple[str, ...] = ()
    core_tokens: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """An item was handed out at `at`: an access; a relevance hit if it answered a query [F5]."""

    item_id: str
    at: datetime
    hit: bool
    query_relevance: float = 0.0
    session_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemFilter:
    """Which items to list.

    statuses None means any. text must occur in the content, upper and lower case the same.
    """

    statuses: frozenset[Status] | None = None
    item_type: ItemType | None = None
    text: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemPage:
    """A page of items, newest first, and where the next one starts (None: this was the last)."""

    items: tuple[MemoryItem, ...]
    cursor: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Due:
    """Items whose time is over, for upkeep."""

    expired: tuple[MemoryItem, ...] = ()
    forgotten: tuple[MemoryItem, ...] = ()  # forgotten before the undo window


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreStats:
    """Counts for one user, or for all. decisions by outcome; pendings that are open.

    turns counts every raw turn whose id is known, emptied ones too.
    """

    users: int
    items: Mapping[Status, int] = field(default_factory=dict)
    turns: int = 0
    decisions: Mapping[str, int] = field(default_factory=dict)
    pendings: int = 0
    bytes: int | None = None


class Transaction(Protocol):
    """One atomic unit of one user's memory. Leaving it by an exception applies nothing."""

    async def snapshot(self) -> Snapshot:
        """Return the pools as this unit sees them, its own plans included."""
        ...

    async def nearest(self, vector: Vector, *, limit: int, gate: float) -> list[tuple[str, float]]:
        """Return (item id, cosine) of live items (hot, frozen, archive), best first.

        Only those with cosine ≥ gate. An item without a vector is never near.
        """
        ...

    async def in_slot(self, subject: str, attribute: str) -> list[MemoryItem]:
        """Return the live items of this slot, compared by `folded`."""
        ...

    async def items(self, item_ids: Iterable[str]) -> dict[str, MemoryItem]:
        """Return these items of the user, whatever their status; unknown ids are left out."""
        ...

    async def partners(
        self, subject: str, attribute: str | None, item_ids: Sequence[str]
    ) -> dict[str, MemoryItem]:
        """Return what `in_slot` returns (nothing without an attribute), then these items.

        One look at the store: it is asked once for every candidate.
        """
        ...

    async def signals(
        self, item_ids: Iterable[str], session_id: str | None = None
    ) -> dict[str, list[Signal]]:
        """Return the signals of these items, oldest first; of one session if given.

        Every id asked for has an entry, if only an empty one.
        """
        ...

    async def pending(self, pending_id: str) -> Pending | None:
        """Return a pending override, open or closed."""
        ...

    async def due(self, now: datetime, forgotten_before: datetime) -> Due:
        """Return what expired by `now`, and what was forgotten before the undo window."""
        ...

    async def apply(self, plan: Plan, vectors: Mapping[str, Vector] | None = None) -> None:
        """Write a plan. `vectors` holds an embedding for every item whose content is new.

        Items, pendings and the decision are written whole, over what has the same id. A vector
        whose item is not in the plan is left aside; an item keeps its vector if none is given.
        `purged` takes the item with its signals, uses, vector and pendings, and the decisions
        about it, and empties the turns it rests on [P3]; the moves stay, for they hold no
        content. A Note without `expires_at` lasts as
        long as its session. Raises InvalidInputError if anything in it is another user's [P4].
        """
        ...

    async def add_turns(self, turns: Sequence[StoredTurn]) -> list[str]:
        """Keep raw turns; return the ids that are new. A known id is stored once [W1].

        Ids belong to their user. Raises InvalidInputError for another user's turn [P4].
        """
        ...

    async def known_turns(self, turn_ids: Iterable[str]) -> set[str]:
        """Return which of these turns are kept already."""
        ...

    async def recent_turns(self, session_id: str, limit: int) -> list[StoredTurn]:
        """Return the last turns of a session, oldest first; emptied ones are left out."""
        ...

    async def index_turns(self, entries: Sequence[IndexedTurn], now: datetime) -> None:
        """Make kept turns findable, in place of what they were found by before [R6].

        A turn is taken as stored when it was first indexed. Unknown and emptied turns are left
        out.
        """
        ...

    async def unindexed_turns(self, made_by: str, limit: int) -> list[PlacedTurn]:
        """Return kept turns that no index of this name holds, each with the turn before it."""
        ...

    async def old_turns(self, stored_before: datetime, limit: int) -> list[str]:
        """Return the ids of indexed turns stored before that instant, oldest first."""
        ...

    async def empty_turns(self, turn_ids: Iterable[str]) -> None:
        """Take the content of these turns, and all they are found by [P3, L3].

        Their ids stay known: what was forgotten is not read again from an old log [F2]. The turn
        after each was found by the same words; `unindexed_turns` returns it from then on.
        """
        ...

    async def session(self, session_id: str, now: datetime, parent_id: str | None) -> Session:
        """Return the session, made if new; a parent gives it the parent's root [F2].

        The root is settled when the session is made. A parent never seen is itself the root.
        """
        ...

    async def end_session(self, session_id: str, now: datetime) -> None:
        """Mark the session ended and drop its working memory, of every task [L2].

        An unknown session has only its working memory dropped.
        """
        ...

    async def touch(self, own_time: OwnTime) -> None:
        """Set the user's own clock [D1]."""
        ...

    async def set_user(
        self,
        *,
        user_class: str | None = None,
        capture_paused: bool | None = None,
        recall_paused: bool | None = None,
        maintained_at: datetime | None = None,
    ) -> None:
        """Change what is set for the user; None leaves it."""
        ...

    async def finish(self, job: Job, decisions: Sequence[Decision]) -> None:
        """End the job inside this unit, so that its effects happen exactly once [W1].

        Records those decisions that no plan has recorded. Raises NotFoundError for a job that
        does not wait any more (it is done, dead or unknown), which rolls the unit back.
        """
        ...

    async def dossier(self) -> Dossier:
        """Return all that is kept of the user, as this unit began; ask before it writes."""
        ...

    async def erased(self, marks: Iterable[str]) -> dict[str, tuple[ErasureKind, datetime]]:
        """Return which of these marks have a tombstone, by what erasure, and since when [P3]."""
        ...

    async def erase(self, erasure: Erasure) -> Mapping[str, int]:
        """Take all of it out, leave tombstones; return how many went of each kind [P3].

        Ends the asked erasure (`done_at`), within this unit. With `whole`, nothing of the user is
        left but tombstones, and the user exists no more. Nothing else may follow in this unit.
        """
        ...

    async def put_back(self, dossier: Dossier, vectors: Mapping[str, Vector]) -> None:
        """Write what a dossier holds and the store does not: what is known stays as it is [P3].

        vectors: of the items. Jobs wait again. A user who does not exist gets the dossier's
        settings and clock; tombstones come along where the key is the same, or there is none.
        """
        ...


class Store(Protocol):
    """Keeps everything. Reads outside a Transaction see the last committed state.

    Units and writes of one user happen one after the other, so inside a unit call its own methods,
    not the Store's writing ones. Every method refuses a blank user_id (InvalidInputError) [P4].
    What was returned never changes by what is written later.

    A user's `version` rises by one with each unit or `record_uses` that changed what the Snapshot
    shows; a refused candidate or a kept turn changes nothing there. Snapshot.pendings holds the
    open ones, oldest first. Snapshot.archive_tail holds at most 64 items once the archive lacks
    fewer than 64 of its capacity: never confirmed first, then expired (by the user's last active
    moment), then by retention [A7, D1].
    """

    async def close(self) -> None:
        """Release files and connections."""
        ...

    def begin(
        self, user_id: str, lease: Lease | None = None
    ) -> AbstractAsyncContextManager[Transaction]:
        """Open a unit for one user. With a lease, raises LeaseLostError if it is no longer held.

        The lease is checked on entering and again on leaving. One that ran out is still held
        until somebody else takes the user.
        """
        ...

    async def snapshot(self, user_id: str) -> Snapshot:
        """Return the user's pools."""
        ...

    async def nearest(
        self, user_id: str, vector: Vector, *, limit: int, gate: float
    ) -> list[tuple[str, float]]:
        """Return (item id, cosine) of live items with cosine ≥ gate, best first."""
        ...

    async def by_words(self, user_id: str, words: str, *, limit: int) -> list[tuple[str, float]]:
        """Return (item id, BM25 relevance > 0, higher is better) of live items, best first.

        `words` is any text; Chinese is matched by character bigrams, Latin by words. One match is
        enough. Searched are content, value, entities and tags.
        """
        ...

    async def items(self, user_id: str, item_ids: Iterable[str]) -> dict[str, MemoryItem]:
        """Return these items, whatever their status; unknown ids are left out."""
        ...

    async def unembedded(self, user_id: str, *, dim: int, limit: int) -> list[MemoryItem]:
        """Return live items that have no vector of the current model with `dim` numbers [T3].

        Hot and frozen ones come first.
        """
        ...

    async def turns_by_words(
        self, user_id: str, words: Sequence[str], *, limit: int
    ) -> WordedTurns:
        """Return the turns that hold one of these words, or of the 24 rarest of them [R6].

        The rarity of a word is ln(1 + (kept - holders + 0.5) / (holders + 0.5)), as in BM25,
        over this user's turns alone.
        """
        ...

    async def turns_near(
        self, user_id: str, vector: Vector, *, made_by: str, limit: int, gate: float
    ) -> list[tuple[str, float]]:
        """Return (turn id, cosine) of indexed turns with cosine ≥ gate, best first: exact."""
        ...

    async def placed_turns(
        self, user_id: str, turn_ids: Iterable[str], *, before: int, after: int
    ) -> dict[str, PlacedTurn]:
        """Return these turns with up to so many neighbours; unknown and emptied are left out."""
        ...

    async def resting_on(
        self, user_id: str, turn_ids: Iterable[str]
    ) -> dict[str, list[MemoryItem]]:
        """Return the items, whatever their status, that have a signal from each of these turns.

        Turns on which nothing rests are left out.
        """
        ...

    async def page(
        self, user_id: str, wanted: ItemFilter, *, limit: int, cursor: str | None
    ) -> ItemPage:
        """List items, newest first (by created_at, then id).

        Raises InvalidInputError for a cursor it did not give, and for a limit under 1.
        """
        ...

    async def believed_at(self, user_id: str, when: datetime) -> list[MemoryItem]:
        """Return the items that were active at `when`, with the status and wording of then.

        domain.belief.believed_at says how that is read out of the log.
        What is forgotten by now is left out, whatever the log says of then [P3].
        """
        ...

    async def moves(self, user_id: str, item_id: str | None = None) -> list[Move]:
        """Return the log, oldest first."""
        ...

    async def signals(self, user_id: str, item_id: str) -> list[Signal]:
        """Return an item's signals, oldest first."""
        ...

    async def signals_of(
        self, user_id: str, item_ids: Sequence[str]
    ) -> dict[str, list[Signal]]:
        """Return the signals of each of these items, oldest first; every id has an entry."""
        ...

    async def versions(self, user_id: str, item_id: str) -> list[MemoryItem]:
        """Return the lineage the item belongs to, lowest version first.

        All that is joined by override_of or superseded_by.
        """
        ...

    async def uses(self, user_id: str, item_id: str, limit: int = 50) -> list[Use]:
        """Return when the item was handed out, newest first."""
        ...

    async def decisions(
        self,
        user_id: str,
        *,
        text: str | None = None,
        job_id: str | None = None,
        limit: int = 100,
        before: tuple[datetime, str] | None = None,
    ) -> list[Decision]:
        """Return recorded decisions, newest first: of a job, or whose content has `text`.

        Upper and lower case are the same. before: (time, id) of the last one already shown.
        """
        ...

    async def pendings(self, user_id: str, *, open_only: bool = True) -> list[Pending]:
        """Return pending overrides, oldest first."""
        ...

    async def record_uses(self, user_id: str, uses: Sequence[Use], own_time: OwnTime) -> None:
        """Count accesses and relevance hits, in one go, off the reading path.

        Uses of unknown items are left out: they may have been erased meanwhile. The user's own
        clock is kept too, unless a later one is kept already. No time ever goes back.
        """
        ...

    async def session(self, user_id: str, session_id: str) -> Session | None:
        """Return a session, None if unknown."""
        ...

    async def keep_core(self, session: Session) -> Session:
        """Keep the session's core unless one is kept already; return what is kept [R1]."""
        ...

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
        """Set a working-memory note, or remove it (value None) [L2].

        It has run out once `expires_at` is reached.
        """
        ...

    async def notes(
        self, user_id: str, session_id: str, task_id: str, now: datetime
    ) -> dict[str, str]:
        """Return the notes of a task that have not run out."""
        ...

    async def clear_notes(self, user_id: str, session_id: str, task_id: str) -> None:
        """Remove all notes of a task."""
        ...

    async def add_usage(self, lines: Sequence[UsageLine]) -> None:
        """Add these numbers to what is recorded of the same user, day, task and model.

        It brings no user into being.
        """
        ...

    async def usage(self, user_id: str | None, since: date) -> list[UsageLine]:
        """Return what models cost from that day on, by day, task and model.

        Of one user, or summed over all (their user_id is ""), oldest first.
        """
        ...

    async def keep_findings(
        self, user_id: str, findings: Sequence[Finding], audited_at: datetime | None = None
    ) -> None:
        """Write findings whole, over those with the same id [U2]; and when one looked for them.

        Raises InvalidInputError for another user's. They go with the items they are about [P3].
        """
        ...

    async def audited_at(self, user_id: str) -> datetime | None:
        """Return when the user's frozen pool was last looked through; None if never [U2]."""
        ...

    async def findings(self, user_id: str, *, open_only: bool = True) -> list[Finding]:
        """Return what audits found, oldest first [U2]."""
        ...

    async def dossier(self, user_id: str) -> Dossier:
        """Return all that is kept of the user, of one consistent moment."""
        ...

    async def erased(
        self, user_id: str, marks: Iterable[str]
    ) -> dict[str, tuple[ErasureKind, datetime]]:
        """Return which of these marks have a tombstone, by what erasure, and since when [P3]."""
        ...

    async def ask_erasure(self, asked: AskedErasure) -> None:
        """Keep, durably, that this erasure was asked for: whatever happens, it will be done."""
        ...

    async def asked_erasures(self) -> list[AskedErasure]:
        """Return the erasures, of all users, whose bytes are not gone yet, oldest first."""
        ...

    async def scrub(self, limit_bytes: int | None = None) -> bool:
        """Make what was erased so far unreadable in the files; return whether that was possible.

        Then the erasures that were done before are asked for no more. limit_bytes: a larger file
        is left as it is. Costs a rewriting of the file.
        """
        ...

    async def users(self, after: str | None, limit: int) -> list[str]:
        """Return user ids in order, for upkeep over all. A user exists from the first write on."""
        ...

    async def stats(self, user_id: str | None = None) -> StoreStats:
        """Return counts, of one user or of all."""
        ...
