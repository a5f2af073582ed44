"""What a job says, before anything is decided: read, embedded, checked against the words [W3, W5].

Rule: everything slow happens here, before the transaction opens. Whoever read a turn, what he read
passes the same checks; a model's word passes more of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Protocol

import numpy as np

from dualgate.domain.conflict import Relation
from dualgate.domain.grounding import (
    QUOTED_GATE,
    SEMANTIC_GATE,
    as_hint,
    is_quoted,
    may_speak,
    shares_words,
    unsaid,
    value_is_said,
)
from dualgate.domain.items import Candidate, MemoryItem, Message, to_utc
from dualgate.domain.policy import GatePolicy
from dualgate.domain.status import Status
from dualgate.domain.types import Role, Source
from dualgate.domain.view import Likeness
from dualgate.pipeline import intake
from dualgate.pipeline.observer import Observer
from dualgate.pipeline.ports import (
    Clock,
    Embedder,
    Extractor,
    IdSource,
    IndexedTurn,
    Job,
    JobKind,
    Judge,
    Lease,
    Lexer,
    Queue,
    Redactor,
    Store,
    StoredTurn,
    Structurer,
    Turn,
    Vector,
)
from dualgate.pipeline.reading import HostTrust, Reader, Reading, SingleReader
from dualgate.pipeline.transcripts import in_sequence, index_entries

HEARD_TURNS = 200  # of a session: among them a host's quote is looked for
_SECRET_MARK = "[secret"  # noqa: S105 - what the redactor leaves in a secret's place


class Referee(Protocol):
    """A model that says how statements stand to each other where nothing else can tell [C1]."""

    name: str

    async def settle(
        self, user_id: str, pairs: Sequence[tuple[Candidate, MemoryItem]]
    ) -> list[Relation]:
        """Return DUPLICATE, EXCLUSIVE, or OVERLAP where it stays open; one a pair.

        Raises ModelError.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class WritePorts:
    """What the write path talks to.

    reader: None reads by `extractor`, one turn after the other. queue: where turns go that shall
    be read again. referee: None leaves partial overlaps open.
    """

    store: Store
    extractor: Extractor
    structurer: Structurer
    embedder: Embedder
    judge: Judge
    redactor: Redactor
    clock: Clock
    ids: IdSource
    policy_of: Callable[[str], GatePolicy]
    observer: Observer
    lexer: Lexer
    history_turns: int = 4
    reader: Reader | None = None
    queue: Queue | None = None
    referee: Referee | None = None
    host_trust: HostTrust = HostTrust.WORDS

    def whoever_reads(self) -> Reader:
        """Return the reader."""
        return self.reader or SingleReader(self.extractor)


@dataclass(frozen=True, slots=True, kw_only=True)
class Spoken:
    """A candidate, when it was said, and its embedding; `flaw` says why it may not pass.

    numbers go into its decision. verdicts: how it compares with some items, by a model's word.
    """

    candidate: Candidate
    at: datetime
    vector: Vector
    flaw: str | None = None
    source: Source
    numbers: Mapping[str, Any] = field(default_factory=dict)
    verdicts: Mapping[str, Likeness] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """What a job says: its turns, what the new ones are found by, its candidates."""

    turns: Sequence[StoredTurn] = ()
    entries: Sequence[IndexedTurn] = ()
    spoken: Sequence[Spoken] = ()


async def hear(
    job: Job, lease: Lease, on: WritePorts, ahead: Mapping[str, Reading]
) -> Heard:
    """Read a job, whatever its kind."""
    match job.kind:
        case JobKind.CANDIDATES:
            return Heard(spoken=await _proposed(job, lease, on))
        case JobKind.REREAD:
            return Heard(spoken=await _read_again(job, on))
        case _:
            return await _observed(job, lease, on, ahead)


