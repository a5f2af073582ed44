"""The processes of test_memory_killed.py: real memories over one SQLite file.

Started as `python memory_roles.py DIRECTORY`; see crash_roles.py for the protocol.
"""

# ruff: noqa: S311  # real processes need real chance

from __future__ import annotations

import asyncio
import random
import sys
from pathlib import Path

import crash_roles  # a script's own folder is on its path
from crash_roles import note

from dualgate import Candidate, Memory, Settings
from dualgate.pipeline.worker import QueuePolicy
from dualgate.testing import HashEmbedder

USERS = tuple(f"user-{n}" for n in range(4))
LEASE_SECONDS = 0.6
TOPICS = 5


class NumberedExtractor:
    """Reads "n topic": each turn states one fact of its own, and confirms its topic."""

    async def extract(self, turn):
        number, topic = turn.message.content.split()
        return (
            Candidate("fact", f"note {number}", attribute=f"note {number}", value=number,
                      confidence=0.9, importance=0.9, quote=turn.message.content),
            Candidate("preference", f"topic {topic}", attribute=f"topic {topic}", value=topic,
                      confidence=0.9, quote=turn.message.content),
        )  # fmt: skip


def opened(directory: Path, *, run_worker: bool):
    settings = Settings(
        run_worker=run_worker,
        queue=QueuePolicy(lease_seconds=LEASE_SECONDS, poll_seconds=0.02, batch=4),
    )
    return Memory.open(
        f"sqlite:///{directory / 'memory.db'}", settings=settings,
        extractor=NumberedExtractor(), embedder=HashEmbedder(),
    )  # fmt: skip


async def observe(directory: Path, name: str) -> None:
    """Hand over turns of random users until told to stop; note what was acknowledged."""
    chance = random.Random(name)
    number = 0
    async with opened(directory, run_worker=False) as memory:
        while not (directory / "stop").exists():
            number += 1
            user, turn_id = chance.choice(USERS), f"{name}-{number:05d}"
            said = {
                "role": "user",
                "content": f"{turn_id} {chance.randrange(TOPICS)}",
                "id": turn_id,
            }
            receipt = await memory.observe(user, f"{name}-{number % 3}", [said])
            note(directory, "acknowledged", f"{user} {turn_id} {receipt.job_id}")
            await asyncio.sleep(chance.uniform(0.01, 0.05))
    note(directory, "ended", name)


async def work(directory: Path, name: str) -> None:
    """Work the queue off for ever."""
    del name
    async with opened(directory, run_worker=True):
        await asyncio.Event().wait()


if __name__ == "__main__":
    crash_roles.ROLES |= {"observe": observe, "work": work}
    crash_roles.main(Path(sys.argv[1]))
