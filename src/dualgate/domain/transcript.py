"""Raw turns as answers: which of them fit a query, and which may be shown at all [L3, R6].

Rule: pure functions of words, cosines and dates. A turn counts together with the turn before it,
since an answer seldom repeats its question; measured on LoCoMo, that alone adds 7 points R@5.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from dualgate.domain.fusion import Fused, Path, PathWeights, fuse
from dualgate.domain.items import MemoryItem
from dualgate.domain.status import Status
from dualgate.domain.types import Sensitivity

_RARE = 0.5  # BM25's smoothing of counts


@dataclass(frozen=True, slots=True, kw_only=True)
class TranscriptPolicy:
    """How long raw turns are kept, counted from the day they were stored."""

    keep_days: float = 365.0  # a year of talk is about 20,000 turns, what recall is measured at

    def problems(self) -> list[str]:
        """Return what is wrong with these numbers."""
        return [] if self.keep_days > 0 else ["transcripts.keep_days must be positive"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TranscriptRanking:
    """How raw turns are ranked and gated; chosen on LoCoMo (docs/explanation/recall.md).

    Words are the entity path, meaning the semantic one [R2]; recency and type are 0 by default:
    the question, not its date, says how old the answer is.
    """

    weights: PathWeights = field(
        default_factory=lambda: PathWeights(semantic=0.37, entity=0.63, recency=0.0, type=0.0)
    )
    saturation: float = 1.5  # k1 of BM25
    length: float = 0.75  # b of BM25
    coverage: float = 0.34  # share of the question's rarity that a turn must hold, or
    cosine: float = 0.45  # the cosine that is enough by itself

    def problems(self) -> list[str]:
        """Return what is wrong with these numbers."""
        found = self.weights.problems("transcripts.weights")
        if not self.saturation > 0:
            found.append("transcripts.saturation must be positive")
        found += [
            f"transcripts.{name} must be between 0 and 1"
            for name in ("length", "coverage", "cosine")
            if not 0 <= getattr(self, name) <= 1
        ]
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """A turn as it is ranked: its words, those of the turn before it, its cosine to the query.

    recency is 0-1, the newest candidate 1.
    """

    turn_id: str
    words: Sequence[str]
    before: Sequence[str] = ()
    cosine: float = 0.0
    recency: float = 0.0


def rarity(holders: int, kept: int) -> float:
    """Return how much a word tells: BM25's inverse document frequency, never negative.

    >>> rarity(1, 1_000) > rarity(500, 1_000) > 0
    True
    """
    return math.log1p((max(kept, holders) - holders + _RARE) / (holders + _RARE))


def rank(
    asked: Mapping[str, float], heard: Sequence[Heard], ranking: TranscriptRanking
) -> list[Fused]:
    """Return the turns that fit, best first [R6].

    asked: the rarity of each word of the question. A turn fits if it holds `coverage` of their
    sum, or by its cosine alone; a query that nothing fits returns nothing [R3].

    >>> turns = [Heard(turn_id="a", words=["tea"]), Heard(turn_id="b", words=["sea"])]
    >>> [one.item_id for one in rank({"tea": 2.0}, turns, TranscriptRanking())]
    ['a']
    """
    total = sum(asked.values())
    usual = sum(len(h.words) + len(h.before) for h in heard) / len(heard) if heard else 1.0
    scores: dict[str, float] = {}
    fitting: list[Heard] = []
    for one in heard:
        score, covered = _bm25(asked, one, usual or 1.0, ranking)
        scores[one.turn_id] = score
        if one.cosine >= ranking.cosine or (total and covered / total >= ranking.coverage):
            fitting.append(one)
    best = max((scores[one.turn_id] for one in fitting), default=0.0) or 1.0
    opinions = {
        one.turn_id: {
            Path.ENTITY: scores[one.turn_id] / best,
            Path.SEMANTIC: min(1.0, max(0.0, one.cosine)),
            Path.RECENCY: one.recency,
        }
        for one in fitting
    }
    return fuse(opinions, ranking.weights)


def may_be_quoted(resting: Iterable[MemoryItem], *, sensitive: bool) -> bool:
    """Whether a turn may be shown, given the items that rest on it [R5, P1, P3].

    What the user forgot does not come back in his own words, nor what is sensitive unasked.
    """
    return all(
        item.status is not Status.FORGOTTEN
        and (sensitive or item.sensitivity is not Sensitivity.SENSITIVE)
        for item in resting
    )


def _bm25(
    asked: Mapping[str, float], one: Heard, usual: float, ranking: TranscriptRanking
) -> tuple[float, float]:
    """Return BM25 of the turn with the turn before it, and the rarity of the words it holds."""
    counts = Counter((*one.before, *one.words))
    k1, b = ranking.saturation, ranking.length
    norm = k1 * (1 - b + b * counts.total() / usual)
    score = covered = 0.0
    for word, rare in asked.items():
        if count := counts[word]:
            score += rare * count * (k1 + 1) / (count + norm)
            covered += rare
    return score, covered
