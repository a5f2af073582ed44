"""Opening a database file: make it or bring it up to date, then connect."""

from __future__ import annotations

import asyncio
import os
from dataclasses import dataclass
from pathlib import Path

from dualgate.adapters.sql import migrations
from dualgate.adapters.sql.cache import UserCache
from dualgate.adapters.sql.engine import Database, connect
from dualgate.adapters.sql.failures import translated
from dualgate.adapters.sql.queue import SqlQueue
from dualgate.adapters.sql.serving import SqlServing
from dualgate.adapters.sql.store import SqlStore
from dualgate.adapters.sql.warm import Profile
from dualgate.errors import InvalidInputError, StoreError

BUSY_SECONDS = 10.0  # how long another process may hold the write lock


@dataclass(frozen=True, slots=True)
class SqlBackend:
    """A store, the queue that shares its units, and what a server keeps."""

    store: SqlStore
    queue: SqlQueue
    serving: SqlServing

    async def close(self) -> None:
        """Release the file."""
        await self.store.close()


async def open_sqlite(
    path: str | os.PathLike[str],
    *,
    archive_capacity: int = 5_000,
    queue_limits: tuple[int, int] = (10_000, 1_000_000),
    vector_model: str = "",
    busy_seconds: float = BUSY_SECONDS,
) -> SqlBackend:
    """Open a database file, made if it does not exist, brought up to date if it is older.

    queue_limits: jobs that may wait for one user, and in all. vector_model: the embedder's name;
    only its own vectors are searched [T3]. busy_seconds: how long to wait for other processes.
    Raises NewerSchemaError, and StoreError with advice for a file that cannot be used.
    """
    if str(path) in {"", ":memory:"}:
        raise InvalidInputError("path", "must name a file", str(path))
    where = Path(path)
    with translated():
        await asyncio.to_thread(_prepare, where, busy_seconds)
    database = Database(where, busy_seconds)
    await database.open()
    store = SqlStore(database, UserCache(), Profile(archive_capacity, vector_model))
    return SqlBackend(store, SqlQueue(database, *queue_limits), SqlServing(database))


def _prepare(path: Path, busy_seconds: float) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # A memory is private: nobody else on this machine may read a new file.
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    except OSError as exc:
        raise StoreError(
            f"the database file cannot be opened ({exc.strerror}: {path})",
            "This user must be allowed to read and write the file and its directory",
        ) from exc
    raw = connect(path, busy_seconds)
    try:
        revision = migrations.found_revision(raw)
        migrations.require_known(revision)
        if revision != migrations.HEAD:
            migrations.upgrade(raw)
    finally:
        raw.close()
