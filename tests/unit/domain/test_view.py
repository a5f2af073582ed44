"""The user's own clock [D1]."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dualgate.domain.view import OwnTime, Snapshot
from dualgate.testing.builders import MONDAY


def after(days):
    return MONDAY + timedelta(days=days)


@pytest.mark.parametrize(
    ("away", "expected"), [(0, 3), (0.5, 3.5), (7, 10), (7.01, 10), (400, 10), (-5, 3)]
)
def test_an_absence_counts_as_seven_days_at_most(away, expected):
    assert OwnTime(3.0, MONDAY).reading(after(away)) == pytest.approx(expected)


def test_a_clock_that_never_ran_reads_nought():
    assert OwnTime().reading(after(400)) == 0.0


def test_the_first_touch_starts_it():
    assert OwnTime().touched(MONDAY) == OwnTime(0.0, MONDAY)


def test_the_past_changes_nothing():
    own_time = OwnTime(3.0, MONDAY)

    assert own_time.touched(after(-1)) is own_time
    assert own_time.touched(MONDAY) is own_time


def test_the_longest_absence_is_a_setting():
    assert OwnTime(0.0, MONDAY).reading(after(30), 2.0) == 2.0


def test_the_usual_longest_absence_is_seven_days_and_a_touch_may_set_another():
    """[D1]"""
    own_time = OwnTime(1.0, MONDAY)

    assert own_time.touched(after(30)) == OwnTime(8.0, after(30))
    assert own_time.touched(after(30), 2.0) == OwnTime(3.0, after(30))
    assert own_time.touched(after(1)) == OwnTime(2.0, after(1))


@given(st.lists(st.floats(-50, 400), max_size=20))
def test_it_never_goes_back_whatever_the_machines_clock_does(days):
    own_time, last = OwnTime(), 0.0
    for day in days:
        own_time = own_time.touched(after(day))
        assert own_time.days >= last
        last = own_time.days


def test_a_fresh_snapshot_is_empty():
    snapshot = Snapshot(user_id="ann")

    assert (dict(snapshot.hot), dict(snapshot.frozen), snapshot.archive_count) == ({}, {}, 0)
