"""The processes of test_erasure_killed.py: memories that talk and erase over one SQLite file.

Started as `python erasure_roles.py DIRECTORY`; see crash_roles.py for the protocol.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import crash_roles  # a script's own folder is on its path
from crash_roles import note

from dualgate import Candidate, Memory, Settings
from dualgate.testing import HashEmbedder

FILLERS = 40


class WordExtractor:
    """Reads "my word is X": one fact whose value is X."""

    async def extract(self, turn):
        text = turn.message.content
        if not text.startswith("my word is "):
            return ()
        word = text.removeprefix("my word is ")
        return (
            Candidate("fact", f"The word is {word}", attribute=f"word {word}", value=word,
                      confidence=0.95, importance=0.9, quote=text),
        )  # fmt: skip


def opened(directory: Path):
    return Memory.open(
        f"sqlite:///{directory / 'memory.db'}", settings=Settings(flush_seconds=0),
        extractor=WordExtractor(), embedder=HashEmbedder(),
    )  # fmt: skip


async def erase(directory: Path, name: str) -> None:
    """Say words among other talk and erase them, by item, session and user in turn, for ever."""
    async with opened(directory) as memory:
        number = 0
        while not (directory / "stop").exists():
            number += 1
            word = f"secretword{name}x{number:05d}"
            user, session = f"{name}-{number % 2}", f"{name}-{number}"
            said = [{"role": "user", "content": f"my word is {word}", "id": word}]
            fill = [
                {"role": "assistant", "content": f"talk {n}", "id": f"fill-{session}-{n}"}
                for n in range(FILLERS)
            ]
            receipt = await memory.observe(user, session, [*said, *fill], wait=True)
            item_id = next(d.item_id for d in receipt.decisions)
            note(directory, "asked", f"{word} {user} {session}")
            match number % 3:
                case 0:
                    await memory.erase(user, item_id)
                case 1:
                    await memory.erase(user, session_id=session)
                case _:
                    await memory.erase_user(user)
            note(directory, "erased", word)
            await asyncio.sleep(0)


if __name__ == "__main__":
    crash_roles.ROLES |= {"erase": erase}
    crash_roles.main(Path(sys.argv[1]))
