"""Antecedents: what a statement leaves to the words before it, put back so that it stands alone.

Rule: only what stands in the same turn before it: the relative that "she" or 他 is, the heading over
a list. Nothing is inferred; where two could be meant, the nearer one is.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from dualgate.adapters.local.extraction.bonds import is_empty
from dualgate.adapters.local.extraction.clauses import Clause
from dualgate.adapters.local.extraction.cues import KIN

_LEADS = re.compile(r"^(?:(?:and|but|so)\s+)?(?:she|he)\b(?!')|^[她他](?![们家])", re.IGNORECASE)
_POINTS = re.compile(r"(?<=\s)(?:him|her)(?=\W*$|\s+(?:to|for|with|from|and|at|on|in|out|up)\b)|(?<=[给让对跟和带陪送教帮替])[她他](?!们)", re.IGNORECASE)
_MY_KIN = re.compile(rf"(?:\b(?:my|our) (?:\w+ )?|我(?:们家|家|的)?)(?:{KIN.pattern})", re.IGNORECASE)
_NEAR = 200
_HEADING_LIMIT = 40
_OWN = re.compile(r"我|咱|\b(?:i|i'm|i've|i'd|i'll|my|we|we're|we've|our)\b", re.IGNORECASE)
_ORDERS = re.compile(r"规矩|要求|注意|偏好|习惯|标准|背景|情况|\b(?:rules?|requests?|notes?|reminders?|things?|background|context|setup|update)\b", re.IGNORECASE)


def with_relative(text: str, before: str) -> str:
    """Return the words with the relative in place of the pronoun that means them.

    >>> with_relative("she hates coriander", "my sister is coming, ")
    'my sister hates coriander'
    >>> with_relative("I only buy used for him", "my kid outgrows shoes, so ")
    'I only buy used for my kid'
    """
    pronoun = _LEADS if _LEADS.search(text) else _POINTS
    if not pronoun.search(text) or KIN.search(text):
        return text
    named = [found.group() for found in _MY_KIN.finditer(before[-_NEAR:])]
    return pronoun.sub(lambda _: named[-1], text, count=1) if named else text


def is_led_by_relative(text: str, before: str) -> bool:
    """Tell whether the one the statement is about stands before it."""
    return bool(_LEADS.search(text)) and with_relative(text, before) != text


def heading_of(clauses: Sequence[Clause], first: int) -> str:
    """Return the heading over the clause: "Newsletter: twice a month, 2,300 readers" has one.

    A heading reaches as far as its sentence; one that only announces ("two things:") is none.
    """
    if _OWN.match(clauses[first].text.strip()):
        return ""
    for place in range(first - 1, -1, -1):
        clause = clauses[place]
        if clause.mark and clause.mark in ":：":
            text = clause.text.strip()
            short = len(text) <= _HEADING_LIMIT and not is_empty(text) and not _ORDERS.search(text)
            return text if short else ""
        if clause.mark and clause.mark in "。！？!?.\n":
            return ""
    return ""
