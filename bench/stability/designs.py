"""The usual ways to give an assistant a memory, each made as well as its idea allows.

Rule: a design sees turns, candidates and vectors, never labels. All of them show at most 1,600
tokens, one dated line each, counted by the same counter; what an extractor marks as unsure
(under 0.6) or as not lasting they leave out, too, so that only the policy differs.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Self

import numpy as np
from lives import Life, Session
from reading import KnownVectors, Reading

from dualgate import Candidate
from dualgate.adapters.local.structure import LexiconStructurer
from dualgate.adapters.tokens import TiktokenCounter
from dualgate.domain.items import folded

BUDGET = 1_600
_PROFILE = frozenset({"identity", "preference", "constraint", "rule"})


@dataclass
class Line:
    """One shown line. frozen, contested: only dualgate has them."""

    text: str
    frozen: bool = False
    contested: bool = False


@dataclass
class Block:
    """What a session starts with."""

    lines: list[Line]
    tokens: int


@cache
def counter() -> TiktokenCounter:
    """Return the counter of tokens."""
    return TiktokenCounter()


@cache
def structurer() -> LexiconStructurer:
    """Return what knows which slots hold many values."""
    return LexiconStructurer()


@dataclass
class Stored:
    """One stored statement."""

    text: str
    candidate: Candidate | None
    vector: np.ndarray
    at: datetime
    used: datetime


class Design:
    """Stores statements, and shows a profile (newest first) and what fits the opening."""

    name = ""

    def __init__(self, life: Life, reading: Reading) -> None:
        self.life, self.reading = life, reading
        self.vectors = KnownVectors(reading)
        self.stored: list[Stored] = []

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        return None

    # --- writing

    async def hear(self, session: Session) -> None:
        """Take in a session."""
        for said in session.turns:
            if said.role == "user":
                self.take(said.id, said.text, session.at)

    def take(self, turn_id: str, text: str, at: datetime) -> None:
        """Take in a turn: here, its lasting and sure candidates."""
        del text
        for candidate in self.reading.candidates[turn_id]:
            if candidate.confidence >= 0.6 and candidate.scope == "lasting":
                self.add(candidate.content, candidate, at)

    def add(self, text: str, candidate: Candidate | None, at: datetime) -> None:
        """Store one statement."""
        self.stored.append(Stored(text, candidate, self.vectors.embed_now([text])[0], at, at))

    # --- reading

    async def open(self, session: Session) -> Block:
        """Return what the session starts with."""
        if not self.stored:
            return Block([], 0)
        profile = [s for s in self.stored
                   if s.candidate is not None and s.candidate.item_type in _PROFILE]  # fmt: skip
        profile.sort(key=lambda s: s.at, reverse=True)
        shown: list[Stored] = []
        tokens = self._fill(shown, profile, 0, BUDGET // 2)
        tokens = self._fill(shown, self.nearest(session), tokens, BUDGET)
        self.showed(shown, session.at)
        return Block([Line(s.text) for s in shown], tokens)

    def nearest(self, session: Session) -> list[Stored]:
        """Return what is stored, most similar to the opening first."""
        query = self.vectors.embed_now([session.turns[0].text])[0]
        cosines = np.stack([s.vector for s in self.stored]) @ query
        return [self.stored[i] for i in np.argsort(-cosines, kind="stable")]

    def showed(self, shown: Sequence[Stored], at: datetime) -> None:
        """Take note of what was used."""
        for one in shown:
            one.used = at

    def _fill(
        self, shown: list[Stored], ranked: Sequence[Stored], tokens: int, limit: int
    ) -> int:
        taken = {id(s) for s in shown}
        for one in ranked:
            if id(one) in taken:
                continue
            size = counter().count(f"- {one.at:%Y-%m-%d} {one.text}\n")
            if tokens + size > limit:
                break
            shown.append(one)
            tokens += size
        return tokens


class StoreEverything(Design):
    """(1) Every user turn is kept as it was said; the most similar ones are shown."""

    name = "store everything"

    def take(self, turn_id: str, text: str, at: datetime) -> None:
        del turn_id
        self.add(text, None, at)


_CUES = re.compile(
    r"\b(?:i (?:really |always |usually )?(?:like|love|prefer|hate|want|need|can't|use|live|work)|"
    r"i'm|i am|my (?:name|favou?rite|budget|job)|i don't like|call me|from (?:now|today) on|"
    r"remember|always|never|please don't|we (?:decided|agreed|moved|use))\b|"
    r"我(?:最|很|比较|一向|更)?(?:喜欢|爱|讨厌|不喜欢|习惯|偏好|希望|住|叫|是|不能|对.{1,6}过敏)|"
    r"以后|记得|记住|从现在|从今|我的|总是|永远|别再|我们决定|不要再",
    re.IGNORECASE,
)


class Keywords(Design):
    """(2) A turn with "I like", "from now on", "以后记得" … is kept as it was said."""

    name = "keyword capture"

    def take(self, turn_id: str, text: str, at: datetime) -> None:
        del turn_id
        if _CUES.search(text) and folded(text) not in {folded(s.text) for s in self.stored}:
            self.add(text, None, at)

    async def open(self, session: Session) -> Block:
        """Newest first to half of the budget, then the most similar."""
        shown: list[Stored] = []
        newest = sorted(self.stored, key=lambda s: s.at, reverse=True)
        tokens = self._fill(shown, newest, 0, BUDGET // 2)
        if self.stored:
            tokens = self._fill(shown, self.nearest(session), tokens, BUDGET)
        return Block([Line(s.text) for s in shown], tokens)


class NewestWins(Design):
    """(3) A statement replaces the one it is about: same slot, or near in meaning and type."""

    name = "newest wins"
    near = 0.75

    def add(self, text: str, candidate: Candidate | None, at: datetime) -> None:
        vector = self.vectors.embed_now([text])[0]
        new = Stored(text, candidate, vector, at, at)
        self.stored = [s for s in self.stored if not self._same_thing(s, new)]
        self.stored.append(new)

    def _same_thing(self, old: Stored, new: Stored) -> bool:
        a, b = old.candidate, new.candidate
        if a is None or b is None or a.subject != b.subject:
            return False
        if a.attribute and b.attribute:
            single = a.attribute not in structurer().many_valued
            of = set(a.entities) == set(b.entities) or not (a.entities and b.entities)
            return a.attribute == b.attribute and ((single and of) or a.value == b.value)
        return a.item_type == b.item_type and float(old.vector @ new.vector) >= self.near


class AddOnly(Design):
    """(4) Statements are added; an exact repetition is not."""

    name = "add only"

    def add(self, text: str, candidate: Candidate | None, at: datetime) -> None:
        for one in self.stored:
            if folded(one.text) == folded(text):
                one.at = at
                return
        super().add(text, candidate, at)


class LeastRecentlyUsed(AddOnly):
    """(5) The same, bounded: of more than 200 the one used longest ago leaves."""

    name = "LRU, bounded"
    capacity = 200

    def add(self, text: str, candidate: Candidate | None, at: datetime) -> None:
        super().add(text, candidate, at)
        if len(self.stored) > self.capacity:
            self.stored.remove(min(self.stored, key=lambda s: s.used))


BASELINES = (StoreEverything, Keywords, NewestWins, AddOnly, LeastRecentlyUsed)
