"""What a signal does to its item, number by number [A2, C1, F2, A7]."""

from __future__ import annotations

from datetime import timedelta

import pytest

from dualgate.domain.admission import AdmissionPolicy
from dualgate.domain.conflict import SimilarityPolicy
from dualgate.domain.items import MemoryItem
from dualgate.domain.policy import GatePolicy
from dualgate.domain.score import ScorePolicy
from dualgate.domain.signals import Signal, support_of
from dualgate.domain.status import Cause, Status
from dualgate.domain.types import Evidence, ItemType, Polarity, Sensitivity, Source
from dualgate.domain.view import OwnTime
from dualgate.testing.builders import MONDAY, USER

SLOT = {"attribute": "reply_length", "value": "short"}


def heard_in_turn(mind, *words):
    for session, confidence, evidence in words:
        decision = mind.prefers("short", session=session, confidence=confidence, evidence=evidence)
    return mind.items[decision.item_id]


@pytest.mark.parametrize(
    ("words", "count", "support"),
    [
        ([("a", 0.9, "explicit")], 1, 0.9),
        ([("a", 0.8, "explicit"), ("a", 0.8, "explicit")], 1, 0.8),
        ([("a", 0.8, "explicit"), ("b", 0.8, "explicit")], 2, 0.96),
        ([("a", 0.9, "explicit"), ("b", 0.8, "emotional")], 1.5, 0.94),
        ([("a", 0.9, "emotional"), ("a", 0.9, "explicit")], 1, 0.9),
        ([("a", 0.9, "emotional"), ("b", 0.9, "emotional")], 1, 0.6975),
    ],
)
def test_sessions_moods_and_repeats_add_up(a_mind, words, count, support):
    mind = a_mind(GatePolicy(admission=AdmissionPolicy(floor=0.0)))

    item = heard_in_turn(mind, *words)

    assert item.confirm_count == count
    assert item.support == pytest.approx(support)
    assert item.support == pytest.approx(support_of(mind.signals))


@pytest.mark.parametrize(
    ("words", "status"),
    [
        ([("a", 0.9, "explicit")], Status.CANDIDATE),
        ([("a", 0.9, "explicit"), ("b", 0.9, "emotional")], Status.CANDIDATE),
        ([("a", 0.9, "explicit"), ("b", 0.9, "explicit")], Status.CONFIRMED),
        ([("a", 0.79, "explicit")] + [(s, 0.79, "explicit") for s in "bc"], Status.CONFIRMED),
        ([("a", 0.79, "explicit")] + [(s, 0.8, "explicit") for s in "bc"], Status.FROZEN),
        ([(s, 1.0, "emotional") for s in "abcdefgh"], Status.CONFIRMED),
        ([(s, 1.0, "emotional") for s in "abcd"] + [("e", 0.8, "implied")], Status.FROZEN),
    ],
)
def test_candidate_confirmed_frozen(a_mind, words, status):
    """[F1]"""
    mind = a_mind(GatePolicy(admission=AdmissionPolicy(floor=0.0)))

    assert heard_in_turn(mind, *words).status is status



def test_confirmations_of_one_day_are_not_spaced(mind):
    """[F5]"""
    mind.prefers("short")
    mind.prefers("short")
    mind.days_pass(1)
    decision = mind.prefers("short")

    item = mind.items[decision.item_id]
    assert (item.confirm_count, item.spaced_count) == (3, 2)


def test_a_merge_keeps_the_strongest_of_everything(mind):
    item = mind.knows(**SLOT, confidence=0.7, importance=0.5, tags=("a",), entities=("x",))

    mind.prefers("short", confidence=0.9, importance=0.8, tags=("b", "a"), entities=("y",),
                 sensitivity="personal")  # fmt: skip
    merged = mind.current(item)
    assert (merged.confidence, merged.importance) == (0.9, 0.8)
    assert (merged.tags, merged.entities) == (("a", "b"), ("x", "y"))
    assert merged.sensitivity is Sensitivity.PERSONAL

    mind.prefers("short", confidence=0.6, importance=0.1, sensitivity="normal")
    again = mind.current(item)
    assert (again.confidence, again.importance) == (0.9, 0.8)
    assert again.sensitivity is Sensitivity.PERSONAL


