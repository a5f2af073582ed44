"""What it takes to freeze, condition by condition [F1, F4, F6]."""

from __future__ import annotations

from datetime import timedelta

import pytest

from dualgate.domain.admission import AdmissionPolicy
from dualgate.domain.freezing import FreezePolicy, may_freeze, waiting_line
from dualgate.domain.policy import GatePolicy
from dualgate.domain.status import Cause, Status
from dualgate.domain.types import ItemType
from dualgate.testing.builders import MONDAY, an_item

POLICY = FreezePolicy()
RIPE = {
    "status": Status.CONFIRMED, "confirm_count": 3.0, "calm_confidence": 0.8,
}  # fmt: skip


def test_exactly_three_confirmations_and_four_fifths_are_enough():
    assert may_freeze(an_item(**RIPE), POLICY)


@pytest.mark.parametrize(
    "missing",
    [
        {"status": Status.CANDIDATE},
        {"status": Status.FROZEN},
        {"status": Status.ARCHIVED},
        {"confirm_count": 2.5},
        {"calm_confidence": 0.7999},
        {"calm_confidence": 0.0, "confidence": 1.0},
        {"item_type": ItemType.FACT},
        {"item_type": ItemType.EVENT},
        {"contested_with": ("other",)},
        {"thawed_at": MONDAY},
        {"thawed_at": MONDAY + timedelta(days=1)},
    ],
)
def test_every_condition_is_needed(missing):
    assert not may_freeze(an_item(**{**RIPE, **missing}), POLICY)


@pytest.mark.parametrize("kind", [ItemType.IDENTITY, ItemType.PREFERENCE, ItemType.CONSTRAINT])
def test_traits_are_on_the_whitelist(kind):
    assert may_freeze(an_item(**RIPE, item_type=kind), POLICY)


def test_a_confirmation_after_a_thaw_lets_it_freeze_again():
    """[F5]"""
    item = an_item(**RIPE, thawed_at=MONDAY, last_seen_at=MONDAY + timedelta(seconds=1))

    assert may_freeze(item, POLICY)


def test_a_pinned_item_needs_none_of_it_but_to_be_confirmed_and_uncontested():
    """[F6]"""
    pinned = {"pinned": True, "item_type": ItemType.FACT, "confirm_count": 0.0}

    assert may_freeze(an_item(status=Status.CONFIRMED, **pinned), POLICY)
    assert not may_freeze(an_item(status=Status.CANDIDATE, **pinned), POLICY)
    assert not may_freeze(
        an_item(status=Status.CONFIRMED, contested_with=("other",), **pinned), POLICY
    )


def test_the_line_holds_those_who_may():
    ripe, raw = an_item(id="ripe", **RIPE), an_item(id="raw")

    assert waiting_line([raw, ripe], POLICY) == [ripe]


def ripe_in(mind, number, **fields):
    return mind.knows(f"trait {number}", **{**RIPE, **fields})


def test_the_best_scored_of_the_line_freezes_when_a_place_opens(a_mind):
    """[F4]"""
    mind = a_mind(GatePolicy(freeze=FreezePolicy(capacity=1)))
    frozen = mind.knows("frozen", status=Status.FROZEN, confirm_count=3.0)
    good, better = ripe_in(mind, 1, importance=0.6), ripe_in(mind, 2, importance=0.9)
    mind.maintains()
    assert [i.id for i in mind.frozen] == [frozen.id]

    mind.does("dislike", frozen)

    assert [i.id for i in mind.frozen] == [better.id]
    assert mind.current(good).status is Status.CONFIRMED


def test_a_pinned_item_goes_before_the_best_scored(a_mind):
    """[F4, F6]"""
    mind = a_mind(GatePolicy(freeze=FreezePolicy(capacity=1)))
    ripe_in(mind, 1, importance=1.0)
    pinned = mind.knows("pinned", status=Status.CONFIRMED, importance=0.1, pinned=True)

    mind.maintains()

    assert [i.id for i in mind.frozen] == [pinned.id]


def test_weathering_makes_room_before_anybody_waits(a_mind):
    """[F4]"""
    mind = a_mind(GatePolicy(freeze=FreezePolicy(capacity=1)))
    old = mind.knows("old", status=Status.FROZEN, confirm_count=3.0)
    mind.days_pass(60)

    for _ in range(3):
        decision = mind.prefers("short")

    assert [i.id for i in mind.frozen] == [decision.item_id]
    assert [m.cause for m in mind.moves if m.item_id == old.id] == [Cause.WEATHERED]


def test_a_waiter_that_made_room_for_the_weathered_leaves_its_place_to_the_next(a_mind):
    """[F4]: no place stays empty while somebody waits"""
    mind = a_mind(
        GatePolicy(
            freeze=FreezePolicy(capacity=1),
            admission=AdmissionPolicy(capacity=2, floor_places=0),
        )
    )
    mind.knows("old", status=Status.FROZEN, confirm_count=3.0, importance=1.0)
    fresh = {"last_seen_at": MONDAY + timedelta(days=60)}
    weak = ripe_in(mind, 1, importance=0.2, pinned=True, **fresh)
    strong = ripe_in(mind, 2, importance=0.9, **fresh)
    mind.days_pass(60)

    mind.maintains()

    assert len(mind.frozen) == 1
    assert {mind.current(weak).status, mind.current(strong).status} >= {Status.FROZEN}


def test_without_capacity_nothing_freezes(a_mind):
    mind = a_mind(GatePolicy(freeze=FreezePolicy(capacity=0)))

    for _ in range(4):
        mind.prefers("short")

    assert [i.status for i in mind.items.values()] == [Status.CONFIRMED]


@pytest.mark.parametrize(
    ("fields", "word"),
    [
        ({"min_confidence": 1.1}, "min_confidence"),
        ({"confirm_at": 4.0}, "confirm_at"),
        ({"confirm_at": 0.0}, "confirm_at"),
        ({"capacity": -1}, "capacity"),
    ],
)
def test_numbers_that_make_no_sense_are_named(fields, word):
    (problem,) = FreezePolicy(**fields).problems()

    assert word in problem


def test_the_defaults_are_those_of_the_articles():
    """G 6.1"""
    assert (POLICY.capacity, POLICY.min_confirmations) == (30, 3)
    assert POLICY.problems() == []
