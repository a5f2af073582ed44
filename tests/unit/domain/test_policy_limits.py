"""Where each number of a policy ends, and the sentence that says so [F7].

The last number that makes sense stands beside the first that does not: a limit is its two sides.
"""

from __future__ import annotations

import math

import pytest

from dualgate.domain.admission import AdmissionPolicy
from dualgate.domain.archiving import ArchivePolicy
from dualgate.domain.assembly import ContextLimits
from dualgate.domain.audit import AuditPolicy
from dualgate.domain.compaction import CompactionPolicy
from dualgate.domain.conflict import SimilarityPolicy
from dualgate.domain.freezing import FreezePolicy
from dualgate.domain.fusion import PathWeights
from dualgate.domain.override import OverridePolicy
from dualgate.domain.passages import PassageWeights
from dualgate.domain.policy import GatePolicy, WorkingPolicy
from dualgate.domain.relevance import TopicGate
from dualgate.domain.score import ScorePolicy
from dualgate.domain.transcript import TranscriptGate, TranscriptPolicy
from dualgate.domain.types import ItemType
from dualgate.domain.weathering import WeatheringPolicy

LEAST = math.ulp(0.0)  # the smallest number above 0
OVER_ONE = math.nextafter(1.0, 2.0)


def unit(name):
    return [({name: n}, True) for n in (0, 1)] + [({name: n}, False) for n in (-LEAST, OVER_ONE)]


def not_negative(name):
    return [({name: 0}, True), ({name: -LEAST}, False)]


def positive(name):
    return [({name: LEAST}, True), ({name: 0}, False)]


def at_least_one(name):
    return [({name: 1}, True), ({name: 0}, False)]


