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
TAILED = 0.4  # share of compositions that end in a request or a question
_SLOT = re.compile(r"\{(\w+)\}")


def rows(times: int = 4) -> list[dict[str, Any]]:
    """Return up to `times` fillings of every pattern, always the same."""
    made = []
    for path in sorted(SEEDS.glob("*.txt")):
        head, _, body = path.read_text(encoding="utf-8").partition("---\n")
        slots = _slots(head)
        for number, pattern in enumerate(line for line in body.splitlines() if line):
            chance = random.Random(f"{path.stem}{number}")
            made += _fillings(f"seed-{path.stem}-{number}", path.stem, pattern, slots, chance, times)
    return made


OPENERS = {
    "zh": ("", "", "", "", "先说下情况，", "我这边：", "背景：", "跟你说下，", "补充下，", "我，", "对了，"),
    "en": ("", "", "", "", "some background: ", "so, ", "fyi ", "ok so ", "context: ", "oh and ", "about me, "),
}
SEAMS = {"zh": ("，", "，", "，", "。", "；", " ", "，还有"), "en": (", ", ", ", ", and ", ". ", "; ", " and ", ". Also ")}
TAILS = {"zh": ("。{task}", "，{q}", "，{task}", "。{q}？", "，帮我{task}"), "en": (". {task}", ", {q}?", ". {q}?", ", {task} please", " - can you {task}?")}


def compositions(count: int = 500) -> list[dict[str, Any]]:
    """Return turns composed of the fragments: one to four facts, with or without a request."""
    made = []
    for path in sorted(SEEDS.glob("*.fragments")):
        lang = path.stem
        slots = _slots((SEEDS / f"{lang}.txt").read_text(encoding="utf-8").partition("---\n")[0])
        fragments = [line for line in path.read_text(encoding="utf-8").splitlines() if line]
        for number in range(count):
            chance = random.Random(f"{lang}fragments{number}")
            chosen = chance.sample(fragments, chance.choice((1, 1, 2, 3, 4)))
            text = chance.choice(OPENERS[lang]) + chosen[0]
            for piece in chosen[1:]:
                text += chance.choice(SEAMS[lang]) + piece
            text += chance.choice(TAILS[lang]) if chance.random() < TAILED else ""
            made.append(row_of(f"seed-{lang}f-{number}", lang, _filled(text, slots, chance)))
    return made


def plain(count: int = 200) -> list[dict[str, Any]]:
    """Return the plainest statements there are, one to three a turn: they must never be missed."""
    made = []
    for path in sorted(SEEDS.glob("*.plain")):
        lang = path.stem
        slots = _slots((SEEDS / f"{lang}.txt").read_text(encoding="utf-8").partition("---\n")[0])
        lines = [line for line in path.read_text(encoding="utf-8").splitlines() if line]
        for number in range(count):
            chance = random.Random(f"{lang}plain{number}")
            chosen = chance.sample(lines, chance.choice((1, 1, 2, 2, 3)))
            seam = chance.choice(("。", "，") if lang == "zh" else (". ", ", ", " and "))
            text = _filled(seam.join(chosen), slots, chance) + chance.choice(("", "", "。" if lang == "zh" else "."))
            made.append(row_of(f"plain-{lang}-{number}", lang, text))
    return made


def _filled(text: str, slots: dict[str, list[str]], chance: random.Random) -> str:
    return _SLOT.sub(lambda found: chance.choice(slots[found.group(1)]), text)


def _slots(head: str) -> dict[str, list[str]]:
    pairs = (line[1:].split(": ", 1) for line in head.splitlines() if line)
    return {name: words.split("|") for name, words in pairs}


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
