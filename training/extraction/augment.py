"""More turns from the hand-written ones: several statements, or a statement and noise, in one turn.

People put two facts and a question into one message more often than a list of cases shows. Pieces
are taken whole, joined by the punctuation people use, and keep their labels; seams between pieces
teach where one fact ends. Deterministic: a fixed seed over the sorted data.
"""

from __future__ import annotations

import random
from typing import Any

from dualgate.adapters.local.extraction.cues import CUES

PIECE_LIMIT = {"zh": 40, "en": 120}
# A frame such as "suppose ..." or a role play colours all that follows, so it cannot be a piece.
FRAMES = ("if", "play", "joke", "heard", "secret", "greet", "assent")
SEAMS = {
    "zh": ("，", "，", "，", "。", "。", "；", "，另外", "，还有", "，而且", " ", "\n", "，然后"),
    "en": (", ", ", and ", ". ", ". ", "; ", " and ", ", also ", ". Also, ", "\n", ", but ", " - ", ", plus "),
}
TASKS = {"zh": ("。", "，", "\n"), "en": (". ", ", ", ". ", "\n")}


def augmented(rows: list[dict[str, Any]], share: float = 1.0) -> list[dict[str, Any]]:
    """Return about `share` new turns per given turn."""
    chance = random.Random(20_261)
    made = []
    for lang in ("zh", "en"):
        own = [row for row in rows if row["lang"] == lang]
        facts = [piece for row in own for piece in _facts(row)]
        noise = [piece for row in own for piece in _noise(row)]
        if len(facts) < 20 or len(noise) < 20:
            continue
        made += [
            _turn(f"aug-{lang}-{number}", lang, _choose(chance, facts, noise), chance)
            for number in range(int(share * len(own)))
        ]
    return made


def _facts(row: dict[str, Any]) -> list[tuple[str, dict[str, Any] | None]]:
    return [
        (span["quote"].strip("。.!！ "), span)
        for span in row["spans"]
        if len(span["quote"]) < PIECE_LIMIT[row["lang"]]
        and span["subject"] != "assistant"
        and not any(CUES[name].search(row["turn"]) for name in FRAMES)
    ]


def _noise(row: dict[str, Any]) -> list[tuple[str, dict[str, Any] | None]]:
    turn = row["turn"]
    fits = not row["spans"] and len(turn) < PIECE_LIMIT[row["lang"]] and "\n" not in turn
    if not fits or any(CUES[name].search(turn) for name in FRAMES):
        return []
    return [(turn.strip("。. "), None)]


def _choose(chance: random.Random, facts: list[Any], noise: list[Any]) -> list[Any]:
    kind = chance.random()
    if kind < 0.45:
        return chance.sample(facts, chance.choice((2, 2, 3, 4)))
    if kind < 0.8:
        mixed = [*chance.sample(facts, chance.choice((1, 1, 2))), chance.choice(noise)]
        if chance.random() < 0.5:
            mixed.reverse()
        return mixed
    return chance.sample(noise, 2)


def _turn(name: str, lang: str, pieces: list[Any], chance: random.Random) -> dict[str, Any]:
    text, spans = "", []
    for piece, span in pieces:
        if text:
            seams = SEAMS if span is not None and spans else TASKS
            seam = chance.choice(seams[lang])
            if text[-1] in "？?！!…" and lang == "zh":
                seam = chance.choice(("", " "))
            elif text[-1] in "?!":
                seam = " "
            text += seam
        if span is not None:
            spans.append({**span, "quote": piece})
        text += piece
    return {"id": name, "lang": lang, "history": [], "turn": text, "spans": spans}
