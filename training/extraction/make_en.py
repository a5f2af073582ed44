"""Make the English training data from the hand-written turns and the templates.

    make_en.py [hand | templates]        without an argument: both

Deterministic: the same sources give the same bytes. Writes data/en-hand.jsonl from
en/hand-*.txt and data/en-templates.jsonl from en/templates-*.txt.
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Iterable
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

from en.markup import Draft, as_record, read_text

HERE = Path(__file__).parent
OFFSETS = (-480, -420, -360, -300, -180, 0, 60, 120, 330, 480, 540, 660)
SEED = 20260301


def moment(rng: random.Random, note: str) -> datetime:
    """Draw when a turn is said; a night note is said at night."""
    hour = rng.choice((0, 1, 2, 3, 23)) if "night" in note else rng.randrange(7, 23)
    zone = timezone(timedelta(minutes=rng.choice(OFFSETS)))
    start = datetime(2025, 1, 2, hour, rng.randrange(60), rng.randrange(60), tzinfo=zone)
    return start + timedelta(days=rng.randrange(700))


def write(records: Iterable[dict[str, Any]], name: str) -> None:
    """Write JSON Lines, in UTF-8, one record a line."""
    lines = [json.dumps(record, ensure_ascii=False) for record in records]
    (HERE / "data" / name).write_text("\n".join(lines) + "\n", encoding="utf-8")


def hand() -> list[dict[str, Any]]:
    """Read the hand-written turns, numbered in the order of the files."""
    drafts: list[Draft] = []
    for file in sorted((HERE / "en").glob("hand-*.txt")):
        drafts.extend(read_text(file.read_text(encoding="utf-8")))
    # One generator a turn: a line added above must not move the time of all below.
    return [
        as_record(draft, f"en-h-{number:04}", moment(random.Random(f"{SEED}{draft}"), draft.note))
        for number, draft in enumerate(drafts, 1)
    ]


def main() -> None:
    """Write what was asked for."""
    wanted = sys.argv[1:] or ["hand", "templates"]
    if "hand" in wanted:
        write(hand(), "en-hand.jsonl")
    if "templates" in wanted:
        from en.grow import grow

        write(grow(HERE / "en", moment, SEED), "en-templates.jsonl")


if __name__ == "__main__":
    main()
