"""A process killed while it erases leaves nothing half erased: the next start finishes it [P3]."""

from __future__ import annotations

import asyncio
import contextlib
import random
import sqlite3
import time
from pathlib import Path

from dualgate import Memory, Settings
from dualgate.adapters.sql import open_sqlite
from dualgate.pipeline.dossier import AskedErasure
from dualgate.testing import HashEmbedder

ROLES = Path(__file__).parent / "erasure_roles.py"
KILLS = 12
MOST_KILLS = 120  # a busy machine may need many to hit every moment


def test_an_erasure_survives_kill_9_whole_or_not_begun_and_is_finished_by_the_next_start(stage):
    path = stage.directory / "memory.db"
    chance = random.Random(20261130)  # noqa: S311
    before_unit, before_scrub = False, False
    for kill in range(MOST_KILLS):
        if kill >= KILLS and before_unit and before_scrub:
            break
        stage.start("erase")
        _wait_for_another(stage, "asked", chance.randint(1, 4))
        time.sleep(chance.choice((0, chance.uniform(0, 0.12))))
        for pid in stage.playing("erase"):
            stage.kill(pid)
        stopped = asyncio.run(_asked(path))
        before_unit |= any(one.done_at is None for one in stopped)
        before_scrub |= any(one.done_at is not None for one in stopped)
    waiting = [one for one in asyncio.run(_asked(path)) if one.target]
    kept = asyncio.run(_reopened(path))

    assert stage.lines("errors") == []
    erased = stage.lines("erased")
    assert len(erased) > KILLS / 2
    assert before_unit, "none was killed before its unit"
    assert before_scrub, "none was killed before the scrub"
    assert asyncio.run(_asked(path)) == []
    data = b"".join(p.read_bytes() for p in path.parent.glob("memory.db*"))
    assert [word for word in erased if word.encode() in data] == []
    for one in waiting:
        # What was asked for and not acknowledged is done as well.
        assert one.target not in kept
    assert _integrity(path) == "ok"


def _wait_for_another(stage, file: str, more: int) -> None:
    wanted, until = len(stage.lines(file)) + more, time.monotonic() + 30
    while len(stage.lines(file)) < wanted:
        assert time.monotonic() < until, "it took too long"
        time.sleep(0.002)


async def _asked(path: Path) -> list[AskedErasure]:
    backend = await open_sqlite(path, busy_seconds=30)
    try:
        return await backend.store.asked_erasures()
    finally:
        await backend.close()


async def _reopened(path: Path) -> set[str]:
    """Open a memory, which finishes what is left; return the ids of items and sessions kept."""
    settings = Settings(run_worker=False)
    async with Memory.open(
        f"sqlite:///{path}", settings=settings, embedder=HashEmbedder()
    ) as memory:
        kept: set[str] = set()
        for user in await _users(path):
            dossier = await memory._parts.store.dossier(user)  # noqa: SLF001
            kept |= {item.id for item in dossier.items}
            kept |= {session.id for session in dossier.sessions}
        return kept


async def _users(path: Path) -> list[str]:
    backend = await open_sqlite(path)
    try:
        return await backend.store.users(None, 100)
    finally:
        await backend.close()


def _integrity(path: Path) -> str:
    with contextlib.closing(sqlite3.connect(path)) as raw:
        return raw.execute("pragma integrity_check").fetchone()[0]
