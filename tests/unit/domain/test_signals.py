"""What signals add up to, against the formula worked by hand [A2, F2]."""

from __future__ import annotations

from functools import reduce

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dualgate.domain.signals import (
    added_support,
    belief,
    counted,
    counted_in_session,
    strongest_in_session,
    support_of,
    weight,
)
from dualgate.domain.types import Evidence, Source
from dualgate.testing.builders import a_signal

CALM, OUTBURST = Evidence.EXPLICIT, Evidence.EMOTIONAL


def said(session, confidence, evidence=CALM, *, agrees=True):
    return a_signal(
        session_id=session, confidence=confidence, evidence=evidence, agrees=agrees
    )


@pytest.mark.parametrize(
    ("evidence", "expected"), [(CALM, 1.0), (Evidence.IMPLIED, 1.0), (OUTBURST, 0.5)]
)
def test_only_an_outburst_counts_half(evidence, expected):
    assert weight(evidence) == expected
    assert belief(0.8, evidence) == pytest.approx(0.8 * expected)


@pytest.mark.parametrize(
    ("signals", "expected"),
    [
        ([], 0.0),
        ([said("a", 0.9)], 0.9),
        ([said("a", 0.6), said("b", 0.6)], 0.84),
        ([said("a", 0.6), said("a", 0.9)], 0.9),
        ([said("a", 0.8, OUTBURST)], 0.4),
        ([said("a", 0.8, OUTBURST), said("a", 0.5)], 0.5),
        ([said("a", 0.9), said("b", 0.9, agrees=False)], 0.9),
        ([said("a", 1.0), said("b", 0.6)], 1.0),
        ([said("a", 0.8, OUTBURST), said("b", 0.8, OUTBURST), said("c", 0.8)], 0.928),
    ],
)
def test_support_is_one_less_the_product_of_doubts_one_a_session(signals, expected):
    assert support_of(signals) == pytest.approx(expected)


utterances = st.lists(
    st.tuples(
        st.sampled_from("abc"),
        st.floats(0, 1),
        st.sampled_from([CALM, Evidence.IMPLIED, OUTBURST]),
    ),
    max_size=12,
)


@given(utterances)
def test_support_grown_step_by_step_is_support_over_all(spoken):
    """[A2]: also where sessions interleave, and where certainty itself was said"""
    heard, support = [], 0.0
    for session, confidence, evidence in spoken:
        here = [s for s in heard if s.session_id == session]
        support = added_support(
            support, strongest_in_session(here), belief(confidence, evidence)
        )
        heard.append(said(session, confidence, evidence))

    assert support == pytest.approx(support_of(heard), abs=1e-9)
    assert 0 <= support <= 1


@given(st.lists(st.floats(0.6, 1), min_size=1, max_size=300))
def test_support_saturates_and_never_passes_one(confidences):
    grown = reduce(lambda s, c: added_support(s, 0.0, c), confidences, 0.0)

    assert max(confidences) - 1e-9 <= grown <= 1.0


def test_a_weaker_word_in_the_same_session_adds_nothing():
    assert added_support(0.95, 0.9, 0.7) == 0.95
    assert added_support(0.95, 0.9, 0.9) == 0.95


def test_a_session_counts_once_towards_confirmations():
    """[F2]"""
    assert counted_in_session([]) == 0.0
    assert counted_in_session([said("a", 0.9), said("a", 0.9)]) == 1.0
    assert counted_in_session([said("a", 0.9, OUTBURST)]) == 0.5
    assert counted_in_session([said("a", 0.9, OUTBURST), said("a", 0.6)]) == 1.0
    assert counted_in_session([said("a", 0.9, agrees=False)]) == 0.0


def test_a_hint_counts_nothing_and_adds_half():
    """[W5]: nobody heard the user say it"""
    hint = a_signal(session_id="a", confidence=0.8, source=Source.HINT)

    assert counted(CALM, source=Source.HINT) == counted_in_session([hint]) == 0.0
    assert belief(0.8, CALM, source=Source.HINT) == support_of([hint]) == 0.4
    assert strongest_in_session([hint]) == 0.4
    assert belief(0.8, OUTBURST, emotional=0.2, source=Source.HINT) == pytest.approx(0.16)


def test_the_weight_of_an_outburst_is_a_setting():
    """[F2]"""
    outburst = said("a", 0.5, OUTBURST)

    assert counted(OUTBURST, 0.2) == counted_in_session([outburst], 0.2) == 0.2
    assert support_of([outburst], 0.2) == pytest.approx(0.1)
    assert strongest_in_session([outburst], 0.2) == 0.1
