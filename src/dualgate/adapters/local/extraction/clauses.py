"""Clauses: the smallest stretches of a turn that can state something by themselves.

Rule: cut too finely rather than too coarsely; the model joins neighbours that belong together.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from dualgate.adapters.local.extraction.voice import Voice

# A clause longer than this is cut anyway, so that no single input can make one step slow.
CLAUSE_LIMIT = 400
CLAUSES_LIMIT = 2_000
ASIDE_LIMIT = 8  # characters in brackets; longer ones are cut off in front, too

_CJK = "\u3400-\u4dbf\u4e00-\u9fff"
# "and I", "but my", "so don't": a conjunction starts a clause when a new subject or order follows.
_NEW_CLAUSE = (
    r"(?:i|i'm|i’m|i've|i’ve|i'd|i'll|im|ive|we|we're|we’re|we've|my|our|he|she|they|it|it's|its|you|please|don't|don’t"
    r"|dont|do not|never|always|no|not|nothing|only|the|this|that|that's|there's|there|keep|use|give|make|stop|skip"
    r"|his|her|their|keep|no one|nobody|mum|mom|dad|just|everyone|everything|if|when|make sure|i’d|i’ll)\b"
)
_BOUNDARY = re.compile(
    r"[。！？!?；;\n\r…~～]+[)）\"”’'」』]*"
    r"|[，]+"
    r"|(?<!\d),(?=\s)|,(?=\s)(?!\s?\d{3}\b)|,(?=[" + _CJK + r"])"
    r"|\.+(?=[\s\"”’)]|$)(?<!\be\.g\.)(?<!\bi\.e\.)(?<!\betc\.)(?<!\bvs\.)(?<!\bMr\.)(?<!\bDr\.)(?<!\bMs\.)(?<!\bMrs\.)(?<!\bProf\.)(?<!\bSt\.)(?<!\bincl\.)(?<!\bexcl\.)(?<!\bapprox\.)(?<!\bdept\.)(?<!\ba\.m\.)(?<!\bp\.m\.)"
    r"|(?<=[" + _CJK + r"\w）)])[ \u3000]+(?=[" + _CJK + r"]{2})(?<=[" + _CJK + r"）)][ \u3000])"
    r"|(?<=[\s\w）)])(?:\s[-–—]{1,2}\s|—+|–\s)"
    r"|(?<=[" + _CJK + r"])[：:]|:(?=\s)"
    r"|(?<!\bme)\s+(?=(?:and|but|so|because|cuz|cos|though|although|except|plus|while|whereas|which means|since|until)\s+(?!there\b(?! (?:is|are|was|were|will|has|have|'s)\b))"
    + _NEW_CLAUSE
    + r")"
    r"|\s+(?=\d{1,2}[.、)） ]\s?[^\W\d]{2})(?<!\w\s)"
    r"|[ ]*[（(](?=[^()（）\n]{8,})|[）)](?=[\s，,。.]|$)",
    re.IGNORECASE,
)
_CONTENT = re.compile(r"\w")


@dataclass(frozen=True, slots=True)
class Clause:
    """A stretch [start, end) of the turn; `mark` is the punctuation that follows it."""

    start: int
    end: int
    text: str
    before: str  # the mark that precedes it
    mark: str


def split(voice: Voice) -> list[Clause]:
    """Split the user's own words into clauses.

    >>> from dualgate.adapters.local.extraction.voice import own_voice
    >>> [c.text for c in split(own_voice("我花生过敏，别放花生。thanks, and I live in Oslo"))]
    ['我花生过敏', '别放花生', 'thanks', 'and I live in Oslo']
    """
    clauses: list[Clause] = []
    for start, end in voice.spans:
        _split_span(voice.text, start, end, clauses)
        if len(clauses) >= CLAUSES_LIMIT:
            break
    return clauses[:CLAUSES_LIMIT]


def _split_span(text: str, start: int, end: int, clauses: list[Clause]) -> None:
    before, last = "", start
    for found in _BOUNDARY.finditer(text, start, end):
        # At the same place twice means an empty stretch: keep the stronger mark.
        mark = found.group().strip()[:1] or " "
        if mark in ")）" and _is_aside(text, last, found.start()):
            continue  # "Asha (6) and Dev (3)": an age or a unit belongs to its word
        before = _add(text, last, found.start(), before, mark, clauses)
        last = found.end()
    _add(text, last, end, before, "", clauses)


def _is_aside(text: str, start: int, end: int) -> bool:
    """Whether the bracket that closes at `end` holds too little to be a clause."""
    near = text[max(start, end - ASIDE_LIMIT) : end]
    return "(" in near or "（" in near


def _add(
    text: str, start: int, end: int, before: str, mark: str, clauses: list[Clause]
) -> str:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    if not _CONTENT.search(text, start, end):
        return mark if mark.strip() else before or mark
    while end - start > CLAUSE_LIMIT:
        clauses.append(
            Clause(start, start + CLAUSE_LIMIT, text[start : start + CLAUSE_LIMIT], before, "")
        )
        start, before = start + CLAUSE_LIMIT, ""
    if end > start:
        clauses.append(Clause(start, end, text[start:end], before, mark))
    return mark
