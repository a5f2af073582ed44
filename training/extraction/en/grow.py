"""Grow turns from templates: choose wordings and slot values, then type them as people do.

A template is a line of the markup with two additions: [a~b~c] is a choice of wording, {slot} a
value from slots.txt ({slot2} a different one, {slot.c} the form it takes in content and codes).
A note that begins with "!" marks a frame (a paste, a role play, a secret) to be left alone;
other templates may get a greeting, a question beside them or a second statement.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from en.markup import Draft, Piece, as_record, read_line
from en.surface import typed

MOST_PER_TEMPLATE = 24
_CHOICE = re.compile(r"\[([^\[\]]*~[^\[\]]*)\]")
_SLOT = re.compile(r"\{([a-z]+)(\d?)(\.c)?\}")
_SEAMS = (". ", ". ", ", ", "; ", "\n", " - ", ". also ", ", and ", " and ", ". btw ")
_OPENERS = (
    "btw ", "hey, ", "ok so ", "hi! ", "oh and ", "also, ", "um ", "fyi ", "so, ", "right, ",
    "quick one: ", "hello. ", "well, ", "just so you know, ", "for context: ", "heads up: ",
    "yo ", "hmm ", "honestly ", "morning! ", "alright, ", "look, ",
)  # fmt: skip

Slots = dict[str, list[str]]


def read_slots(text: str) -> Slots:
    """Read slots.txt."""
    slots: Slots = {}
    for line in text.split("\n"):
        if line.strip() and not line.startswith("##"):
            name, _, values = line.partition(": ")
            slots[name] = [value.strip() for value in values.split(" | ")]
    return slots


def fill(text: str, slots: Slots, rng: random.Random) -> str:
    """Choose the wordings and put values into the slots of one template."""
    while _CHOICE.search(text):
        text = _CHOICE.sub(lambda found: rng.choice(found[1].split("~")), text)
    chosen: dict[str, str] = {}

    def value(found: re.Match[str]) -> str:
        key = found[1] + found[2]
        if key not in chosen:
            taken = {chosen[name] for name in chosen if name.rstrip("0123456789") == found[1]}
            chosen[key] = rng.choice([v for v in slots[found[1]] if v not in taken])
        said, _, meant = chosen[key].partition("=")
        return (meant or said) if found[3] else said

    while _SLOT.search(text):
        text = _SLOT.sub(value, text)
    return text


def beside(draft: Draft, other: tuple[Piece, ...], rng: random.Random, first: bool) -> Draft:
    """Put other pieces before or after a draft, with a seam that is noise."""
    before = other if first else draft.pieces
    ended = before[-1].text.rstrip()[-1:] in "?!.;…"
    seam = (Piece(rng.choice((" ", " ", "\n", " also ")) if ended else rng.choice(_SEAMS)),)
    pieces = other + seam + draft.pieces if first else draft.pieces + seam + other
    return replace(draft, pieces=pieces)


def company(draft: Draft, fellows: list[str], slots: Slots, rng: random.Random) -> Draft:
    """Give a draft what surrounds a statement in a real message, or leave it bare."""
    if draft.note.startswith("!"):
        return replace(draft, note=draft.note[1:].strip())
    luck = rng.random()
    if luck < 0.14 and not draft.history:
        second = read_line(fill(rng.choice(fellows), slots, rng))
        if not second.note.startswith("!") and not second.history:
            draft = beside(draft, second.pieces, rng, first=False)
            draft = replace(draft, note=f"{draft.note} + {second.note}")
    elif luck < 0.38:
        question = (Piece(fill("{ask}[?~~ pls~ please]", slots, rng)),)
        draft = beside(draft, question, rng, first=rng.random() < 0.3)
    elif luck < 0.46:
        draft = beside(draft, (Piece(fill("{chat}", slots, rng)),), rng, first=False)
    elif luck < 0.5:
        draft = beside(draft, (Piece(fill("{mood}", slots, rng)),), rng, first=True)
    if rng.random() < 0.16:
        draft = replace(draft, pieces=(Piece(rng.choice(_OPENERS)), *draft.pieces))
    return draft


def joined(pieces: tuple[Piece, ...]) -> tuple[Piece, ...]:
    """Join neighbouring noise so that the surface is changed over whole stretches."""
    merged: list[Piece] = []
    for piece in pieces:
        if merged and merged[-1].mark is None and piece.mark is None:
            merged[-1] = Piece(merged[-1].text + piece.text)
        else:
            merged.append(piece)
    return tuple(merged)


def grow(
    folder: Path, moment: Callable[[random.Random, str], datetime], seed: int
) -> list[dict[str, Any]]:
    """Grow every template into as many different turns as it has in it, at most 24."""
    slots = read_slots((folder / "slots.txt").read_text(encoding="utf-8"))
    lines = [
        line
        for file in sorted(folder.glob("templates-*.txt"))
        for line in file.read_text(encoding="utf-8").split("\n")
        if line.strip() and not line.startswith("##")
    ]
    records: list[dict[str, Any]] = []
    seen: set[str] = set()
    for place, line in enumerate(lines, 1):
        fellows = [other for other in lines if other.split(" @@ ")[0] == line.split(" @@ ")[0]]
        for number in range(MOST_PER_TEMPLATE):
            rng = random.Random(f"{seed} {line} {number}")
            draft = company(read_line(fill(line, slots, rng)), fellows, slots, rng)
            draft = typed(replace(draft, pieces=joined(draft.pieces)), rng)
            # The first three digits are the template: turns that share them belong in one split.
            record = as_record(draft, f"en-g-{place:03}{number:02}", moment(rng, draft.note))
            if record["turn"] not in seen:
                seen.add(record["turn"])
                records.append(record)
    return records
