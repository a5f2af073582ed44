"""The words of a text, and how many of a question's words an item carries [R2].

Rule: spelling only, for zh and en and whatever has spaces. A name says more than a word, and a
shared name is evidence by itself.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from functools import lru_cache
from types import MappingProxyType

from dualgate.domain.items import MemoryItem, folded

# Subjects that mean the user himself or the work shared with him, in zh and en.
OWN_SUBJECTS = frozenset(
    {"", "user", "the user", "me", "用户", "project", "项目", "team", "团队", "we", "我们"}
    | {"assistant", "助手"}
)
NAME_WEIGHT = 3.0  # a name says more than three ordinary words
BIGRAM_WEIGHT = 0.5  # a Chinese word is about two bigrams
SHORTEST_PLURAL = 4
NAME_ALONE = 0.6  # a shared name is enough, however long the question around it

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

plain = lru_cache(maxsize=1_024)(folded)  # the same few texts and subjects, item after item


def names_subject(text: str, subject: str) -> bool:
    """Whether the text names whom the item is about."""
    name = plain(subject)
    return name not in OWN_SUBJECTS and _contains(plain(text), name)


def names_in(text: str, items: Iterable[MemoryItem]) -> frozenset[str]:
    """Return the names that the text shares with any of the items: entities and subjects."""
    spelt = plain(text)
    known = frozenset().union(*map(_entities, items))
    return frozenset(
        name for name in known if _contains(spelt, name) and not _STOP_EN.fullmatch(name)
    )


def overlap(text: str, item: MemoryItem, names: Collection[str] = ()) -> float:
    """Return the share of the text's words that the item carries; a shared name counts more.

    A name is a Latin word inside Chinese, a capitalised or mixed-case word, a code or long number,
    an entity of the item, or one of `names`: what is a name in one item is one in all [R2].
    """
    asked = terms(text)
    if not asked:
        return 0.0
    carried = item_terms(item)
    known = _entities(item)
    total = matched = 0.0
    distinctive = any(_contains(plain(text), name) for name in known)
    distinctive = distinctive or any(_contains(plain(item.content), name) for name in names)
    for term, asked_weight in asked.items():
        carried_weight = carried.get(term, 0.0)
        weight = max(asked_weight, carried_weight)
        total += weight
        if carried_weight:
            matched += weight
            distinctive = distinctive or weight >= NAME_WEIGHT
    share = matched / total
    return max(share, NAME_ALONE) if distinctive else share


def is_stop_word(word: str) -> bool:
    """Whether an English word, in lower case, carries no meaning of its own."""
    return _STOP_EN.fullmatch(word) is not None


def without_stop_phrases(text: str) -> str:
    """Return text with spaces for the Chinese words that only ask.

    >>> without_stop_phrases("预算是多少")
    '预算  '
    """
    return _STOP_ZH.sub(" ", text)


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
        spelt = word.casefold().rstrip(".,:/-")
        if _STOP_EN.fullmatch(spelt):
            continue
        weight = _weight(word, match.start(), rest, among_chinese=bool(runs))
        base = singular(spelt)
        found[base] = max(found.get(base, 0.0), weight)
    for run in runs:
        for part in _STOP_ZH.split(run):
            for start in range(len(part) - 1):
                found.setdefault(part[start : start + 2], BIGRAM_WEIGHT)
    return MappingProxyType(found)


def singular(word: str) -> str:
    """Return an English word in lower case without the ending of its plural, rightly or not.

    Both sides of a comparison are spelt alike, so that "lens" loses its last letter does no harm.

    >>> singular("birthdays"), singular("allergies"), singular("boxes"), singular("glass")
    ('birthday', 'allergy', 'box', 'glass')
    """
    if len(word) < SHORTEST_PLURAL or not (word.isascii() and word.isalpha()):
        return word
    if word.endswith("ies"):
        return f"{word[:-3]}y"
    if word.endswith(("sses", "xes", "ches", "shes", "zes")):
        return word[:-2]
    return word[:-1] if word[-1] == "s" and word[-2] not in "siu" else word


def item_terms(item: MemoryItem) -> Mapping[str, float]:
    """Return the terms of what the item states: its content, value and tags."""
    return terms(" ".join((item.content, item.value or "", " ".join(item.tags))))


def _weight(word: str, start: int, text: str, *, among_chinese: bool) -> float:
    if word[0].isdigit():
        # "3" is everywhere; a year, a price or a part number is not.
        digits = sum(c.isdigit() for c in word)
        return {1: 0.25, 2: 1.0, 3: 1.0}.get(digits, NAME_WEIGHT)
    if any(c.isdigit() for c in word) or any(c.isupper() for c in word[1:]):
        return NAME_WEIGHT
    if among_chinese and len(word) > 1:
        return NAME_WEIGHT
    opens = not text[:start].strip() or text[:start].rstrip()[-1] in ".!?:;\"'"
    return NAME_WEIGHT if word[0].isupper() and not opens else 1.0


@lru_cache(maxsize=16_384)
def _names_of(entities: tuple[str, ...]) -> frozenset[str]:
    plain = (folded(entity) for entity in entities)
    return frozenset(name for name in plain if len(name) > 1 and name not in OWN_SUBJECTS)


def _entities(item: MemoryItem) -> frozenset[str]:
    subject = plain(item.subject)
    names = _names_of(item.entities)
    return names if subject in OWN_SUBJECTS else names | {subject}


def _contains(text: str, name: str) -> bool:
    """Whether a name occurs in a text; a Latin one only as a whole word."""
    if not name.isascii():
        return name in text
    at = text.find(name)
    while at >= 0:
        before = text[at - 1] if at else " "
        after = text[at + len(name)] if at + len(name) < len(text) else " "
        if not any(c.isascii() and c.isalnum() for c in (before, after)):
            return True
        at = text.find(name, at + 1)
    return False
