"""Fill a token budget in rank order, keeping whole items [R1].

Rule: knows lines and their cost, not what they say. A line is taken whole or left out; a group's
heading is paid for by the first of its lines that is taken.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

Entry = TypeVar("Entry")


@dataclass(frozen=True, slots=True)
class Priced(Generic[Entry]):
    """An entry, the group it is shown in, and what its line costs."""

    entry: Entry
    group: str
    cost: int


@dataclass(frozen=True, slots=True)
class Filling(Generic[Entry]):
    """What fitted, in rank order, what did not, and what was spent, headings included."""

    taken: tuple[Entry, ...]
    left_out: tuple[Entry, ...]
    spent: int


def fill(
    ranked: Sequence[Priced[Entry]],
    budget: int,
    headings: Mapping[str, int],
    opening_cost: int = 0,
) -> Filling[Entry]:
    """Take entries in rank order while they fit; one too long does not stop shorter ones after it.

    opening_cost (the section's own heading) is due once, with the first entry taken.

    >>> fill([Priced("a", "g", 3), Priced("b", "g", 9), Priced("c", "g", 2)], 8, {"g": 2}).taken
    ('a', 'c')
    """
    taken: list[Entry] = []
    left_out: list[Entry] = []
    groups: set[str] = set()
    spent = 0
    for priced in ranked:
        cost = priced.cost
        cost += 0 if taken else opening_cost
        cost += 0 if priced.group in groups else headings.get(priced.group, 0)
        if spent + cost > budget:
            left_out.append(priced.entry)
            continue
        taken.append(priced.entry)
        groups.add(priced.group)
        spent += cost
    return Filling(tuple(taken), tuple(left_out), spent)
