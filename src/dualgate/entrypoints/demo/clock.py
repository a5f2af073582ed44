"""A clock that follows a conversation being replayed."""

from __future__ import annotations

from datetime import UTC, datetime


class ReplayClock:
    """Stands where the conversation stands; each turn moves it on.

    >>> clock = ReplayClock(datetime(2026, 3, 2, 9, tzinfo=UTC))
    >>> clock.move_to(datetime(2026, 3, 4, tzinfo=UTC))
    >>> clock.now().isoformat()
    '2026-03-04T00:00:00+00:00'
    """

    def __init__(self, start: datetime) -> None:
        self._now = start.astimezone(UTC)

    def now(self) -> datetime:
        """Return the moment the conversation has reached."""
        return self._now

    def move_to(self, moment: datetime) -> None:
        """Go on to `moment`, an aware datetime."""
        self._now = moment.astimezone(UTC)
