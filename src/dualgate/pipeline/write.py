"""remember: a queued job becomes memory; fetch, decide, apply, in that order [W1, W2].

Slow things (extraction, embedding) happen before the transaction opens. The transaction holds the
decisions and the end of the job, so that its effects happen exactly once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import numpy as np

from dualgate.domain.conflict import (
    Relation,
    SimilarityPolicy,
    apart_by_structure,
    relate,
    slot_of,
)
from dualgate.domain.decision import decide
from dualgate.domain.grounding import SEMANTIC_GATE, is_quoted, may_speak, shares_words
from dualgate.domain.items import Candidate, MemoryItem, Message, Proposal, to_utc
from dualgate.domain.plan import Decision, Outcome, Pending, Plan
from dualgate.domain.policy import GatePolicy
from dualgate.domain.signals import Signal
from dualgate.domain.status import Status
from dualgate.domain.types import Role, Source
from dualgate.domain.view import Likeness, Partner, Snapshot, View
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
    Store,
    StoredTurn,
    Structurer,
    Transaction,
    Turn,
    Vector,
)
from dualgate.pipeline.transcripts import in_sequence, index_entries

_ANSWERED = frozenset({Relation.DUPLICATE, Relation.EXCLUSIVE})


@dataclass(frozen=True, slots=True, kw_only=True)
class WritePorts:
    """What the write path talks to."""

    store: Store
    extractor: Extractor
    structurer: Structurer
    embedder: Embedder
    judge: Judge
    clock: Clock
    ids: IdSource
    policy_of: Callable[[str], GatePolicy]
    observer: Observer
    lexer: Lexer
    history_turns: int = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Spoken:
    """A candidate, when it was said, and its embedding; `flaw` says why it may not pass."""

    candidate: Candidate
    at: datetime
    vector: Vector
    flaw: str | None = None
    source: Source


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """What was read out of a job: its turns, what the new ones are found by, its candidates."""

    turns: Sequence[StoredTurn] = ()
    entries: Sequence[IndexedTurn] = ()
    spoken: Sequence[Spoken]


async def remember(job: Job, lease: Lease, on: WritePorts) -> list[Decision]:
    """Run one job and return its decisions."""
    if job.kind == JobKind.CANDIDATES:
        return await _decided(job, lease, Read(spoken=await _proposed(job, on)), on)
    turns = [_stored(job, m) for m in intake.from_payload(job.payload["messages"])]
    return await _decided(job, lease, await _extracted(job, turns, lease, on), on)


async def _extracted(
    job: Job, turns: Sequence[StoredTurn], lease: Lease, on: WritePorts
) -> Read:
    """Read the turns that are new; a turn that is known was read before [F2]."""
    mine = {turn.id for turn in turns}
    async with on.store.begin(job.user_id, lease) as tx:
        known = await tx.known_turns(mine)
        earlier = await tx.recent_turns(job.session_id, max(1, on.history_turns))
    earlier = [turn for turn in earlier if turn.id not in mine]
    history = [_as_message(turn) for turn in earlier]
    zones = {m["id"]: datetime.fromisoformat(m["at"]) for m in job.payload["messages"]}
    spoken: list[Spoken] = []
    for turn in turns:
        message = _as_message(turn)
        if turn.id not in known and turn.role in (Role.USER, Role.ASSISTANT):
            reading = Turn(
                user_id=job.user_id,
                session_id=job.session_id,
                message=message,
                at=zones[turn.id],
                history=tuple(history[-on.history_turns :] if on.history_turns else ()),
            )
            spoken += await _read(reading, on)
        history.append(message)
    placed = in_sequence(earlier[-1] if earlier else None, turns)
    new = [one for one in placed if one.turn.id not in known]
    entries = await index_entries(new, on.lexer, on.embedder)
    return Read(turns=tuple(turns), entries=tuple(entries), spoken=spoken)


async def _read(turn: Turn, on: WritePorts) -> list[Spoken]:
    found = list(await on.extractor.extract(turn))
    source = getattr(on.extractor, "source", Source.LLM)
    candidates = [
        on.structurer.complete(replace(c, message_id=c.message_id or turn.message.id))
        for c in found
    ]
    if not candidates:
        return []
    vectors = await on.embedder.embed([c.content for c in candidates])
    spoken = []
    for candidate, vector in zip(candidates, vectors, strict=True):
        flaw = await _flaw(candidate, turn, vector, on.embedder)
        spoken.append(
            Spoken(
                candidate=candidate, at=to_utc(turn.at), vector=vector, flaw=flaw, source=source
            )
        )
    return spoken


async def _flaw(
    candidate: Candidate, turn: Turn, vector: Vector, embedder: Embedder
) -> str | None:
    """Return why a candidate may not pass, whoever extracted it [W3, W5]."""
    if not may_speak(candidate, turn.message.role):
        return "not_the_users_words"
    if any(is_quoted(candidate, m.content) for m in (turn.message, *turn.history[-2:])):
        return None
    if shares_words(candidate, turn.message.content):
        return None
    meant = await embedder.embed([turn.message.content])
    return None if float(np.dot(vector, meant[0])) >= SEMANTIC_GATE else "ungrounded"


async def _proposed(job: Job, on: WritePorts) -> list[Spoken]:
    candidates = [
        on.structurer.complete(intake.candidate_from_payload(row))
        for row in job.payload["candidates"]
    ]
    if not candidates:
        return []
    at = datetime.fromisoformat(job.payload["at"])
    vectors = await on.embedder.embed([c.content for c in candidates])
    return [
        Spoken(candidate=c, at=at, vector=v, source=Source.HOST)
        for c, v in zip(candidates, vectors, strict=True)
    ]


async def _decided(
    job: Job, lease: Lease, read: Read, on: WritePorts
) -> list[Decision]:
    turns, spoken = read.turns, read.spoken
    decisions = []
    async with on.store.begin(job.user_id, lease) as tx:
        snapshot = await tx.snapshot()
        parent = job.payload.get("parent_session_id")
        moments = [turn.at for turn in turns] or [s.at for s in spoken] or [on.clock.now()]
        session = await tx.session(job.session_id, min(moments), parent)
        await tx.add_turns(turns)
        await tx.index_turns(read.entries, on.clock.now())
        await tx.touch(snapshot.own_time.touched(max(moments)))
        for said in spoken:
            proposal = Proposal(
                id=on.ids.new(),
                user_id=job.user_id,
                session_id=session.root_id,
                candidate=said.candidate,
                at=said.at,
                source=said.source,
                job_id=job.id,
                task_id=job.payload.get("task_id") or "",
            )
            decisions.append(await decide_one(tx, proposal, said, on))
        await tx.finish(job, decisions)
    for decision in decisions:
        on.observer.decided(decision)
    return decisions


async def decide_one(
    tx: Transaction, proposal: Proposal, said: Spoken, on: WritePorts
) -> Decision:
    """Decide one candidate inside an open unit, write what follows, return the decision."""
    snapshot = await tx.snapshot()
    policy = on.policy_of(snapshot.user_class)
    # The gates judge as of the utterance: imported history is weighed as it would have been.
    now = min(proposal.at, on.clock.now())
    if said.flaw is not None:
        plan = Plan(decision=_flawed(proposal, said.flaw, now))
    else:
        view = await view_for(tx, snapshot, proposal, said.vector, on, policy)
        plan = decide(proposal, view, policy, now)
    vectors = {
        item.id: said.vector for item in plan.items if item.content == said.candidate.content
    }
    risen = [i for i in plan.items if i.id not in vectors and _is_new(i, plan)]
    if risen:
        made = await on.embedder.embed([item.content for item in risen])
        vectors |= {item.id: vector for item, vector in zip(risen, made, strict=True)}
    await tx.apply(plan, vectors)
    if plan.decision is None:  # pragma: no cover - decide always records one
        raise AssertionError(proposal.id)
    return plan.decision


async def view_for(
    tx: Transaction,
    snapshot: Snapshot,
    proposal: Proposal,
    vector: Vector,
    on: WritePorts,
    policy: GatePolicy,
) -> View:
    """Fetch what the gates look at: items near in meaning or in the same slot [C1]."""
    candidate, limits = proposal.candidate, policy.similarity
    near = dict(
        await tx.nearest(vector, limit=limits.partner_limit, gate=limits.partner_gate)
    )
    found = await tx.partners(candidate.subject, candidate.attribute, list(near))
    items = list({**_by_another_name(candidate, snapshot, limits), **found}.values())
    likenesses = _likenesses(candidate, items, near, on.judge, limits)
    related = [
        relate(candidate, item, likeness, limits)
        for item, likeness in zip(items, likenesses, strict=True)
    ]
    concerned = [
        (item, likeness)
        for item, likeness, relation in zip(items, likenesses, related, strict=True)
        if relation is not Relation.UNRELATED
    ]
    # What the session said before matters only where it is confirmed or contradicted [F2].
    answered = [
        item.id for item, relation in zip(items, related, strict=True) if relation in _ANSWERED
    ]
    said: dict[str, list[Signal]] = {}
    if answered:
        said = await tx.signals(answered, proposal.session_id)
    partners = tuple(
        Partner(item=item, likeness=likeness, signals_here=tuple(said.get(item.id, ())))
        for item, likeness in concerned
    )
    challenged = {
        item.id
        for item, relation in zip(items, related, strict=True)
        if relation is Relation.EXCLUSIVE and item.status is Status.FROZEN
    }
    parked = [pending for pending in snapshot.pendings if pending.item_id in challenged]
    challenges = await _parked(candidate, vector, parked, on)
    return View(snapshot=snapshot, partners=partners, challenges=challenges)


def _by_another_name(
    candidate: Candidate, snapshot: Snapshot, policy: SimilarityPolicy
) -> dict[str, MemoryItem]:
    """Return the active items whose slot is the candidate's under another name [C1]."""
    if not candidate.attribute:
        return {}
    slot = slot_of(candidate.attribute, policy)
    return {
        item.id: item
        for pool in (snapshot.hot, snapshot.frozen)
        for item in pool.values()
        if item.attribute and slot_of(item.attribute, policy) == slot
    }


