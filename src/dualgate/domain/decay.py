"""How long an item is retained: D1's curve, which orders recency and decides archiving.

Rule: one formula. Its numbers live in ArchivePolicy; the days are the user's own (OwnTime), on
whose clock an absence counts as a few days at most.
"""

from __future__ import annotations

import math


def retention(score: float, idle_days: float, access_count: int, rate: float = 0.03) -> float:
    """Return score · exp(-λ·days since last access) · (1 + ln(1 + access_count)) [D1].

    >>> round(retention(0.8, 30, 0), 3), round(retention(0.8, 30, 5), 3)
    (0.325, 0.908)
    """
    return score * math.exp(-rate * max(0.0, idle_days)) * (1.0 + math.log1p(access_count))
