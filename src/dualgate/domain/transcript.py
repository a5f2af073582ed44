"""Raw turns: how long they are kept, when they answer at all, which may be shown [L3, R3, R6].

Rule: pure functions. How those that answer are ranked stands in domain/passages.py.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from dualgate.domain.items import MemoryItem
from dualgate.domain.status import Status
from dualgate.domain.types import Sensitivity

_RARE = 0.5  # BM25's smoothing of counts
_ELLIPSIS = "…"


@dataclass(frozen=True, slots=True, kw_only=True)
class TranscriptPolicy:
    """How long raw turns are kept, counted from the day they were stored."""

    keep_days: float = 365.0  # a year of talk is about 20,000 turns, what recall is measured at

    def problems(self) -> list[str]:
        """Return what is wrong with these numbers."""
        return [] if self.keep_days > 0 else ["transcripts.keep_days must be positive"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TranscriptGate:
    """When raw turns are on the topic of a query at all [R3]; docs/explanation/recall.md.

    The strength is the best cosine of any turn + lift · the largest share of the question's
    rarity that a turn holds with the turn before it. It must reach the bar, or that share
    `coverage`, as in a look-up of names; else there are no passages.
    """

    strength: float = 0.46
    lift: float = 0.3
    coverage: float = 0.8

    def problems(self) -> list[str]:
        """Return what is wrong with these numbers."""
        return [
            f"passage_gate.{name} must be between 0 and 1"
            for name in ("strength", "lift", "coverage")
            if not 0 <= getattr(self, name) <= 1
        ]

    def opens(self, held: float, cosine: float) -> bool:
        """Whether turns that hold this share of the rarity, and are this near, are on the topic.

        >>> TranscriptGate().opens(0.9, 0.1), TranscriptGate().opens(0.4, 0.3)
        (True, False)
        """
        return held >= self.coverage or cosine + self.lift * held >= self.strength


def rarity(holders: int, kept: int) -> float:
    """Return how much a word tells: BM25's inverse document frequency, never negative.

    >>> rarity(1, 1_000) > rarity(500, 1_000) > 0
    True
    """
    return math.log1p((max(kept, holders) - holders + _RARE) / (holders + _RARE))


def covered(asked: Mapping[str, float], words: Iterable[str]) -> float:
    """Return the share of the question's rarity that a text holds; 0 if nothing is asked for.

    >>> covered({"tea": 3.0, "cup": 1.0}, ["green", "tea"])
    0.75
    """
    held = set(words)
    total = sum(asked.values())
    return sum(rare for word, rare in asked.items() if word in held) / total if total else 0.0


def excerpt(text: str, limit: int, asked: Sequence[str] = ()) -> str:
    """Return at most `limit` characters of a text, around the first word asked for.

    >>> excerpt("I once had a dog. Now I have a cat.", 12, ["cat"])
    '…have a cat.'
    """
    if len(text) <= limit:
        return text
    plain = text.casefold()
    places = [place for word in asked if (place := plain.find(word)) >= 0]
    start = max(0, min(min(places, default=0) - limit // 3, len(text) - limit + 1))
    head = _ELLIPSIS if start else ""
    room = limit - len(head)
    tail = _ELLIPSIS if start + room < len(text) else ""
    return f"{head}{text[start : start + room - len(tail)]}{tail}"


def may_be_quoted(resting: Iterable[MemoryItem], *, sensitive: bool) -> bool:
    """Whether a turn may be shown, given the items that rest on it [R5, P1, P3].

    What the user forgot does not come back in his own words, nor what is sensitive unasked.
    """
    return all(
        item.status is not Status.FORGOTTEN
        and (sensitive or item.sensitivity is not Sensitivity.SENSITIVE)
        for item in resting
    )
