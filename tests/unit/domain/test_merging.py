"""What a signal does to its item, number by number [A2, C1, F2, A7]."""

from __future__ import annotations

from datetime import timedelta

import pytest

from dualgate.domain.admission import AdmissionPolicy
from dualgate.domain.policy import GatePolicy
from dualgate.domain.signals import support_of
from dualgate.domain.status import Cause, Status
from dualgate.domain.types import Evidence, ItemType, Sensitivity
from dualgate.testing.builders import MONDAY

SLOT = {"attribute": "reply_length", "value": "short"}


def heard_in_turn(mind, *words):
    for session, confidence, evidence in words:
        decision = mind.prefers("short", session=session, confidence=confidence, evidence=evidence)
    return mind.items[decision.item_id]


@pytest.mark.parametrize(
    ("words", "count", "support"),
    [
        ([("a", 0.9, "explicit")], 1, 0.9),
        ([("a", 0.8, "explicit"), ("a", 0.8, "explicit")], 1, 0.8),
        ([("a", 0.8, "explicit"), ("b", 0.8, "explicit")], 2, 0.96),
        ([("a", 0.9, "explicit"), ("b", 0.8, "emotional")], 1.5, 0.94),
        ([("a", 0.9, "emotional"), ("a", 0.9, "explicit")], 1, 0.9),
        ([("a", 0.9, "emotional"), ("b", 0.9, "emotional")], 1, 0.6975),
    ],
)
def test_sessions_moods_and_repeats_add_up(a_mind, words, count, support):
    mind = a_mind(GatePolicy(admission=AdmissionPolicy(floor=0.0)))

    item = heard_in_turn(mind, *words)

    assert item.confirm_count == count
    assert item.support == pytest.approx(support)
    assert item.support == pytest.approx(support_of(mind.signals))


@pytest.mark.parametrize(
    ("words", "status"),
    [
        ([("a", 0.9, "explicit")], Status.CANDIDATE),
        ([("a", 0.9, "explicit"), ("b", 0.9, "emotional")], Status.CANDIDATE),
        ([("a", 0.9, "explicit"), ("b", 0.9, "explicit")], Status.CONFIRMED),
        ([("a", 0.79, "explicit")] + [(s, 0.79, "explicit") for s in "bc"], Status.CONFIRMED),
        ([("a", 0.79, "explicit")] + [(s, 0.8, "explicit") for s in "bc"], Status.FROZEN),
        ([(s, 1.0, "emotional") for s in "abcdefgh"], Status.CONFIRMED),
        ([(s, 1.0, "emotional") for s in "abcd"] + [("e", 0.8, "implied")], Status.FROZEN),
    ],
)
def test_candidate_confirmed_frozen(a_mind, words, status):
    """[F1]"""
    mind = a_mind(GatePolicy(admission=AdmissionPolicy(floor=0.0)))

    assert heard_in_turn(mind, *words).status is status



def test_confirmations_of_one_day_are_not_spaced(mind):
    """[F5]"""
    mind.prefers("short")
    mind.prefers("short")
    mind.days_pass(1)
    decision = mind.prefers("short")

    item = mind.items[decision.item_id]
    assert (item.confirm_count, item.spaced_count) == (3, 2)


def test_a_merge_keeps_the_strongest_of_everything(mind):
    item = mind.knows(**SLOT, confidence=0.7, importance=0.5, tags=("a",), entities=("x",))

    mind.prefers("short", confidence=0.9, importance=0.8, tags=("b", "a"), entities=("y",),
                 sensitivity="personal")  # fmt: skip
    merged = mind.current(item)
    assert (merged.confidence, merged.importance) == (0.9, 0.8)
    assert (merged.tags, merged.entities) == (("a", "b"), ("x", "y"))
    assert merged.sensitivity is Sensitivity.PERSONAL

    mind.prefers("short", confidence=0.6, importance=0.1, sensitivity="normal")
    again = mind.current(item)
    assert (again.confidence, again.importance) == (0.9, 0.8)
    assert again.sensitivity is Sensitivity.PERSONAL


@pytest.mark.parametrize(
    ("stored", "said", "replaced"),
    [
        ("emotional", "explicit", True),
        ("emotional", "implied", True),
        ("implied", "explicit", True),
        ("explicit", "explicit", False),
        ("explicit", "emotional", False),
        ("implied", "emotional", False),
    ],
)
def test_the_clearest_wording_stays(mind, stored, said, replaced):
    """[C1]"""
    item = mind.knows("stored wording", **SLOT, evidence=Evidence(stored))

    mind.says("said wording", **SLOT, evidence=said)

    assert (mind.current(item).content == "said wording") is replaced


