"""Both gates in order: each fact names the rule it holds the gates to."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest

from dualgate.domain.admission import AdmissionPolicy
from dualgate.domain.archiving import ArchivePolicy
from dualgate.domain.conflict import SimilarityPolicy
from dualgate.domain.decision import decide
from dualgate.domain.freezing import FreezePolicy
from dualgate.domain.policy import GatePolicy
from dualgate.domain.status import Status
from dualgate.domain.types import ItemType
from dualgate.domain.view import Likeness, Partner, Snapshot, View
from dualgate.testing.builders import MONDAY, a_candidate, a_proposal, an_item

SMALL = GatePolicy(admission=AdmissionPolicy(capacity=2, floor_places=1, floor=0))


# --- at the door


@pytest.mark.parametrize(("confidence", "outcome"), [(0.6, "admitted"), (0.5999, "refused")])
def test_confidence_is_judged_exactly_at_the_limit(mind, confidence, outcome):
    """M 5.1 [W4]"""
    decision = mind.prefers("short", confidence=confidence)

    assert decision.outcome == outcome


def test_what_is_over_already_is_refused(mind):
    decision = mind.prefers("short", expires_at=mind.now)

    assert (decision.outcome, decision.reason) == ("refused", "expired")


def test_our_own_wording_coming_back_is_no_confirmation(mind):
    """[W3]"""
    item = mind.knows("用户喜欢简洁的回答")

    decision = mind.says("用户喜欢简洁的回答", quote="用户喜欢简洁的回答。")

    assert (decision.outcome, decision.reason) == ("ignored", "echo")
    assert mind.current(item) == item


def test_the_users_own_quote_is_a_confirmation_though_the_content_is_ours(mind):
    item = mind.knows("用户喜欢简洁的回答")

    decision = mind.says("用户喜欢简洁的回答", quote="我喜欢简洁的回答")

    assert (decision.outcome, decision.item_id) == ("merged", item.id)


@pytest.mark.parametrize("scope", ["task", "moment"])
def test_what_does_not_last_goes_to_working_memory_only(mind, scope):
    """[W4, L2]"""
    decision = mind.prefers("short", scope=scope)

    assert decision.outcome == "working-memory"
    assert mind.items == {}
    (note,) = mind.last_plan.notes
    assert (note.key, note.text) == ("reply_length", "The user prefers short answers")
    assert note.expires_at == mind.now + timedelta(hours=24)


def test_a_passing_wish_confirms_nothing(mind):
    mind.prefers("short")

    mind.prefers("short", scope="moment")

    assert [i.confirm_count for i in mind.hot] == [1]


# --- entry


def test_the_numbers_of_an_admission_are_those_that_decided_it(a_mind):
    """[W2, A3]: the pool as the newcomer found it, not as it left it"""
    mind = a_mind(GatePolicy(admission=AdmissionPolicy(capacity=2, floor_places=1)))
    mind.knows("something else", importance=0.8, support=0.8)  # a live score of 0.85
    decision = mind.prefers("short", importance=0.7, confidence=0.9)

    assert decision.outcome == "admitted"
    assert decision.numbers["hot"] == 1
    assert decision.numbers["threshold"] == pytest.approx(0.6 + (0.85 - 0.6) * 0.5)
    assert decision.numbers["score"] == pytest.approx(0.25 + 0.35 + 0.225)


def test_a_newcomer_displaces_the_weakest_and_a_tie_keeps_the_resident(a_mind):
    """[A5]"""
    mind = a_mind(SMALL)
    first, second = mind.knows("one", importance=0.5), mind.knows("other", importance=0.5)

    tie = mind.says("as good", importance=0.5)
    better = mind.says("better", importance=0.51)

    assert (tie.outcome, tie.reason) == ("refused", "pool_full")
    assert better.outcome == "admitted"
    assert mind.current(first).status is Status.ARCHIVED
    assert mind.current(second).status is Status.CANDIDATE


def test_a_restatement_passes_whatever_its_score(a_mind):
    """[A4]"""
    mind = a_mind(GatePolicy(admission=AdmissionPolicy(floor=0.99)))
    item = mind.knows(attribute="reply_length", value="short", importance=0.1)

    decision = mind.prefers("short", importance=0.0, confidence=0.6)

    assert (decision.outcome, mind.current(item).confirm_count) == ("merged", 2)


# --- contests


def test_two_traits_stay_and_are_marked_on_both_sides(mind):
    """[C1]"""
    old = mind.knows(attribute="reply_length", value="short", confirm_count=1)

    decision = mind.prefers("long")

    new = mind.items[decision.item_id]
    assert (decision.outcome, decision.reason) == ("contested", "contradiction")
    assert mind.current(old).contested_with == (new.id,)
    assert new.contested_with == (old.id,)
    assert (mind.current(old).confirm_count, new.confirm_count) == (0, 1)


def test_a_contest_with_an_old_hand_is_shown_before_it_is_settled(mind):
    """[C1]: both stay; what was said before the contest does not end it at once"""
    old = mind.knows(
        attribute="reply_length", value="short", status=Status.CONFIRMED, confirm_count=6
    )

    decision = mind.prefers("long")

    assert mind.items[decision.item_id].status is Status.CANDIDATE
    assert mind.current(old).contested

    mind.prefers("short")
    assert mind.items[decision.item_id].status is Status.SUPERSEDED  # [C2] a lead of two
    assert not mind.current(old).contested


def test_an_item_in_the_archive_holds_no_contest_open(mind):
    """[C2, F1]: a contest that nothing could settle would bar its item from freezing for ever"""
    mind.knows(attribute="reply_length", value="short", status=Status.ARCHIVED)

    for _ in range(3):
        decision = mind.prefers("long")

    item = mind.items[decision.item_id]
    assert (item.contested, item.status) == (False, Status.FROZEN)


def test_a_rival_that_made_room_for_the_newcomer_holds_no_contest_open(a_mind):
    mind = a_mind(GatePolicy(admission=AdmissionPolicy(capacity=1, floor_places=0, floor=0)))
    old = mind.knows(attribute="reply_length", value="short", importance=0.1)

    decision = mind.prefers("long", importance=0.9)

    assert mind.current(old).status is Status.ARCHIVED
    assert not mind.items[decision.item_id].contested


def test_an_item_that_comes_back_meets_its_rival(mind):
    """[A7, C1]"""
    rival = mind.knows(attribute="reply_length", value="long")
    old = mind.knows(attribute="reply_length", value="short", status=Status.ARCHIVED)

    mind.prefers("short", confidence=0.8)

    assert mind.current(old).status in (Status.CANDIDATE, Status.CONFIRMED)
    assert mind.current(old).contested_with == (rival.id,)
    assert mind.current(rival).contested_with == (old.id,)


def test_a_lead_of_two_settles_every_rival_at_once(mind):
    """[C2]"""
    first, second = (
        mind.knows(value, attribute="reply_length", value=value) for value in ("short", "middling")
    )
    for _ in range(3):
        decision = mind.prefers("long")

    assert [mind.current(i).status for i in (first, second)] == [Status.SUPERSEDED] * 2
    assert {mind.current(i).superseded_by for i in (first, second)} == {decision.item_id}
    assert not mind.items[decision.item_id].contested


def test_a_correction_settles_a_contest_for_the_side_it_names(mind):
    """[C2]"""
    old = mind.knows(attribute="reply_length", value="short")
    new = mind.items[mind.prefers("long").item_id]

    decision = mind.prefers("short", correction=True)

    assert decision.outcome == "merged"
    assert mind.current(new).status is Status.SUPERSEDED
    assert mind.current(new).superseded_by == old.id


@pytest.mark.parametrize(("contest", "outcome"), [(True, "contested"), (False, "ignored")])
def test_an_emotional_correction_settles_nothing(a_mind, contest, outcome):
    """[C2]: only an explicit one does"""
    mind = a_mind(GatePolicy(similarity=SimilarityPolicy(outbursts_contest=contest)))
    old = mind.knows(attribute="reply_length", value="short")

    decision = mind.prefers("long", correction=True, evidence="emotional")

    assert decision.outcome == outcome
    assert mind.current(old).status is Status.CANDIDATE


def test_an_outburst_can_be_kept_out_of_a_contest(a_mind):
    """[F2]: it costs what was said calmly half a confirmation, and is kept nowhere"""
    mind = a_mind(GatePolicy(similarity=SimilarityPolicy(outbursts_contest=False)))
    old = mind.knows(attribute="reply_length", value="short", confirm_count=2.0)

    decision = mind.prefers("long", evidence="emotional")

    assert (decision.outcome, decision.reason) == ("ignored", "outburst")
    assert mind.current(old).confirm_count == 1.5
    assert not mind.current(old).contested
    assert len(mind.items) == 1


def test_a_correction_that_is_older_than_the_last_word_replaces_nothing(mind):
    """[C1]: imported history, read after what it was followed by"""
    item = mind.knows(attribute="reply_length", value="short")

    decision = mind.prefers("long", correction=True, at=MONDAY - timedelta(days=400))

    assert decision.outcome == "contested"
    assert mind.current(item).status is Status.CANDIDATE


# --- states


def fact(mind, value, **fields):
    return mind.says(
        f"The project uses {value}", item_type="fact", attribute="database", value=value, **fields
    )


def test_a_state_follows_the_newer_explicit_word(mind):
    """[C2]"""
    old = mind.items[fact(mind, "MySQL").item_id]
    mind.days_pass(1)

    decision = fact(mind, "PostgreSQL")

    new = mind.items[decision.item_id]
    assert decision.outcome == "superseded"
    assert (new.override_of, new.version, new.status) == (old.id, 2, Status.CANDIDATE)
    assert mind.current(old).superseded_by == new.id


def test_a_state_that_is_only_implied_is_contested(mind):
    """[C1]"""
    fact(mind, "MySQL")

    assert fact(mind, "PostgreSQL", evidence="implied").outcome == "contested"


def test_a_state_that_returns_from_the_archive_is_as_confirmed_as_it_was(mind):
    """[F1, A7]"""
    old = mind.knows("The project uses MySQL", item_type=ItemType.FACT, attribute="database",
                     value="MySQL", status=Status.ARCHIVED, was_confirmed=True,
                     confirm_count=4)  # fmt: skip
    fact(mind, "PostgreSQL")
    mind.items[old.id] = old  # it was archived, not replaced, when the other came
    mind.days_pass(1)

    decision = fact(mind, "MySQL")

    assert decision.item_id == old.id
    assert mind.current(old).status is Status.CONFIRMED
    assert [i.value for i in mind.hot] == ["MySQL"]


def test_a_contested_state_follows_the_next_explicit_word(mind):
    """[C1]: the newer explicit value supersedes the older"""
    old = mind.items[fact(mind, "MySQL").item_id]
    new = mind.items[fact(mind, "PostgreSQL", evidence="implied").item_id]
    assert mind.current(old).contested

    decision = fact(mind, "PostgreSQL")

    assert decision.item_id == new.id
    assert mind.current(old).superseded_by == new.id
    assert not mind.current(new).contested


def test_an_older_state_that_arrives_late_is_refused(mind):
    """[C1]: time order known"""
    fact(mind, "PostgreSQL")

    decision = fact(mind, "MySQL", at=MONDAY - timedelta(days=30))

    assert (decision.outcome, decision.reason) == ("refused", "outdated")


# --- time


def test_what_is_said_again_without_a_limit_has_outlived_its_old_one(mind):
    """[R5, A7]: in Berlin until June, and again in Berlin in August"""
    berlin = {"item_type": "fact", "attribute": "city", "value": "Berlin"}
    mind.says("The user is in Berlin", expires_at=MONDAY + timedelta(days=10), **berlin)
    mind.days_pass(30)
    mind.maintains()
    assert mind.hot == []

    mind.says("The user is in Berlin", **berlin)
    mind.maintains()

    (item,) = mind.hot
    assert item.expires_at is None


def test_what_is_said_again_does_not_fade(mind):
    """[D1, A7]: said yesterday, though not handed out for months"""
    mind.prefers("short", confidence=0.85)
    for _ in range(15):
        mind.days_pass(7)
        mind.prefers("short", session="always the same", confidence=0.85)
        mind.maintains()

    assert [i.value for i in mind.hot] == ["short"]


def test_a_reactivated_item_is_not_archived_again_by_the_next_upkeep(mind):
    """[A7, D1]"""
    mind.says("The user likes tea", item_type="fact", importance=0.5)
    for _ in range(20):
        mind.days_pass(7)
        mind.says("something else", session="chatter", item_type="fact", importance=0.9)
    mind.maintains()
    assert "The user likes tea" in [i.content for i in mind.archive]

    mind.says("The user likes tea", item_type="fact", importance=0.5)
    mind.maintains()

    assert "The user likes tea" in [i.content for i in mind.hot]


# --- what is recorded


def test_every_number_of_a_decision_is_plain_json(mind):
    """[W2]"""
    policy = GatePolicy(archive=ArchivePolicy(capacity=0), freeze=FreezePolicy(capacity=1))
    mind.policy = policy
    plans = []
    for value, fields in [
        ("short", {}), ("short", {}), ("short", {}), ("long", {"confidence": 0.75}),
        ("long", {"confidence": 0.65}), ("long", {"scope": "task"}),
        ("long", {"confidence": 0.5}), ("short", {"expires_at": MONDAY}),
        ("long", {"correction": True}), ("tiny", {"confidence": 0.7}),
    ]:  # fmt: skip
        mind.prefers(value, **fields)
        plans.append(mind.last_plan)
        mind.days_pass(1)

    outcomes = {plan.decision.outcome for plan in plans}
    assert outcomes >= {"admitted", "merged", "held", "ignored", "refused", "superseded"}
    for plan in plans:
        for numbers in (plan.decision.numbers, *(m.numbers for m in plan.moves)):
            assert json.loads(json.dumps(numbers, allow_nan=False)) == dict(numbers)
            assert "answers" not in json.dumps(numbers), "no content among the numbers"


def test_deciding_twice_from_the_same_view_gives_the_same_plan():
    """Pure: nothing is remembered between two decisions."""
    view = View(
        snapshot=Snapshot(user_id="ann", hot={"item-1": an_item()}),
        partners=(
            Partner(item=an_item(), likeness=Likeness(same=0.97, conflicting=0, cosine=0.9)),
        ),
    )
    proposal = a_proposal(a_candidate("The user wants brief answers"))

    first = decide(proposal, view, GatePolicy(), MONDAY)

    assert first == decide(proposal, view, GatePolicy(), MONDAY)
    assert first.decision.outcome == "merged"
