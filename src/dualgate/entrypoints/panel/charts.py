"""What the charts draw, as plain numbers: read out of the log and the recorded decisions. Pure.

Rule: nothing is estimated; a point is a recorded number, or a count of recorded moves.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, tzinfo
from statistics import median

from dualgate.domain.plan import Decision, Move
from dualgate.domain.status import HOT, Status

BINS = 10
_POOLS = ("frozen", "hot", "archive")


@dataclass(frozen=True, slots=True)
class PoolDay:
    """How many items each pool held after the moves of a day."""

    day: date
    frozen: int
    hot: int
    archive: int


@dataclass(frozen=True, slots=True)
class GateDay:
    """What the admission gate saw on a day: its last threshold, and the scores it judged."""

    day: date
    threshold: float
    lowest: float | None
    median: float | None
    highest: float | None


def pool_of(status: Status | None) -> str | None:
    """Return the pool in which an item of this status is.

    >>> pool_of(Status.CANDIDATE), pool_of(Status.FORGOTTEN)
    ('hot', None)
    """
    if status in HOT:
        return "hot"
    return {Status.FROZEN: "frozen", Status.ARCHIVED: "archive"}.get(status) if status else None


def pools_by_day(moves: Iterable[Move], zone: tzinfo) -> list[PoolDay]:
    """Return the pools after each day with a move; moves oldest first [S1]."""
    sizes: Counter[str] = Counter()
    days: dict[date, PoolDay] = {}
    for move in moves:
        for pool, change in ((pool_of(move.before), -1), (pool_of(move.after), 1)):
            if pool is not None:
                sizes[pool] += change
        day = move.at.astimezone(zone).date()
        days[day] = PoolDay(day, *(sizes[pool] for pool in _POOLS))
    return sorted(days.values(), key=lambda each: each.day)


def gate_by_day(decisions: Iterable[Decision], zone: tzinfo) -> list[GateDay]:
    """Return what the gate judged each day, of decisions that recorded a threshold [A3, W2]."""
    judged: dict[date, list[Decision]] = {}
    for decision in sorted(decisions, key=lambda each: (each.at, each.id)):
        if _number(decision, "threshold") is not None:
            judged.setdefault(decision.at.astimezone(zone).date(), []).append(decision)
    days = []
    for day, those in judged.items():
        scores = [s for d in those if (s := _number(d, "score")) is not None]
        threshold = _number(those[-1], "threshold") or 0.0
        spread = (min(scores), float(median(scores)), max(scores)) if scores else (None,) * 3
        days.append(GateDay(day, threshold, *spread))
    return days


def histogram(scores: Sequence[float], bins: int = BINS) -> list[int]:
    """Return how many scores (0-1) fall into each of so many equal parts.

    >>> histogram([0.05, 0.55, 0.58, 1.0], 4)
    [1, 0, 2, 1]
    """
    counts = [0] * bins
    for score in scores:
        counts[min(bins - 1, max(0, int(score * bins)))] += 1
    return counts


def _number(decision: Decision, name: str) -> float | None:
    value = decision.numbers.get(name)
    return float(value) if isinstance(value, int | float) else None
