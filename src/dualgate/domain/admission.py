"""The bounded gate: who enters the hot pool, and who makes room [A3-A6]."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import TypeAlias

from dualgate.domain.items import MemoryItem
from dualgate.domain.status import Status
from dualgate.domain.types import ItemType


@dataclass(frozen=True, slots=True, kw_only=True)
class AdmissionPolicy:
    """The threshold curve, the hot pool's size and its floor."""

    min_confidence: float = 0.6  # M 5.1: rather miss than store wrongly
    capacity: int = 200  # G 6.1
    floor: float = 0.60  # what a nearly empty pool asks for [A3]
    ramp: float = 1.0  # 0 is G's literal median
    floor_types: frozenset[ItemType] = frozenset({ItemType.IDENTITY, ItemType.CONSTRAINT})
    floor_places: int = 50  # G 5.3

    def problems(self) -> list[str]:
        """Return what is wrong with these numbers."""
        found = []
        if self.capacity < 1:
            found.append("admission.capacity must be at least 1")
        if not 0 <= self.floor_places < max(1, self.capacity):
            found.append("admission.floor_places must be below admission.capacity")
        if not 0 <= self.floor <= 1:
            found.append("admission.floor must be between 0 and 1")
        if not 0 <= self.min_confidence <= 1:
            found.append("admission.min_confidence must be between 0 and 1")
        if self.ramp < 0:
            found.append("admission.ramp must not be negative")
        return found


def threshold(scores: Sequence[float], policy: AdmissionPolicy) -> float:
    """Return floor + (median - floor)·(n/capacity)^ramp over the hot pool's live scores [A3].

    >>> threshold([], AdmissionPolicy())
    0.6
    >>> round(threshold([0.8] * 100, AdmissionPolicy()), 2)
    0.7
    """
    if not scores:
        return policy.floor
    filled = min(1.0, len(scores) / policy.capacity)
    # 0 ** 0 is 1 in Python, as the literal median wants it.
    return float(policy.floor + (median(scores) - policy.floor) * filled**policy.ramp)


@dataclass(frozen=True, slots=True)
class Admit:
    """There is room."""


@dataclass(frozen=True, slots=True)
class Displace:
    """The pool is full and `victim` ranks below the newcomer."""

    victim: str


@dataclass(frozen=True, slots=True)
class Refuse:
    """Not good enough: for the threshold, or for anyone's place."""

    reason: str


Verdict: TypeAlias = Admit | Displace | Refuse


def place(score: float, pool: Mapping[str, float], protected: frozenset[str],
          policy: AdmissionPolicy) -> Verdict:
    """Decide whether a place can be had by someone of this score [A5].

    pool: item id → live score of the hot pool.
    """
    if len(pool) < policy.capacity:
        return Admit()
    exposed = ((s, item_id) for item_id, s in pool.items() if item_id not in protected)
    weakest = min(exposed, default=None)
    if weakest is None or score <= weakest[0]:
        # A tie keeps the resident: swapping equals would only churn the panel.
        return Refuse("pool_full")
    return Displace(weakest[1])


def judge(score: float, pool: Mapping[str, float], protected: frozenset[str],
          policy: AdmissionPolicy) -> Verdict:
    """Decide whether a new statement enters the pool as it stands [A3, A5]."""
    if score < threshold(tuple(pool.values()), policy):
        return Refuse("below_threshold")
    return place(score, pool, protected, policy)


def protected(
    items: Iterable[MemoryItem], scores: Mapping[str, float], policy: AdmissionPolicy
) -> frozenset[str]:
    """Return the hot items that cannot be evicted [A6].

    Confirmed identity and constraint items, and pinned ones that wait for a frozen place; should
    more claim it than there are places, pinned ones come first, then the best-scored.
    """
    claims = [
        item
        for item in items
        if item.pinned
        or (item.status is Status.CONFIRMED and item.item_type in policy.floor_types)
    ]
    if len(claims) > policy.floor_places:
        claims.sort(key=lambda item: (item.pinned, scores[item.id], item.id), reverse=True)
        del claims[policy.floor_places :]
    return frozenset(item.id for item in claims)
