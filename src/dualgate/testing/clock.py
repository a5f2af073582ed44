"""A clock that moves only when a test says so."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from dualgate.domain.items import require_aware


class ManualClock:
    """Stands still until it is set or advanced. It may go back: real clocks do.

    >>> clock = ManualClock(datetime(2026, 1, 5, 9, tzinfo=UTC))
    >>> clock.advance(days=2, hours=1)
    >>> clock.now().isoformat()
    '2026-01-07T10:00:00+00:00'
    """

    def __init__(self, start: datetime) -> None:
        self._now = require_aware("start", start).astimezone(UTC)

    def now(self) -> datetime:
        """Return the instant at which the clock stands, in UTC."""
        return self._now

    def set(self, t: datetime) -> None:
        """Put the clock to `t`, an aware datetime."""
        self._now = require_aware("t", t).astimezone(UTC)

    def advance(
        self, *, days: float = 0, hours: float = 0, minutes: float = 0, seconds: float = 0
    ) -> None:
        """Move the clock on by this much."""
        self._now += timedelta(days=days, hours=hours, minutes=minutes, seconds=seconds)
