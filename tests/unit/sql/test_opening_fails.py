"""A memory that cannot be opened leaves nothing open: whoever tries again does not pile up."""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
import threading
from pathlib import Path

import pytest

from dualgate import Memory
from dualgate.errors import StoreError
from dualgate.testing import HashEmbedder


def _open_files(path):
    files = (Path("/proc/self/fd") / each for each in Path("/proc/self/fd").iterdir())
    return [each for each in files if each.exists() and str(path) in str(each.readlink())]


async def test_an_open_that_fails_half_way_leaves_neither_files_nor_threads(tmp_path):
    path = tmp_path / "memory.db"
    url = f"sqlite:///{path}"
    await (await Memory.open(url, embedder=HashEmbedder())).close()
    with contextlib.closing(sqlite3.connect(path)) as raw:
        raw.execute("DROP TABLE erasures")  # what `open` looks through for unfinished ones
    for _ in range(3):
        with pytest.raises(StoreError, match="erasures"):
            await Memory.open(url, embedder=HashEmbedder())

    drivers = [each for each in threading.enumerate() if "_work_off" in each.name]
    for each in drivers:
        await asyncio.to_thread(each.join, 5)  # closed already, it is on its way out

    assert _open_files(path) == []
    assert [each.name for each in drivers if each.is_alive()] == []