async def read_ahead(lease: Lease, on: WritePorts) -> dict[str, Reading]:
    """Read the turns of all of a lease's jobs together, where that is cheaper; by turn id.

    What fails is left out: its own job reads it again, and fails with the error or does not.
    """
    reader = on.whoever_reads()
    jobs = [job for job in lease.jobs if job.kind == JobKind.TURNS]
    if not reader.gathers or len(jobs) < 2:  # noqa: PLR2004
        return {}
    said_before: dict[str, list[Message]] = {}
    wanted: list[Turn] = []
    for job in jobs:
        opened = await _opened(job, lease, on, said_before.setdefault(job.session_id, []))
        wanted += opened.unread
    answers = await reader.read(wanted)
    return {
        str(turn.message.id): answer
        for turn, answer in zip(wanted, answers, strict=True)
        if isinstance(answer, Reading)
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class _Opened:
    """A job's turns: those that are new, in their place, and those of them to be read."""

    turns: Sequence[StoredTurn]
    new: Sequence[Any]
    unread: Sequence[Turn]


async def _observed(
    job: Job, lease: Lease, on: WritePorts, ahead: Mapping[str, Reading]
) -> Heard:
    """Read the turns that are new; a turn that is known was read before [F2]."""
    opened = await _opened(job, lease, on, [])
    left = [turn for turn in opened.unread if str(turn.message.id) not in ahead]
    fresh = await _all_read(on.whoever_reads().read, left)
    readings = {**ahead, **{str(turn.message.id): reading for turn, reading in fresh}}
    spoken: list[Spoken] = []
    again: list[Turn] = []
    for turn in opened.unread:
        reading = readings[str(turn.message.id)]
        spoken += await _checked(turn, reading, on)
        again += [turn] if reading.again else []
    # Before the unit that uses the stand-in's reading: what is once accepted is read in the end.
    if again:
        await _put_off(job, again, on)
    entries = await index_entries(opened.new, on.lexer, on.embedder)
    return Heard(turns=opened.turns, entries=entries, spoken=spoken)


async def _opened(
    job: Job, lease: Lease, on: WritePorts, said_before: list[Message]
) -> _Opened:
    """Look at a job's turns; said_before gathers what earlier jobs of the session said."""
    turns = [_stored(job, m) for m in intake.from_payload(job.payload["messages"])]
    mine = {turn.id for turn in turns}
    async with on.store.begin(job.user_id, lease) as tx:
        known = await tx.known_turns(mine)
        earlier = await tx.recent_turns(job.session_id, max(1, on.history_turns))
    earlier = [turn for turn in earlier if turn.id not in mine]
    history = [_as_message(turn) for turn in earlier] + said_before
    zones = {m["id"]: datetime.fromisoformat(m["at"]) for m in job.payload["messages"]}
    unread = []
    for turn in turns:
        message = _as_message(turn)
        if turn.id not in known and turn.role in (Role.USER, Role.ASSISTANT):
            unread.append(
                Turn(
                    user_id=job.user_id,
                    session_id=job.session_id,
                    message=message,
                    at=zones[turn.id],
                    history=tuple(history[-on.history_turns :] if on.history_turns else ()),
                )
            )
        history.append(message)
        said_before.append(message)
    placed = in_sequence(earlier[-1] if earlier else None, turns)
    new = [one for one in placed if one.turn.id not in known]
    return _Opened(turns=tuple(turns), new=new, unread=unread)


async def _all_read(read: Any, turns: Sequence[Turn]) -> list[tuple[Turn, Reading]]:
    """Read turns; the first that could not be read fails the job."""
    answers = await read(turns) if turns else []
    found = []
    for turn, answer in zip(turns, answers, strict=True):
        if isinstance(answer, Exception):
            raise answer
        found.append((turn, answer))
    return found


async def _put_off(job: Job, turns: Sequence[Turn], on: WritePorts) -> None:
    """Queue turns to be read again by the model; the queue keeps ids only, no words [P3]."""
    if on.queue is None:
        return
    await on.queue.enqueue(
        Job(
            id=on.ids.new(),
            user_id=job.user_id,
            session_id=job.session_id,
            kind=JobKind.REREAD,
            payload={
                "turns": [{"id": t.message.id, "at": t.at.isoformat()} for t in turns],
                "task_id": job.payload.get("task_id"),
                "parent_session_id": job.payload.get("parent_session_id"),
            },
            enqueued_at=job.enqueued_at,
            idempotency_key=f"{job.id}:reread",
        )
    )


async def _read_again(job: Job, on: WritePorts) -> list[Spoken]:
    """Read turns that a stand-in has read; what the user has forgotten since stays forgotten.

    The same session says it again, so that nothing is counted twice [F2].
    """
    zones = {row["id"]: datetime.fromisoformat(row["at"]) for row in job.payload["turns"]}
    kept = await on.store.placed_turns(
        job.user_id, zones, before=on.history_turns, after=0
    )
    resting = await on.store.resting_on(job.user_id, zones)
    forgotten = {
        turn_id
        for turn_id, items in resting.items()
        if any(item.status is Status.FORGOTTEN for item in items)
    }
    turns = [
        Turn(
            user_id=job.user_id,
            session_id=job.session_id,
            message=_as_message(kept[turn_id].turn),
            at=at,
            history=tuple(_as_message(turn) for turn in kept[turn_id].before),
        )
        for turn_id, at in zones.items()
        if turn_id in kept and turn_id not in forgotten
    ]
    spoken: list[Spoken] = []
    for turn, reading in await _all_read(on.whoever_reads().read_again, turns):
        spoken += await _checked(turn, reading, on)
    return spoken


async def _checked(turn: Turn, reading: Reading, on: WritePorts) -> list[Spoken]:
    """Complete what was read out of a turn, embed it, and note what may not pass."""
    candidates = [
        replace(intake.redacted(c, on.redactor), message_id=c.message_id or turn.message.id)
        for c in reading.candidates
    ]
    if not reading.structured:
        candidates = [on.structurer.complete(c) for c in candidates]
    if not candidates:
        return []
    vectors = await on.embedder.embed([c.content for c in candidates])
    spoken = []
    for candidate, vector, given in zip(candidates, vectors, reading.candidates, strict=True):
        flaw = await _flaw(candidate, turn, vector, on.embedder)
        if flaw is None and reading.source is Source.LLM and "read_by" in reading.numbers:
            # Its own word for the value: what the structurer fills in follows from the content.
            flaw = await _flaw_of_model(given, turn, vector, on.embedder)
        spoken.append(
            Spoken(
                candidate=candidate,
                at=to_utc(turn.at),
                vector=vector,
                flaw=flaw,
                source=reading.source,
                numbers=reading.numbers,
            )
        )
    return spoken


async def _flaw(
    candidate: Candidate, turn: Turn, vector: Vector, embedder: Embedder
) -> str | None:
    """Return why a candidate may not pass, whoever extracted it [W3, W5]."""
    if not may_speak(candidate, turn.message.role):
        return "not_the_users_words"
    if any(_SECRET_MARK in text for text in (candidate.content, candidate.value or "")):
        return "secret"
    if any(is_quoted(candidate, m.content) for m in (turn.message, *turn.history[-2:])):
        return None
    if shares_words(candidate, turn.message.content):
        return None
    meant = await embedder.embed([turn.message.content])
    return None if float(np.dot(vector, meant[0])) >= SEMANTIC_GATE else "ungrounded"


async def _flaw_of_model(
    candidate: Candidate, turn: Turn, vector: Vector, embedder: Embedder
) -> str | None:
    """Return why a model's candidate may not pass: a true quote makes no true statement [W5]."""
    text = turn.message.content
    said = "\n".join([text, *(m.content for m in turn.history)])
    if unsaid(candidate, said):
        return "invented"
    if candidate.value and value_is_said(candidate, text):
        return None
    quoted = is_quoted(candidate, text)
    words = candidate.quote if quoted and candidate.quote else text
    if shares_words(candidate, words):
        return None
    meant = await embedder.embed([words])
    gate = QUOTED_GATE if quoted else SEMANTIC_GATE
    return None if float(np.dot(vector, meant[0])) >= gate else "invented"


async def _proposed(job: Job, lease: Lease, on: WritePorts) -> list[Spoken]:
    """Return what a host proposes; without the user's words it is a hint [W5]."""
    given = [intake.candidate_from_payload(row) for row in job.payload["candidates"]]
    if not given:
        return []
    at = datetime.fromisoformat(job.payload["at"])
    vectors = await on.embedder.embed([c.content for c in given])
    heard = await _users_turns(job, lease, given, on)
    spoken = []
    for candidate, vector in zip(given, vectors, strict=True):
        turn = next((t for t in heard if is_quoted(candidate, t.content)), None)
        words = turn is not None and await _rests_on(candidate, turn, vector, on)
        trusted = words or on.host_trust is HostTrust.FULL
        spoken.append(
            Spoken(
                candidate=on.structurer.complete(candidate if trusted else as_hint(candidate)),
                at=at,
                vector=vector,
                source=Source.HOST if trusted else Source.HINT,
                numbers={"read_by": "host", "users_words": words},
            )
        )
    return spoken


async def _users_turns(
    job: Job, lease: Lease, given: Sequence[Candidate], on: WritePorts
) -> list[StoredTurn]:
    """Return what the user said in the session, latest first, if any candidate quotes him."""
    if not any(candidate.quote for candidate in given):
        return []
    async with on.store.begin(job.user_id, lease) as tx:
        turns = await tx.recent_turns(job.session_id, HEARD_TURNS)
    return [turn for turn in reversed(turns) if turn.role is Role.USER]


async def _rests_on(
    candidate: Candidate, turn: StoredTurn, vector: Vector, on: WritePorts
) -> bool:
    reading = Turn(
        user_id=turn.user_id, session_id=turn.session_id, message=_as_message(turn), at=turn.at
    )
    return await _flaw_of_model(candidate, reading, vector, on.embedder) is None


def _stored(job: Job, message: Message) -> StoredTurn:
    if message.id is None or message.at is None:  # pragma: no cover - intake sets both
        raise AssertionError(job.id)
    return StoredTurn(
        id=message.id,
        user_id=job.user_id,
        session_id=job.session_id,
        role=message.role,
        content=message.content,
        at=to_utc(message.at),
    )


def _as_message(turn: StoredTurn) -> Message:
    return Message(turn.role, turn.content, turn.at, turn.id)