def _likenesses(
    candidate: Candidate,
    items: Sequence[MemoryItem],
    near: Mapping[str, float],
    judge: Judge,
    policy: SimilarityPolicy,
) -> list[Likeness]:
    """Compare the candidate with the items; a pair whose slots differ is alike in nothing."""
    cosines = {item.id: near.get(item.id, 0.0) for item in items}
    open_ones = [item for item in items if apart_by_structure(candidate, item, policy) is None]
    judged = judge.compare(candidate, open_ones, [cosines[item.id] for item in open_ones])
    known = {item.id: likeness for item, likeness in zip(open_ones, judged, strict=True)}
    return [
        known.get(item.id) or Likeness(same=0.0, conflicting=0.0, cosine=cosines[item.id])
        for item in items
    ]


async def _parked(
    candidate: Candidate, vector: Vector, pendings: Sequence[Pending], on: WritePorts
) -> dict[str, Likeness]:
    """Compare the candidate with what is parked already against the items it challenges."""
    if not pendings:
        return {}
    vectors = await on.embedder.embed([p.candidate.content for p in pendings])
    cosines = [float(np.dot(vector, other)) for other in vectors]
    items = [_as_item(pending) for pending in pendings]
    compared = on.judge.compare(candidate, items, cosines)
    return {pending.id: found for pending, found in zip(pendings, compared, strict=True)}


def _as_item(pending: Pending) -> MemoryItem:
    c = pending.candidate
    return MemoryItem(
        id=pending.id, user_id=pending.user_id, item_type=c.item_type, content=c.content,
        subject=c.subject, attribute=c.attribute, value=c.value, polarity=c.polarity,
        qualifiers=c.qualifiers, status=Status.CANDIDATE, importance=0.0,
        confidence=c.confidence, support=0.0, created_at=pending.opened_at,
        updated_at=pending.last_at, last_seen_at=pending.last_at, source_session_id="",
    )  # fmt: skip


def _flawed(proposal: Proposal, flaw: str, now: datetime) -> Decision:
    return Decision(
        id=proposal.id,
        user_id=proposal.user_id,
        session_id=proposal.session_id,
        at=now,
        outcome=Outcome.REFUSED,
        reason=flaw,
        candidate=proposal.candidate,
        job_id=proposal.job_id,
        numbers={"confidence": proposal.candidate.confidence},
    )


def _is_new(item: MemoryItem, plan: Plan) -> bool:
    return any(move.item_id == item.id and move.before is None for move in plan.moves)


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
