"""remember: a queued job becomes memory; fetch, decide, apply, in that order [W1, W2].

Slow things (extraction, embedding) happen before the transaction opens. The transaction holds the
decisions and the end of the job, so that its effects happen exactly once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from types import MappingProxyType

import numpy as np

from dualgate.domain.conflict import Relation, reach, relate
from dualgate.domain.decision import decide
from dualgate.domain.items import Candidate, MemoryItem, Proposal
from dualgate.domain.plan import Decision, Outcome, Pending, Plan
from dualgate.domain.policy import GatePolicy
from dualgate.domain.signals import Signal
from dualgate.domain.status import Status
from dualgate.domain.view import Likeness, Partner, Snapshot, View
from dualgate.pipeline.gravekeeping import without_old_statements, without_old_turns
from dualgate.pipeline.hearing import Heard, Spoken, WritePorts, hear
from dualgate.pipeline.overlaps import by_another_name, foresee, likenesses_of
from dualgate.pipeline.ports import Job, Lease, Transaction, Vector
from dualgate.pipeline.reading import Reading

__all__ = ["Spoken", "WritePorts", "decide_one", "remember", "view_for"]

_NOTHING_READ: Mapping[str, Reading] = MappingProxyType({})
_ANSWERED = frozenset({Relation.DUPLICATE, Relation.EXCLUSIVE})


async def remember(
    job: Job, lease: Lease, on: WritePorts, ahead: Mapping[str, Reading] = _NOTHING_READ
) -> list[Decision]:
    """Run one job and return its decisions; `ahead` holds turns that were read already."""
    heard = await hear(job, lease, on, ahead)
    return await _decided(job, lease, await foresee(job.user_id, heard, on), on)


async def _decided(
    job: Job, lease: Lease, read: Heard, on: WritePorts
) -> list[Decision]:
    decisions = []
    async with on.store.begin(job.user_id, lease) as tx:
        snapshot = await tx.snapshot()
        read = await without_old_turns(tx, read)
        turns, spoken = read.turns, read.spoken
        parent = job.payload.get("parent_session_id")
        moments = [turn.at for turn in turns] or [s.at for s in spoken] or [on.clock.now()]
        session = await tx.session(job.session_id, min(moments), parent)
        read = await without_old_statements(tx, read, session)
        spoken = read.spoken
        await tx.add_turns(read.turns)
        await tx.index_turns(read.entries, on.clock.now())
        if turns or spoken:
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
        view = await view_for(tx, snapshot, proposal, said, on, policy)
        plan = decide(proposal, view, policy, now)
    vectors = {
        item.id: said.vector for item in plan.items if item.content == said.candidate.content
    }
    risen = [i for i in plan.items if i.id not in vectors and _is_new(i, plan)]
    if risen:
        made = await on.embedder.embed([item.content for item in risen])
        vectors |= {item.id: vector for item, vector in zip(risen, made, strict=True)}
    if said.numbers and plan.decision is not None:
        numbers = {**said.numbers, **plan.decision.numbers}
        plan = replace(plan, decision=replace(plan.decision, numbers=numbers))
    await tx.apply(plan, vectors)
    if plan.decision is None:  # pragma: no cover - decide always records one
        raise AssertionError(proposal.id)
    return plan.decision


async def view_for(
    tx: Transaction,
    snapshot: Snapshot,
    proposal: Proposal,
    said: Spoken,
    on: WritePorts,
    policy: GatePolicy,
) -> View:
    """Fetch what the gates look at: items near in meaning or in the same slot [C1]."""
    candidate, limits = proposal.candidate, policy.similarity
    most, gate = reach(candidate, limits)
    near = dict(await tx.nearest(said.vector, limit=most, gate=gate))
    found = await tx.partners(candidate.subject, candidate.attribute, list(near))
    items = list({**by_another_name(candidate, snapshot, limits), **found}.values())
    likenesses = [
        said.verdicts.get(item.id, likeness)
        for item, likeness in zip(
            items, likenesses_of(candidate, items, near, on.judge, limits), strict=True
        )
    ]
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
    here: dict[str, list[Signal]] = {}
    if answered:
        here = await tx.signals(answered, proposal.session_id)
    partners = tuple(
        Partner(item=item, likeness=likeness, signals_here=tuple(here.get(item.id, ())))
        for item, likeness in concerned
    )
    challenged = {
        item.id
        for item, relation in zip(items, related, strict=True)
        if relation is Relation.EXCLUSIVE and item.status is Status.FROZEN
    }
    parked = [pending for pending in snapshot.pendings if pending.item_id in challenged]
    challenges = await _parked(candidate, said.vector, parked, on)
    return View(snapshot=snapshot, partners=partners, challenges=challenges)


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
