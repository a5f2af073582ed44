"""Connections to one SQLite file: one that writes, a few that read.

Rules of this file:
- a write unit begins with BEGIN IMMEDIATE: two units that read first and write later would
  otherwise fail with "database is locked", whatever the timeout.
- the units of this process queue up fairly for one writing connection; other processes are waited
  for by SQLite's busy timeout.
- a reader never takes the write lock and never waits for a writer (WAL).
- synchronous=full: what was acknowledged survives a power cut. secure_delete=on: what was deleted
  is overwritten in the file.
"""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from typing import TypeVar

import aiosqlite
from aiosqlite.core import _STOP_RUNNING_SENTINEL

from dualgate.adapters.sql.dialects import Sql, SqliteSql
from dualgate.adapters.sql.failures import translated
from dualgate.errors import StoreError

T = TypeVar("T")
Call = tuple["asyncio.Future[object] | None", Callable[[], object]]

PRAGMAS = (
    "page_size=8192",  # int8 vectors of 512 bytes pack well; before the first page is written
    "journal_mode=wal",
    "synchronous=full",
    "secure_delete=on",
    "foreign_keys=on",
    "journal_size_limit=67108864",
    "cache_size=-16384",  # 16 MiB: a large unit must not spill to the file before its end
    "temp_store=memory",
)
READERS = 3
SCRUB_ROUNDS, SCRUB_WAIT_SECONDS = 50, 0.1
IN_MEMORY_BYTES = 64 * 1024 * 1024  # a larger file is rewritten by way of the disk
PATIENCE_SECONDS = 60.0  # how long a unit waits for the others of this process


def connect(path: Path, busy_seconds: float) -> sqlite3.Connection:
    """Open the file as every connection of ours does."""
    raw = sqlite3.connect(
        path, timeout=busy_seconds, isolation_level=None, check_same_thread=False
    )
    try:
        for pragma in PRAGMAS:
            raw.execute(f"PRAGMA {pragma}")
    except BaseException:
        raw.close()
        raise
    return raw


class Driver(aiosqlite.Connection):
    """An aiosqlite connection that runs a whole function on its thread, in one hop.

    Its thread outlives the caller's event loop: aiosqlite's own ends with a traceback where the
    answer to a cancelled call finds its loop closed, and leaves the rollback behind it undone.
    """

    def __init__(self, connector: Callable[[], sqlite3.Connection]) -> None:
        super().__init__(connector, iter_chunk_size=64)
        # A program that forgets to close must still be able to end.
        self._thread = threading.Thread(target=_work_off, args=(self._tx,), daemon=True)

    def run(self, work: Callable[[sqlite3.Connection], T]) -> asyncio.Future[T]:
        """Run `work` on the connection's thread; queued at once, in order of the calls."""
        if self._connection is None:
            raise StoreError("the store is closed", "Open it again")
        future: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        # What `_execute` does, less its coroutine: the queue is FIFO even for a cancelled caller.
        self._tx.put_nowait((future, partial(work, self._conn)))
        return future


def _work_off(calls: SimpleQueue[Call]) -> None:
    """Run queued calls in order until one asks to stop, whether or not anyone still waits."""
    while True:
        future, call = calls.get()
        found: object = None
        failure: BaseException | None = None
        try:
            found = call()
        except BaseException as exc:  # noqa: BLE001 - it is the caller's, who gets it
            failure = exc
        if future is not None:
            with suppress(RuntimeError):  # the loop is closed: nobody waits any more
                future.get_loop().call_soon_threadsafe(_settle, future, found, failure)
        if found is _STOP_RUNNING_SENTINEL:
            return
        del future, call, found, failure  # nothing of the last call stays while waiting


def _settle(future: asyncio.Future[object], found: object, failure: BaseException | None) -> None:
    if future.done():
        return
    if failure is not None:
        future.set_exception(failure)
    else:
        future.set_result(found)


class Unit:
    """An open write unit: its steps run one after the other on the writing connection."""

    def __init__(self, driver: Driver) -> None:
        self._driver = driver
        self._open = True
        self._ended = False

    async def step(self, work: Callable[[Sql], T]) -> T:
        """Run some statements of the unit."""
        if not self._open:
            raise StoreError("this unit is closed", "Open another with `begin`")
        with translated():
            return await self._driver.run(lambda raw: work(SqliteSql(raw)))

    async def end(self, work: Callable[[Sql], T]) -> T:
        """Run the last statements, then commit."""
        if not self._open:
            raise StoreError("this unit is closed", "Open another with `begin`")
        with translated():
            found = await self._driver.run(lambda raw: _ended(raw, work))
        self._open = False
        self._ended = True
        return found

    async def close(self) -> None:
        """Roll back, unless it has ended."""
        if self._ended:
            return
        self._open = False
        # Queued behind whatever still runs, so a cancelled caller cannot leave a unit open.
        await asyncio.shield(self._driver.run(_roll_back))


