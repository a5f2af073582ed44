"""What was handed out is written down a moment later, and at the latest when a memory closes."""

from __future__ import annotations

import asyncio

from dualgate import Candidate, Memory, Settings, SyncMemory
from dualgate.testing import HashEmbedder

SLOW = Settings(flush_seconds=3_600)
FACT = Candidate("fact", "The user keeps bees", confidence=0.9)


async def test_closing_writes_what_is_gathered_and_leaves_nothing_running(tmp_path):
    url = f"sqlite:///{tmp_path / 'memory.db'}"
    async with Memory.open(url, settings=SLOW, embedder=HashEmbedder()) as memory:
        receipt = await memory.propose("ada", "s1", [FACT], wait=True)
        await memory.recall("ada", "The user keeps bees")
    item_id = receipt.decisions[0].item_id

    assert [task.get_name() for task in asyncio.all_tasks() - {asyncio.current_task()}] == []
    async with Memory.open(url, embedder=HashEmbedder()) as memory:
        assert len((await memory.history("ada", item_id)).recalls) == 1


def test_a_closed_sync_memory_leaves_no_task_behind(recwarn):
    with SyncMemory.open("memory://", settings=SLOW, embedder=HashEmbedder()) as memory:
        memory.propose("ada", "s1", [FACT], wait=True)
        memory.context("ada", "s2")
        loop = memory._loop._loop  # noqa: SLF001

    assert asyncio.all_tasks(loop) == set()
    assert not recwarn.list
