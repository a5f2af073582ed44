"""Does an item fit a query at all? Meaning, words, and the topic gate [R2, R3].

Rule: fit is decided by meaning or by names and words. Recency and type only order what fits,
so a fresh item of the right type is never shown to a question it has nothing to do with.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from dualgate.domain.items import MemoryItem
from dualgate.domain.query import Query
from dualgate.domain.terms import OWN_SUBJECTS, names_subject, overlap, plain
from dualgate.domain.types import ItemType

# [R3] What comes back even on a subject the memory knows nothing about.
GENERAL_TYPES = frozenset({ItemType.IDENTITY, ItemType.PREFERENCE})


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicGate:
    """Thresholds of fit, calibrated on the USE embedder (docs/explanation/recall.md) [R3].

    Facts and questions about them lie lower than two facts of one topic (local-models.md 3.5 puts
    those at 0.35 and more). A question about the user is far likelier to concern the memory, but
    is near every statement about the user, whatever it says: that nearness is taken off first.
    """

    semantic: float = 0.30  # strength a question about the world needs
    alone: float = 0.15  # what such a question needs more where no word is shared
    semantic_personal: float = 0.22  # the same for the user or a shared past
    subject_share: float = 0.3  # of the query's cosine with "the user" that is taken off
    type_lift: float = 0.12  # what the expected item type adds to the cosine
    overlap_lift: float = 0.2  # what shared words add, per full overlap
    general_share: float = 0.85  # of these bars, for identity and preference on unknown subjects
    entity: float = 0.5  # share of the question's words, names weighing more
    other_subject: float = 0.6  # factor on the fit of items about someone else
    meant: float = 0.6  # overlap of an item that holds all concepts or kinds asked for
    full_cosine: float = 0.6  # cosine that counts as 1 on the semantic path

    def problems(self) -> list[str]:
        """Return what is wrong with these numbers."""
        shares = (
            "semantic",
            "alone",
            "semantic_personal",
            "subject_share",
            "type_lift",
            "overlap_lift",
            "general_share",
            "entity",
            "other_subject",
            "meant",
        )
        found = [
            f"gate.{name} must be between 0 and 1"
            for name in shares
            if not 0 <= getattr(self, name) <= 1
        ]
        if not 0 < self.full_cosine <= 1:
            found.append("gate.full_cosine must be above 0 and at most 1")
        if self.semantic_personal > self.semantic:
            found.append("gate.semantic_personal must not exceed gate.semantic")
        if self.lowest_cosine() <= 0:
            # [R2] A type alone never makes a hit.
            found.append("gate.type_lift must stay below the lowest bar")
        return found

    def bar(self, query: Query) -> float:
        """Return the strength an item needs to answer this query."""
        return self.semantic_personal if query.personal else self.semantic

    def lowest_cosine(self) -> float:
        """Return the cosine under which meaning cannot pass without shared words."""
        return min(self.semantic, self.semantic_personal) * self.general_share - self.type_lift


@dataclass(frozen=True, slots=True)
class Fit:
    """How an item fits a query before recency and type have a say."""

    cosine: float  # as measured, discounted for other people's facts
    strength: float  # less what any statement about the user has, plus type and words
    overlap: float  # 0-1, share of the query's words and names that the item carries
    entity: float = 0.0  # 0-1, the overlap or what the item means, discounted as the cosine is
    factor: float = 1.0  # that discount


def fit(
    query: Query,
    item: MemoryItem,
    cosine: float,
    gate: TopicGate,
    to_subject: float = 0.0,
    meant: float = 0.0,
    names: Collection[str] = (),
) -> Fit:
    """Return the item's fit; facts about other people are discounted unless they are asked for.

    to_subject is the query's cosine with the bare subject ("the user"). meant is the share of the
    concepts and kinds asked for that the item holds. names: what the query shares as a name with
    other items. A question that is not about the user may be about anybody, so there the discount
    only orders.
    """
    other = plain(item.subject) not in OWN_SUBJECTS and not names_subject(query.text, item.subject)
    factor = gate.other_subject if other else 1.0
    shared = _shared(query, item, names)
    entity = max(shared, gate.meant * meant)
    if query.personal:
        shared *= factor
        strength = cosine * factor + gate.overlap_lift * factor * entity
        strength -= gate.subject_share * max(0.0, to_subject)
    else:
        strength = cosine + gate.overlap_lift * entity
    if item.item_type in query.intents:
        strength += gate.type_lift
    return Fit(cosine * factor, strength, shared, entity * factor, factor)


def _shared(query: Query, item: MemoryItem, names: Collection[str]) -> float:
    """Return the share of the query's words that the item carries; of a talk, of its best turn."""
    if not query.lines:
        return overlap(query.text, item, names)
    turns = zip(query.shares(), query.lines, strict=True)
    return max(share * overlap(line, item, names) for share, line in turns)


def answers(query: Query, fit: Fit, gate: TopicGate) -> bool:
    """Whether the item is on the topic of the query [R3]."""
    if fit.overlap >= gate.entity:
        return True
    alone = 0.0 if query.personal or fit.overlap > 0 else gate.alone
    return fit.strength >= gate.bar(query) + alone


def accompanies(query: Query, item: MemoryItem, fit: Fit, gate: TopicGate) -> bool:
    """Whether a general item fits a subject on which the memory knows nothing [R3]."""
    bar = gate.bar(query) * gate.general_share
    return item.item_type in GENERAL_TYPES and fit.strength >= bar
