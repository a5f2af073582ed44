"""What a challenge to a frozen item may do, exactly at its limits [F3]."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from dualgate.domain.override import (
    OverridePolicy,
    Stand,
    challenged,
    counting,
    has_lapsed,
    may_thaw,
    stand,
)
from dualgate.domain.plan import Challenge
from dualgate.testing.builders import MONDAY, a_candidate, a_pending

POLICY = OverridePolicy()


@pytest.mark.parametrize(
    ("confidence", "correction", "evidence", "scope", "expected"),
    [
        (0.69999, False, "explicit", "lasting", Stand.IGNORE),
        (0.7, False, "explicit", "lasting", Stand.HOLD),
        (0.89999, True, "explicit", "lasting", Stand.HOLD),
        (0.9, True, "explicit", "lasting", Stand.OVERRIDE),
        (1.0, False, "explicit", "lasting", Stand.HOLD),
        (1.0, True, "implied", "lasting", Stand.HOLD),
        (1.0, True, "emotional", "lasting", Stand.IGNORE),
        (1.0, True, "explicit", "task", Stand.IGNORE),
        (1.0, True, "explicit", "moment", Stand.IGNORE),
        (0.69999, True, "explicit", "lasting", Stand.IGNORE),
    ],
)
def test_ignore_hold_and_override_meet_exactly_at_their_limits(
    confidence, correction, evidence, scope, expected
):
    candidate = a_candidate(
        confidence=confidence, correction=correction, evidence=evidence, scope=scope
    )

    assert stand(candidate, POLICY)[0] is expected


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"scope": "task"}, "frozen_not_lasting"),
        ({"evidence": "emotional"}, "frozen_emotional"),
        ({"confidence": 0.69}, "frozen_low_confidence"),
        ({"correction": True}, "explicit_correction"),
        ({}, "frozen_held"),
    ],
)
def test_every_stand_has_its_reason(fields, reason):
    """[W2]"""
    assert stand(a_candidate(**fields), POLICY)[1] == reason


def pending_over(*days, **fields):
    challenges = tuple(
        Challenge(session_id=f"s{n}", at=MONDAY + timedelta(days=day), confidence=0.8)
        for n, day in enumerate(days)
    )
    return a_pending(challenges=challenges, opened_at=MONDAY, counting_since=MONDAY, **fields)


@pytest.mark.parametrize(
    ("days", "expected"),
    [
        ((0, 5, 10, 15, 21), True),
        ((0, 5, 10, 15, 20.999), False),
        ((0, 10, 20, 30), False),
        ((0, 0, 0, 0, 0), False),
        ((0, 0, 0, 0, 21), True),
    ],
)
def test_a_thaw_takes_five_sessions_and_three_weeks(days, expected):
    assert may_thaw(pending_over(*days), POLICY) is expected


def test_only_what_came_since_the_old_value_was_confirmed_counts():
    pending = replace(
        pending_over(0, 5, 10, 15, 21), counting_since=MONDAY + timedelta(days=5)
    )

    assert len(counting(pending)) == 4
    assert not may_thaw(pending, POLICY)


def test_a_session_counts_once_with_its_strongest_word_and_its_first_moment():
    word = Challenge(session_id="s1", at=MONDAY + timedelta(hours=1), confidence=0.95)
    weaker = Challenge(session_id="s1", at=MONDAY + timedelta(hours=2), confidence=0.7)

    pending = challenged(challenged(a_pending(), word), weaker)

    (kept,) = pending.challenges
    assert (kept.confidence, kept.at) == (0.95, MONDAY)
    assert pending.last_at == weaker.at


def test_a_challenge_from_an_old_log_does_not_turn_the_clock_back():
    earlier = Challenge(session_id="old", at=MONDAY - timedelta(days=9), confidence=0.8)

    assert challenged(a_pending(), earlier).last_at == MONDAY


def test_the_words_that_are_kept_are_bounded():
    pending = a_pending()
    for n in range(100):
        at = MONDAY + timedelta(days=n)
        pending = challenged(pending, Challenge(session_id=f"s{n}", at=at, confidence=0.8))

    assert len(pending.challenges) == 64
    assert pending.challenges[-1].session_id == "s99"


@pytest.mark.parametrize(("days", "expected"), [(59.999, False), (60, True), (-5, False)])
def test_a_challenge_lapses_after_sixty_quiet_days(days, expected):
    assert has_lapsed(a_pending(), MONDAY + timedelta(days=days), POLICY) is expected


def test_every_problem_of_the_numbers_is_named():
    wrong = OverridePolicy(hold_at=0.9, override_at=0.8, thaw_sessions=0, quiet_days=0, per_item=0)

    assert len(wrong.problems()) == 4
    assert OverridePolicy().problems() == []
