"""Read the training turns and align their labels with the clauses the extractor will see.

A line of data/*.jsonl is one turn with `spans`: verbatim stretches and what they state. Whatever no
span covers is noise. About 15 % of the turns, chosen by a hash of their id, are never trained on.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dualgate.adapters.local.extraction.clauses import Clause, split
from dualgate.adapters.local.extraction.reading import Reading, read_text

DATA = Path(__file__).parent / "data"
HELD_OUT_PERCENT = 15


@dataclass(eq=False, slots=True)
class Example:
    """One labelled turn; span_of[i] is the index of the span that clause i belongs to, or None."""

    row: dict[str, Any]
    reading: Reading
    span_of: list[int | None] = field(default_factory=list)

    @property
    def held_out(self) -> bool:
        return zlib.crc32(self.row["id"].encode()) % 100 < HELD_OUT_PERCENT

    @property
    def clauses(self) -> list[Clause]:
        return self.reading.clauses

    def state(self, index: int) -> str:
        span = self.span_of[index]
        return "none" if span is None else str(self.row["spans"][span]["scope"])

    def run(self, span: int) -> list[int]:
        return [index for index, owner in enumerate(self.span_of) if owner == span]


def load_all(keep: Callable[[str], bool] = lambda _: True) -> list[Example]:
    seen: set[str] = set()
    examples = []
    for path in sorted(DATA.glob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").split("\n"):
            if line.strip():
                row = json.loads(line)
                if row["turn"] not in seen and keep(row["id"]):
                    seen.add(row["turn"])
                    examples.append(example(row))
    return examples


def example(row: dict[str, Any]) -> Example:
    history = [(turn["role"], turn["content"]) for turn in row.get("history", ())]
    reading = read_text(row["turn"], history)
    places = list(_places(row))
    made = Example(row, reading)
    made.span_of = [_owner(clause, places) for clause in reading.clauses]
    return made


def _places(row: dict[str, Any]) -> Iterator[tuple[int, int]]:
    after = 0
    for span in row["spans"]:
        start = row["turn"].find(span["quote"], after)
        start = row["turn"].find(span["quote"]) if start < 0 else start
        yield start, start + len(span["quote"])
        after = start


def _owner(clause: Clause, places: list[tuple[int, int]]) -> int | None:
    best, shared = None, 0.0
    for index, (start, end) in enumerate(places):
        overlap = min(end, clause.end) - max(start, clause.start)
        share = overlap / max(1, min(clause.end - clause.start, end - start))
        if overlap > 0 and share >= 0.5 and overlap > shared:
            best, shared = index, float(overlap)
    return best


__all__ = ["DATA", "Example", "load_all", "split"]
