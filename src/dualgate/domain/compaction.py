"""Compaction: what of a conversation's oldest turns must outlive them [L1].

Rule: knows lines and what they cost, not how they were found nor how a host writes its messages.
Who reads the turns stands behind the port `Summarizer`; whether its summary lacks anything is
judged here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from dualgate.domain.items import folded
from dualgate.domain.terms import NAME_WEIGHT, terms
from dualgate.domain.types import Role


class Keep(StrEnum):
    """Why a line is kept; where room is short, the last of these goes first."""

    RULE = "rule"  # constraints and rules
    DECISION = "decision"
    COMMITMENT = "commitment"
    PREFERENCE = "preference"
    QUESTION = "question"  # open ones only
    POINT = "point"  # carried by an earlier summary that was too short to say why
    FACT = "fact"
    CONCLUSION = "conclusion"
    DETAIL = "detail"  # a number or a name, whatever it is about
    TRACE = "trace"  # what a tool's answer or a pasted block began with, and how much was cut


_PLACES: Mapping[Keep, int] = {keep: place for place, keep in enumerate(Keep)}
# [L1] names the first four; a question that waits for its answer is a commitment of both.
LASTING = frozenset(
    {Keep.RULE, Keep.DECISION, Keep.COMMITMENT, Keep.PREFERENCE, Keep.QUESTION, Keep.POINT}
)


@dataclass(frozen=True, slots=True)
class Line:
    """One statement that outlives its turn, in the words in which it was said."""

    keep: Keep
    text: str
    speaker: Role = Role.USER


def rank(line: Line) -> int:
    """Return how soon a line is given up where room is short: high numbers first.

    A number that the user names says more about him than what the assistant concludes.
    """
    own = line.keep is Keep.DETAIL and line.speaker is Role.USER
    return _PLACES[Keep.FACT] if own else _PLACES[line.keep]


@dataclass(frozen=True, slots=True, kw_only=True)
class Digest:
    """What a reader took out of some turns, in their order, and how many sentences it left.

    courtesy: greetings, thanks, moods. passing: the way there. cut: characters taken out of tool
    output and pasted blocks.
    """

    lines: tuple[Line, ...] = ()
    courtesy: int = 0
    passing: int = 0
    cut: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionPolicy:
    """Every number of compaction; 20 and 10 are those of M 2.1."""

    after_turns: int = 20  # a longer conversation is folded
    fold_turns: int = 10  # so many at once, the oldest
    # As much as a whole context() [R1]; docs/results/compaction.md shows other sizes.
    summary_tokens: int = 1_600
    latest_turns: int = 4  # a budget shortens these last
    block_characters: int = 1_200  # of a tool's answer or a pasted block, if a budget is short

    def problems(self) -> list[str]:
        """Return everything that is wrong, all at once."""
        found = []
        if not 1 <= self.fold_turns <= self.after_turns:
            found.append("compaction.fold_turns must be between 1 and after_turns")
        if self.summary_tokens < 1 or self.latest_turns < 1:
            found.append("compaction.summary_tokens and latest_turns must be at least 1")
        if self.block_characters < SHORTEST_BLOCK:
            found.append(f"compaction.block_characters must be at least {SHORTEST_BLOCK}")
        return found


SHORTEST_BLOCK = 80  # characters; a shorter one is little more than the mark of the cut


@dataclass(frozen=True, slots=True)
class Cost:
    """What a text takes: tokens and characters. Compaction may exceed neither."""

    tokens: int = 0
    characters: int = 0

    def __add__(self, other: Cost) -> Cost:
        """Return both together."""
        return Cost(self.tokens + other.tokens, self.characters + other.characters)

    def within(self, room: Cost) -> bool:
        """Whether it takes no more of either."""
        return self.tokens <= room.tokens and self.characters <= room.characters


def turns_to_fold(turns: int, policy: CompactionPolicy) -> int:
    """Return how many of the oldest turns go: tens, until no more than twenty are left [L1].

    As many as if the conversation had been folded while it grew, so that once is as good as often.

    >>> [turns_to_fold(turns, CompactionPolicy()) for turns in (20, 21, 30, 31, 100)]
    [0, 10, 10, 20, 80]
    """
    beyond = max(0, turns - policy.after_turns)
    return -(-beyond // policy.fold_turns) * policy.fold_turns


def distinct(lines: Sequence[Line]) -> list[Line]:
    """Return the lines without repetitions; of equal ones the last stays, as the latest word.

    >>> a, b = Line(Keep.FACT, "Budget: 5"), Line(Keep.RULE, "tea")
    >>> [line.text for line in distinct([a, b, Line(Keep.FACT, "budget: 5.")])]
    ['tea', 'budget: 5.']
    """
    last = {folded(line.text): place for place, line in enumerate(lines)}
    return [line for place, line in enumerate(lines) if last[folded(line.text)] == place]


def choose(
    lines: Sequence[Line],
    costs: Sequence[Cost],
    headings: Mapping[Keep, Cost],
    opening: Cost,
    room: Cost,
) -> list[int]:
    """Return the places of the lines that fit, in their order.

    Of one rank, those with a number or a name come first, then the newest.

    A kind's heading is paid for by its first line, `opening` by the first of all.
    """
    by_rank = sorted(
        range(len(lines)),
        key=lambda place: (rank(lines[place]), not names_something(lines[place].text), -place),
    )
    taken: set[int] = set()
    headed: set[Keep] = set()
    spent = opening
    for place in by_rank:
        keep = lines[place].keep
        cost = spent + costs[place]
        cost = cost if keep in headed else cost + headings[keep]
        if cost.within(room):
            taken.add(place)
            headed.add(keep)
            spent = cost
    return sorted(taken)


def names_something(text: str) -> bool:
    """Return whether a text has a number or a name in it.

    >>> names_something("She moved to Oslo"), names_something("She moved again")
    (True, False)
    """
    return bool(_NUMBER.search(text)) or NAME_WEIGHT in terms(text).values()


_NUMBER = re.compile(r"\d+(?:[.,:/-]\d+)*")
_LATIN_NAME = re.compile(r"\b(?:[A-Z][\w+#.-]*[A-Za-z0-9]|[A-Za-z]+[A-Z0-9][\w+#.-]*)\b")


def details(text: str) -> frozenset[str]:
    """Return the numbers and the Latin names in a text, in one spelling.

    >>> sorted(details("We pay Ana 1,200 for PostgreSQL 16"))
    ['1,200', '16', 'ana', 'postgresql', 'we']
    """
    names = (name.casefold() for name in _LATIN_NAME.findall(text))
    return frozenset([*_NUMBER.findall(text), *names])


def missing(reference: Sequence[Line], summary: Sequence[Line]) -> list[Line]:
    """Return the lasting lines of a reference that a summary does not carry, in their order.

    A line is carried by another that has all its numbers and names, half of its other words, and a
    denial where it has one: a summary may reword, but neither round, rename nor turn around.

    >>> said = [Line(Keep.RULE, "The budget is 500 for Ana"), Line(Keep.DETAIL, "seat 12")]
    >>> missing(said, [Line(Keep.FACT, "Ana has a budget of 500")])
    []
    >>> [line.text for line in missing(said, [Line(Keep.FACT, "Ana has a budget of 50")])]
    ['The budget is 500 for Ana']
    """
    others = [_Sense.of(line.text) for line in summary]
    return [
        line
        for line in reference
        if line.keep in LASTING and not _carried(_Sense.of(line.text), others)
    ]


CARRIED_SHARE = 0.5  # of a line's words; a shorter wording loses articles and fillers
_WORD = re.compile(r"[a-z0-9]+(?:'(?!s\b)[a-z]+)?|[\u3040-\u30ff\u3400-\u9fff]")
_DENIAL = re.compile(r"[不没别勿无禁]|\b(?:no|not|never|none|nothing|without|avoid|stop)\b|n't\b")


@dataclass(frozen=True, slots=True)
class _Sense:
    words: frozenset[str]
    details: frozenset[str]
    denies: bool

    @classmethod
    def of(cls, text: str) -> _Sense:
        plain = folded(text.replace("’", "'"))
        words = frozenset(_WORD.findall(plain))
        # The first word of a sentence has its capital from standing there.
        named = details(text) - {next(iter(plain.split()), "").strip(",.:")}
        return cls(words, named, bool(_DENIAL.search(plain)))


def _carried(line: _Sense, others: Sequence[_Sense]) -> bool:
    return any(
        line.details <= other.details | other.words
        and line.denies == other.denies
        and len(line.words & other.words) >= CARRIED_SHARE * len(line.words)
        for other in others
    )
