"""Partial overlaps, judged before the unit opens and handed to `decide` as data [C1].

Rule: a model is asked only about pairs that neither structure nor the fitted judge could tell; it
may say "the same" or "they exclude each other". In doubt, and without an answer, both stay.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from dualgate.domain.conflict import (
    Relation,
    SimilarityPolicy,
    apart_by_structure,
    relate,
    slot_of,
)
from dualgate.domain.items import Candidate, MemoryItem
from dualgate.domain.types import Scope
from dualgate.domain.view import Likeness, Snapshot
from dualgate.errors import ModelError
from dualgate.pipeline.hearing import Heard, Spoken, WritePorts
from dualgate.pipeline.ports import Judge

PAIRS_LIMIT = 4  # of one candidate: the likeliest


async def foresee(user_id: str, heard: Heard, on: WritePorts) -> Heard:
    """Return what was heard, with the verdicts on partial overlaps where a model gives them."""
    if on.referee is None:
        return heard
    open_pairs = [
        (place, item, likeness)
        for place, said in enumerate(heard.spoken)
        for item, likeness in await _overlaps(user_id, said, on)
    ]
    if not open_pairs:
        return heard
    pairs = [(heard.spoken[place].candidate, item) for place, item, _ in open_pairs]
    try:
        relations = await on.referee.settle(user_id, pairs)
    except ModelError:
        return heard  # in doubt keep both: what happens without a model, too
    spoken = list(heard.spoken)
    for (place, item, likeness), relation in zip(open_pairs, relations, strict=True):
        judged = verdict(relation, likeness)
        if judged is not None:
            said = spoken[place]
            spoken[place] = replace(
                said,
                verdicts={**said.verdicts, item.id: judged},
                numbers={**said.numbers, "judged_by": on.referee.name},
            )
    return replace(heard, spoken=spoken)


def verdict(relation: Relation, likeness: Likeness) -> Likeness | None:
    """Return the likeness that a model's word stands for; None where it leaves things open."""
    if relation is Relation.DUPLICATE:
        return replace(likeness, same=1.0, conflicting=0.0)
    if relation is Relation.EXCLUSIVE:
        return replace(likeness, same=0.0, conflicting=1.0)
    return None


async def _overlaps(
    user_id: str, said: Spoken, on: WritePorts
) -> list[tuple[MemoryItem, Likeness]]:
    candidate = said.candidate
    if said.flaw is not None or candidate.scope is not Scope.LASTING:
        return []
    snapshot = await on.store.snapshot(user_id)
    policy = on.policy_of(snapshot.user_class)
    if candidate.confidence < policy.admission.min_confidence:
        return []
    limits = policy.similarity
    near = dict(
        await on.store.nearest(
            user_id, said.vector, limit=limits.partner_limit, gate=limits.partner_gate
        )
    )
    known = await on.store.items(user_id, near)
    items = list({**by_another_name(candidate, snapshot, limits), **known}.values())
    found = [
        (item, likeness)
        for item, likeness in zip(
            items, likenesses_of(candidate, items, near, on.judge, limits), strict=True
        )
        if relate(candidate, item, likeness, limits) is Relation.OVERLAP
    ]
    found.sort(key=lambda pair: pair[1].same, reverse=True)
    return found[:PAIRS_LIMIT]


def by_another_name(
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


def likenesses_of(
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
