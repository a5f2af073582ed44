"""May this item freeze? Conditions, whitelist, capacity [F1, F4]."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from dualgate.domain.items import MemoryItem
from dualgate.domain.status import Status
from dualgate.domain.types import TRAIT_TYPES, ItemType


@dataclass(frozen=True, slots=True, kw_only=True)
class FreezePolicy:
    """What it takes to freeze, and how many may."""

    types: frozenset[ItemType] = TRAIT_TYPES  # G 3.2
    min_confidence: float = 0.8  # of the best calm utterance [F1]
    min_confirmations: float = 3.0  # distinct sessions; G 6.1
    confirm_at: float = 2.0  # candidate → confirmed [F1]
    capacity: int = 30  # G 6.1

    def problems(self) -> list[str]:
        """Return what is wrong with these numbers."""
        found = []
        if not 0 <= self.min_confidence <= 1:
            found.append("freeze.min_confidence must be between 0 and 1")
        if not 0 < self.confirm_at <= self.min_confirmations:
            found.append("freeze: 0 < confirm_at <= min_confirmations must hold")
        if self.capacity < 0:
            found.append("freeze.capacity must not be negative")
        return found


def may_freeze(item: MemoryItem, policy: FreezePolicy) -> bool:
    """Return whether every condition of [F1] but a free place holds.

    A pinned item needs none of them: the user's own word wins [F6].
    """
    if item.status is not Status.CONFIRMED or item.contested:
        return False
    if item.pinned:
        return True
    return (
        item.item_type in policy.types
        and item.confirm_count >= policy.min_confirmations
        # Said calmly at least once, and surely: this also bars a freeze by outbursts alone.
        and item.calm_confidence >= policy.min_confidence
        # Once weathered or thawed, an item must be confirmed anew.
        and (item.thawed_at is None or item.last_seen_at > item.thawed_at)
    )


def waiting_line(items: Iterable[MemoryItem], policy: FreezePolicy) -> list[MemoryItem]:
    """Return the items that may freeze, in no order; most of a pool fails the first test."""
    return [i for i in items if i.status is Status.CONFIRMED and may_freeze(i, policy)]
