"""Facts about retention [D1]."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dualgate.domain.decay import retention


def test_an_item_never_accessed_again_halves_in_about_23_days():
    assert retention(0.8, math.log(2) / 0.03, 0) == pytest.approx(0.4)


def test_each_access_adds_less_than_the_one_before():
    gains = [retention(1, 0, n + 1) - retention(1, 0, n) for n in range(5)]

    assert gains == sorted(gains, reverse=True)
    assert gains[-1] > 0


def test_an_access_in_the_future_counts_as_now():
    assert retention(0.5, -3, 0) == retention(0.5, 0, 0)


@given(st.floats(0, 1), st.floats(0, 10_000), st.floats(0, 10_000), st.integers(0, 10**6))
def test_longer_disuse_never_raises_retention(score, days, more, accesses):
    assert retention(score, days + more, accesses) <= retention(score, days, accesses)
