"""Raw turns: when they answer, what of them is shown, and which may be [R3, R6, R5]."""

from __future__ import annotations

import math

import pytest

from dualgate.domain.status import Status
from dualgate.domain.transcript import TranscriptGate, covered, excerpt, may_be_quoted, rarity
from dualgate.domain.types import Sensitivity
from dualgate.testing.builders import an_item

GATE = TranscriptGate()


@pytest.mark.parametrize(
    ("held", "cosine", "opens"),
    [
        (0.8, 0.0, True),  # a look-up of names
        (0.799, 0.0, False),
        (0.0, 0.46, True),  # meaning alone
        (0.0, 0.459, False),
        (0.5, 0.3101, True),  # 0.3101 + 0.3·0.5
        (0.5, 0.309, False),
    ],
)
def test_turns_are_on_the_topic_by_meaning_with_words_or_by_most_of_the_words(held, cosine, opens):
    """[R3]"""
    assert GATE.opens(held, cosine) is opens


@pytest.mark.parametrize(
    ("holders", "kept", "expected"),
    [
        (1, 1_000, math.log1p(999.5 / 1.5)),
        (500, 1_000, math.log1p(500.5 / 500.5)),
        (0, 10, math.log1p(10.5 / 0.5)),
        # The counts of two moments may not agree: never negative.
        (12, 10, math.log1p(0.5 / 12.5)),
    ],
)
def test_a_word_tells_the_more_the_fewer_turns_hold_it(holders, kept, expected):
    """[R6]: BM25's inverse document frequency"""
    assert rarity(holders, kept) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("asked", "words", "expected"),
    [
        ({"tea": 3.0, "cup": 1.0}, ["green", "tea", "tea"], 0.75),
        ({"tea": 3.0, "cup": 1.0}, ["cup", "tea"], 1.0),
        ({"tea": 3.0}, ["green"], 0.0),
        ({}, ["green"], 0.0),
        ({"tea": 0.5}, ["tea"], 1.0),
    ],
)
def test_a_text_holds_a_share_of_what_is_asked_for(asked, words, expected):
    """[R6]"""
    assert covered(asked, words) == expected


TEXT = "aaaa bbbb CCCC dddd eeee ffff"


@pytest.mark.parametrize(
    ("limit", "asked", "expected"),
    [
        (29, ["dddd"], TEXT),
        (30, ["dddd"], TEXT),
        (28, ["aaaa"], "aaaa bbbb CCCC dddd eeee ff…"),
        (12, [], "aaaa bbbb C…"),
        (12, ["gggg"], "aaaa bbbb C…"),
        (12, ["aaaa"], "aaaa bbbb C…"),
        (12, ["cccc"], "…bbb CCCC d…"),
        (12, ["dddd"], "…CCC dddd e…"),
        (12, ["ffff"], "…d eeee ffff"),
        (12, ["ffff", "dddd"], "…CCC dddd e…"),
        (15, ["ffff"], "…dddd eeee ffff"),
    ],
)
def test_an_excerpt_lies_around_the_first_word_asked_for(limit, asked, expected):
    """[R6]: never longer than its limit, its ellipses included"""
    assert excerpt(TEXT, limit, asked) == expected
    assert len(expected) <= limit


@pytest.mark.parametrize(
    ("resting", "quoted", "unasked"),
    [
        ([], True, True),
        ([{}], True, True),
        ([{"sensitivity": Sensitivity.PERSONAL}], True, True),
        ([{"sensitivity": Sensitivity.SENSITIVE}], True, False),
        ([{"status": Status.FORGOTTEN}], False, False),
        ([{}, {"status": Status.FORGOTTEN}], False, False),
    ],
)
def test_a_turn_is_quoted_unless_what_rests_on_it_is_forgotten_or_sensitive(
    resting, quoted, unasked
):
    """[R5, P1, P3]"""
    items = [an_item(**fields) for fields in resting]

    assert may_be_quoted(items, sensitive=True) is quoted
    assert may_be_quoted(items, sensitive=False) is unasked
