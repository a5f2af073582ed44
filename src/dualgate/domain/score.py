"""An item's standing without a query: recency + importance + support [A1]."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from types import MappingProxyType

from dualgate.domain.items import Candidate, MemoryItem
from dualgate.domain.types import ItemType

IMPORTANCE_BY_TYPE: Mapping[ItemType, float] = MappingProxyType(
    {
        ItemType.IDENTITY: 0.9,
        ItemType.CONSTRAINT: 0.9,
        ItemType.PREFERENCE: 0.8,
        ItemType.RULE: 0.8,
        ItemType.DECISION: 0.8,
        ItemType.COMMITMENT: 0.8,
        ItemType.PROJECT: 0.8,
        ItemType.EVENT: 0.6,
        ItemType.FACT: 0.6,
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScorePolicy:
    """Weights of the score [A1] and of emotional evidence [A2].

    G began at 0.4/0.4/0.2 and corrected itself to these; they are normalised to sum to 1.
    """

    recency_weight: float = 0.25
    importance_weight: float = 0.50
    support_weight: float = 0.25
    recency_rate: float = 0.03  # a day; M's λ lies between 0.01 and 0.05
    emotional_weight: float = 0.5  # G 5.2
    # G 2.2: what the user says of himself weighs more than what he mentions.
    importance_by_type: Mapping[ItemType, float] = field(
        default_factory=lambda: dict(IMPORTANCE_BY_TYPE)
    )

    def problems(self) -> list[str]:
        """Return what is wrong with these numbers."""
        weights = (self.recency_weight, self.importance_weight, self.support_weight)
        found = []
        if min(weights) < 0 or sum(weights) <= 0:
            found.append("score weights must not be negative, and one must be positive")
        if self.recency_rate < 0:
            found.append("score.recency_rate must not be negative")
        if not 0 <= self.emotional_weight <= 1:
            found.append("score.emotional_weight must be between 0 and 1")
        found += [
            f"score.importance_by_type[{kind}] must be between 0 and 1"
            for kind, importance in self.importance_by_type.items()
            if not 0 <= importance <= 1
        ]
        return found


def recency(last_seen_at: datetime, now: datetime, rate: float) -> float:
    """Return exp(-rate·days since last_seen_at); the future counts as now [A1]."""
    days = max(0.0, (now - last_seen_at).total_seconds() / 86_400)
    return math.exp(-rate * days)


def score(recency: float, importance: float, support: float, policy: ScorePolicy) -> float:
    """Return the weighted mean of the three parts, 0-1 [A1].

    >>> round(score(1.0, 0.8, 0.9, ScorePolicy()), 3)
    0.875
    """
    # Written out: it runs for every hot item of every decision and every session start.
    r, i, s = policy.recency_weight, policy.importance_weight, policy.support_weight
    return (r * recency + i * importance + s * support) / (r + i + s)


def live_score(item: MemoryItem, now: datetime, policy: ScorePolicy) -> float:
    """Return the item's score as of `now` [A1]."""
    fresh = recency(item.last_seen_at, now, policy.recency_rate)
    return score(fresh, item.importance, item.support, policy)


def live_scores(
    items: Mapping[str, MemoryItem], now: datetime, policy: ScorePolicy
) -> dict[str, float]:
    """Return the score of every item as of `now`, by the same sum as `live_score`."""
    r, i, s = policy.recency_weight, policy.importance_weight, policy.support_weight
    whole, fade = r + i + s, -policy.recency_rate
    found = {}
    for item_id, item in items.items():
        days = max(0.0, (now - item.last_seen_at).total_seconds() / 86_400)
        found[item_id] = (
            r * math.exp(fade * days) + i * item.importance + s * item.support
        ) / whole
    return found


def importance_of(candidate: Candidate, policy: ScorePolicy) -> float:
    """Return the extractor's importance, or the default of the type [W4]."""
    if candidate.importance is not None:
        return candidate.importance
    return policy.importance_by_type.get(candidate.item_type, 0.5)
