"""Audit of the frozen pool: contradictions and implausible items, by rules [U2].

Rule: pure; it looks and says, it changes nothing. What is found stands until someone settles it.
The model's twin finds the same kinds (pipeline/auditing.py).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from itertools import combinations

from dualgate.domain.conflict import Relation, SimilarityPolicy, relate, slot_of
from dualgate.domain.items import Candidate, MemoryItem, folded
from dualgate.domain.types import Evidence, ItemType, Polarity
from dualgate.domain.view import Likeness

BY_RULES = "rules"
Compare = Callable[[Candidate, Sequence[MemoryItem]], Sequence[Likeness]]


class FindingKind(StrEnum):
    """What is wrong with a frozen item."""

    CONTRADICTION = "contradiction"  # two frozen items cannot both hold
    REPETITION = "repetition"  # two frozen items say the same
    PASSING = "passing"  # a mood or a moment, frozen as a trait
    NOT_A_STATEMENT = "not_a_statement"  # a question or an order to the assistant of that hour
    SOMEBODY_ELSE = "somebody_else"  # about another person, but kept as the user's own identity
    IMPLAUSIBLE = "implausible"  # the model's word alone: unlikely to be true as it stands


class FindingState(StrEnum):
    """How a finding stands."""

    OPEN = "open"
    SETTLED = "settled"  # somebody has looked, and it may stand
    GONE = "gone"  # the next audit did not find it again


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that an audit found.

    id is made of the kind and the items, so that the same finding is kept once. said is one short
    sentence. by: "rules", or the name of the model.
    """

    id: str
    user_id: str
    kind: FindingKind
    item_id: str
    other_id: str | None = None
    said: str
    by: str = BY_RULES
    found_at: datetime
    state: FindingState = FindingState.OPEN
    settled_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditPolicy:
    """When the frozen pool is looked through by itself."""

    every_days: float = 7.0  # [U2] weekly

    def problems(self) -> list[str]:
        """Return what is wrong with these numbers."""
        return [] if self.every_days > 0 else ["audit.every_days must be positive"]


def finding_id(kind: FindingKind, item_id: str, other_id: str | None = None) -> str:
    """Return the id under which a finding is kept, the same whichever item comes first.

    >>> finding_id(FindingKind.REPETITION, "b", "a")
    'repetition:a:b'
    """
    return ":".join((str(kind), *sorted(i for i in (item_id, other_id) if i is not None)))


def by_rules(
    user_id: str,
    items: Sequence[MemoryItem],
    compare: Compare,
    policy: SimilarityPolicy,
    now: datetime,
) -> list[Finding]:
    """Return what the rules find in these frozen items, contradictions first.

    compare: the Likeness of a statement with each of some items [C1].
    """
    found: list[Finding] = []

    def note(
        kind: FindingKind, said: str, item: MemoryItem, other: MemoryItem | None = None
    ) -> None:
        found.append(
            Finding(
                id=finding_id(kind, item.id, other.id if other else None),
                user_id=user_id, kind=kind, item_id=item.id,
                other_id=other.id if other else None, said=said, found_at=now,
            )
        )  # fmt: skip

    likenesses = _all_likenesses(items, compare)
    for one, other in combinations(items, 2):
        relation = _relation(one, other, likenesses[one.id, other.id], policy)
        if relation is Relation.EXCLUSIVE:
            note(FindingKind.CONTRADICTION, "both cannot hold", one, other)
        elif relation is Relation.DUPLICATE:
            note(FindingKind.REPETITION, "both say the same", one, other)
    for item in items:
        for kind, said in _flaws(item):
            note(kind, said, item)
    return found


def _all_likenesses(
    items: Sequence[MemoryItem], compare: Compare
) -> dict[tuple[str, str], Likeness]:
    table: dict[tuple[str, str], Likeness] = {}
    for place, item in enumerate(items):
        others = items[place + 1 :]
        alike = compare(as_candidate(item), others)
        table |= {(item.id, o.id): like for o, like in zip(others, alike, strict=True)}
    return table


def _relation(
    one: MemoryItem, other: MemoryItem, likeness: Likeness, policy: SimilarityPolicy
) -> Relation:
    relation = relate(as_candidate(one), other, likeness, policy)
    if relation is Relation.COMPATIBLE and _denies(one, other, policy):
        return Relation.EXCLUSIVE
    return relation


def _denies(one: MemoryItem, other: MemoryItem, policy: SimilarityPolicy) -> bool:
    """Whether one affirms what the other denies, whatever kind of item each is."""
    if one.polarity is other.polarity or not (one.attribute and other.attribute):
        return False
    denied = one if one.polarity is Polarity.NEGATIVE else other
    return (
        slot_of(one.attribute, policy) == slot_of(other.attribute, policy)
        and bool(one.value)
        and folded(one.value) == folded(other.value)
        and not denied.qualifiers
        and folded(one.subject) == folded(other.subject)
    )


def _flaws(item: MemoryItem) -> list[tuple[FindingKind, str]]:
    if item.pinned:
        return []  # the user's own word
    found = []
    if _PASSING.search(item.content):
        found.append((FindingKind.PASSING, "it speaks of a moment or a mood"))
    elif item.evidence is Evidence.EMOTIONAL:
        found.append((FindingKind.PASSING, "it was only ever said in a temper"))
    if _QUESTION.search(item.content):
        found.append((FindingKind.NOT_A_STATEMENT, "it asks, it states nothing"))
    about_user = folded(item.subject) in ("", "user", "用户")
    if item.item_type is ItemType.IDENTITY and about_user and _OTHERS.search(item.content):
        found.append((FindingKind.SOMEBODY_ELSE, "it is about somebody else"))
    return found


_PASSING = re.compile(
    r"今天|今晚|现在(?!开始|起)|此刻|刚才|这会儿|这次|这一次|暂时|心情|烦死|累死|困了"
    r"|\b(?:today|tonight|right now|at the moment|this time|just now|for now|this once"
    r"|(?:is|feels?) (?:tired|sleepy|angry|annoyed|sad|upset|bored|exhausted))\b",
    re.IGNORECASE,
)
_QUESTION = re.compile(r"[?？]\s*$|[吗呢]\s*[?？。]?\s*$")
_OTHERS = re.compile(
    r"^(?:用户的?|the user's |user's |his |her |their )"
    r"(?:朋友|同事|姐姐|妹妹|哥哥|弟弟|妈妈|母亲|爸爸|父亲|老公|丈夫|老婆|妻子|孩子|儿子|女儿|老板"
    r"|friend|colleague|sister|brother|mother|mom|father|dad|husband|wife|partner|son|daughter|boss)"
    r"(?:是|叫|在|有|\b.*\b(?:is|has|was)\b)",
    re.IGNORECASE,
)


def as_candidate(item: MemoryItem) -> Candidate:
    """Return what an item would say if it were said now."""
    return Candidate(
        item.item_type, item.content, subject=item.subject, attribute=item.attribute,
        value=item.value, qualifiers=item.qualifiers, polarity=item.polarity,
        confidence=item.confidence, evidence=item.evidence,
    )  # fmt: skip
