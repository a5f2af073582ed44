"""Read seeds/<lang>.txt: short sentence patterns that spread vocabulary over meanings.

    #slot: a|b|c                          words for {slot}
    [type flags|text] rest                a span; text outside brackets is noise
    A: assistant turn || user turn        history

Flags: - negative, ! correction, ~ implied, ^ emotional, @t task, @m moment, P personal,
S sensitive, =k third person, =A assistant. The same words stand in frames that state something and in frames
that do not (questions, role play, other people), so that the model learns the frame.
"""

from __future__ import annotations

import random
import re
from pathlib import Path
from typing import Any

SEEDS = Path(__file__).parent / "seeds"
_SPAN = re.compile(r"\[([a-z]+)((?: \S+)*)\|([^\]]+)\]")
_SLOT = re.compile(r"\{(\w+)\}")


def rows(times: int = 4) -> list[dict[str, Any]]:
    """Return up to `times` fillings of every pattern, always the same."""
    made = []
    for path in sorted(SEEDS.glob("*.txt")):
        head, _, body = path.read_text(encoding="utf-8").partition("---\n")
        slots = {
            name: words.split("|")
            for name, words in (line[1:].split(": ", 1) for line in head.splitlines() if line)
        }
        for number, pattern in enumerate(line for line in body.splitlines() if line):
            chance = random.Random(f"{path.stem}{number}")  # noqa: S311
            made += _fillings(f"seed-{path.stem}-{number}", path.stem, pattern, slots, chance, times)
    return made


def _fillings(
    name: str, lang: str, pattern: str, slots: dict[str, list[str]], chance: random.Random, times: int
) -> list[dict[str, Any]]:
    filled = {
        _SLOT.sub(lambda found: chance.choice(slots[found.group(1)]), pattern) for _ in range(times)
    }
    return [row_of(f"{name}-{index}", lang, text) for index, text in enumerate(sorted(filled))]


def row_of(name: str, lang: str, text: str) -> dict[str, Any]:
    """Turn one marked line into a training row."""
    before, _, after = text.rpartition(" || ")
    history = [{"role": "assistant", "content": before.removeprefix("A: ")}] if before else []
    spans = [_span(found) for found in _SPAN.finditer(after)]
    turn = _SPAN.sub(lambda found: found.group(3), after)
    return {"id": name, "lang": lang, "history": history, "turn": turn, "spans": spans}


def _span(found: re.Match[str]) -> dict[str, Any]:
    flags = found.group(2).split()
    subject = next((flag[1:] for flag in flags if flag.startswith("=")), "user")
    return {
        "quote": found.group(3),
        "item_type": found.group(1),
        "scope": "task" if "@t" in flags else "moment" if "@m" in flags else "lasting",
        "polarity": "-" if "-" in flags else "+",
        "evidence": "implied" if "~" in flags else "emotional" if "^" in flags else "explicit",
        "correction": "!" in flags,
        "subject": {"A": "assistant", "k": "other"}.get(subject, subject),
        "sensitivity": "sensitive" if "S" in flags else "personal" if "P" in flags else "normal",
    }
