"""Are two statements the same, or do they exclude each other? Calibrated probabilities [C1].

Rules of this file:
- Fitted on pairs of our own (training/judge), never on the evaluation set; weights/judge.json
  holds the trees and their calibration.
- Cosine is one number among thirty: every embedder puts "prefers concise" nearer to "prefers
  detailed" than to "likes short answers".
- The gates above keep the hard rules: other type, subject, polarity or qualifiers never merge.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from functools import lru_cache
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dualgate.adapters.local.anchors import about_two_things
from dualgate.adapters.local.features import NAMES, compare
from dualgate.adapters.local.statements import known, leaves
from dualgate.adapters.local.structure import WISHED, LexiconStructurer, Structure
from dualgate.domain.items import Candidate, MemoryItem, folded
from dualgate.domain.types import Polarity
from dualgate.domain.view import Likeness
from dualgate.errors import InvalidInputError

Numbers = NDArray[np.float64]

LOOK_AGAIN = 0.3  # below it nothing is ousted anyway
ASKED_LIMIT = 8  # items that are read once more for a correction, some ten milliseconds each
STRANGERS = 0.05  # an overwritten fact is the worst fault: a rule, not the fit, has the last word


class StatementJudge:
    """Compares a candidate with stored items; no I/O, no embedding inside."""

    def __init__(
        self,
        structurer: LexiconStructurer | None = None,
        slots: LexiconStructurer | None = None,
    ) -> None:
        """slots: reads what a correction may correct; the fit itself knows the lexicon alone."""
        self._structurer = structurer or LexiconStructurer()
        self._slots = slots

    def compare(
        self, candidate: Candidate, items: Sequence[MemoryItem], cosines: Sequence[float]
    ) -> list[Likeness]:
        """Return one Likeness an item, in order."""
        if len(items) != len(cosines):
            raise InvalidInputError("cosines", "one for each item", len(cosines))
        if not items:
            return []
        same, conflicting = self.judge(
            [(candidate.content, item.content) for item in items],
            cosines,
            [(_given(candidate), _given(item)) for item in items],
        )
        asked = self._asked(candidate, items, cosines)
        for place, item in enumerate(items):
            # One slot, one value, the same stance: structure has said it, the fit is not asked.
            if self._slots_agree(candidate, item):
                same[place], conflicting[place] = 1.0, 0.0
            elif self._names_as_left(candidate, item) or (
                place in asked and self._is_corrected(candidate, item)
            ):
                same[place], conflicting[place] = 0.0, 1.0
        other = [folded(item.subject) != folded(candidate.subject) for item in items]
        return [
            Likeness(
                same=0.0 if foreign else float(s),
                conflicting=0.0 if foreign else float(c),
                cosine=float(cosine),
            )
            for s, c, cosine, foreign in zip(same, conflicting, cosines, other, strict=True)
        ]

    @staticmethod
    def _names_as_left(candidate: Candidate, item: MemoryItem) -> bool:
        return bool(
            candidate.correction and item.value and leaves(candidate.content, item.value)
        )

    def _asked(
        self, candidate: Candidate, items: Sequence[MemoryItem], cosines: Sequence[float]
    ) -> set[int]:
        """Return the places of the nearest items that a correction may mean: each costs a reading."""
        if self._slots is None or not candidate.correction or _given(candidate) is None:
            return set()
        wished = candidate.item_type in WISHED
        open_ones = [
            place
            for place, item in enumerate(items)
            if not item.attribute and (item.item_type in WISHED) is wished
        ]
        return set(sorted(open_ones, key=lambda place: -cosines[place])[:ASKED_LIMIT])

    def _is_corrected(self, candidate: Candidate, item: MemoryItem) -> bool:
        """Whether an item without a slot may well hold another value of the corrected one."""
        told = _given(candidate)
        if told is None or self._slots is None:
            return False
        held = self._slots.leaning(item.content, told.attribute)
        if held is None or {*told.qualifiers} != {*held.qualifiers}:
            return False
        told, held = self._slot("", told), self._slot("", held)
        if told is None or held is None:
            return False
        if told.value == held.value:
            return told.polarity is not held.polarity
        many = told.attribute in self._structurer.many_valued
        return not many and told.polarity is held.polarity is Polarity.POSITIVE

    def _slots_agree(self, candidate: Candidate, item: MemoryItem) -> bool:
        one, two = _given(candidate), _given(item)
        return one is not None and two is not None and self._slot("", one) == self._slot("", two)

    def judge(
        self,
        pairs: Sequence[tuple[str, str]],
        cosines: Sequence[float],
        given: Sequence[tuple[Structure | None, Structure | None]] | None = None,
    ) -> tuple[Numbers, Numbers]:
        """Return (same, conflicting) of pairs of sentences, each 0-1."""
        pairs = [(unstressed(one), unstressed(other)) for one, other in pairs]
        structures = given or [(None, None)] * len(pairs)
        rows = [
            compare(
                known(one),
                known(other),
                slots=(self._slot(one, left), self._slot(other, right)),
                cosine=float(cosine),
                many=self._structurer.many_valued,
            )
            for (one, other), cosine, (left, right) in zip(pairs, cosines, structures, strict=True)
        ]
        matrix = np.asarray(rows, dtype=np.float64)
        # Word for word the same is the same, whatever the lexicon knows.
        equal = np.asarray([folded(one) == folded(other) for one, other in pairs])
        same, conflicting = (_forest(name).probabilities(matrix) for name in ("same", "conflicting"))
        same, conflicting = np.where(equal, 1.0, same), np.where(equal, 0.0, conflicting)
        return same, _without_strangers(pairs, conflicting)

    def _slot(self, text: str, given: Structure | None) -> Structure | None:
        if given is None:
            return self._structurer.read(text)
        return Structure(
            attribute=self._structurer.slot_of(given.attribute),
            value=self._structurer.canonical(
                self._structurer.slot_of(given.attribute), given.value
            ),
            polarity=given.polarity,
            qualifiers=tuple(self._structurer.canonical("", each) for each in given.qualifiers),
        )


_STRESS = re.compile(
    r"\b(the user) (?:always|still|really|just|honestly|actually) "
    r"(?=(?:like|love|prefer|enjoy|hate|dislike|adore)s?\b)"
    r"|(用户)(?:一直|还是|真的|就是|一向|向来)(?:都)?(?=更?(?:喜欢|偏好|习惯)|爱|讨厌)",
    re.IGNORECASE,
)


def unstressed(text: str) -> str:
    """Drop the word that only stresses a liking: who always prefers tea prefers tea.

    >>> unstressed("The user always prefers metric units."), unstressed("用户一直喜欢喝茶")
    ('The user prefers metric units.', '用户喜欢喝茶')
    """
    return _STRESS.sub(lambda found: f"{found[1]} " if found[1] else found[2], text)


def _without_strangers(pairs: Sequence[tuple[str, str]], conflicting: Numbers) -> Numbers:
    """Return the probabilities with next to none where the two are about different things."""
    found = conflicting.copy()
    for place in np.flatnonzero(conflicting > LOOK_AGAIN):
        if about_two_things(*pairs[int(place)]):
            found[place] = STRANGERS
    return found


def _given(statement: Candidate | MemoryItem) -> Structure | None:
    if not statement.attribute or not statement.value:
        return None
    return Structure(
        statement.attribute, statement.value, statement.polarity, statement.qualifiers
    )


class Forest:
    """Boosted trees of depth three, walked in numpy; a calibrated logistic on top."""

    def __init__(self, fitted: dict[str, Any]) -> None:
        feature = np.asarray(fitted["feature"], dtype=np.intp)  # (trees, nodes), -1: leaf
        trees, nodes = feature.shape
        # All trees in one flat table, so that a step is one `take`; a leaf leads to itself.
        self._root = np.arange(trees, dtype=np.intp) * nodes
        leaf, itself = feature < 0, np.arange(nodes, dtype=np.intp)
        sides = [np.where(leaf, itself, np.asarray(fitted[side])) for side in ("left", "right")]
        self._below = (np.stack(sides, axis=-1) + self._root[:, None, None]).ravel()
        self._feature = np.maximum(feature, 0).ravel()
        self._threshold = np.where(leaf, np.inf, np.asarray(fitted["threshold"])).ravel()
        self._value = np.asarray(fitted["value"], dtype=np.float64).ravel()
        self._start = float(fitted["start"])
        self._slope, self._shift = (float(each) for each in fitted["calibration"])
        self._depth = int(fitted["depth"])

    def margins(self, rows: Numbers) -> Numbers:
        """Return the uncalibrated log-odds of each row."""
        numbers = rows.ravel()
        starts = np.arange(rows.shape[0])[:, None] * rows.shape[1]
        node = np.broadcast_to(self._root, (rows.shape[0], self._root.size))
        for _ in range(self._depth):
            goes_right = numbers.take(starts + self._feature.take(node)) > self._threshold.take(node)
            node = self._below.take(2 * node + goes_right)
        total: Numbers = self._value.take(node).sum(axis=1) + self._start
        return total

    def probabilities(self, rows: Numbers) -> Numbers:
        """Return the calibrated probability of each row."""
        odds = np.clip(self._slope * self.margins(rows) + self._shift, -30.0, 30.0)
        return 1.0 / (1.0 + np.exp(-odds))


@lru_cache(maxsize=2)
def _forest(name: str) -> Forest:
    source = files(__package__).joinpath("weights/judge.json").read_text("utf-8")
    fitted = json.loads(source)
    if fitted["features"] != list(NAMES):
        raise ValueError("weights/judge.json was fitted on other features; run training/judge/fit.py")
    return Forest(fitted[name])
