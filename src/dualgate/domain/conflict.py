"""How two statements relate: duplicate, overlap, exclusive, compatible or unrelated [C1]."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache

from dualgate.domain.items import Candidate, MemoryItem, Proposal, folded
from dualgate.domain.types import TRAIT_TYPES, Cardinality, Evidence, ItemType, Polarity
from dualgate.domain.view import Likeness

# Slots in which several values live side by side. Any other named slot holds one value.
MANY_VALUED = frozenset(
    {
        "allergy", "book", "child", "colleague", "contact", "dislike", "family", "food", "friend",
        "goal", "habit", "health", "hobby", "interest", "language", "like", "music", "pet",
        "place", "relative", "skill", "sport", "tag", "tool", "topic",
    }
)  # fmt: skip


class Relation(StrEnum):
    """How a candidate stands to a stored item."""

    DUPLICATE = "duplicate"
    OVERLAP = "overlap"
    EXCLUSIVE = "exclusive"
    COMPATIBLE = "compatible"
    UNRELATED = "unrelated"


@dataclass(frozen=True, slots=True, kw_only=True)
class SimilarityPolicy:
    """Where the calibrated probability counts as a duplicate, an overlap or a conflict [C1]."""

    partner_gate: float = 0.35  # cosine; local-models.md §3.5, finds partners, decides nothing
    partner_limit: int = 16
    # A correction of a known slot looks further: what it corrects was said in other words.
    corrected_gate: float = 0.2
    corrected_limit: int = 32
    duplicate: float = 0.85  # G 6.1, read as a probability
    duplicate_unstructured: float = 0.95  # M 3.3
    overlap: float = 0.70  # M 3.3
    # Where structure cannot tell. Measured on pairs of true statements of different people above
    # the gate, 0.70 calls 2-4 % of them a conflict; a wrong conflict costs more than a missed one.
    conflict: float = 0.90
    settle_lead: float = 2.0  # [C2]
    # The letter of [C1] is True. An outburst against what was said calmly is heard, but it is not
    # kept beside it: docs/results/stability.md has the figures.
    outbursts_contest: bool = False
    many_valued: frozenset[str] = MANY_VALUED
    # Other names of slots, alias → slot: "response_length" → "reply_length".
    aliases: Mapping[str, str] = field(default_factory=dict)

    def problems(self) -> list[str]:
        """Return what is wrong with these numbers."""
        found = []
        if not 0 <= self.overlap <= self.duplicate <= self.duplicate_unstructured <= 1:
            found.append(
                "similarity: 0 <= overlap <= duplicate <= duplicate_unstructured <= 1 must hold"
            )
        if not 0 <= self.conflict <= 1:
            found.append("similarity.conflict must be between 0 and 1")
        if not -1 <= self.partner_gate <= 1:
            found.append("similarity.partner_gate must be a cosine")
        if not -1 <= self.corrected_gate <= 1:
            found.append("similarity.corrected_gate must be a cosine")
        if self.partner_limit < 1:
            found.append("similarity.partner_limit must be at least 1")
        if self.corrected_limit < 1:
            found.append("similarity.corrected_limit must be at least 1")
        if self.settle_lead <= 0:
            found.append("similarity.settle_lead must be positive")
        return found


def reach(candidate: Candidate, policy: SimilarityPolicy) -> tuple[int, float]:
    """Return how many items a candidate is compared with at most, and from which cosine on."""
    if candidate.correction and candidate.attribute and candidate.value:
        return policy.corrected_limit, policy.corrected_gate
    return policy.partner_limit, policy.partner_gate


@lru_cache(maxsize=4_096)
def slot_key(attribute: str) -> str:
    """Return an attribute in the form in which two spellings of a slot are equal.

    >>> slot_key("Reply-Length "), slot_key("reply length")
    ('reply_length', 'reply_length')
    """
    return "_".join(folded(attribute).replace("-", " ").replace("_", " ").split())


def slot_of(attribute: str, policy: SimilarityPolicy) -> str:
    """Return the slot an attribute names, by whatever name."""
    name = slot_key(attribute)
    return policy.aliases.get(name, name)


def cardinality(attribute: str, policy: SimilarityPolicy) -> Cardinality:
    """Return how many values the slot may hold."""
    names = {folded(attribute), slot_of(attribute, policy)}
    return Cardinality.MANY if names & policy.many_valued else Cardinality.ONE


def relate(
    candidate: Candidate, item: MemoryItem, likeness: Likeness, policy: SimilarityPolicy
) -> Relation:
    """Return how the candidate stands to the item [C1].

    Structure decides where both sides have it; the fitted likeness decides elsewhere. Opposite
    polarity, another qualifier, subject or type never merge, whatever the likeness says.
    """
    apart = apart_by_structure(candidate, item, policy)
    if apart is not None:
        return apart
    if candidate.attribute and item.attribute and candidate.value and item.value:
        return _in_one_slot(candidate, item, likeness, policy)
    return _by_likeness(candidate, item, likeness, policy)


def apart_by_structure(
    candidate: Candidate, item: MemoryItem, policy: SimilarityPolicy
) -> Relation | None:
    """Return how the two stand if their slots alone keep them apart, whatever their likeness."""
    if folded(candidate.subject) != folded(item.subject):
        return Relation.UNRELATED
    one, other = candidate.attribute, item.attribute
    if one and other and slot_of(one, policy) != slot_of(other, policy):
        return Relation.COMPATIBLE
    return None


def _in_one_slot(
    candidate: Candidate, item: MemoryItem, likeness: Likeness, policy: SimilarityPolicy
) -> Relation:
    same_value = folded(candidate.value) == folded(item.value)
    if not _same_qualifiers(candidate, item):
        left = not same_value and _leaves_behind(candidate, item)
        return Relation.EXCLUSIVE if left else Relation.COMPATIBLE
    if candidate.polarity is not item.polarity:
        return Relation.EXCLUSIVE if same_value else Relation.COMPATIBLE
    if same_value or likeness.same >= policy.duplicate:
        same_type = candidate.item_type is item.item_type
        return Relation.DUPLICATE if same_type else Relation.COMPATIBLE
    # "No tables" and "no bullets": two things denied can both be denied.
    one_holds = cardinality(item.attribute or "", policy) is Cardinality.ONE
    if not one_holds or candidate.polarity is Polarity.NEGATIVE:
        return Relation.COMPATIBLE
    near = likeness.same >= policy.overlap or _narrows(candidate.value, item.value)
    return Relation.OVERLAP if near else Relation.EXCLUSIVE


def _leaves_behind(candidate: Candidate, item: MemoryItem) -> bool:
    """Whether a correction names the item's value as the one it leaves.

    "We switched from MySQL to PostgreSQL" means what was said of Bluebird project's MySQL, too
    though it does not say the project again.
    """
    return (
        candidate.correction
        and not (candidate.qualifiers and item.qualifiers)
        and candidate.polarity is item.polarity
        and folded(item.value) in folded(candidate.content)
    )


def _narrows(one: str | None, other: str | None) -> bool:
    """Whether one value only says more than the other: "nurse in Leeds" is still a nurse.

    >>> _narrows("nurse", "nurse in Leeds"), _narrows("泉州", "泉州东海"), _narrows("泉州", "漳州")
    (True, True, False)
    """
    plain, longer = sorted((folded(one), folded(other)), key=len)
    if len(plain) > 1 and not plain.isascii():  # a script without spaces
        return plain in longer
    left, right = set(plain.split()), set(longer.split())
    return bool(left) and left < right


def _by_likeness(
    candidate: Candidate, item: MemoryItem, likeness: Likeness, policy: SimilarityPolicy
) -> Relation:
    mergeable = (
        candidate.item_type is item.item_type
        and candidate.polarity is item.polarity
        and _same_qualifiers(candidate, item)
    )
    if mergeable and folded(candidate.content) == folded(item.content):
        return Relation.DUPLICATE
    if mergeable and likeness.same >= policy.duplicate_unstructured:
        return Relation.DUPLICATE
    if likeness.conflicting >= max(policy.conflict, likeness.same) and _comparable(
        candidate, item
    ):
        return Relation.EXCLUSIVE
    return Relation.OVERLAP if likeness.same >= policy.overlap else Relation.COMPATIBLE


def _comparable(candidate: Candidate, item: MemoryItem) -> bool:
    """A trait does not exclude a state: "likes Python" and "the importer is in Rust".

    A rule may: "ask me first" and "I like it when you just go ahead" cannot both hold.
    """
    if ItemType.RULE in (candidate.item_type, item.item_type):
        return True
    return (candidate.item_type in TRAIT_TYPES) == (item.item_type in TRAIT_TYPES)


def _same_qualifiers(candidate: Candidate, item: MemoryItem) -> bool:
    return {folded(q) for q in candidate.qualifiers} == {folded(q) for q in item.qualifiers}


def is_explicit_correction(candidate: Candidate) -> bool:
    """Return whether the user plainly corrects an earlier value [C2, F3]."""
    return candidate.correction and candidate.evidence is Evidence.EXPLICIT


def corrects(proposal: Proposal, item: MemoryItem) -> bool:
    """Return whether this is an explicit correction of the item, later than its last word.

    Imported history may hold a "from now on" that the stored value has followed long since [C1].
    """
    return is_explicit_correction(proposal.candidate) and proposal.at >= item.last_seen_at


def follows(candidate: Candidate, item: MemoryItem) -> bool:
    """Return whether the pair is a state that simply follows the newer explicit value [C2]."""
    return (
        candidate.item_type not in TRAIT_TYPES
        and item.item_type not in TRAIT_TYPES
        and candidate.evidence is Evidence.EXPLICIT
    )
