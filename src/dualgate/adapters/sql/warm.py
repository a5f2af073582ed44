"""Reading a user's warm state: the cache if its version still holds, the database if not.

Rule: one look at the user's row decides; what is loaded is of the same consistent read.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from dualgate.adapters.sql import pools, reading
from dualgate.adapters.sql.cache import Entry
from dualgate.adapters.sql.dialects import Sql
from dualgate.adapters.sql.reading import UserRow


@dataclass(frozen=True, slots=True)
class Profile:
    """What a store was opened with."""

    archive_capacity: int
    model: str


def entry_for(sql: Sql, user: UserRow, kept: Entry | None, profile: Profile) -> Entry:
    """Return the user's state at `user.version`, from `kept` if that is it."""
    if kept is None or kept.snapshot.version != user.version:
        kept = Entry(reading.load_snapshot(sql, user))
    return with_tail(sql, kept, profile)


def with_tail(sql: Sql, entry: Entry, profile: Profile) -> Entry:
    """Return the entry with the archive's tail where the snapshot has to show it."""
    if not lacks_tail(entry, profile):
        return entry
    snapshot = entry.snapshot
    if not pools.nearly_full(snapshot, profile.archive_capacity):
        return Entry(replace(snapshot, archive_tail=()), entry.pool)
    standings = reading.load_standings(sql, snapshot.user_id)
    ids = pools.first_to_leave(standings, snapshot.own_time)
    found = reading.items(sql, snapshot.user_id, ids)
    tail = tuple(found[item_id] for item_id in ids)
    return Entry(
        replace(snapshot, archive_tail=tail),
        entry.pool,
        tail_known=True,
        tail_at=snapshot.own_time.active_at,
    )


def lacks_tail(entry: Entry, profile: Profile) -> bool:
    """Whether the entry's tail is not what its snapshot has to show."""
    if not pools.nearly_full(entry.snapshot, profile.archive_capacity):
        return bool(entry.snapshot.archive_tail)
    return not (entry.tail_known and pools.tail_is_fresh(entry.snapshot, entry.tail_at))


def with_pool(sql: Sql, entry: Entry, profile: Profile, dim: int) -> Entry:
    """Return the entry with the user's vectors of this size."""
    if entry.pool is not None and entry.pool.dim == dim:
        return entry
    pool = reading.load_pool(sql, entry.snapshot.user_id, profile.model, dim)
    return replace(entry, pool=pool)
