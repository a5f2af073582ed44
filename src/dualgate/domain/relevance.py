"""Does an item fit a query at all? Word overlap, and the topic gate [R2, R3].

Rule: fit is decided by meaning or by names and words. Recency and type only order what fits,
so a fresh item of the right type is never shown to a question it has nothing to do with.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType

from dualgate.domain.items import MemoryItem, folded
from dualgate.domain.query import Query
from dualgate.domain.types import ItemType

# [R3] What comes back even on a subject the memory knows nothing about.
GENERAL_TYPES = frozenset({ItemType.IDENTITY, ItemType.PREFERENCE})
# Subjects that mean the user himself or the work shared with him, in zh and en.
OWN_SUBJECTS = frozenset(
    (
        "",
        "user",
        "the user",
        "me",
        "用户",
        "project",
        "项目",
        "team",
        "团队",
        "we",
        "我们",
    )
    + ("assistant", "助手")
)

# Any script with spaces; Chinese, kana and hangul are cut out first and taken by bigrams.
_WORD = re.compile(r"[^\W\d_][\w+#.\-]*|\d[\d.,:/%\-]*")
_CJK_RUN = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]+")
_STOP_ZH = re.compile(
    r"什么时候|为什么|什么|怎么样|怎么|哪些|哪种|哪里|哪个|多少|是否|可以|有没有|是不是|一下|我们|你们|他们|"
    r"用户|请问|这个|那个|现在|最近|上次|之前|应该|需要|"
    r"[的了吗呢吧啊呀是在有和与或就都也还很把被给对从到我你他她它您这那哪谁几要会能不没请让说]"
)
_STOP_EN = re.compile(
    r"a|an|and|any|are|as|at|be|been|but|by|can|could|did|do|does|for|"
    r"from|had|has|have|he|her|him|his|how|i|if|in|into|is|it|its|just|"
    r"like|me|mine|my|no|not|of|on|or|our|out|she|should|so|some|than|"
    r"that|the|their|them|then|there|these|they|this|to|too|up|us|use|user|"
    r"user's|was|we|were|what|when|where|which|who|whom|whose|why|will|with|"
    r"would|you|your|about|please|tell|give|know|think|want|need|get|got|let|"
    r"make|again|now|today|yes|ok|s|t|m|re|ve|ll|d"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicGate:
    """Thresholds of fit, calibrated on the USE embedder (docs/explanation/recall.md) [R3].

    Facts and questions about them lie lower than two facts of one topic (local-models.md 3.5 puts
    those at 0.35 and more), and a question about the user is far likelier to concern the memory,
    hence two semantic thresholds.
    """

    semantic: float = 0.33  # cosine a question about the world needs
    semantic_personal: float = (
        0.24  # cosine a question about the user or a shared past needs
    )
    general: float = (
        0.24  # cosine at which identity and preference fit an unknown subject
    )
    entity: float = 0.5  # share of the question's words, names weighing more
    other_subject: float = 0.6  # factor on the cosine of items about someone else
    full_cosine: float = 0.6  # cosine that counts as 1 on the semantic path

    def problems(self) -> list[str]:
        """Return what is wrong with these numbers."""
        names = ("semantic", "semantic_personal", "general", "entity", "other_subject")
        found = [
            f"gate.{name} must be between 0 and 1"
            for name in names
            if not 0 <= getattr(self, name) <= 1
        ]
        if not 0 < self.full_cosine <= 1:
            found.append("gate.full_cosine must be above 0 and at most 1")
        if self.general > self.semantic:
            found.append(
                "gate.general must not exceed gate.semantic: it is the lower bar"
            )
        if self.semantic_personal > self.semantic:
            found.append("gate.semantic_personal must not exceed gate.semantic")
        return found

    def bar(self, query: Query) -> float:
        """Return the cosine an item needs to answer this query."""
        return self.semantic_personal if query.personal else self.semantic


@dataclass(frozen=True, slots=True)
class Fit:
    """How an item fits a query before recency and type have a say."""

    cosine: float  # after the discount for other people's facts
    overlap: float  # 0-1, share of the query's words and names that the item carries


def fit(query: Query, item: MemoryItem, cosine: float, gate: TopicGate) -> Fit:
    """Return the item's fit; facts about other people are discounted unless they are asked for."""
    named = names_subject(query.text, item.subject)
    if query.personal and not named and _plain(item.subject) not in OWN_SUBJECTS:
        cosine *= gate.other_subject
    return Fit(cosine, overlap(query.text, item))


def answers(query: Query, fit: Fit, gate: TopicGate) -> bool:
    """Whether the item is on the topic of the query [R3]."""
    return fit.cosine >= gate.bar(query) or fit.overlap >= gate.entity


