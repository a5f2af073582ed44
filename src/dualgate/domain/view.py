"""What the gates look at: a Snapshot of one user's pools, and the View for one candidate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from dualgate.domain.items import MemoryItem
from dualgate.domain.plan import Pending
from dualgate.domain.signals import Signal


@dataclass(frozen=True, slots=True)
class OwnTime:
    """The user's own clock: an absence counts as a few days at most [D1].

    days is the reading at `active_at`, the last moment the user did something.
    """

    days: float = 0.0
    active_at: datetime | None = None

    def reading(self, now: datetime, longest_absence_days: float = 7.0) -> float:
        """Return the user's own days at `now`."""
        if self.active_at is None:
            return self.days
        away = max(0.0, (now - self.active_at).total_seconds() / 86_400)
        return self.days + min(away, longest_absence_days)

    def touched(self, now: datetime, longest_absence_days: float = 7.0) -> OwnTime:
        """Return the clock after the user did something at `now`; the past changes nothing."""
        if self.active_at is not None and now <= self.active_at:
            return self
        return OwnTime(self.reading(now, longest_absence_days), now)


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """One user's bounded state, as of `version`.

    archive_tail holds the items that leave the archive first, worst first; it is filled only when
    the archive is nearly full. Every write of the user's memory raises `version` by one.
    """

    user_id: str
    version: int = 0
    hot: Mapping[str, MemoryItem] = field(default_factory=dict)
    frozen: Mapping[str, MemoryItem] = field(default_factory=dict)
    pendings: tuple[Pending, ...] = ()
    archive_count: int = 0
    archive_tail: tuple[MemoryItem, ...] = ()
    own_time: OwnTime = OwnTime()
    user_class: str = "default"
    capture_paused: bool = False
    recall_paused: bool = False
    maintained_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Likeness:
    """How alike two statements are, as fitted on data [C1]; each number is 0-1.

    same: calibrated probability that both say the same. conflicting: that both fill the same slot
    and cannot both hold. cosine: of the two sentences, for the record; it decides nothing.
    """

    same: float
    conflicting: float
    cosine: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Partner:
    """A stored item that may concern the candidate, and how alike they are."""

    item: MemoryItem
    likeness: Likeness
    # What this session has already said about the item [F2].
    signals_here: tuple[Signal, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """All that `decide` may look at for one candidate."""

    snapshot: Snapshot
    partners: tuple[Partner, ...] = ()
    # How the candidate compares with each open pending override, by its id [F3].
    challenges: Mapping[str, Likeness] = field(default_factory=dict)
