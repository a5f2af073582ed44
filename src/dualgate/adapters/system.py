"""The real clock and real ids. Nobody else reads the time or rolls dice."""

from __future__ import annotations

import os
import secrets
import threading
from datetime import UTC, datetime
from uuid import UUID


class SystemClock:
    """The machine's clock, in UTC."""

    def now(self) -> datetime:
        """Return the current instant."""
        return datetime.now(UTC)


def fresh_secret() -> str:
    """Return 256 random bits in base64url: 43 characters."""
    return secrets.token_urlsafe(32)


class Uuid7Source:
    """UUIDv7 (RFC 9562): milliseconds, a counter within the millisecond, then randomness.

    Ids from one process rise strictly, so that sorting by id is sorting by birth.
    """

    def __init__(self) -> None:
        self._last = (0, 0)
        self._lock = threading.Lock()

    def new(self) -> str:
        """Return a fresh id."""
        now = int(datetime.now(UTC).timestamp() * 1000)
        with self._lock:
            then, counter = self._last
            # A clock that jumps back, or 4096 ids in one millisecond: borrow from the next one.
            moment = (now, 0) if now > then else (then, counter + 1)
            if moment[1] > 0xFFF:  # noqa: PLR2004 - the counter has 12 bits
                moment = (then + 1, 0)
            self._last = moment
        random = int.from_bytes(os.urandom(8)) >> 2
        bits = moment[0] << 80 | 0x7 << 76 | moment[1] << 64 | 0x2 << 62 | random
        return str(UUID(int=bits))