LIMITS = [
    (
        AdmissionPolicy,
        "admission.capacity must be at least 1",
        [({"capacity": n, "floor_places": 0}, n >= 1) for n in (0, 1, 2)],
    ),
    (
        AdmissionPolicy,
        "admission.floor_places must be below admission.capacity",
        [
            ({"floor_places": 199}, True),
            ({"floor_places": 200}, False),
            ({"floor_places": 0}, True),
            ({"floor_places": -1}, False),
            ({"capacity": 1, "floor_places": 1}, False),
        ],
    ),
    (AdmissionPolicy, "admission.floor must be between 0 and 1", unit("floor")),
    (
        AdmissionPolicy,
        "admission.min_confidence must be between 0 and 1",
        unit("min_confidence"),
    ),
    (AdmissionPolicy, "admission.ramp must not be negative", not_negative("ramp")),
    (
        ArchivePolicy,
        "archive.capacity must not be negative",
        [({"capacity": 0}, True), ({"capacity": -1}, False)],
    ),
    (ArchivePolicy, "archive.reactivate_at must be between 0 and 1", unit("reactivate_at")),
    (
        ArchivePolicy,
        "archive.fade_below and decay_rate must not be negative",
        not_negative("fade_below") + not_negative("decay_rate"),
    ),
    (
        ArchivePolicy,
        "archive.longest_absence_days must be positive",
        positive("longest_absence_days"),
    ),
    (
        ArchivePolicy,
        "archive.sensitive_days must be positive, undo_days not negative",
        positive("sensitive_days") + not_negative("undo_days"),
    ),
    *(
        (
            ContextLimits,
            f"limits.{name} must not be negative",
            [({name: 0}, True), ({name: -1}, False)],
        )
        for name in (
            "core_tokens",
            "active_tokens",
            "recalled_tokens",
            "active_items",
            "recalled_items",
        )
    ),
    (
        ContextLimits,
        "limits: one section must have tokens",
        [({"core_tokens": n, "active_tokens": 0, "recalled_tokens": 0}, n > 0) for n in (0, 1)],
    ),
    (
        ContextLimits,
        "limits.window_share must be above 0 and at most 1",
        [
            ({"window_share": n}, fine)
            for n, fine in ((LEAST, True), (1, True), (0, False), (OVER_ONE, False))
        ],
    ),
    (AuditPolicy, "audit.every_days must be positive", positive("every_days")),
    (
        CompactionPolicy,
        "compaction.fold_turns must be between 1 and after_turns",
        [({"fold_turns": n}, 1 <= n <= 20) for n in (0, 1, 20, 21)],
    ),
    (
        CompactionPolicy,
        "compaction.summary_tokens and latest_turns must be at least 1",
        at_least_one("summary_tokens") + at_least_one("latest_turns"),
    ),
    (
        CompactionPolicy,
        "compaction.block_characters must be at least 80",
        [({"block_characters": n}, n >= 80) for n in (79, 80)],
    ),
    (
        SimilarityPolicy,
        "similarity: 0 <= overlap <= duplicate <= duplicate_unstructured <= 1 must hold",
        [
            ({"overlap": 0.0}, True),
            ({"overlap": -LEAST}, False),
            ({"overlap": 0.85}, True),
            ({"overlap": 0.86}, False),
            ({"duplicate": 0.95}, True),
            ({"duplicate": 0.96}, False),
            ({"duplicate_unstructured": 1.0}, True),
            ({"duplicate_unstructured": OVER_ONE}, False),
        ],
    ),
    (SimilarityPolicy, "similarity.conflict must be between 0 and 1", unit("conflict")),
    (
        SimilarityPolicy,
        "similarity.partner_gate must be a cosine",
        [({"partner_gate": n}, abs(n) <= 1) for n in (-1, 1, -OVER_ONE, OVER_ONE)],
    ),
    (
        SimilarityPolicy,
        "similarity.corrected_gate must be a cosine",
        [({"corrected_gate": n}, abs(n) <= 1) for n in (-1, 1, -OVER_ONE, OVER_ONE)],
    ),
    (
        SimilarityPolicy,
        "similarity.corrected_limit must be at least 1",
        at_least_one("corrected_limit"),
    ),
    (
        SimilarityPolicy,
        "similarity.partner_limit must be at least 1",
        at_least_one("partner_limit"),
    ),
    (SimilarityPolicy, "similarity.settle_lead must be positive", positive("settle_lead")),
    (FreezePolicy, "freeze.min_confidence must be between 0 and 1", unit("min_confidence")),
    (
        FreezePolicy,
        "freeze: 0 < confirm_at <= min_confirmations must hold",
        [*positive("confirm_at"), ({"confirm_at": 3.0}, True), ({"confirm_at": 3.1}, False)],
    ),
    (
        FreezePolicy,
        "freeze.capacity must not be negative",
        [({"capacity": 0}, True), ({"capacity": -1}, False)],
    ),
    *(
        (PathWeights, f"weights.{path} must not be negative", not_negative(path))
        for path in ("semantic", "entity", "recency", "type")
    ),
    (
        PathWeights,
        "weights: semantic or entity must be positive",
        [
            ({"semantic": one, "entity": other}, one + other > 0)
            for one, other in ((0, 0), (LEAST, 0), (0, LEAST))
        ],
    ),
    (
        OverridePolicy,
        "override: 0 <= hold_at <= override_at <= 1 must hold",
        [
            ({"hold_at": 0.0}, True),
            ({"hold_at": -LEAST}, False),
            ({"hold_at": 0.9}, True),
            ({"hold_at": 0.91}, False),
            ({"override_at": 1.0}, True),
            ({"override_at": OVER_ONE}, False),
        ],
    ),
    (OverridePolicy, "override.thaw_sessions must be at least 1", at_least_one("thaw_sessions")),
    (
        OverridePolicy,
        "override: thaw_span_days and quiet_days must be positive",
        not_negative("thaw_span_days") + positive("quiet_days"),
    ),
    (OverridePolicy, "override.per_item must be at least 1", at_least_one("per_item")),
    *(
        (PassageWeights, f"passages.{name} must not be negative", not_negative(name))
        for name in ("words", "meaning", "session", "before", "after", "date", "k1")
    ),
    (
        PassageWeights,
        "passages: words or meaning must be positive",
        [
            ({"words": one, "meaning": other}, one + other > 0)
            for one, other in ((0, 0), (LEAST, 0), (0, LEAST))
        ],
    ),
    (
        PassageWeights,
        "passages.b and lowest_cosine must be between 0 and 1",
        unit("b") + unit("lowest_cosine"),
    ),
    (
        PassageWeights,
        "passages.reach must not be negative",
        [({"reach": 0}, True), ({"reach": -1}, False)],
    ),
    (WorkingPolicy, "working.ttl_hours must be positive", positive("ttl_hours")),
    *(
        (TopicGate, f"gate.{name} must be between 0 and 1", unit(name))
        for name in ("alone", "subject_share", "overlap_lift", "entity", "other_subject", "meant")
    ),
    *(
        (
            TopicGate,
            f"gate.{name} must be between 0 and 1",
            [({**room, name: most}, True), ({**room, name: OVER_ONE}, False)],
        )
        for name, most, room in (
            ("semantic", 1, {}),
            ("semantic_personal", 1, {"semantic": 1}),
            ("general_share", 1, {}),
        )
    ),
    (
        TopicGate,
        "gate.type_lift must be between 0 and 1",
        [({"type_lift": 0}, True), ({"type_lift": -LEAST}, False)],
    ),
    (
        TopicGate,
        "gate.full_cosine must be above 0 and at most 1",
        [*positive("full_cosine"), ({"full_cosine": 1}, True), ({"full_cosine": 1.1}, False)],
    ),
    (
        TopicGate,
        "gate.semantic_personal must not exceed gate.semantic",
        [({"semantic_personal": 0.30}, True), ({"semantic_personal": 0.31}, False)],
    ),
    (
        TopicGate,
        "gate.type_lift must stay below the lowest bar",
        [
            ({"semantic_personal": 0.25, "general_share": 0.5, "type_lift": 0.124}, True),
            ({"semantic_personal": 0.25, "general_share": 0.5, "type_lift": 0.125}, False),
            ({"semantic_personal": 0.25, "general_share": 0.5, "type_lift": 0.126}, False),
        ],
    ),
    (
        ScorePolicy,
        "score weights must not be negative, and one must be positive",
        [
            ({"recency_weight": -0.01}, False),
            ({"importance_weight": -0.01}, False),
            ({"support_weight": -0.01}, False),
            ({"recency_weight": 0, "importance_weight": 0}, True),
            ({"recency_weight": 0, "importance_weight": 0, "support_weight": 0}, False),
        ],
    ),
    (ScorePolicy, "score.recency_rate must not be negative", not_negative("recency_rate")),
    (
        ScorePolicy,
        "score.emotional_weight must be between 0 and 1",
        unit("emotional_weight"),
    ),
    (
        ScorePolicy,
        "score.importance_by_type[fact] must be between 0 and 1",
        [
            ({"importance_by_type": {ItemType.RULE: 0.5, ItemType.FACT: n}}, 0 <= n <= 1)
            for n in (0, 1, -LEAST, OVER_ONE)
        ],
    ),
    (TranscriptPolicy, "transcripts.keep_days must be positive", positive("keep_days")),
    *(
        (TranscriptGate, f"passage_gate.{name} must be between 0 and 1", unit(name))
        for name in ("strength", "lift", "coverage")
    ),
    (
        WeatheringPolicy,
        "weathering.shape must be smooth or cliff",
        [({"shape": s}, s in ("smooth", "cliff")) for s in ("smooth", "cliff", "linear")],
    ),
    (WeatheringPolicy, "weathering.days must be positive", positive("days")),
    (
        WeatheringPolicy,
        "weathering.limit must be between 0 and 1, both excluded",
        [
            ({"limit": n}, fine)
            for n, fine in ((LEAST, True), (0.99, True), (0, False), (1, False))
        ],
    ),
    (
        WeatheringPolicy,
        "weathering.growth and base_confirmations must be positive",
        not_negative("growth") + positive("base_confirmations"),
    ),
]
SIDES = [
    pytest.param(kind, rule, fields, fine, id=f"{rule}, {fields}")
    for kind, rule, sides in LIMITS
    for fields, fine in sides
]


@pytest.mark.parametrize(("kind", "rule", "fields", "fine"), SIDES)
def test_a_number_beyond_its_limit_is_named_with_its_rule(kind, rule, fields, fine):
    """[F7]: a setting past its limit says which and why; one at its limit is accepted"""
    assert (rule in kind(**fields).problems()) is not fine


@pytest.mark.parametrize(
    "kind", sorted({kind for kind, _, _ in LIMITS} | {GatePolicy}, key=lambda kind: kind.__name__)
)
def test_what_a_policy_comes_with_is_sound(kind):
    assert kind().problems() == []


def test_a_class_of_users_may_freeze_as_soon_as_it_admits_but_no_sooner():
    """[F7]"""
    rule = "freeze.min_confidence must not be below admission.min_confidence"

    assert rule not in GatePolicy(freeze=FreezePolicy(min_confidence=0.6)).problems()
    assert rule in GatePolicy(freeze=FreezePolicy(min_confidence=0.59)).problems()


@pytest.mark.parametrize("kind", [PathWeights, PassageWeights])
def test_weights_are_named_as_their_owner_calls_them(kind):
    first = "semantic" if kind is PathWeights else "words"

    assert kind(**{first: -1}).problems("ours")[0] == f"ours.{first} must not be negative"
