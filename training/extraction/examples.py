"""Read the training turns and align their labels with the clauses the extractor will see.

A line of data/*.jsonl is one turn with `spans`: verbatim stretches and what they state. Whatever no
span covers is noise. About 15 % of the turns, chosen by a hash of their id, are never trained on.
second-look.json corrects labels that a second reader found wrong or left out.
"""

from __future__ import annotations

import json
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
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
    seen: set[tuple[str, str]] = set()
    examples = []
    looks = second_look()
    for path in sorted(DATA.glob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").split("\n"):
            if line.strip():
                row = json.loads(line)
                # A bare answer may stand behind many questions.
                said = row["turn"], row["history"][-1]["content"] if row["history"] else ""
                if said not in seen and keep(row["id"]):
                    seen.add(said)
                    examples.append(example(looked_at(row, looks.get(row["id"], ()))))
    return examples


Look = dict[str, Any]


@cache
def second_look() -> dict[str, list[Look]]:
    """Return, by the id of a turn, what a second reader changes or adds, each at a quote."""
    looks: dict[str, list[Look]] = defaultdict(list)
    for look in json.loads((DATA / "second-look.json").read_text(encoding="utf-8")):
        looks[look["id"]].append(look)
    return dict(looks)


def looked_at(row: dict[str, Any], looks: Sequence[Look]) -> dict[str, Any]:
    """Return a turn with its labels as a second reader would have them."""
    if not looks:
        return row
    changes = {look["quote"]: look["change"] for look in looks if "change" in look}
    spans = [{**span, **changes.get(span["quote"], {})} for span in row["spans"]]
    spans += [
        {"quote": look["quote"], "content": look["quote"], "scope": "lasting", "event_date": None, **look["add"]}
        for look in looks
        if "add" in look
    ]
    kept = [span for span in spans if span["scope"] != "none"]
    return {**row, "spans": sorted(kept, key=lambda span: row["turn"].find(span["quote"]))}


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
