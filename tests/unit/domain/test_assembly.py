"""Facts about the sections of a session start [R1, R4, R5]."""

from __future__ import annotations

from datetime import timedelta

import pytest

from dualgate.domain.assembly import (
    ContextLimits,
    Group,
    best_scored,
    core_order,
    group_of,
    is_outburst,
    on_topic_first,
    recallable,
)
from dualgate.domain.status import Status
from dualgate.domain.types import Evidence, ItemType, Sensitivity
from dualgate.errors import InvalidInputError
from dualgate.testing.builders import MONDAY, an_item

LIMITS = ContextLimits()


def by_score(item):
    return item.score


def test_the_default_limits_are_those_of_the_article():
    budgets = LIMITS.budgets()

    assert (budgets.total, budgets.core, budgets.active, budgets.recalled) == (1600, 400, 800, 400)


def test_a_larger_window_lets_the_sections_grow_in_proportion():
    budgets = LIMITS.budgets(window_tokens=32_000)

    assert (budgets.total, budgets.core, budgets.active, budgets.recalled) == (
        6400, 1600, 3200, 1600,
    )  # fmt: skip


def test_a_small_window_limits_the_total_only():
    budgets = LIMITS.budgets(window_tokens=3_000)

    assert (budgets.total, budgets.core) == (600, 400)


def test_a_budget_never_exceeds_the_share_of_the_window():
    assert LIMITS.budgets(token_budget=5_000, window_tokens=10_000).total == 2_000


@pytest.mark.parametrize("total", [1, 900, 5_000])
def test_without_a_window_the_budget_is_what_was_asked_for(total):
    """[R1]"""
    assert LIMITS.budgets(token_budget=total).total == total


@pytest.mark.parametrize("argument", ["token_budget", "window_tokens"])
@pytest.mark.parametrize("wrong", [0, -1, 1.5, "9", True])
def test_a_budget_that_is_no_whole_number_above_0_is_refused(argument, wrong):
    with pytest.raises(InvalidInputError) as refused:
        LIMITS.budgets(**{argument: wrong})

    assert str(refused.value) == f"{argument}: must be a whole number above 0 (given: {wrong!r})"


@pytest.mark.parametrize(
    "changes",
    [
        {"status": Status.SUPERSEDED},
        {"status": Status.FORGOTTEN},
        {"expires_at": MONDAY},
        {"sensitivity": Sensitivity.SENSITIVE, "expires_at": MONDAY + timedelta(days=30)},
    ],
)
def test_superseded_forgotten_expired_and_sensitive_items_are_not_shown(changes):
    assert not recallable(an_item(**changes), MONDAY)


def test_sensitive_items_are_shown_on_request_but_not_when_expired():
    sensitive = an_item(sensitivity=Sensitivity.SENSITIVE, expires_at=MONDAY + timedelta(days=1))

    assert recallable(sensitive, MONDAY, sensitive=True)
    assert not recallable(sensitive, MONDAY + timedelta(days=2), sensitive=True)


def test_the_core_lists_identity_then_constraint_then_preference_each_best_first():
    items = [
        an_item(id="p", item_type=ItemType.PREFERENCE, score=0.9),
        an_item(id="d", item_type=ItemType.DECISION, score=1.0),
        an_item(id="c", item_type=ItemType.CONSTRAINT, score=0.5),
        an_item(id="i1", item_type=ItemType.IDENTITY, score=0.6),
        an_item(id="i2", item_type=ItemType.IDENTITY, score=0.8),
    ]

    assert [i.id for i in core_order(items, by_score)] == ["i2", "i1", "c", "p", "d"]


def test_the_best_scored_come_first_and_no_more_than_asked():
    items = [an_item(id=str(n), score=n / 10) for n in range(10)]

    assert [i.id for i in best_scored(items, by_score, 3)] == ["9", "8", "7"]


def test_a_topic_keeps_what_fits_and_then_what_suits_any_topic():
    items = [
        an_item(id="preference", item_type=ItemType.PREFERENCE),
        an_item(id="other", item_type=ItemType.PROJECT),
        an_item(id="fits", item_type=ItemType.PROJECT),
    ]
    chosen = on_topic_first(items, lambda item: item.id == "fits")

    assert [i.id for i in chosen] == ["fits", "preference"]


def test_which_types_suit_any_topic_is_a_setting():
    items = [
        an_item(id="preference", item_type=ItemType.PREFERENCE),
        an_item(id="limit", item_type=ItemType.CONSTRAINT),
    ]
    narrow = frozenset({ItemType.PREFERENCE})
    wide = narrow | {ItemType.CONSTRAINT}
    usual = on_topic_first(items, lambda _: False, narrow)
    widened = on_topic_first(items, lambda _: False, wide)

    assert [i.id for i in usual] == ["preference"]
    assert [i.id for i in widened] == ["preference", "limit"]


def test_what_is_contested_is_shown_as_a_conflict_whatever_its_type():
    assert group_of(an_item(contested_with=("x",))) is Group.CONFLICTS
    assert {group_of(an_item(item_type=kind)) for kind in ItemType} == set(Group) - {
        Group.CONFLICTS
    }


def test_all_problems_of_the_limits_are_named_at_once():
    assert len(ContextLimits(core_tokens=-1, active_items=-1, window_share=0).problems()) == 3
    assert ContextLimits(core_tokens=0, active_tokens=0, recalled_tokens=0).problems()


def test_a_sensitive_item_that_its_user_keeps_is_shown():
    """[P1]: a like takes the time limit off, and with it the veil."""
    kept = an_item(sensitivity=Sensitivity.SENSITIVE, expires_at=None)

    assert recallable(kept, MONDAY)


def test_a_wish_of_an_outburst_is_told_from_a_fact_of_one():
    """[F2]: what is wanted in a temper is no wish yet; what happened in it did happen"""
    wish = an_item(item_type=ItemType.RULE, evidence=Evidence.EMOTIONAL)
    fact = an_item(item_type=ItemType.EVENT, evidence=Evidence.EMOTIONAL)
    calm = an_item(item_type=ItemType.RULE, evidence=Evidence.EXPLICIT)

    assert [is_outburst(item) for item in (wish, fact, calm)] == [True, False, False]


def test_what_limits_the_assistant_and_what_is_owed_suits_any_topic():
    """docs/results/stability.md"""
    items = [an_item(id=kind.value, item_type=kind) for kind in ItemType]
    shown = on_topic_first(items, lambda _: False)

    assert {item.id for item in shown} == {
        "identity", "preference", "constraint", "rule", "commitment",
    }  # fmt: skip
