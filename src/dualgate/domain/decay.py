"""Retention curves: what is not used fades, what is used often fades slower [D1]."""

from __future__ import annotations

import math

DECAY_RATE = 0.03  # λ a day; M 4.3 gives 0.01-0.05


def retention(
    score: float, days_since_access: float, access_count: int, rate: float = DECAY_RATE
) -> float:
    """Return score · exp(-rate·days) · (1 + ln(1 + accesses)) [D1].

    >>> round(retention(0.8, 0, 0), 3)
    0.8
    >>> round(retention(0.8, 30, 0), 3)
    0.325
    """
    return score * math.exp(-rate * days_since_access) * (1.0 + math.log1p(access_count))