@pytest.mark.parametrize(
    ("stored", "said", "replaced"),
    [
        ("emotional", "explicit", True),
        ("emotional", "implied", True),
        ("implied", "explicit", True),
        ("explicit", "explicit", False),
        ("explicit", "emotional", False),
        ("implied", "emotional", False),
    ],
)
def test_the_clearest_wording_stays(mind, stored, said, replaced):
    """[C1]"""
    item = mind.knows("stored wording", **SLOT, evidence=Evidence(stored))

    mind.says("said wording", **SLOT, evidence=said)

    assert (mind.current(item).content == "said wording") is replaced


def test_the_wording_of_a_frozen_item_stays_whatever_is_heard(mind):
    """[F3]: its core is byte-identical"""
    item = mind.knows("stored wording", **SLOT, status=Status.FROZEN,
                      evidence=Evidence.EMOTIONAL)  # fmt: skip

    mind.says("said wording", **SLOT)

    assert mind.current(item).content == "stored wording"


def test_a_word_from_an_old_log_does_not_turn_last_seen_back(mind):
    item = mind.knows(**SLOT)

    mind.prefers("short", at=MONDAY - timedelta(days=400))

    assert mind.current(item).last_seen_at == MONDAY
    assert mind.current(item).confirm_count == 2


def test_structure_that_was_missing_is_filled_in(mind):
    item = mind.knows("The user prefers short answers")

    mind.says("The user prefers short answers", **SLOT)

    assert (mind.current(item).attribute, mind.current(item).value) == ("reply_length", "short")


# --- contradiction


@pytest.mark.parametrize(
    ("count", "evidence", "left"),
    [(2.0, "explicit", 1.0), (0.5, "explicit", 0.0), (2.0, "emotional", 1.5)],
)
def test_a_contradiction_takes_one_off_and_never_under_nought(mind, count, evidence, left):
    """[F2]; an outburst takes as little as it gives"""
    item = mind.knows(**SLOT, confirm_count=count)

    mind.prefers("long", evidence=evidence)

    assert mind.current(item).confirm_count == left


def test_a_session_that_contradicts_twice_takes_one_off(mind):
    """[F2]"""
    item = mind.knows(**SLOT, confirm_count=1.5)
    for _ in range(3):
        mind.prefers("long", session="one evening")

    assert mind.current(item).confirm_count == 0.5


# --- archive


@pytest.mark.parametrize(("confidence", "returns"), [(0.8, True), (0.7999, False)])
def test_an_archived_item_returns_exactly_at_its_limit(mind, confidence, returns):
    """[A7]"""
    item = mind.knows(**SLOT, status=Status.ARCHIVED, confirm_count=0.5)

    mind.prefers("short", confidence=confidence)

    assert (mind.current(item).status is Status.CANDIDATE) is returns
    assert mind.current(item).confirm_count == 1.5  # heard either way [A4]


def test_what_was_confirmed_returns_confirmed(mind):
    item = mind.knows(**SLOT, status=Status.ARCHIVED, was_confirmed=True)

    mind.prefers("short", confidence=0.8)

    assert mind.current(item).status is Status.CONFIRMED


def test_it_does_not_return_into_a_pool_full_of_protected_items(a_mind):
    """[A6, A7]"""
    mind = a_mind(GatePolicy(admission=AdmissionPolicy(capacity=2, floor_places=1)))
    mind.knows("limit", item_type=ItemType.CONSTRAINT, status=Status.CONFIRMED, importance=0.1)
    mind.knows("strong", importance=1.0, support=1.0)
    item = mind.knows(**SLOT, status=Status.ARCHIVED, importance=0.3)

    decision = mind.prefers("short", importance=0.3)

    assert decision.outcome == "merged"
    assert mind.current(item).status is Status.ARCHIVED


