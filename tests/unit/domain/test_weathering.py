"""风化: which frozen items have gone unused, in both shapes [F5]."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dualgate.domain.status import Status
from dualgate.domain.weathering import (
    WeatheringPolicy,
    idle_days,
    lasting_days,
    strength,
    weathers,
)
from dualgate.testing.builders import MONDAY, an_item

SMOOTH = WeatheringPolicy()
CLIFF = WeatheringPolicy(shape="cliff")


def frozen(**fields):
    return an_item(status=Status.FROZEN, **{"spaced_count": 3, **fields})


def after(days):
    return MONDAY + timedelta(days=days)


@pytest.mark.parametrize("policy", [SMOOTH, CLIFF], ids=["smooth", "cliff"])
@pytest.mark.parametrize(("days", "expected"), [(59.999, False), (60, True)])
def test_three_confirmations_last_sixty_days_in_either_shape(policy, days, expected):
    assert weathers(frozen(), after(days), policy) is expected


@pytest.mark.parametrize(
    ("spaced", "days"), [(0, 60), (1, 60), (3, 60), (6, 84.853), (12, 120), (48, 240)]
)
def test_spaced_confirmations_make_it_last_longer(spaced, days):
    """60·√(n/3)"""
    assert lasting_days(spaced, SMOOTH) == pytest.approx(days, abs=1e-3)
    assert lasting_days(spaced, CLIFF) == 60


@pytest.mark.parametrize(("days", "expected"), [(0, 1.0), (30, 0.5), (60, 0.25), (90, 0.125)])
def test_strength_halves_every_thirty_days(days, expected):
    assert strength(frozen(), after(days), SMOOTH) == pytest.approx(expected)


@given(st.floats(0, 1000), st.integers(0, 100))
def test_it_weathers_just_when_its_strength_has_reached_the_limit(days, spaced):
    item = frozen(spaced_count=spaced)
    is_worn = strength(item, after(days), SMOOTH) <= SMOOTH.limit * (1 + 1e-9)

    if abs(days - lasting_days(spaced, SMOOTH)) > 1e-6:
        assert weathers(item, after(days), SMOOTH) is is_worn


@pytest.mark.parametrize("field", ["last_seen_at", "last_hit_at", "frozen_at"])
def test_a_confirmation_a_hit_and_the_freeze_itself_start_the_count_anew(field):
    item = frozen(**{field: after(10)})

    assert idle_days(item, after(30)) == pytest.approx(20)


def test_being_shown_at_session_start_is_no_use():
    item = frozen(last_accessed_at=after(59), access_count=40)

    assert weathers(item, after(60), SMOOTH)


def test_the_clock_going_back_makes_nothing_idle():
    assert idle_days(frozen(), after(-400)) == 0.0


@pytest.mark.parametrize("policy", [SMOOTH, CLIFF])
def test_a_pinned_item_never_weathers(policy):
    """[F6]"""
    assert not weathers(frozen(pinned=True), after(10_000), policy)


@pytest.mark.parametrize(
    ("fields", "word"),
    [
        ({"shape": "stairs"}, "shape"),
        ({"days": 0}, "days"),
        ({"limit": 1.0}, "limit"),
        ({"limit": 0.0}, "limit"),
        ({"growth": -1}, "growth"),
        ({"base_confirmations": 0}, "base_confirmations"),
    ],
)
def test_numbers_that_make_no_sense_are_named(fields, word):
    (problem,) = WeatheringPolicy(**fields).problems()

    assert word in problem
