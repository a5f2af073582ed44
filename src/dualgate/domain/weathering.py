"""Which frozen items have gone unused: 风化, in both shapes [F5]."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from dualgate.domain.items import MemoryItem


@dataclass(frozen=True, slots=True, kw_only=True)
class WeatheringPolicy:
    """How long a frozen item lasts without a confirmation and without a relevance hit.

    cliff: `days`, whatever the item (G 6.1). smooth: a strength that halves with idle time and
    grows with spaced confirmations, calibrated so that 3 confirmations last `days`.
    """

    shape: Literal["smooth", "cliff"] = "smooth"
    days: float = 60.0
    # Strength at which an item weathers; two half-lives make a quarter.
    limit: float = 0.25
    # Half-life grows with (spaced confirmations / base)^growth; 0.5 makes 12 last twice as long.
    growth: float = 0.5
    base_confirmations: float = 3.0

    def problems(self) -> list[str]:
        """Return what is wrong with these numbers."""
        found = []
        if self.shape not in ("smooth", "cliff"):
            found.append("weathering.shape must be smooth or cliff")
        if self.days <= 0:
            found.append("weathering.days must be positive")
        if not 0 < self.limit < 1:
            found.append("weathering.limit must be between 0 and 1, both excluded")
        if self.growth < 0 or self.base_confirmations <= 0:
            found.append("weathering.growth and base_confirmations must be positive")
        return found


def idle_days(item: MemoryItem, now: datetime) -> float:
    """Return days since the last confirmation, relevance hit or freeze, whichever is latest."""
    moments = (item.last_seen_at, item.last_hit_at, item.frozen_at)
    latest = max(moment for moment in moments if moment is not None)
    return max(0.0, (now - latest).total_seconds() / 86_400)


def lasting_days(spaced_count: float, policy: WeatheringPolicy) -> float:
    """Return how many idle days an item lasts.

    >>> lasting_days(3, WeatheringPolicy())
    60.0
    >>> lasting_days(12, WeatheringPolicy())
    120.0
    """
    if policy.shape == "cliff":
        return policy.days
    spaced = max(policy.base_confirmations, spaced_count)
    return float(policy.days * (spaced / policy.base_confirmations) ** policy.growth)


def strength(item: MemoryItem, now: datetime, policy: WeatheringPolicy) -> float:
    """Return the item's strength, 1 when fresh, `limit` when it weathers.

    An exponential forgetting curve (Ebbinghaus; half-life as in half-life regression, Settles and
    Meeder 2016).
    """
    halvings = math.log2(1 / policy.limit)
    half_life = lasting_days(item.spaced_count, policy) / halvings
    return float(0.5 ** (idle_days(item, now) / half_life))


def weathers(item: MemoryItem, now: datetime, policy: WeatheringPolicy) -> bool:
    """Return whether the item has gone unused for too long; a pinned one never has."""
    return not item.pinned and idle_days(item, now) >= lasting_days(item.spaced_count, policy)