def test_a_return_displaces_the_weakest_like_any_entry(a_mind):
    """[A5, A7]"""
    mind = a_mind(GatePolicy(admission=AdmissionPolicy(capacity=1, floor_places=0)))
    weak = mind.knows("weak", importance=0.1)
    item = mind.knows(**SLOT, status=Status.ARCHIVED, importance=0.9)

    mind.prefers("short")

    assert [m.cause for m in mind.moves if m.item_id == weak.id] == [Cause.EVICTED]
    assert mind.current(item).status in (Status.CANDIDATE, Status.CONFIRMED)


# --- limits


def test_what_is_sensitive_lasts_thirty_days_from_its_last_word(mind):
    """[P1]"""
    mind.prefers("short", sensitivity="sensitive")
    mind.days_pass(20)
    decision = mind.prefers("short", sensitivity="sensitive")

    assert mind.items[decision.item_id].expires_at == mind.now + timedelta(days=30)


def test_what_turns_out_to_be_sensitive_gets_a_limit(mind):
    item = mind.knows(**SLOT)

    mind.prefers("short", sensitivity="sensitive")

    assert mind.current(item).expires_at == mind.now + timedelta(days=30)


def test_an_earlier_limit_does_not_shorten_a_later_one(mind):
    item = mind.knows(**SLOT, expires_at=MONDAY + timedelta(days=90))

    mind.prefers("short", expires_at=MONDAY + timedelta(days=5))

    assert mind.current(item).expires_at == MONDAY + timedelta(days=90)


# --- what is written down


def test_a_new_item_has_everything_that_was_said(mind):
    """[W4]: and when, by whom and where"""
    mind.own_time = OwnTime(days=3.0, active_at=MONDAY)
    event, limit = MONDAY + timedelta(days=1), MONDAY + timedelta(days=2)
    said = {
        "item_type": ItemType.EVENT, "subject": "Kevin", "attribute": "trip", "value": "Oslo",
        "polarity": Polarity.NEGATIVE, "qualifiers": ("by train",), "confidence": 0.8,
        "importance": 0.75, "evidence": Evidence.IMPLIED, "sensitivity": Sensitivity.PERSONAL,
        "tags": ("travel",), "entities": ("Oslo",), "event_at": event, "expires_at": limit,
    }  # fmt: skip

    decision = mind.says("Kevin does not go to Oslo", session="s", **said)

    assert mind.items[str(decision.item_id)] == MemoryItem(
        **said, id=decision.id, user_id=USER, content="Kevin does not go to Oslo",
        status=Status.CANDIDATE, calm_confidence=0.8, support=0.8, confirm_count=1.0,
        spaced_count=1, score=pytest.approx(0.25 + 0.375 + 0.2), created_at=MONDAY,
        updated_at=MONDAY, last_seen_at=MONDAY, accessed_day=3.0, source_session_id="s",
    )  # fmt: skip


def test_a_signal_keeps_its_words_and_where_they_stand(mind):
    """[W2]: one that disagrees has an id of its own for every item it speaks about"""
    short = mind.knows(**SLOT)

    said = mind.prefers("short", session="one", quote="short, please", message_id="m1")
    other = mind.prefers("long", session="two", evidence="implied", source=Source.HOST)

    heard = {"user_id": USER, "at": MONDAY, "confidence": 0.9}
    assert mind.signals == [
        Signal(**heard, id=said.id, item_id=short.id, session_id="one", quote="short, please",
               message_id="m1", evidence=Evidence.EXPLICIT),
        Signal(**heard, id=other.id, item_id=other.item_id, session_id="two",
               evidence=Evidence.IMPLIED, source=Source.HOST),
        Signal(**heard, id=f"{other.id}:{short.id}", item_id=short.id, session_id="two",
               evidence=Evidence.IMPLIED, source=Source.HOST, agrees=False),
    ]  # fmt: skip