def accompanies(item: MemoryItem, fit: Fit, gate: TopicGate) -> bool:
    """Whether a general item fits a subject on which the memory knows nothing [R3]."""
    return item.item_type in GENERAL_TYPES and fit.cosine >= gate.general


def names_subject(text: str, subject: str) -> bool:
    """Whether the text names whom the item is about."""
    plain = _plain(subject)
    return plain not in OWN_SUBJECTS and _contains(_plain(text), plain)


def overlap(text: str, item: MemoryItem) -> float:
    """Return the share of the text's words that the item carries; a shared name counts more.

    A name is a Latin word inside Chinese, a capitalised or mixed-case word, a code or long number,
    or an entity of the item.
    """
    asked = terms(text)
    if not asked:
        return 0.0
    carried = item_terms(item)
    known = _entities(item)
    total = matched = 0.0
    distinctive = any(_contains(_plain(text), name) for name in known)
    for term, asked_weight in asked.items():
        carried_weight = carried.get(term, 0.0)
        weight = max(asked_weight, carried_weight)
        total += weight
        if carried_weight:
            matched += weight
            distinctive = distinctive or weight >= NAME_WEIGHT
    share = matched / total
    return max(share, NAME_ALONE) if distinctive else share


NAME_WEIGHT = 3.0  # a name says more than three ordinary words
BIGRAM_WEIGHT = 0.5  # a Chinese word is about two bigrams
NAME_ALONE = 0.6  # a shared name is enough, however long the question around it


@lru_cache(maxsize=16_384)
def terms(text: str) -> Mapping[str, float]:
    """Return the words of a text that carry meaning, with their weights.

    >>> dict(terms("Is PostgreSQL the database?"))
    {'postgresql': 3.0, 'database': 1.0}
    >>> dict(terms("预算是多少"))
    {'预算': 0.5}
    """
    runs = _CJK_RUN.findall(text)
    rest = _CJK_RUN.sub(lambda run: " " * len(run.group(0)), text)
    found: dict[str, float] = {}
    for match in _WORD.finditer(rest):
        word = match.group(0)
        plain = word.casefold().rstrip(".,:/-")
        if _STOP_EN.fullmatch(plain):
            continue
        weight = _weight(word, match.start(), rest, among_chinese=bool(runs))
        found[plain] = max(found.get(plain, 0.0), weight)
    for run in runs:
        for part in _STOP_ZH.split(run):
            for start in range(len(part) - 1):
                found.setdefault(part[start : start + 2], BIGRAM_WEIGHT)
    return MappingProxyType(found)


def item_terms(item: MemoryItem) -> Mapping[str, float]:
    """Return the terms of what the item states: its content, value and tags."""
    return terms(" ".join((item.content, item.value or "", " ".join(item.tags))))


def _weight(word: str, start: int, text: str, *, among_chinese: bool) -> float:
    if word[0].isdigit():
        # "3" is everywhere; a year, a price or a part number is not.
        digits = sum(c.isdigit() for c in word)
        return NAME_WEIGHT if digits >= 4 else 1.0 if digits >= 2 else 0.25
    if any(c.isdigit() for c in word) or any(c.isupper() for c in word[1:]):
        return NAME_WEIGHT
    if among_chinese and len(word) > 1:
        return NAME_WEIGHT
    opens = not text[:start].strip() or text[:start].rstrip()[-1] in ".!?:;\"'"
    return NAME_WEIGHT if word[0].isupper() and not opens else 1.0


@lru_cache(maxsize=16_384)
def _names_of(entities: tuple[str, ...]) -> frozenset[str]:
    plain = (folded(entity) for entity in entities)
    return frozenset(
        name for name in plain if len(name) > 1 and name not in OWN_SUBJECTS
    )


def _entities(item: MemoryItem) -> frozenset[str]:
    subject = _plain(item.subject)
    names = _names_of(item.entities)
    return names if subject in OWN_SUBJECTS else names | {subject}


_plain = lru_cache(maxsize=1_024)(
    folded
)  # the same few texts and subjects, item after item


def _contains(text: str, name: str) -> bool:
    """Whether a name occurs in a text; a Latin one only as a whole word."""
    if not name.isascii():
        return name in text
    at = text.find(name)
    while at >= 0:
        before = text[at - 1] if at else " "
        after = text[at + len(name)] if at + len(name) < len(text) else " "
        if not (
            before.isascii() and before.isalnum() or after.isascii() and after.isalnum()
        ):
            return True
        at = text.find(name, at + 1)
    return False
