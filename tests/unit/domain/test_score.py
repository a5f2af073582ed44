"""An item's standing without a query, against the formula worked by hand [A1]."""

from __future__ import annotations

import math
from datetime import timedelta

import pytest

from dualgate.domain.score import (
    ScorePolicy,
    importance_of,
    live_score,
    live_scores,
    recency,
    score,
)
from dualgate.domain.types import ItemType
from dualgate.testing.builders import MONDAY, a_candidate, an_item

POLICY = ScorePolicy()


@pytest.mark.parametrize(
    ("days", "expected"),
    [(0, 1.0), (1, 0.970446), (23.1049, 0.5), (100, 0.049787), (-5, 1.0)],
)
def test_recency_falls_by_three_percent_a_day_and_the_future_counts_as_now(days, expected):
    assert recency(MONDAY, MONDAY + timedelta(days=days), 0.03) == pytest.approx(
        expected, abs=1e-5
    )


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ((1, 1, 1), 1.0),
        ((0, 0, 0), 0.0),
        ((1, 0, 0), 0.25),
        ((0, 1, 0), 0.50),
        ((0, 0, 1), 0.25),
        ((1, 0.8, 0.9), 0.875),
        ((0.5, 0.6, 0.4), 0.525),
    ],
)
def test_the_score_is_a_quarter_recency_half_importance_a_quarter_support(parts, expected):
    assert score(*parts, POLICY) == pytest.approx(expected)


def test_weights_are_normalised():
    """G began at 0.4/0.4/0.2."""
    doubled = ScorePolicy(recency_weight=0.8, importance_weight=0.8, support_weight=0.4)

    assert score(1, 0.5, 0, doubled) == pytest.approx(0.4 + 0.2)


def test_a_live_score_ages():
    item = an_item(importance=0.8, support=0.9)

    assert live_score(item, MONDAY, POLICY) == pytest.approx(0.875)
    expected = 0.25 * math.exp(-0.3) + 0.4 + 0.225
    assert live_score(item, MONDAY + timedelta(days=10), POLICY) == pytest.approx(expected)


def test_the_clock_going_back_does_not_raise_a_score_over_fresh():
    item = an_item(importance=1.0, support=1.0)

    assert live_score(item, MONDAY - timedelta(days=99), POLICY) == 1.0


@pytest.mark.parametrize("kind", list(ItemType))
def test_every_type_has_an_importance_of_its_own(kind):
    assert importance_of(a_candidate(item_type=kind), POLICY) == POLICY.importance_by_type[kind]


def test_the_extractors_importance_wins_even_if_it_is_nought():
    assert importance_of(a_candidate(importance=0.0), POLICY) == 0.0


def test_who_the_user_is_weighs_more_than_what_he_mentions():
    """G 2.2"""
    weights = POLICY.importance_by_type

    assert weights[ItemType.IDENTITY] > weights[ItemType.PREFERENCE] > weights[ItemType.FACT]


@pytest.mark.parametrize(
    ("fields", "word"),
    [
        ({"recency_weight": -0.1}, "weights"),
        ({"recency_weight": 0, "importance_weight": 0, "support_weight": 0}, "weights"),
        ({"recency_rate": -1}, "recency_rate"),
        ({"emotional_weight": 1.1}, "emotional_weight"),
        ({"importance_by_type": {ItemType.FACT: 2.0}}, "importance_by_type"),
    ],
)
def test_numbers_that_make_no_sense_are_named(fields, word):
    (problem,) = ScorePolicy(**fields).problems()

    assert word in problem


def test_the_defaults_are_sound():
    assert POLICY.problems() == []


def test_a_type_that_a_policy_leaves_out_is_of_middling_importance():
    """[W4]"""
    policy = ScorePolicy(importance_by_type={ItemType.RULE: 0.9})

    assert importance_of(a_candidate(item_type=ItemType.FACT), policy) == 0.5


@pytest.mark.parametrize("days", [-3, 0, 0.5, 40])
def test_the_scores_of_a_pool_are_those_of_its_items(days):
    """[A1]"""
    items = {
        item.id: item
        for item in (an_item(id="a", importance=0.3), an_item(id="b", support=0.2))
    }
    policy = ScorePolicy(recency_weight=0.4, support_weight=0.1, recency_rate=0.05)
    now = MONDAY + timedelta(days=days)

    assert live_scores(items, now, policy) == pytest.approx(
        {item_id: live_score(item, now, policy) for item_id, item in items.items()}
    )