def test_a_confirmation_is_logged_with_its_count(mind):
    """[S1, F1]"""
    item = mind.knows(**SLOT, item_type=ItemType.FACT)

    mind.prefers("short", item_type=ItemType.FACT)

    (move,) = mind.last_plan.moves
    assert (move.item_id, move.cause, dict(move.numbers)) == (
        item.id, Cause.CONFIRMED, {"confirm_count": 2.0},
    )  # fmt: skip


def test_a_return_from_the_archive_is_logged_with_its_confidence(mind):
    """[S1, A7]: who was said twice by now returns confirmed"""
    item = mind.knows(**SLOT, item_type=ItemType.FACT, status=Status.ARCHIVED)

    mind.prefers("short", item_type=ItemType.FACT, confidence=0.85)

    (move,) = mind.last_plan.moves
    assert (move.item_id, move.after, move.cause, dict(move.numbers)) == (
        item.id, Status.CONFIRMED, Cause.REACTIVATED, {"confidence": 0.85},
    )  # fmt: skip


# --- hints


def test_a_new_hint_counts_as_little_as_an_outburst_and_confirms_nothing(mind):
    """[W5, A2, F1]: nobody heard the user say it"""
    item = mind.items[mind.prefers("short", source=Source.HINT, importance=1.0).item_id]

    assert (item.support, item.confirm_count, item.calm_confidence) == (0.45, 0.0, 0.0)


def test_a_hint_that_agrees_adds_half_and_one_that_disagrees_takes_nothing(mind):
    """[W5, F2]"""
    item = mind.knows(**SLOT, support=0.5, calm_confidence=0.7)

    mind.prefers("short", source=Source.HINT)
    agreed = mind.current(item)
    mind.prefers("long", source=Source.HINT, importance=1.0)

    assert agreed.support == pytest.approx(1 - 0.5 * 0.55)
    assert (agreed.confirm_count, agreed.calm_confidence) == (1.0, 0.7)
    assert mind.current(item).confirm_count == 1.0


def test_who_agrees_and_contradicts_in_one_session_still_contradicts(mind):
    """[F2]"""
    item = mind.knows(**SLOT, confirm_count=1.0)

    mind.prefers("short", session="one")
    assert mind.current(item).confirm_count == 2.0

    mind.prefers("long", session="one")
    assert mind.current(item).confirm_count == 1.0


# --- counts and limits


def test_the_weight_of_an_outburst_is_a_setting_in_every_sum(a_mind):
    """[A2, F2]: explicit after emotional in one session counts what is lacking"""
    mind = a_mind(GatePolicy(score=ScorePolicy(emotional_weight=0.2)))

    item = heard_in_turn(mind, ("a", 0.9, "emotional"), ("a", 0.9, "explicit"))

    assert item.confirm_count == pytest.approx(1.0)
    assert item.support == pytest.approx(0.9)


def test_a_session_that_goes_on_the_next_day_is_no_spaced_confirmation(mind):
    """[F5, F2]"""
    item = heard_in_turn(mind, ("a", 0.9, "explicit"))
    mind.days_pass(1)

    again = heard_in_turn(mind, ("a", 0.9, "explicit"))
    spaced = heard_in_turn(mind, ("b", 0.9, "explicit"))

    assert (item.spaced_count, again.spaced_count, spaced.spaced_count) == (1, 1, 1)
    assert again.last_seen_at == mind.now


def test_a_merge_takes_the_date_that_was_missing_and_no_importance_of_its_own(mind):
    """[C1]"""
    when = MONDAY + timedelta(days=3)
    item = mind.knows(**SLOT, importance=0.4)

    mind.prefers("short", event_at=when)
    mind.prefers("short", event_at=when + timedelta(days=9))

    assert (mind.current(item).event_at, mind.current(item).importance) == (when, 0.4)


