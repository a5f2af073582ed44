"""Does a candidate follow from what was said? Model output is bad input [W3, W5]."""

from __future__ import annotations

import re
from dataclasses import replace

from dualgate.domain.compaction import details
from dualgate.domain.items import Candidate, folded
from dualgate.domain.types import Evidence, ItemType, Role

_WORD = re.compile(r"[a-z0-9_.+#-]+|[\u3400-\u9fff]")
_ROLE_WORDS = frozenset("the user s is a an of to and in for 用 户 的 了 是".split())
LEXICAL_SHARE = 0.34  # a third of the content's words stand in the message
# To a quote that does stand in the turn. bench/grounding.py: 98 % of true statements pass, of
# those pinned to another turn's words 1 %.
QUOTED_GATE = 0.30
SEMANTIC_GATE = 0.45  # cosine; unrelated pairs stay under 0.34 (local-models.md §3.1)


def may_speak(candidate: Candidate, role: Role) -> bool:
    """Return whether a turn of this role may yield the candidate [W3].

    Only the user's turns do; the assistant's own promises are the one exception.
    """
    if role is Role.USER:
        return True
    return (
        role is Role.ASSISTANT
        and candidate.item_type is ItemType.COMMITMENT
        and candidate.subject == "assistant"
    )


def is_quoted(candidate: Candidate, text: str) -> bool:
    """Return whether the candidate's quote stands in the text, spacing and case aside.

    >>> c = Candidate("fact", "The user has a cat", confidence=0.9, quote="I have a  CAT")
    >>> is_quoted(c, "well, i have a cat.")
    True
    """
    quote = _squeezed(candidate.quote)
    return bool(quote) and quote in _squeezed(text)


def shares_words(candidate: Candidate, text: str) -> bool:
    """Return whether enough of the candidate's words stand in the text."""
    words = set(_WORD.findall(folded(candidate.content))) - _ROLE_WORDS
    said = set(_WORD.findall(folded(text)))
    return bool(words) and len(words & said) / len(words) >= LEXICAL_SHARE


def unsaid(candidate: Candidate, said: str) -> frozenset[str]:
    """Return the numbers and names of a model's candidate that nobody said [W5].

    said: the turn and what it may refer to. Days are left out: "tomorrow" becomes a date. So are
    numbers written as words, and the words that begin a sentence.

    >>> made = Candidate("fact", "The user works at Acme as of 2026", confidence=0.9)
    >>> sorted(unsaid(made, "I work at the harbour museum"))
    ['2026', 'acme']
    """
    plain = folded(said)
    dated = candidate.event_at or candidate.expires_at or _TIME_WORD.search(plain)
    found: set[str] = set()
    for text in (candidate.content, candidate.value or ""):
        bare = _DAY.sub(" ", text) if dated else text
        for sentence in _SENTENCE.split(bare):
            begins = next(iter(folded(sentence).split()), "").strip(",.:;'\"")
            found |= details(sentence) - {begins}
    close = _JOINTS.sub("", plain)
    return frozenset(
        detail
        for detail in found - _ROLE_WORDS
        # "1,200" is 1200, "Wi-Fi" is wifi, and on Fridays is on a Friday.
        if _JOINTS.sub("", detail).removesuffix("s") not in close
        and not _in_words(_JOINTS.sub("", detail), plain)
    )


def value_is_said(candidate: Candidate, said: str) -> bool:
    """Return whether a word of the candidate's value stands in what was said.

    A value in other words may still follow from it: that is for meaning to say (SEMANTIC_GATE).
    """
    words = set(_WORD.findall(folded(candidate.value))) - _ROLE_WORDS
    return not words or bool(words & set(_WORD.findall(folded(said))))


def as_hint(candidate: Candidate) -> Candidate:
    """Return a host's candidate as what it is without the user's words: a hint [W5].

    Its quote goes, since nobody heard it; it corrects nothing, and is at most implied.
    """
    calm = candidate.evidence is not Evidence.EMOTIONAL
    evidence = Evidence.IMPLIED if calm else candidate.evidence
    return replace(candidate, quote=None, correction=False, evidence=evidence)


_SENTENCE = re.compile(r"(?<=[.!?。！？;；])\s*")
_JOINTS = re.compile(r"(?<=\w)[-,](?=\w)")
_TIME_WORD = re.compile(
    r"今|明[天晚早年]|后天|昨|[上下这本][个]?[周月年]|周[一二三四五六日末]|星期|\d\s*[号日月]"
    r"|\b(?:today|tonight|tomorrow|yesterday|next|this|last|ago|(?:mon|tues?|wed(?:nes)?|thu(?:rs)?"
    r"|fri|sat(?:ur)?|sun)(?:days?)?|\d+(?:st|nd|rd|th)|jan\w*|feb\w*|mar(?:ch)?|apr\w*|may|june?"
    r"|july?|aug\w*|sept?\w*|oct\w*|nov\w*|dec\w*)\b"
)
_DAY = re.compile(
    r"\d{4}[-/.年]\d{1,2}(?:[-/.月]\d{1,2}日?)?|\d{1,2}\s*月\s*\d{1,2}\s*[日号]|\d{1,2}[:：]\d{2}"
    r"|\b(?:(?:\d{1,2}(?:st|nd|rd|th)? )?(?:January|February|March|April|May|June|July|August"
    r"|September|October|November|December|(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day)"
    r"(?: \d{1,2}(?:st|nd|rd|th)?)?(?:,? \d{4})?)\b",
    re.IGNORECASE,
)
_NUMBER_WORDS: tuple[tuple[str, ...], ...] = (
    ("零", "zero", "no"), ("一", "one", "once", "a", "an"),
    ("二", "两", "俩", "two", "twice", "both"),
    ("三", "three"), ("四", "four"), ("五", "five"), ("六", "six"), ("七", "seven"),
    ("八", "eight"), ("九", "nine"), ("十", "ten"), ("十一", "eleven"), ("十二", "twelve"),
)  # fmt: skip


def _in_words(detail: str, plain: str) -> bool:
    if not detail.isdigit() or int(detail) >= len(_NUMBER_WORDS):
        # Larger numbers are built of these: "二十五", "twenty-five", "5万" for 50000.
        return detail.isdigit() and bool(_ANY_NUMBER.search(plain))
    words = set(_WORD.findall(plain))
    return any(
        word in (plain if not word.isascii() else words) for word in _NUMBER_WORDS[int(detail)]
    )


_ANY_NUMBER = re.compile(
    r"[十百千万亿廿卅]|\d\s*(?:[万亿km]|grand)\b"
    r"|\b(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred|thousand|million|dozen"
    r"|(?:thir|four|fif|six|seven|eigh|nine)teen)\b"
)


def _squeezed(text: str | None) -> str:
    return "".join(folded(text).split())
