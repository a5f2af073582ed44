"""The archive: who leaves first, what runs out, how much is retained [A7, D1, P1]."""

from __future__ import annotations

import math
from datetime import timedelta

import pytest

from dualgate.domain.archiving import (
    ArchivePolicy,
    expiry_of,
    is_expired,
    kept_strength,
    leaving_rank,
)
from dualgate.domain.score import ScorePolicy
from dualgate.domain.types import Sensitivity
from dualgate.domain.view import OwnTime
from dualgate.testing.builders import MONDAY, an_item

POLICY, SCORING = ArchivePolicy(), ScorePolicy()
NORMAL, SENSITIVE = Sensitivity.NORMAL, Sensitivity.SENSITIVE


def after(days):
    return MONDAY + timedelta(days=days)


@pytest.mark.parametrize(
    ("limit", "care", "expected"),
    [
        (None, NORMAL, None),
        (None, Sensitivity.PERSONAL, None),
        (after(400), NORMAL, after(400)),
        (None, SENSITIVE, after(30)),
        (after(7), SENSITIVE, after(7)),
        (after(400), SENSITIVE, after(30)),
    ],
)
def test_what_is_sensitive_runs_out_after_thirty_days_at_most(limit, care, expected):
    """[P1]: a later limit of its own does not keep it, only its user does"""
    assert expiry_of(limit, care, MONDAY, POLICY) == expected


def test_a_limit_has_run_out_once_it_is_reached():
    item = an_item(expires_at=after(1))

    assert not is_expired(item, after(0.999))
    assert is_expired(item, after(1))
    assert not is_expired(an_item(), after(10_000))


def test_retention_is_worked_out_in_the_users_own_days():
    """[D1]: 0.25·e^(-0.03·5) + 0.4 + 0.225, times e^(-0.03·5), times 1 + ln 3"""
    item = an_item(importance=0.8, support=0.9, access_count=2, accessed_day=0.0)
    own_time = OwnTime(days=5.0, active_at=after(5))
    score = 0.25 * math.exp(-0.15) + 0.625

    found = kept_strength(item, after(5), own_time, SCORING, POLICY)

    assert found == pytest.approx(score * math.exp(-0.15) * (1 + math.log(3)))


def test_half_a_year_away_counts_as_seven_days():
    """[D1]"""
    own_time = OwnTime(days=0.0, active_at=MONDAY)
    item = an_item(importance=0.8, support=0.9)

    away = kept_strength(item, after(183), own_time, SCORING, POLICY)

    score = 0.25 * math.exp(-0.03 * 183) + 0.625  # recency is calendar time [A1]
    assert away == pytest.approx(score * math.exp(-0.21))
    assert away > POLICY.fade_below


def test_the_longest_absence_is_a_setting():
    """[D1]"""
    item, own_time = an_item(importance=0.8, support=0.9), OwnTime(days=0.0, active_at=MONDAY)
    brief = ArchivePolicy(longest_absence_days=2.0, decay_rate=0.1)

    away = kept_strength(item, after(30), own_time, SCORING, brief)

    assert away == pytest.approx((0.25 * math.exp(-0.9) + 0.625) * math.exp(-0.2))


def test_an_access_later_than_now_is_no_advantage():
    item, own_time = an_item(accessed_day=99.0), OwnTime(days=1.0, active_at=MONDAY)

    assert kept_strength(item, MONDAY, own_time, SCORING, POLICY) == pytest.approx(
        0.25 + 0.35 + 0.225
    )


def test_the_unconfirmed_leave_first_then_the_expired_then_the_weakest():
    """[A7]"""
    order = [
        leaving_rank(an_item(id=item_id, was_confirmed=confirmed), kept, expired=expired)
        for item_id, confirmed, expired, kept in [
            ("a", False, True, 0.9),
            ("b", False, False, 0.1),
            ("c", False, False, 0.8),
            ("d", True, True, 0.7),
            ("e", True, False, 0.2),
            ("f", True, False, 0.2),
            ("g", True, False, 0.3),
        ]
    ]

    assert order == sorted(order)


@pytest.mark.parametrize(
    ("fields", "word"),
    [
        ({"capacity": -1}, "capacity"),
        ({"reactivate_at": 1.1}, "reactivate_at"),
        ({"fade_below": -0.1}, "fade_below"),
        ({"decay_rate": -0.1}, "decay_rate"),
        ({"longest_absence_days": 0}, "longest_absence_days"),
        ({"sensitive_days": 0}, "sensitive_days"),
        ({"undo_days": -1}, "undo_days"),
    ],
)
def test_numbers_that_make_no_sense_are_named(fields, word):
    (problem,) = ArchivePolicy(**fields).problems()

    assert word in problem
