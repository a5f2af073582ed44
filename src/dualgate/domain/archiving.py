"""The archive: its capacity, when an item returns, and who leaves first [A7, D1]."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from dualgate.domain.decay import retention
from dualgate.domain.items import MemoryItem
from dualgate.domain.score import ScorePolicy, live_score
from dualgate.domain.types import Sensitivity
from dualgate.domain.view import OwnTime


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchivePolicy:
    """Sizes and limits of what is kept aside, and for how long things can be undone."""

    capacity: int = 5_000  # [A7]
    reactivate_at: float = 0.8  # confidence of the new signal [A7]
    fade_below: float = 0.1  # retention under which a hot item is archived [D1]
    decay_rate: float = 0.03  # λ of [D1]; M 4.3: 0.01-0.05
    longest_absence_days: float = 7.0  # [D1]
    sensitive_days: float = 30.0  # [P1]
    undo_days: float = 30.0  # [P3]

    def problems(self) -> list[str]:
        """Return what is wrong with these numbers."""
        found = []
        if self.capacity < 0:
            found.append("archive.capacity must not be negative")
        if not 0 <= self.reactivate_at <= 1:
            found.append("archive.reactivate_at must be between 0 and 1")
        if self.fade_below < 0 or self.decay_rate < 0:
            found.append("archive.fade_below and decay_rate must not be negative")
        if self.longest_absence_days <= 0:
            found.append("archive.longest_absence_days must be positive")
        if self.sensitive_days <= 0 or self.undo_days < 0:
            found.append("archive.sensitive_days must be positive, undo_days not negative")
        return found


def kept_strength(
    item: MemoryItem, now: datetime, own_time: OwnTime, scoring: ScorePolicy, policy: ArchivePolicy
) -> float:
    """Return the item's retention as of `now`, in the user's own days [D1]."""
    days = own_time.reading(now, policy.longest_absence_days) - item.accessed_day
    return retention(
        live_score(item, now, scoring), max(0.0, days), item.access_count, policy.decay_rate
    )


def is_expired(item: MemoryItem, now: datetime) -> bool:
    """Return whether the item's time limit has run out."""
    return item.expires_at is not None and item.expires_at <= now


def expiry_of(
    expires_at: datetime | None, sensitivity: Sensitivity, at: datetime, policy: ArchivePolicy
) -> datetime | None:
    """Return when an item runs out: its own limit, or 30 days if it is sensitive [P1]."""
    if sensitivity is not Sensitivity.SENSITIVE:
        return expires_at
    limit = at + timedelta(days=policy.sensitive_days)
    return limit if expires_at is None else min(limit, expires_at)


def leaving_rank(item: MemoryItem, kept: float, *, expired: bool) -> tuple[bool, bool, float, str]:
    """Return a key: the smallest leaves a full archive first [A7].

    Unconfirmed items leave first, among them what has expired, then the lowest retention.
    """
    return (item.was_confirmed, not expired, kept, item.id)
