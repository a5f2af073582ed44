"""What a process keeps of warm users, so that reading them costs one look at their version.

Rule: an entry is right for one version of one user and says which. Whoever finds another version
in the database reloads. Used on the event loop only, so nothing here needs a lock.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from datetime import datetime

from dualgate.adapters.sql.vectors import Pool
from dualgate.domain.view import Snapshot

USERS = 256  # a full user's snapshot takes about half a megabyte
POOL_BYTES = 256 * 1024 * 1024


@dataclass(slots=True)
class Entry:
    """A user's state at `snapshot.version`, with the vectors if they were needed.

    tail_at: the user's last active moment for which the archive's tail was put in order; None
    when it has not been looked at.
    """

    snapshot: Snapshot
    pool: Pool | None = None
    tail_known: bool = False
    tail_at: datetime | None = None


class UserCache:
    """The most recently used users."""

    def __init__(self, users: int = USERS, pool_bytes: int = POOL_BYTES) -> None:
        self._users = users
        self._pool_bytes = pool_bytes
        self._entries: OrderedDict[str, Entry] = OrderedDict()

    def get(self, user_id: str) -> Entry | None:
        """Return what is kept, whatever its version."""
        entry = self._entries.get(user_id)
        if entry is not None:
            self._entries.move_to_end(user_id)
        return entry

    def put(self, user_id: str, entry: Entry) -> None:
        """Keep this entry, unless a newer one is kept already."""
        kept = self._entries.get(user_id)
        if kept is not None and kept.snapshot.version > entry.snapshot.version:
            return
        self._entries[user_id] = entry
        self._entries.move_to_end(user_id)
        self.trim()

    def trim(self) -> None:
        """Let go of what has not been used for longest, down to the limits."""
        while len(self._entries) > self._users:
            self._entries.popitem(last=False)
        total = sum(e.pool.nbytes for e in self._entries.values() if e.pool is not None)
        for user_id in list(self._entries)[:-1]:
            if total <= self._pool_bytes:
                break
            pool = self._entries[user_id].pool
            if pool is not None:
                total -= pool.nbytes
                self._entries[user_id].pool = None

    def drop(self, user_id: str) -> None:
        """Forget the user."""
        self._entries.pop(user_id, None)
