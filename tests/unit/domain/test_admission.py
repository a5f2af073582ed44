"""Who enters the hot pool, and who makes room [A3-A6]."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dualgate.domain.admission import (
    AdmissionPolicy,
    Admit,
    Displace,
    Refuse,
    judge,
    place,
    protected,
    threshold,
)
from dualgate.domain.status import Status
from dualgate.domain.types import ItemType
from dualgate.testing.builders import an_item

POLICY = AdmissionPolicy()
TWO = AdmissionPolicy(capacity=2, floor_places=1)


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        ([], 0.60),
        ([0.8], 0.60 + 0.2 * 1 / 200),
        ([0.8] * 100, 0.70),
        ([0.8] * 200, 0.80),
        ([0.9, 0.7] * 50, 0.70),
        ([0.4] * 100, 0.50),
        ([0.9] * 400, 0.90),
    ],
)
def test_the_threshold_climbs_from_the_floor_to_the_median(scores, expected):
    """[A3]: floor + (median - floor)·(n/capacity)"""
    assert threshold(scores, POLICY) == pytest.approx(expected)


def test_ramp_nought_is_the_literal_median_and_an_empty_pool_asks_the_floor():
    """G 2.2"""
    literal = AdmissionPolicy(ramp=0)

    assert threshold([0.7, 0.8, 0.95], literal) == pytest.approx(0.8)
    assert threshold([], literal) == 0.60


def test_a_steeper_ramp_stays_lenient_for_longer():
    assert threshold([0.8] * 100, AdmissionPolicy(ramp=2)) == pytest.approx(0.65)


@given(st.lists(st.floats(0, 1), max_size=250), st.floats(0, 3))
def test_the_threshold_lies_between_floor_and_median(scores, ramp):
    found = threshold(scores, AdmissionPolicy(ramp=ramp))

    middle = sorted(scores)[len(scores) // 2] if scores else 0.6
    assert min(0.6, *(scores or [middle])) - 1e-9 <= found <= max(0.6, *(scores or [0])) + 1e-9


def test_exactly_at_the_threshold_is_enough():
    assert judge(0.6, {}, frozenset(), POLICY) == Admit()
    assert judge(0.5999, {}, frozenset(), POLICY) == Refuse("below_threshold")


def test_a_pool_that_fills_up_asks_for_more():
    """[A3]: half full of 0.8, it asks for 0.7"""
    pool = {str(n): 0.8 for n in range(100)}

    assert judge(0.6999, pool, frozenset(), POLICY) == Refuse("below_threshold")
    assert judge(0.7001, pool, frozenset(), POLICY) == Admit()


@pytest.mark.parametrize(
    ("score", "pool", "shielded", "expected"),
    [
        (0.1, {}, (), Admit()),
        (0.1, {"a": 0.9}, (), Admit()),
        (0.7, {"a": 0.6, "b": 0.9}, (), Displace("a")),
        (0.6, {"a": 0.6, "b": 0.9}, (), Refuse("pool_full")),
        (0.6, {"a": 0.6, "b": 0.6}, (), Refuse("pool_full")),
        (0.7, {"b": 0.6, "a": 0.6}, (), Displace("a")),
        (0.7, {"a": 0.1, "b": 0.6}, ("a",), Displace("b")),
        (0.7, {"a": 0.1, "b": 0.8}, ("a",), Refuse("pool_full")),
        (1.0, {"a": 0.1, "b": 0.1}, ("a", "b"), Refuse("pool_full")),
    ],
)
def test_a_full_pool_gives_the_weakest_unprotected_place_to_a_better_one(
    score, pool, shielded, expected
):
    """[A5]: a tie keeps the resident; among equals the order is settled by id"""
    assert place(score, pool, frozenset(shielded), TWO) == expected


def test_a_pool_of_one():
    one = AdmissionPolicy(capacity=1, floor_places=0)

    assert place(0.5, {"a": 0.4}, frozenset(), one) == Displace("a")


def constraint(item_id, **fields):
    return an_item(
        id=item_id, **{"item_type": ItemType.CONSTRAINT, "status": Status.CONFIRMED, **fields}
    )


def test_confirmed_identity_and_constraint_hold_their_place():
    """[A6]; G 5.3"""
    items = [
        constraint("constraint"),
        constraint("identity", item_type=ItemType.IDENTITY),
        constraint("preference", item_type=ItemType.PREFERENCE),
        constraint("unconfirmed", status=Status.CANDIDATE),
    ]

    assert protected(items, {}, POLICY) == {"constraint", "identity"}


def test_of_more_claims_than_places_the_best_scored_hold():
    """[A6]"""
    items = [constraint(f"c{n:02d}") for n in range(60)]
    scores = {item.id: n / 100 for n, item in enumerate(items)}

    assert protected(items, scores, POLICY) == {f"c{n:02d}" for n in range(10, 60)}


def test_what_the_user_pinned_comes_before_the_floor():
    """[F6]"""
    items = [constraint("strong"), constraint("pinned", pinned=True, item_type=ItemType.FACT)]

    assert protected(items, {"strong": 0.9, "pinned": 0.1}, TWO) == {"pinned"}


def test_without_places_nobody_is_protected():
    none = AdmissionPolicy(floor_places=0)

    assert protected([constraint("c")], {"c": 1.0}, none) == frozenset()


@pytest.mark.parametrize(
    ("fields", "word"),
    [
        ({"capacity": 0, "floor_places": 0}, "capacity"),
        ({"floor_places": 200}, "floor_places"),
        ({"floor_places": -1}, "floor_places"),
        ({"floor": 1.5}, "floor"),
        ({"min_confidence": -0.1}, "min_confidence"),
        ({"ramp": -1}, "ramp"),
    ],
)
def test_numbers_that_make_no_sense_are_named(fields, word):
    (problem,) = AdmissionPolicy(**fields).problems()

    assert word in problem


def test_the_defaults_are_those_of_the_articles():
    assert (POLICY.capacity, POLICY.floor_places, POLICY.min_confidence) == (200, 50, 0.6)
    assert POLICY.problems() == []
