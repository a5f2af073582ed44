"""How well a quote's own words tell a true statement from one that was only pinned to it [W5].

    python bench/grounding.py

Each gold statement of extraction-dev is paired with the nearest piece of its own turn, as a good
model quotes it, and with a random piece of another turn of the same language, as a bad one does.
*Pass*: a third of its words stand in the piece, or its cosine reaches the gate.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import re
from pathlib import Path

import numpy as np

from dualgate import Candidate
from dualgate.adapters.local.embedder import UseEmbedder
from dualgate.domain.grounding import shares_words

SHARED = Path(os.environ.get("DUALGATE_SHARED_DATA", "../shared/data"))
GATES = (0.2, 0.25, 0.3, 0.35, 0.4, 0.45)


def pieces(turn: str) -> list[str]:
    return [turn, *(p for p in re.split(r"[。！？!?；;\n，,.]+", turn) if len(p) > 3)]


async def main() -> None:
    embedder, chance = UseEmbedder(), random.Random(1)
    rows = []
    for line in (SHARED / "extraction-dev.jsonl").read_text("utf-8").splitlines():
        case = json.loads(line)
        rows += [
            (case["lang"], fact["ref"], case["turn"])
            for fact in case["facts"]
            if fact["subject"] != "assistant"
        ]
    stated = await embedder.embed([ref for _, ref, _ in rows])

    async def near(place: int, turn: str, *, best: bool) -> tuple[bool, float]:
        parts = pieces(turn)
        cosines = await embedder.embed(parts) @ stated[place]
        chosen = int(cosines.argmax()) if best else chance.randrange(len(parts))
        made = Candidate("fact", rows[place][1], confidence=0.9)
        return shares_words(made, parts[chosen]), float(cosines[chosen])

    own, others = [], []
    for place, (lang, _, turn) in enumerate(rows):
        own.append((lang, *await near(place, turn, best=True)))
        strangers = [t for tongue, _, t in rows if tongue == lang and t != turn]
        others.append((lang, *await near(place, chance.choice(strangers), best=False)))
    print("| gate | zh, true | zh, wrong | en, true | en, wrong |\n|--:|--:|--:|--:|--:|")
    for gate in GATES:
        cells = [
            f"{100 * np.mean([w or c >= gate for tongue, w, c in group if tongue == lang]):.1f} %"
            for lang in ("zh", "en")
            for group in (own, others)
        ]
        print(f"| {gate} | " + " | ".join(cells) + " |")


asyncio.run(main())
