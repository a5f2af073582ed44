"""Use an extractor of your own: here one that knows a single sentence.

Run it: .venv/bin/python examples/own_extractor.py
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence

from dualgate import Candidate, Memory, Message
from dualgate.pipeline.ports import Turn

SENTENCE = re.compile(r"[Mm]y favourite colour is (?P<colour>\w+)")


class ColourExtractor:
    """Proposes a favourite colour. The gates decide what becomes of it."""

    async def extract(self, turn: Turn) -> Sequence[Candidate]:
        """Return one candidate a match; its quote shows where it comes from."""
        return [
            Candidate(
                "preference",
                f"The user's favourite colour is {match['colour']}",
                attribute="favourite_colour",
                value=match["colour"],
                confidence=0.9,
                quote=match[0],
            )
            for match in SENTENCE.finditer(turn.message.content)
        ]


async def main() -> None:
    """Say it once as the user, once as the assistant."""
    async with Memory.open("memory://", extractor=ColourExtractor()) as memory:
        said = [
            Message("user", "By the way, my favourite colour is teal."),
            Message("assistant", "Noted. My favourite colour is octarine."),
        ]
        receipt = await memory.observe("mei", "monday", said, wait=True)
        for decision in receipt.decisions:
            print(f"{decision.outcome}: {decision.candidate.content} ({decision.reason})")


if __name__ == "__main__":
    asyncio.run(main())
