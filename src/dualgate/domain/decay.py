"""How long an item is retained: D1's curve, which orders recency and decides archiving.

Rule: days are the user's own. The caller reads the user's clock (`OwnTime.reading`), on which an
absence counts as a few days at most, so that whoever returns after a long time is still known.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from dualgate.domain.items import MemoryItem


@dataclass(frozen=True, slots=True, kw_only=True)
class DecayPolicy:
    """Numbers of the retention curve [D1]."""

    rate: float = 0.03  # λ, a day; M lets it lie between 0.01 and 0.05
    archive_below: float = 0.1  # D1: hot items under it go to the archive
    longest_absence_days: float = 7.0  # D1: what an absence counts at most

    def problems(self) -> list[str]:
        """Return what is wrong with these numbers."""
        found = []
        if not self.rate >= 0:
            found.append("decay.rate must not be negative")
        if not self.archive_below >= 0:
            found.append("decay.archive_below must not be negative")
        if not self.longest_absence_days > 0:
            found.append("decay.longest_absence_days must be positive")
        return found


def retention(
    score: float, idle_days: float, access_count: int, rate: float = 0.03
) -> float:
    """Return score · exp(-λ·days since last access) · (1 + ln(1 + access_count)) [D1].

    >>> round(retention(0.8, 30, 0), 3), round(retention(0.8, 30, 5), 3)
    (0.325, 0.908)
    """
    return (
        score * math.exp(-rate * max(0.0, idle_days)) * (1.0 + math.log1p(access_count))
    )


def retention_of(
    item: MemoryItem, score: float, own_day: float, policy: DecayPolicy
) -> float:
    """Return an item's retention when the user's own clock reads `own_day`."""
    return retention(score, own_day - item.accessed_day, item.access_count, policy.rate)


def faded(item: MemoryItem, score: float, own_day: float, policy: DecayPolicy) -> bool:
    """Whether the item's retention is under the limit at which it leaves the hot pool [D1]."""
    return retention_of(item, score, own_day, policy) < policy.archive_below
