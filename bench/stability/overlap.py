"""Are the simulated users' wordings new to the extractor? Runs of words shared with its training.

    python bench/stability/overlap.py

A wording counts as seen if a run of 5 words (en) or 9 characters (zh) of it stands in
training/extraction. Prints the seen ones; ends with 1 if more than 5 % are seen.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from words import FOLDER

ROOT = Path(__file__).resolve().parents[2]
RUN = {"en": 5, "zh": 9}
MOST = 0.05
_SUFFIXES = (".txt", ".jsonl", ".plain", ".fragments")
_LISTS = tuple(mark + name for mark in ("", "*", "+") for name in ("values:", "who:"))
_WORD = re.compile(r"[a-z0-9']+|[\u3400-\u9fff]")


def runs(text: str, lang: str) -> Iterator[tuple[str, ...]]:
    """Yield the runs of a text."""
    words = _WORD.findall(text.lower())
    size = RUN[lang]
    for start in range(max(1, len(words) - size + 1)):
        yield tuple(words[start : start + size])


def wordings(lang: str) -> Iterator[str]:
    """Yield every wording of a language, cut at its holes."""
    for line in (FOLDER / f"{lang}.txt").read_text("utf-8").splitlines():
        plain = re.sub(r"^[*+]?(?:[a-z]+: )?|^= .*", "", line.replace("[", "").replace("]", ""))
        if "[" in line[:1] or line.startswith(("#", "=", *_LISTS)):
            continue
        yield from (part for part in re.split(r"\{\w+\}", plain) if len(_WORD.findall(part)) > 3)


def main() -> int:
    """Compare both languages with the training data."""
    folder = ROOT / "training" / "extraction"
    files = [p for p in folder.rglob("*") if p.suffix in _SUFFIXES]
    lines = [x for p in files for x in p.read_text("utf-8").splitlines()]
    bad = False
    for lang, size in RUN.items():
        mine = sorted(set(wordings(lang)))
        wanted = {run for text in mine for run in runs(text, lang) if len(run) == size}
        found = {run for line in lines for run in runs(line, lang) if run in wanted}
        seen = [text for text in mine if any(run in found for run in runs(text, lang))]
        print(f"{lang}: {len(seen)} of {len(mine)} wordings share a run with training")
        for text in seen:
            print("   ", text)
        bad |= len(seen) > MOST * len(mine)
    return int(bad)


if __name__ == "__main__":
    sys.exit(main())
