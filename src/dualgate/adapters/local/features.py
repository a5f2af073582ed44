"""Two statements side by side: what they share, what only one of them says [C1].

Rule: pure numbers about a pair, in the order of NAMES; what they mean is fitted (training/judge).
"""

from __future__ import annotations

from functools import lru_cache

from dualgate.adapters.local.concepts import Lexicon, lexicon
from dualgate.adapters.local.statements import AGAINST, FOR, Statement
from dualgate.adapters.local.structure import Structure
from dualgate.domain.types import Polarity

NAMES = (
    "cosine",
    "one_denies",
    "both_deny",
    "numbers_shared",
    "numbers_differ",
    "numbers_one_side",
    "names_shared",
    "names_differ",
    "names_one_side",
    "concepts_shared",
    "concepts_jaccard",
    "kind_differs",
    "opposites",
    "concepts_only_less",
    "concepts_only_more",
    "narrowing_less",
    "narrowing_more",
    "words_jaccard",
    "words_shared",
    "words_only_less",
    "words_only_more",
    "left_over_less",
    "left_over_more",
    "characters_jaccard",
    "contained",
    "swapped",
    "length_ratio",
    "slot_same",
    "slot_differs",
    "value_same",
    "value_differs",
    "polarity_differs",
    "qualifiers_differ",
    "slot_one_side",
    "chinese",
    "english",
    "slot_many",
    "stance_shared",
    "anchored",
)

# Kinds that name what a statement is about; one-sided concepts of other kinds narrow it.
PLAIN = frozenset({"thing", "attitude", "person"})


def compare(
    one: Statement,
    other: Statement,
    *,
    slots: tuple[Structure | None, Structure | None],
    cosine: float,
    many: frozenset[str] = frozenset(),
    words: Lexicon | None = None,
) -> list[float]:
    """Return the numbers of NAMES for a pair; swapping the two changes nothing.

    many: the attributes that hold several values side by side.
    """
    return [
        cosine,
        *_denial(one, other),
        *_sides(one.numbers, other.numbers),
        *_sides(one.names, other.names),
        *_concepts(one, other, words or lexicon()),
        *_words(one, other),
        *_characters(one, other),
        *_slots(*slots),
        float(one.chinese and other.chinese),
        float(not one.chinese and not other.chinese),
        float(slots[0] is not None and slots[1] is not None
              and slots[0].attribute == slots[1].attribute and slots[0].attribute in many),
        *_anchors(one, other),
    ]


def _denial(one: Statement, other: Statement) -> tuple[float, float]:
    return float(one.denies != other.denies), float(one.denies and other.denies)


def _sides(one: frozenset[float] | frozenset[str], other: frozenset[float] | frozenset[str]) -> tuple[float, float, float]:
    """Return shared, both but differing, and on one side only."""
    shared = len(one & other)
    differ = bool(one - other) and bool(other - one)
    return float(shared), float(differ), float(bool(one) != bool(other) or (one != other and not differ))


def _concepts(one: Statement, other: Statement, words: Lexicon) -> tuple[float, ...]:
    left, right = one.concepts, other.concepts
    shared = left.keys() & right.keys()
    only_left, only_right = left.keys() - shared, right.keys() - shared
    opposed = sum(words.opposed(a, b) for a in only_left for b in only_right)
    kinds = [
        {side[each].kind for each in only if side[each].exclusive}
        for side, only in ((left, only_left), (right, only_right))
    ]
    narrowing = sorted(
        sum(side[each].kind not in PLAIN for each in only)
        for side, only in ((left, only_left), (right, only_right))
    )
    union = len(left.keys() | right.keys())
    return (
        float(len(shared)),
        len(shared) / union if union else 0.0,
        float(len(kinds[0] & kinds[1])),
        float(min(opposed, 1)),
        *(float(count) for count in sorted((len(only_left), len(only_right)))),
        *(float(count) for count in narrowing),
    )


def _words(one: Statement, other: Statement) -> tuple[float, ...]:
    shared = one.words & other.words
    union = one.words | other.words
    least, most = sorted((len(one.words - shared), len(other.words - shared)))
    over = sorted(
        len(side.words - shared) + len(side.concepts.keys() - far.concepts.keys())
        for side, far in ((one, other), (other, one))
    )
    jaccard = len(shared) / len(union) if union else 0.5
    return jaccard, float(len(shared)), float(least), float(most), float(over[0]), float(over[1])


def _anchors(one: Statement, other: Statement) -> tuple[float, float]:
    """Return what both name apart from their attitude; without it two numbers do not collide."""
    neutral = (one.stance & other.stance) - FOR - AGAINST
    shared = len(neutral) + len(one.concepts.keys() & other.concepts.keys())
    shared += len((one.words | one.names) & (other.words | other.names))
    least = min(_weight(one), _weight(other))
    return float(len(neutral)), shared / least if least else 0.0


def _weight(statement: Statement) -> int:
    neutral = statement.stance - FOR - AGAINST
    return len(neutral) + len(statement.concepts) + len(statement.words | statement.names)


def _characters(one: Statement, other: Statement) -> tuple[float, float, float, float]:
    """Return bigram overlap, containment, "one word swapped", and the ratio of lengths."""
    left, right = _bigrams(one.text), _bigrams(other.text)
    shared = len(left & right)
    short = max(1, min(len(left), len(right)))
    start = _common(one.text, other.text)
    end = _common(one.text[start:][::-1], other.text[start:][::-1])
    longer = max(one.size, other.size, 1)
    middle = min(one.size, other.size) - start - end
    swapped = (start + end) / longer if middle > 0 else 0.0
    return (
        shared / max(1, len(left | right)),
        shared / short,
        swapped,
        min(one.size, other.size) / longer,
    )


@lru_cache(maxsize=4_096)  # of stored sentences: they are compared again with every candidate
def _bigrams(text: str) -> frozenset[str]:
    return frozenset(text[place : place + 2] for place in range(len(text) - 1))


def _common(one: str, other: str) -> int:
    for place, (a, b) in enumerate(zip(one, other, strict=False)):
        if a != b:
            return place
    return min(len(one), len(other))


def _slots(one: Structure | None, other: Structure | None) -> tuple[float, ...]:
    if one is None or other is None:
        return 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, float((one is None) != (other is None))
    same = one.attribute == other.attribute
    value = same and one.value == other.value
    return (
        float(same),
        float(not same),
        float(value),
        float(same and not value),
        float(same and _signed(one) != _signed(other)),
        float(same and set(one.qualifiers) != set(other.qualifiers)),
        0.0,
    )


def _signed(structure: Structure) -> bool:
    return structure.polarity is Polarity.POSITIVE
