"""Does a candidate follow from what was said? Model output is bad input [W3, W5]."""

from __future__ import annotations

import re

from dualgate.domain.items import Candidate, folded
from dualgate.domain.types import ItemType, Role

_WORD = re.compile(r"[a-z0-9_.+#-]+|[\u3400-\u9fff]")
_ROLE_WORDS = frozenset("the user s is a an of to and in for 用 户 的 了 是".split())
LEXICAL_SHARE = 0.34  # a third of the content's words stand in the message
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


def _squeezed(text: str | None) -> str:
    return "".join(folded(text).split())
