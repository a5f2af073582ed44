"""Numbers for the lines of a log: client-made, rising with the units of a user [T5]."""

from __future__ import annotations

# A unit writes fewer lines to one log than this; its number times this begins its lines.
LINES = 1_000_000


class Lines:
    """Numbers the lines that one unit adds to the logs, in the order of writing."""

    def __init__(self, unit: int) -> None:
        self._next = unit * LINES

    def next(self) -> int:
        """Return the next number."""
        self._next += 1
        return self._next
