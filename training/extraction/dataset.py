"""The turns that the extractor is fitted on: which, how much each counts, what is kept apart."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from functools import cache
from typing import Any

import seeds
from augment import augmented
from examples import Example, example

AUGMENT = 0.3  # composed turns per hand-written one
CALIBRATION = 10  # one turn in so many is kept from the encoder
# Hand-written turns count fully; patterns and compositions only widen the vocabulary.
WEIGHTS = {"plain": 1.0, "seed": 0.5, "aug": 0.5, "g": 0.3}
GENERATED_PERCENT = 12


def keep(name: str) -> bool:
    """Generated turns repeat themselves: a part of them says it all."""
    generated = name.split("-")[1] == "g"
    return not generated or zlib.crc32(name.encode()) // 100 % 100 < GENERATED_PERCENT


def weight(each: Example) -> float:
    """Return how much a turn counts, by the way it was made."""
    name = each.row["id"].split("-")
    return WEIGHTS.get(name[0], WEIGHTS.get(name[1], 1.0))


def in_calibration(each: Example) -> bool:
    """Return whether a turn is kept from the encoder, to see how sure of itself it may be."""
    return zlib.crc32(f"fold{each.row['id']}".encode()) % CALIBRATION == 0


def is_trained_on(each: Example) -> bool:
    return not each.held_out and not in_calibration(each)


def with_augmented(examples: Sequence[Example]) -> list[Example]:
    made = augmented([each.row for each in examples], AUGMENT)
    return [*examples, *(example(row) for row in made), *patterns()]


@cache
def patterns() -> tuple[Example, ...]:
    return tuple(example(row) for row in (*seeds.rows(), *seeds.compositions(), *seeds.plain()))


def label_of(name: str, span: dict[str, Any]) -> str:
    """Return the label of a lasting statement for a head."""
    said = span[name]
    if name == "correction":
        return "yes" if said else "no"
    if name == "subject":
        return said if said in ("user", "assistant") else "other"
    return str(said)