def test_the_wording_of_a_frozen_item_stays_whatever_is_heard(mind):
    """[F3]: its core is byte-identical"""
    item = mind.knows("stored wording", **SLOT, status=Status.FROZEN,
                      evidence=Evidence.EMOTIONAL)  # fmt: skip

    mind.says("said wording", **SLOT)

    assert mind.current(item).content == "stored wording"


def test_a_word_from_an_old_log_does_not_turn_last_seen_back(mind):
    item = mind.knows(**SLOT)

    mind.prefers("short", at=MONDAY - timedelta(days=400))

    assert mind.current(item).last_seen_at == MONDAY
    assert mind.current(item).confirm_count == 2


def test_structure_that_was_missing_is_filled_in(mind):
    item = mind.knows("The user prefers short answers")

    mind.says("The user prefers short answers", **SLOT)

    assert (mind.current(item).attribute, mind.current(item).value) == ("reply_length", "short")


# --- contradiction


@pytest.mark.parametrize(
    ("count", "evidence", "left"),
    [(2.0, "explicit", 1.0), (0.5, "explicit", 0.0), (2.0, "emotional", 1.5)],
)
def test_a_contradiction_takes_one_off_and_never_under_nought(mind, count, evidence, left):
    """[F2]; an outburst takes as little as it gives"""
    item = mind.knows(**SLOT, confirm_count=count)

    mind.prefers("long", evidence=evidence)

    assert mind.current(item).confirm_count == left


def test_a_session_that_contradicts_twice_takes_one_off(mind):
    """[F2]"""
    item = mind.knows(**SLOT, confirm_count=1.5)
    for _ in range(3):
        mind.prefers("long", session="one evening")

    assert mind.current(item).confirm_count == 0.5


# --- archive


@pytest.mark.parametrize(("confidence", "returns"), [(0.8, True), (0.7999, False)])
def test_an_archived_item_returns_exactly_at_its_limit(mind, confidence, returns):
    """[A7]"""
    item = mind.knows(**SLOT, status=Status.ARCHIVED, confirm_count=0.5)

    mind.prefers("short", confidence=confidence)

    assert (mind.current(item).status is Status.CANDIDATE) is returns
    assert mind.current(item).confirm_count == 1.5  # heard either way [A4]


def test_what_was_confirmed_returns_confirmed(mind):
    item = mind.knows(**SLOT, status=Status.ARCHIVED, was_confirmed=True)

    mind.prefers("short", confidence=0.8)

    assert mind.current(item).status is Status.CONFIRMED


def test_it_does_not_return_into_a_pool_full_of_protected_items(a_mind):
    """[A6, A7]"""
    mind = a_mind(GatePolicy(admission=AdmissionPolicy(capacity=2, floor_places=1)))
    mind.knows("limit", item_type=ItemType.CONSTRAINT, status=Status.CONFIRMED, importance=0.1)
    mind.knows("strong", importance=1.0, support=1.0)
    item = mind.knows(**SLOT, status=Status.ARCHIVED, importance=0.3)

    decision = mind.prefers("short", importance=0.3)

    assert decision.outcome == "merged"
    assert mind.current(item).status is Status.ARCHIVED


def test_a_return_displaces_the_weakest_like_any_entry(a_mind):
    """[A5, A7]"""
    mind = a_mind(GatePolicy(admission=AdmissionPolicy(capacity=1, floor_places=0)))
    weak = mind.knows("weak", importance=0.1)
    item = mind.knows(**SLOT, status=Status.ARCHIVED, importance=0.9)

    mind.prefers("short")

    assert [m.cause for m in mind.moves if m.item_id == weak.id] == [Cause.EVICTED]
    assert mind.current(item).status in (Status.CANDIDATE, Status.CONFIRMED)


# --- limits


def test_what_is_sensitive_lasts_thirty_days_from_its_last_word(mind):
    """[P1]"""
    mind.prefers("short", sensitivity="sensitive")
    mind.days_pass(20)
    decision = mind.prefers("short", sensitivity="sensitive")

    assert mind.items[decision.item_id].expires_at == mind.now + timedelta(days=30)


def test_what_turns_out_to_be_sensitive_gets_a_limit(mind):
    item = mind.knows(**SLOT)

    mind.prefers("short", sensitivity="sensitive")

    assert mind.current(item).expires_at == mind.now + timedelta(days=30)


def test_an_earlier_limit_does_not_shorten_a_later_one(mind):
    item = mind.knows(**SLOT, expires_at=MONDAY + timedelta(days=90))

    mind.prefers("short", expires_at=MONDAY + timedelta(days=5))

    assert mind.current(item).expires_at == MONDAY + timedelta(days=90)
