"""Measure the shipped weights on the turns that training never saw.

    python training/extraction/held_out.py

A fact counts as found if a lasting candidate of confidence >= 0.6 rests on its span (at least half
of the shorter of the two overlaps); the figures are comparable between runs, not with the scorer of
the dev cases, which judges the wording as well.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from datetime import datetime

from examples import Example, load_all

from dualgate.adapters.local.extraction import LocalExtractor
from dualgate.domain.items import Candidate, Message
from dualgate.domain.types import Role
from dualgate.pipeline.ports import Turn

FLOOR = 0.6


def turn_of(row: dict) -> Turn:
    at = datetime.fromisoformat(row["at"])
    history = tuple(Message(Role(h["role"]), h["content"]) for h in row.get("history", ()))
    return Turn(user_id="u", session_id="s", message=Message(Role.USER, row["turn"], at), at=at, history=history)


def rests_on(candidate: Candidate, span: dict, turn: str) -> bool:
    start, quoted = turn.find(span["quote"]), turn.find(candidate.quote or "\0")
    if quoted < 0:
        return False
    overlap = min(start + len(span["quote"]), quoted + len(candidate.quote)) - max(start, quoted)
    return overlap >= 0.5 * min(len(span["quote"]), len(candidate.quote))


def tally(example: Example, found: list[Candidate], counts: Counter, lang: str) -> None:
    row = example.row
    lasting = [each for each in found if each.scope.value == "lasting" and each.confidence >= FLOOR]
    wanted = [span for span in row["spans"] if span["scope"] == "lasting"]
    used: set[int] = set()
    for span in wanted:
        hit = next((i for i, each in enumerate(lasting) if i not in used and rests_on(each, span, row["turn"])), None)
        counts[lang, "wanted"] += 1
        if hit is None:
            continue
        used.add(hit)
        counts[lang, "found"] += 1
        for name in ("item_type", "polarity", "evidence", "correction", "sensitivity"):
            value = getattr(lasting[hit], name)
            counts[lang, name] += (value if isinstance(value, bool) else value.value) == span[name]
        want = span["subject"] if span["subject"] in ("user", "assistant") else "other"
        said = lasting[hit].subject if lasting[hit].subject in ("user", "assistant") else "other"
        counts[lang, "subject"] += said == want
    counts[lang, "alarms"] += len(lasting) - len(used)
    if not wanted:
        counts[lang, "noise"] += 1
        counts[lang, "clean"] += not lasting


async def main() -> None:
    extractor = LocalExtractor()
    counts: Counter = Counter()
    for example in load_all(lambda name: name.split("-")[1] == "h"):
        if example.held_out:
            found = await extractor.extract(turn_of(example.row))
            tally(example, found, counts, example.row["lang"])
    for lang in ("zh", "en"):
        found = counts[lang, "found"]
        print(
            f"{lang}: P {found / max(1, found + counts[lang, 'alarms']):.1%} R {found / counts[lang, 'wanted']:.1%} "
            f"clean {counts[lang, 'clean'] / counts[lang, 'noise']:.1%} of {counts[lang, 'noise']}, {counts[lang, 'wanted']} facts; "
            + ", ".join(f"{n} {counts[lang, n] / max(1, found):.1%}" for n in ("item_type", "polarity", "evidence", "correction", "subject", "sensitivity"))
        )


if __name__ == "__main__":
    asyncio.run(main())
