"""A frozen item is hard to change, and not for ever [F3, F5]."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from dualgate.domain import curation
from dualgate.domain.override import OverridePolicy
from dualgate.domain.plan import PendingState
from dualgate.domain.policy import GatePolicy
from dualgate.domain.status import Cause, Status
from dualgate.testing.builders import MONDAY


@pytest.mark.parametrize(
    ("confidence", "outcome"),
    [(0.69, "ignored"), (0.7, "held"), (0.89, "held"), (0.9, "superseded")],
)
def test_a_correction_overrides_from_nine_tenths_on(mind, confidence, outcome):
    frozen = mind.freezes()

    decision = mind.prefers("long", correction=True, confidence=confidence)

    assert decision.outcome == outcome
    is_replaced = mind.current(frozen).status is Status.SUPERSEDED
    assert is_replaced is (outcome == "superseded")


def test_an_ignored_and_a_held_challenge_leave_the_item_as_it_was(mind):
    frozen = mind.freezes()

    for confidence in (0.65, 0.8):
        mind.prefers("long", confidence=confidence)

    assert mind.current(frozen) == frozen
    assert [i.id for i in mind.items.values()] == [frozen.id]


def test_every_challenge_is_kept_as_a_signal_against(mind):
    frozen = mind.freezes()

    mind.prefers("long", confidence=0.65)
    mind.prefers("long", confidence=0.8)

    against = [s for s in mind.signals if not s.agrees]
    assert [(s.item_id, s.confidence) for s in against] == [(frozen.id, 0.65), (frozen.id, 0.8)]


def test_two_different_challenges_are_parked_side_by_side(mind):
    mind.freezes()

    first = mind.prefers("long", confidence=0.8)
    second = mind.prefers("rhyming", confidence=0.8)
    third = mind.prefers("long", confidence=0.75)

    assert third.pending_id == first.pending_id != second.pending_id
    assert sorted(len(p.challenges) for p in mind.challenges) == [1, 2]


def test_a_sixth_challenge_takes_the_place_of_the_weakest(a_mind):
    mind = a_mind(GatePolicy(override=OverridePolicy(per_item=2)))
    mind.freezes()
    weakest = mind.prefers("one", confidence=0.8)
    for _ in range(2):
        mind.prefers("two", confidence=0.8)

    mind.prefers("three", confidence=0.8)

    assert mind.pendings[weakest.pending_id].state is PendingState.DISPLACED
    assert {p.candidate.value for p in mind.challenges} == {"two", "three"}


def test_a_correction_replaces_two_frozen_items_that_it_excludes(mind):
    tea = mind.knows("tea", attribute="drink", value="tea", status=Status.FROZEN)
    no_coffee = mind.knows(
        "no coffee", attribute="drink", value="coffee", polarity="-", status=Status.FROZEN
    )
    mind.items[no_coffee.id] = no_coffee = replace(no_coffee, polarity=type(tea.polarity)("-"))

    decision = mind.says("coffee", attribute="drink", value="coffee", correction=True)

    assert decision.outcome == "superseded"
    assert {mind.current(i).superseded_by for i in (tea, no_coffee)} == {decision.item_id}


def challenge_for_weeks(mind, sessions=5, days=6):
    for _ in range(sessions):
        decision = mind.prefers("long", confidence=0.8)
        mind.days_pass(days)
    return decision


def test_a_long_steady_challenge_thaws_and_the_new_value_leads(mind):
    """[F3, C2]: five sessions against three less one"""
    frozen = mind.freezes()

    decision = challenge_for_weeks(mind)

    assert (decision.outcome, decision.reason) == ("contested", "thawed")
    (risen,) = mind.frozen  # five sessions are more than freezing asks for
    assert (risen.value, risen.confirm_count) == ("long", 5)
    assert risen.support == pytest.approx(1 - 0.2**5)
    assert mind.current(frozen).superseded_by == risen.id


def test_a_thaw_is_not_undone_by_what_was_said_before_the_challenge(mind):
    """[F3, C1]: it thaws and both stay; the old value wins again only by a new word"""
    frozen = mind.freezes()
    mind.items[frozen.id] = mind.current(frozen).with_(confirm_count=12.0)

    challenge_for_weeks(mind)

    assert {i.value for i in mind.hot} == {"short", "long"}
    assert all(i.contested for i in mind.hot)
    mind.prefers("short")
    assert [i.value for i in (*mind.hot, *mind.frozen)] == ["short"]


@pytest.mark.parametrize("word", ["says it again", "likes it", "rejects another challenge"])
def test_a_word_for_the_old_value_sets_the_challenge_back(mind, word):
    """[F3]: with no word for the old value"""
    frozen = mind.freezes()
    challenge_for_weeks(mind, sessions=4)
    other = mind.prefers("rhyming", confidence=0.8)

    if word == "says it again":
        mind.prefers("short")
    elif word == "likes it":
        mind.does("like", frozen)
    else:
        mind.settles(mind.pendings[other.pending_id], accept=False)
    mind.days_pass(1)

    assert mind.prefers("long", confidence=0.8).outcome == "held"
    assert mind.current(frozen).status is Status.FROZEN


def test_challenges_from_before_the_last_word_for_the_item_do_not_thaw_it(mind):
    """[F3]: imported history that contradicts what was settled since"""
    frozen = mind.freezes()

    for n in range(6):
        at = MONDAY - timedelta(days=300 - 10 * n)
        assert mind.prefers("long", confidence=0.8, at=at).outcome == "held"

    assert mind.current(frozen).status is Status.FROZEN


def test_an_old_correction_does_not_override_what_was_said_since(mind):
    """[F3, C1]"""
    frozen = mind.freezes()

    decision = mind.prefers(
        "long", correction=True, confidence=1.0, at=MONDAY - timedelta(days=300)
    )

    assert decision.outcome == "held"
    assert mind.current(frozen).status is Status.FROZEN


def test_a_challenge_that_lapsed_is_not_taken_up_again(mind):
    """[F3]: 60 quiet days end it, whether upkeep has run or not"""
    frozen = mind.freezes()
    first = mind.prefers("long", confidence=0.8)
    mind.days_pass(59)
    mind.items[frozen.id] = mind.current(frozen).with_(last_hit_at=mind.now)
    mind.days_pass(1)

    second = mind.prefers("long", confidence=0.8)

    assert second.pending_id != first.pending_id
    assert mind.pendings[first.pending_id].state is PendingState.LAPSED


def test_who_returns_after_the_item_has_weathered_is_heard_at_once(mind):
    """[F5, C1]: whether upkeep has run or not"""
    frozen = mind.freezes()
    mind.days_pass(60)

    decision = mind.prefers("long", confidence=0.8)

    assert decision.outcome == "contested"
    assert mind.current(frozen).status is Status.CONFIRMED
    assert Cause.WEATHERED in [m.cause for m in mind.moves if m.item_id == frozen.id]


def test_a_held_challenge_outlives_the_weathering_of_its_item(mind):
    """[F3]: it ends in the listed ways only; the user may still accept it"""
    mind.freezes()
    mind.days_pass(20)
    held = mind.prefers("long", confidence=0.8)
    mind.days_pass(45)
    mind.maintains()
    assert mind.frozen == []
    assert [p.id for p in mind.challenges] == [held.pending_id]

    mind.settles(mind.pendings[held.pending_id], accept=True)

    assert [i.value for i in mind.hot] == ["long"]


def test_a_challenge_ends_when_its_item_is_gone(mind):
    frozen = mind.freezes()
    held = mind.prefers("long", confidence=0.8)

    mind.does("forget", frozen, confirmed=True)

    assert mind.pendings[held.pending_id].state is not PendingState.OPEN
    assert mind.pendings[held.pending_id].closed_at == mind.now


def test_accepting_makes_the_new_value_the_next_version(mind):
    frozen = mind.freezes()
    held = mind.prefers("long", confidence=0.8)

    mind.settles(mind.pendings[held.pending_id], accept=True)

    (item,) = mind.hot
    assert (item.value, item.status, item.version) == ("long", Status.CONFIRMED, 2)
    assert (item.override_of, item.support) == (frozen.id, 1.0)
    assert mind.pendings[held.pending_id].state is PendingState.ACCEPTED


def test_a_challenge_can_be_accepted_beside_the_frozen_item(mind):
    """[F6]: the user says that both hold"""
    frozen = mind.freezes()
    held = mind.prefers("long", confidence=0.8)
    pending = mind.pendings[held.pending_id]

    mind.apply(curation.admit(pending, frozen, mind.snapshot(), mind.policy, mind.now))

    assert mind.current(frozen).status is Status.FROZEN
    assert [(i.value, i.status, i.contested) for i in mind.hot] == [
        ("long", Status.CONFIRMED, False)
    ]
    assert mind.challenges == []


def test_a_passing_wish_against_a_frozen_item_is_noted_for_the_task(mind):
    """[F3, L2]"""
    frozen = mind.freezes()

    decision = mind.prefers("long", scope="task")

    assert (decision.outcome, decision.item_id) == ("ignored", frozen.id)
    assert [n.text for n in mind.last_plan.notes] == ["The user prefers long answers"]
    assert mind.challenges == []