class Database:
    """The connections of this process to one file."""

    def __init__(self, path: Path, busy_seconds: float) -> None:
        self.path = path
        self._busy_seconds = busy_seconds
        self._turn = asyncio.Lock()
        self._holder: asyncio.Task[object] | None = None
        self._writer: Driver | None = None
        self._readers: asyncio.Queue[Driver] = asyncio.Queue()
        self._opened = 0

    async def open(self) -> None:
        """Open the writing connection; readers follow when they are needed."""
        self._writer = await self._connect(reads_only=False)

    async def close(self) -> None:
        """Close all connections, after what still runs; a second call does nothing."""
        writer, self._writer = self._writer, None
        if writer is None:
            return
        async with self._turn:
            await writer.close()
        for _ in range(self._opened):
            await (await self._readers.get()).close()
        self._opened = 0

    async def read(self, work: Callable[[Sql], T]) -> T:
        """Run some reading statements on one consistent state."""
        driver = await self._reader()
        # Put back only when its thread is done, even if the caller was cancelled meanwhile.
        running = driver.run(lambda raw: _consistent(raw, work))
        running.add_done_callback(lambda _: self._readers.put_nowait(driver))
        with translated():
            return await asyncio.shield(running)

    async def write(self, work: Callable[[Sql], T]) -> T:
        """Run a whole write unit in one hop."""
        async with self._writing() as driver:
            with translated():
                return await asyncio.shield(driver.run(lambda raw: _atomic(raw, work)))

    @asynccontextmanager
    async def unit(self, first: Callable[[Sql], T]) -> AsyncIterator[tuple[Unit, T]]:
        """Open a write unit of several steps; it is rolled back unless `end` was called."""
        async with self._writing() as driver:
            unit = Unit(driver)
            try:
                with translated():
                    found = await driver.run(lambda raw: _begun(raw, first))
                yield unit, found
            finally:
                await unit.close()

    async def scrub(self, limit_bytes: int | None) -> bool:
        """Rewrite the file and empty the log (WAL); return whether both were possible.

        A file larger than limit_bytes is left alone. Readers go on meanwhile; the log can only be
        emptied once those that began before are done, which is waited for, but not for ever.
        """
        async with self._writing() as driver:
            with translated():
                if not await asyncio.shield(driver.run(lambda raw: _rewritten(raw, limit_bytes))):
                    return False
        for _ in range(SCRUB_ROUNDS):
            async with self._writing() as driver:
                with translated():
                    if await asyncio.shield(driver.run(_emptied_log)):
                        return True
            await asyncio.sleep(SCRUB_WAIT_SECONDS)
        return False

    @asynccontextmanager
    async def _writing(self) -> AsyncIterator[Driver]:
        task = asyncio.current_task()
        if self._holder is not None and self._holder is task:
            raise StoreError(
                "a unit is open in this task already",
                "Inside a unit use its own methods, not those of the store or the queue",
            )
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                await self._turn.acquire()
        except TimeoutError:
            raise StoreError(
                f"another unit of this process has been open for {PATIENCE_SECONDS:g} s",
                "Do slow work (models, embeddings) before opening a unit",
            ) from None
        self._holder = task
        try:
            yield self._require_open()
        finally:
            self._holder = None
            self._turn.release()

    def _require_open(self) -> Driver:
        if self._writer is None:
            raise StoreError("the store is closed", "Open it again")
        return self._writer

    async def _reader(self) -> Driver:
        self._require_open()
        if self._readers.empty() and self._opened < READERS:
            self._opened += 1
            try:
                return await self._connect(reads_only=True)
            except BaseException:
                self._opened -= 1
                raise
        return await self._readers.get()

    async def _connect(self, *, reads_only: bool) -> Driver:
        def connector() -> sqlite3.Connection:
            raw = connect(self.path, self._busy_seconds)
            if reads_only:
                raw.execute("PRAGMA query_only=on")
            return raw

        driver = Driver(connector)
        with translated():
            await driver
        return driver


def _consistent(raw: sqlite3.Connection, work: Callable[[Sql], T]) -> T:
    raw.execute("BEGIN")
    try:
        return work(SqliteSql(raw))
    finally:
        _roll_back(raw)


def _atomic(raw: sqlite3.Connection, work: Callable[[Sql], T]) -> T:
    raw.execute("BEGIN IMMEDIATE")
    try:
        found = work(SqliteSql(raw))
        raw.execute("COMMIT")
    except BaseException:
        _roll_back(raw)
        raise
    return found


def _begun(raw: sqlite3.Connection, work: Callable[[Sql], T]) -> T:
    raw.execute("BEGIN IMMEDIATE")
    return work(SqliteSql(raw))


def _ended(raw: sqlite3.Connection, work: Callable[[Sql], T]) -> T:
    found = work(SqliteSql(raw))
    raw.execute("COMMIT")
    return found


def _rewritten(raw: sqlite3.Connection, limit_bytes: int | None) -> bool:
    pages = raw.execute("PRAGMA page_count").fetchone()[0]
    size = pages * raw.execute("PRAGMA page_size").fetchone()[0]
    if limit_bytes is not None and size > limit_bytes:
        return False
    # Deleted words stay in a full-text index until its segments are merged into one.
    raw.execute("INSERT INTO memory_words (memory_words) VALUES ('optimize')")
    raw.execute("INSERT INTO turn_words (turn_words) VALUES ('optimize')")
    if size > IN_MEMORY_BYTES:
        raw.execute("PRAGMA temp_store=file")
    try:
        raw.execute("VACUUM")
    finally:
        raw.execute("PRAGMA temp_store=memory")
    return True


def _emptied_log(raw: sqlite3.Connection) -> bool:
    busy = raw.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
    return not busy


def _roll_back(raw: sqlite3.Connection) -> None:
    if raw.in_transaction:
        # A failed write may have rolled back already (disk full); then there is nothing to undo.
        with suppress(sqlite3.OperationalError):
            raw.execute("ROLLBACK")
