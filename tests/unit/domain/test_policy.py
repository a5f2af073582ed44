"""All numbers of the gates in one tree: every problem is told at once [F7]."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, fields

import pytest

from dualgate.domain.admission import AdmissionPolicy
from dualgate.domain.archiving import ArchivePolicy
from dualgate.domain.freezing import FreezePolicy
from dualgate.domain.policy import GatePolicy, WorkingPolicy
from dualgate.domain.weathering import WeatheringPolicy


def test_the_defaults_are_sound():
    assert GatePolicy().problems() == []


def test_the_defaults_are_those_of_the_spec():
    policy = GatePolicy()

    assert (policy.admission.capacity, policy.freeze.capacity, policy.archive.capacity) == (
        200, 30, 5_000,
    )  # fmt: skip
    assert (policy.similarity.duplicate, policy.similarity.duplicate_unstructured) == (0.85, 0.95)
    assert (policy.override.hold_at, policy.override.override_at) == (0.7, 0.9)
    assert (policy.override.thaw_sessions, policy.override.thaw_span_days) == (5, 21)
    assert (policy.weathering.days, policy.weathering.shape) == (60, "smooth")
    assert (policy.archive.sensitive_days, policy.archive.undo_days) == (30, 30)


def test_every_problem_is_told_at_once():
    wrong = GatePolicy(
        admission=AdmissionPolicy(floor=2.0),
        weathering=WeatheringPolicy(days=-1),
        archive=ArchivePolicy(capacity=-1),
        working=WorkingPolicy(ttl_hours=0),
    )

    assert len(wrong.problems()) == 4


def test_freezing_cannot_ask_for_less_than_entry():
    wrong = GatePolicy(freeze=FreezePolicy(min_confidence=0.5))

    assert wrong.problems() == [
        "freeze.min_confidence must not be below admission.min_confidence"
    ]


@pytest.mark.parametrize("part", [f.name for f in fields(GatePolicy)])
def test_no_number_can_be_changed_in_passing(part):
    policy = getattr(GatePolicy(), part)
    name = fields(policy)[0].name

    with pytest.raises(FrozenInstanceError):
        setattr(policy, name, 1)