def test_a_clearer_word_makes_the_evidence_clearer(mind):
    """[C1]"""
    item = mind.knows(**SLOT, evidence=Evidence.IMPLIED)

    mind.prefers("short")

    assert mind.current(item).evidence is Evidence.EXPLICIT


def test_a_limit_moves_on_with_a_later_one_and_stays_where_none_is_named(mind):
    """[P1]"""
    soon, later = MONDAY + timedelta(days=3), MONDAY + timedelta(days=8)
    item = mind.knows(**SLOT, expires_at=soon)

    mind.prefers("short")
    assert mind.current(item).expires_at == soon

    mind.prefers("short", expires_at=later)
    assert mind.current(item).expires_at == later


# --- the end of a contest


def contest(mind, *counts, **fields):
    """Return items that all say otherwise; the first says "short"."""
    ids = [f"known-side-{n}" for n, _ in enumerate(counts)]
    return [
        mind.knows(
            id=item_id, status=Status.CONFIRMED, item_type=ItemType.FACT,
            contested_with=tuple(i for i in ids if i != item_id), confirm_count=count,
            attribute="reply_length", value="short" if item_id == ids[0] else item_id, **fields,
        )
        for item_id, count in zip(ids, counts, strict=True)
    ]  # fmt: skip


def restated(mind):
    decision = mind.prefers("short", item_type=ItemType.FACT, evidence="implied")
    return mind.items[decision.item_id]


def test_a_lead_of_two_is_logged_and_the_winner_follows_the_loser(mind):
    """[C2, C3, S1]"""
    ours, other = contest(mind, 2.0, 1.0, version=3)

    winner = restated(mind)

    (move,) = mind.last_plan.moves
    assert (move.item_id, move.cause, dict(move.numbers)) == (
        other.id, Cause.SUPERSEDED, {"successor": ours.id, "lead": 2.0},
    )  # fmt: skip
    assert (winner.override_of, winner.version, winner.contested) == (other.id, 4, False)


def test_a_winner_keeps_the_lineage_and_the_higher_version_that_it_has(mind):
    """[C3]"""
    ours, _ = contest(mind, 2.0, 1.0)
    mind.items[ours.id] = ours.with_(override_of="older", version=7)
    assert (restated(mind).override_of, restated(mind).version) == ("older", 7)

    ours, other = contest(mind, 2.0, 1.0)
    mind.items[ours.id] = ours.with_(version=7)
    winner = restated(mind)
    assert (winner.override_of, winner.version) == (other.id, 7)


def test_who_is_restated_and_still_far_behind_gives_way(mind):
    """[C2]: the lead counts for the other side, too"""
    ours, other = contest(mind, 1.0, 5.0)

    decision = mind.prefers("short", item_type=ItemType.FACT, evidence="implied")

    assert (decision.outcome, decision.numbers["status"]) == ("merged", "superseded")
    assert mind.current(ours).superseded_by == other.id
    assert mind.current(other).override_of == ours.id


def test_a_lead_over_one_side_does_not_wait_for_the_others(mind):
    """[C2]: nor for one that is gone"""
    ours, near, *far = contest(mind, 3.0, 4.0, 1.0, 1.0, 1.0)
    sides = ("gone", near.id, *(i.id for i in far))
    mind.items[ours.id] = ours.with_(contested_with=sides)

    winner = restated(mind)

    assert mind.current(near).status is Status.CONFIRMED
    assert {mind.current(i).superseded_by for i in far} == {ours.id}
    assert winner.contested_with == ("gone", near.id)


def test_the_lead_that_settles_is_a_setting(a_mind):
    """[C2]"""
    mind = a_mind(GatePolicy(similarity=SimilarityPolicy(settle_lead=1.0)))
    ours, other = contest(mind, 1.0, 1.0)

    restated(mind)

    assert mind.current(other).superseded_by == ours.id
