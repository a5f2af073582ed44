"""Which raw turns answer a question: their words, their meaning, and those around them [R6].

Rule: pure arithmetic over turns that were fetched and cut into words before. A turn alone says
little ("Yes, last Friday!"), so the turns around it lend it their words and their nearness.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class PassageWeights:
    """How raw turns are ranked; chosen on half of LoCoMo's conversations (docs/results/recall.md).

    k1 and b are the constants of BM25 that Anserini uses for passages (Yang et al. 2018).
    """

    words: float = 1.0
    meaning: float = 1.0
    session: float = 0.2
    before: float = 0.7  # what the turn before lends; the one before it half of that
    after: float = 0.3  # what the turn after lends; the one after it half of that
    reach: int = 2  # turns on either side
    date: float = 0.5  # of a word, for the words of a turn's date
    k1: float = 0.9
    b: float = 0.4
    lowest_cosine: float = 0.25  # a turn that shares no word must be this near

    def problems(self, name: str = "passages") -> list[str]:
        """Return what is wrong with these numbers."""
        shares = ("words", "meaning", "session", "before", "after", "date", "k1")
        found = [f"{name}.{s} must not be negative" for s in shares if not getattr(self, s) >= 0]
        if not self.words + self.meaning > 0:
            found.append(f"{name}: words or meaning must be positive")
        if not 0 <= self.b <= 1 or not 0 <= self.lowest_cosine <= 1:
            found.append(f"{name}.b and lowest_cosine must be between 0 and 1")
        if self.reach < 0:
            found.append(f"{name}.reach must not be negative")
        return found

    def lent(self) -> dict[int, float]:
        """Return what the turn at each distance lends; the turn itself counts 1.

        >>> PassageWeights(before=0.5, after=0.25).lent()
        {0: 1.0, -1: 0.5, 1: 0.25, -2: 0.25, 2: 0.125}
        """
        lent = {0: 1.0}
        for step in range(1, self.reach + 1):
            half = 0.5 ** (step - 1)
            lent |= {-step: self.before * half, step: self.after * half}
        return {distance: share for distance, share in lent.items() if share > 0}

    def relevance(self, paths: Mapping[str, float]) -> float:
        """Return the weighted mean of the paths."""
        summed = (
            self.words * paths["words"]
            + self.meaning * paths["meaning"]
            + self.session * paths["session"]
        )
        return summed / (self.words + self.meaning + self.session)


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedTurn:
    """A raw turn as ranking needs it. `place` counts the turns of its session.

    words are as the lexer cuts them, repetitions included. `about` (the speaker's name) and
    `dated` (see date_text) hold for this turn alone and are lent to none. cosine is of the turn
    with the one before it.
    """

    id: str
    session_id: str
    place: int
    words: Sequence[str]
    about: Sequence[str] = ()
    dated: Sequence[str] = ()
    cosine: float = 0.0


@dataclass(frozen=True, slots=True)
class RankedPassage:
    """A turn's relevance to a question, and what each path says to it; all 0-1, 1 is the best."""

    turn_id: str
    relevance: float
    paths: Mapping[str, float]


@dataclass(slots=True)
class Counted:
    """How often a text holds each word that is asked for, and how long it is."""

    counts: dict[str, float] = field(default_factory=dict)
    length: float = 0.0

    def add(self, other: Counted, share: float = 1.0) -> None:
        """Add another text at a share of its weight."""
        self.length += share * other.length
        for word, count in other.counts.items():
            self.counts[word] = self.counts.get(word, 0.0) + share * count


def rank_turns(
    asked: Mapping[str, float], turns: Sequence[RankedTurn], weights: PassageWeights
) -> list[RankedPassage]:
    """Return the turns that share a word with the question or are near to it, best first.

    asked: the question's words with their weights. turns: candidates with their neighbours; how
    rare a word is, is counted over them, so more of a user's turns make better ranks.
    """
    around = _neighbours(turns, weights.lent())
    # A vector holds the turn before already, so here the turn after lends more.
    near = [
        sum(share * turns[i].cosine for i, share in beside)
        for beside in _neighbours(turns, {-step: share for step, share in weights.lent().items()})
    ]
    own = [counted(turn.words, asked) for turn in turns]
    alone = [_alone(turn, asked, weights) for turn in turns]
    texts, sessions = [], {turn.session_id: Counted() for turn in turns}
    for turn, beside, said, about in zip(turns, around, own, alone, strict=True):
        text = Counted()
        for i, share in beside:
            text.add(own[i], share)
        text.add(about)
        texts.append(text)
        sessions[turn.session_id].add(said)
        sessions[turn.session_id].add(about)
    worded = bm25(asked, texts, weights.k1, weights.b)
    told = bm25(asked, list(sessions.values()), weights.k1, weights.b)
    by_session = dict(zip(sessions, _shares(told), strict=True))
    ranked = []
    for turn, score, word, meaning in zip(
        turns, worded, _shares(worded), _shares(near), strict=True
    ):
        if score > 0 or turn.cosine >= weights.lowest_cosine:
            paths = {"words": word, "meaning": meaning, "session": by_session[turn.session_id]}
            ranked.append(RankedPassage(turn.id, weights.relevance(paths), paths))
    return sorted(ranked, key=lambda p: (-p.relevance, p.turn_id))


def counted(words: Sequence[str], asked: Mapping[str, float]) -> Counted:
    """Return how often a text holds each word that is asked for."""
    return Counted(dict(Counter(w for w in words if w in asked)), float(len(words)))


def bm25(asked: Mapping[str, float], texts: Sequence[Counted], k1: float, b: float) -> list[float]:
    """Return BM25 of each text (Robertson & Zaragoza 2009).

    A rarity of log(1 + …) keeps words of more than half of the texts from counting negative.

    >>> texts = [counted(text, {"cat": 1}) for text in (["cat"], ["dog", "cow"])]
    >>> [round(s, 2) for s in bm25({"cat": 1}, texts, 0.9, 0.4)]
    [0.74, 0]
    """
    mean = sum(text.length for text in texts) / max(1, len(texts)) or 1.0
    holders = Counter(word for text in texts for word in text.counts)
    rarity = {
        word: weight * math.log1p((len(texts) - holders[word] + 0.5) / (holders[word] + 0.5))
        for word, weight in asked.items()
    }
    scores = []
    for text in texts:
        longer = k1 * (1 - b + b * text.length / mean)
        scores.append(sum(rarity[w] * n * (k1 + 1) / (n + longer) for w, n in text.counts.items()))
    return scores


def date_text(at: datetime) -> str:
    """Return a date in the words of questions; the lexer cuts it.

    >>> date_text(datetime(2023, 5, 8))
    '8 May 2023, 5月'
    """
    return f"{at.day} {_MONTHS[at.month - 1]} {at.year}, {at.month}月"


_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
)  # fmt: skip


def _alone(turn: RankedTurn, asked: Mapping[str, float], weights: PassageWeights) -> Counted:
    text = counted(turn.about, asked)
    text.add(counted(turn.dated, asked), weights.date)
    return text


def _neighbours(
    turns: Sequence[RankedTurn], lent: Mapping[int, float]
) -> list[list[tuple[int, float]]]:
    at = {(turn.session_id, turn.place): i for i, turn in enumerate(turns)}
    return [
        [
            (at[key], share)
            for distance, share in lent.items()
            if (key := (turn.session_id, turn.place + distance)) in at
        ]
        for turn in turns
    ]


def _shares(values: Sequence[float]) -> list[float]:
    """Return values as shares of the best, 0 for what is below 0."""
    best = max(values, default=0.0)
    return [max(0.0, value) / best if best > 0 else 0.0 for value in values]
