"""Every candidate ends in one recorded decision, with the numbers that decided it [W2, S1].

docs/reference/decisions.md explains these reasons and numbers; "why is this (not) remembered?" is
answered out of them, so they are facts like the statuses themselves.
"""

from __future__ import annotations

from datetime import timedelta

import pytest

from dualgate.domain.admission import AdmissionPolicy
from dualgate.domain.conflict import SimilarityPolicy
from dualgate.domain.override import OverridePolicy
from dualgate.domain.plan import Actor, Challenge, Note, PendingState
from dualgate.domain.policy import GatePolicy
from dualgate.domain.status import Cause, Status
from dualgate.domain.types import ItemType, Source
from dualgate.domain.view import Likeness
from dualgate.testing.builders import MONDAY, USER

S, C = Status, Cause
ALONE = Likeness(same=0.1, conflicting=0.2, cosine=0.3)
COMPARED = {"same": 0.1, "conflicting": 0.2, "cosine": 0.3}
SLOT = {"attribute": "reply_length"}
OF_ONE = GatePolicy(admission=AdmissionPolicy(capacity=1, floor_places=0, floor=0))
WORK = {"item_type": ItemType.PROJECT, "attribute": "database"}


def logged(mind):
    """Return the moves of the last decision; each says that talk made it, and when."""
    moves = mind.last_plan.moves
    assert {(m.actor, m.at, m.user_id) for m in moves} <= {(Actor.CONVERSATION, mind.now, USER)}
    return [(m.item_id, m.before, m.after, m.cause, dict(m.numbers)) for m in moves]


def against(mind):
    return [(s.item_id, s.confidence) for s in mind.last_plan.signals if s.agrees is False]


def agreeing(mind):
    return [s.item_id for s in mind.last_plan.signals if s.agrees is True]


# --- entry


def test_an_entry_records_the_threshold_it_met(mind):
    """[A1, A3]: 0.25 + 0.50·0.8 + 0.25·0.9"""
    decision = mind.says("The user prefers tea")
    numbers = {
        "hot": 0, "hot_capacity": 200, "threshold": 0.6, "importance": 0.8, "support": 0.9,
        "score": pytest.approx(0.25 + 0.4 + 0.225),
    }  # fmt: skip

    assert (decision.outcome, decision.reason) == ("admitted", "new")
    assert decision.numbers == {"confidence": 0.9, **numbers}
    assert logged(mind) == [(decision.item_id, None, S.CANDIDATE, C.ADMITTED, numbers)]
    assert agreeing(mind) == [decision.item_id]


def test_an_overlap_is_kept_apart_and_says_what_it_was_near_to(mind):
    """[C1]: in doubt keep both"""
    mind.knows("The user prefers green tea")
    near = Likeness(same=0.75, conflicting=0.1, cosine=0.8)

    decision = mind.says("The user prefers tea", likeness=near)

    assert (decision.outcome, decision.reason) == ("admitted", "overlap_kept_apart")
    compared = {"same": 0.75, "conflicting": 0.1, "cosine": 0.8, "relation": "overlap"}
    assert decision.numbers.items() >= compared.items()
    assert (decision.numbers["hot"], decision.numbers["threshold"]) == (
        1, pytest.approx(0.60 + 0.225 / 200, abs=1e-3),
    )  # fmt: skip


# --- echo


@pytest.mark.parametrize("ours", ["用户喜欢茶", "User likes tea", "The user likes tea"])
def test_our_own_wording_is_known_by_its_third_person(mind, ours):
    """[W3]"""
    item = mind.knows(ours)

    decision = mind.says(ours, quote=ours)

    assert (decision.outcome, decision.reason, decision.item_id) == ("ignored", "echo", item.id)
    assert mind.says("I like tea", quote="I like tea").reason == "new"
    assert mind.says("I like tea", quote="I like tea").reason == "restated"


# --- at the door


def test_what_is_refused_at_the_door_says_what_it_lacked(mind):
    """M 5.1 [W2]"""
    unsure = mind.says("tea", confidence=0.59)
    over = mind.says("tea", expires_at=MONDAY)

    assert (unsure.outcome, unsure.reason, unsure.item_id) == ("refused", "low_confidence", None)
    assert unsure.numbers == {"confidence": 0.59, "min_confidence": 0.6}
    assert (over.outcome, over.reason, over.item_id) == ("refused", "expired", None)
    assert over.numbers == {"confidence": 0.9, "expires_at": "2026-01-05 09:00:00+00:00"}


def test_what_does_not_last_says_so_and_is_noted_for_its_task(mind):
    """[W4, L2]: under its attribute, or under its own id"""
    decision = mind.says("tea, today", scope="moment", session="s")
    (note,) = mind.last_plan.notes
    named = mind.prefers("long", scope="task", session="s")

    assert (decision.outcome, decision.reason, decision.numbers) == (
        "working-memory", "not_lasting", {"confidence": 0.9, "scope": "moment"},
    )  # fmt: skip
    assert note == Note(
        user_id=USER, session_id="s", key=decision.id, text="tea, today", at=MONDAY, task_id="",
        expires_at=MONDAY + timedelta(hours=24),
    )  # fmt: skip
    assert [n.key for n in mind.last_plan.notes] == ["reply_length"]
    assert named.reason == "not_lasting"


def test_a_passing_wish_against_what_is_not_frozen_is_only_noted(mind):
    """[L2]"""
    item = mind.knows(**SLOT, value="short")

    decision = mind.prefers("long", scope="task")

    assert (decision.outcome, decision.reason) == ("working-memory", "not_lasting")
    assert mind.current(item) == item


def test_a_passing_challenge_to_a_frozen_item_names_it(mind):
    """[F3, L2]"""
    frozen = mind.freezes()

    decision = mind.prefers("long", scope="task", likeness=ALONE)

    assert (decision.outcome, decision.reason, decision.item_id) == (
        "ignored", "frozen_not_lasting", frozen.id,
    )  # fmt: skip
    assert decision.numbers == {"confidence": 0.9, **COMPARED, "relation": "exclusive"}


# --- restatement


def test_a_restatement_opens_no_contest_that_was_not_there(mind):
    """[A4, C1]: only one that comes back from the archive meets a rival anew"""
    item = mind.knows(**SLOT, value="short")
    other = mind.knows(**SLOT, value="long")

    mind.prefers("short", evidence="implied")

    assert not mind.current(item).contested
    assert mind.current(other) == other


def test_a_restatement_goes_to_the_frozen_item_before_any_other_of_its_words(mind):
    """[A4]: the frozen one is what is recalled first"""
    mind.knows(**SLOT, value="short")
    frozen = mind.knows(**SLOT, value="short", status=S.FROZEN, confirm_count=3.0)

    decision = mind.prefers("short", likeness=ALONE)

    assert (decision.outcome, decision.reason, decision.item_id) == (
        "merged", "restated", frozen.id,
    )  # fmt: skip
    assert decision.numbers == {
        "confidence": 0.9, **COMPARED, "relation": "duplicate", "confirm_count": 4.0,
        "support": pytest.approx(0.99), "status": "frozen",
    }  # fmt: skip


def test_a_correction_that_restates_supersedes_every_rival_and_says_so(mind):
    """[C2]: also when another rival was settled by the lead a moment before"""
    ours = mind.knows(**SLOT, value="short", status=S.CONFIRMED, confirm_count=3.0)
    beaten = mind.knows(**SLOT, value="long", confirm_count=1.0)
    other = mind.knows(**SLOT, value="rhyming")
    mind.items[ours.id] = ours.with_(contested_with=(beaten.id,))
    mind.items[beaten.id] = beaten.with_(contested_with=(ours.id,))

    mind.prefers("short", correction=True)

    lines = {line[0]: line for line in logged(mind)}
    assert lines[beaten.id][1:] == (
        S.CANDIDATE, S.SUPERSEDED, C.SUPERSEDED, {"successor": ours.id, "lead": 3.0},
    )  # fmt: skip
    assert lines[other.id][1:] == (
        S.CANDIDATE, S.SUPERSEDED, C.SUPERSEDED, {"successor": ours.id, "correction": True},
    )  # fmt: skip


def test_a_state_that_is_restated_in_the_same_moment_is_the_newer_word(mind):
    """[C1]: states follow"""
    item = mind.knows(**WORK, value="postgres")
    other = mind.knows(**WORK, value="mysql")

    mind.says("postgres it is", **WORK, value="postgres")

    assert (other.id, S.CANDIDATE, S.SUPERSEDED, C.SUPERSEDED,
            {"successor": item.id, "newer": True}) in logged(mind)  # fmt: skip
    assert mind.current(other).superseded_by == item.id


def test_restating_one_frozen_item_is_no_challenge_to_another(mind):
    """[F3]: two that exclude each other are for the audit to find [U2]"""
    mind.knows(**SLOT, value="short", status=S.FROZEN, confirm_count=3.0)
    other = mind.knows(**SLOT, value="long", status=S.FROZEN, confirm_count=3.0)

    mind.prefers("short", correction=True)

    assert mind.current(other) == other
    assert against(mind) == []


# --- states follow, traits resist


@pytest.mark.parametrize(
    ("item_type", "correction", "reason"),
    [(ItemType.PREFERENCE, True, "correction"), (ItemType.PROJECT, False, "newer_value")],
)
def test_what_replaces_another_says_what_it_replaced(mind, item_type, correction, reason):
    """[C2, C3]"""
    kind = {"item_type": item_type, **SLOT}
    one = mind.knows(**kind, value="short", version=4)
    other = mind.knows(**kind, value="rhyming", status=S.ARCHIVED)

    decision = mind.says("long", **kind, value="long", correction=correction, likeness=ALONE)

    risen = decision.item_id
    assert (decision.outcome, decision.reason) == ("superseded", reason)
    assert decision.numbers == {
        "confidence": 0.9, **COMPARED, "relation": "exclusive", "replaced": one.id, "version": 5,
        "was": "candidate",
    }  # fmt: skip
    because = {"successor": risen, "reason": reason}
    after = S.CONFIRMED if correction else S.CANDIDATE
    assert logged(mind) == [
        (one.id, S.CANDIDATE, S.SUPERSEDED, C.SUPERSEDED, because),
        (other.id, S.ARCHIVED, S.SUPERSEDED, C.SUPERSEDED, because),
        (risen, None, after, C.REPLACED_ANOTHER, {}),
    ]
    assert against(mind) == [(one.id, 0.9), (other.id, 0.9)]
    assert agreeing(mind) == [risen]


def test_a_newer_value_needs_no_place_to_be_free(a_mind):
    """[C2]: whoever is weakest makes room, and the old value was archived"""
    mind = a_mind(OF_ONE)
    old = mind.knows(**WORK, value="mysql", status=S.ARCHIVED)
    strong = mind.knows("strong", importance=1.0, support=1.0)

    decision = mind.says("postgres", **WORK, value="postgres", importance=0.1)

    assert [item.id for item in mind.hot] == [decision.item_id]
    assert (mind.current(old).status, mind.current(strong).status) == (S.SUPERSEDED, S.ARCHIVED)


def test_an_outdated_state_says_what_it_is_older_than(mind):
    """[C1]"""
    item = mind.knows(**WORK, value="mysql")

    late = mind.says("pg", **WORK, value="postgres", at=MONDAY - timedelta(days=1))
    same = mind.says("pg", **WORK, value="postgres", at=MONDAY)

    assert (late.outcome, late.reason, late.item_id) == ("refused", "outdated", item.id)
    assert late.numbers == {"confidence": 0.9, "known_since": "2026-01-05 09:00:00+00:00"}
    assert same.outcome == "superseded"


def test_an_outburst_is_heard_against_a_calm_word_only(a_mind):
    """[F2]"""
    mind = a_mind(GatePolicy(similarity=SimilarityPolicy(outbursts_contest=False)))
    calm = mind.knows(**SLOT, value="short")

    decision = mind.prefers("long", evidence="emotional")

    assert (decision.outcome, decision.reason, decision.item_id) == (
        "ignored", "outburst", calm.id,
    )  # fmt: skip
    mind.items[calm.id] = calm.with_(calm_confidence=0.0)
    assert mind.prefers("long", evidence="emotional").outcome == "contested"


def test_a_contest_counts_its_rivals(mind):
    """[C1]"""
    mind.knows(**SLOT, value="short")
    mind.knows(**SLOT, value="rhyming")

    decision = mind.prefers("long", likeness=ALONE)

    assert (decision.outcome, decision.reason) == ("contested", "contradiction")
    assert decision.numbers == {
        "confidence": 0.9, **COMPARED, "relation": "exclusive", "rivals": 2, "hot": 2,
        "hot_capacity": 200, "threshold": pytest.approx(0.6, abs=0.01), "importance": 0.8,
        "support": 0.9, "score": pytest.approx(0.875),
    }  # fmt: skip


def test_where_every_rival_is_archived_there_is_no_contest(mind):
    """[C1, F1]"""
    mind.knows(**SLOT, value="short", status=S.ARCHIVED)

    decision = mind.prefers("long")

    assert (decision.outcome, decision.reason) == ("admitted", "new")


# --- an override whose value is known already


@pytest.mark.parametrize(
    ("known", "version", "log"),
    [
        (
            {"status": S.CANDIDATE, "version": 5},
            5,
            [(S.CANDIDATE, S.CONFIRMED, C.CONFIRMED, {"correction": True})],
        ),
        ({"status": S.CONFIRMED, "confirm_count": 1.0}, 2, []),
        (
            {"status": S.ARCHIVED, "confirm_count": 0.0},
            2,
            [
                (S.ARCHIVED, S.CANDIDATE, C.REACTIVATED, {"confidence": 0.95}),
                (S.CANDIDATE, S.CONFIRMED, C.CONFIRMED, {"correction": True}),
            ],
        ),
    ],
)
def test_an_override_by_a_known_value_makes_that_the_new_version(mind, known, version, log):
    """[F3, C3]: no second item says the same"""
    frozen = mind.knows(**SLOT, value="short", status=S.FROZEN, confirm_count=3.0)
    if known["status"] is S.CANDIDATE:
        known = {**known, "confirm_count": 0.0}
    item = mind.knows(**SLOT, value="long", **known)

    decision = mind.prefers("long", correction=True, confidence=0.95)

    now = mind.current(item)
    assert (decision.outcome, decision.reason, decision.item_id) == (
        "superseded", "explicit_correction", item.id,
    )  # fmt: skip
    assert (now.status, now.override_of, now.version) == (S.CONFIRMED, frozen.id, version)
    assert mind.current(frozen).superseded_by == item.id
    assert [line[1:] for line in logged(mind) if line[0] == item.id] == log
    assert agreeing(mind) == [item.id]


def test_an_override_replaces_every_rival_at_once_frozen_or_not(mind):
    """[F3]"""
    frozen = mind.knows(**SLOT, value="short", status=S.FROZEN, confirm_count=3.0)
    hot = mind.knows(**SLOT, value="rhyming")
    other = mind.knows(attribute="tone", value="dry")

    risen = mind.prefers("long", correction=True).item_id

    assert [mind.current(i).superseded_by for i in (frozen, hot, other)] == [risen, risen, None]


def test_a_known_value_that_overrides_needs_no_place_to_be_free(a_mind):
    """[F3]"""
    mind = a_mind(OF_ONE)
    mind.knows(**SLOT, value="short", status=S.FROZEN, confirm_count=3.0)
    item = mind.knows(**SLOT, value="long", status=S.ARCHIVED, importance=0.1, support=0.1)
    mind.knows("strong", importance=1.0, support=1.0)

    mind.prefers("long", correction=True)

    assert [i.id for i in mind.hot] == [item.id]


def test_a_known_value_that_overrides_was_confirmed_by_its_session_once(mind):
    """[F2]"""
    mind.knows(**SLOT, value="short", status=S.FROZEN, confirm_count=3.0)
    item = mind.items[mind.says("long", session="one").item_id]
    mind.items[item.id] = item.with_(**SLOT, value="long")

    mind.prefers("long", session="one", correction=True)

    assert mind.current(item).confirm_count == 1.0


def test_an_override_ends_every_challenge_as_overridden(mind):
    """[F3]"""
    mind.freezes()
    held = mind.prefers("rhyming", confidence=0.8)

    mind.prefers("long", correction=True)

    assert mind.pendings[held.pending_id].state is PendingState.OVERRIDDEN


# --- a challenge to a frozen item


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"confidence": 0.65}, "frozen_low_confidence"),
        ({"evidence": "emotional"}, "frozen_emotional"),
        ({"source": Source.HINT, "correction": True}, "frozen_hint"),
    ],
)
def test_an_ignored_challenge_says_why_and_what_it_needed(mind, fields, reason):
    """[F3, W5]: a hint shakes nothing, nobody heard the user say it"""
    frozen = mind.freezes()

    decision = mind.prefers("long", likeness=ALONE, **fields)

    assert (decision.outcome, decision.reason, decision.item_id) == ("ignored", reason, frozen.id)
    assert decision.numbers == {
        "confidence": fields.get("confidence", 0.9), **COMPARED, "relation": "exclusive",
        "hold_at": 0.7,
    }  # fmt: skip
    assert against(mind) == [(frozen.id, decision.candidate.confidence)]
    assert mind.challenges == []


def test_a_held_challenge_says_how_far_it_has_come(mind):
    """[F3]"""
    frozen = mind.freezes()
    mind.prefers("long", confidence=0.8)
    opened = mind.now
    mind.days_pass(4.5)

    decision = mind.prefers("long", confidence=0.75, likeness=ALONE)

    assert (decision.outcome, decision.reason, decision.item_id) == (
        "held", "frozen_held", frozen.id,
    )  # fmt: skip
    assert decision.numbers == {
        "confidence": 0.75, **COMPARED, "relation": "exclusive", "override_at": 0.9,
        "sessions": 2, "thaw_sessions": 5, "span_days": 4.5,
    }  # fmt: skip
    (pending,) = mind.challenges
    assert (pending.user_id, pending.opened_at, pending.last_at) == (USER, opened, mind.now)
    assert [(c.at, c.confidence) for c in pending.challenges] == [(opened, 0.8), (mind.now, 0.75)]


def test_a_challenge_that_is_older_than_the_last_word_counts_for_nothing_yet(mind):
    """[F3]"""
    mind.freezes()

    decision = mind.prefers(
        "long", correction=True, confidence=0.95, at=MONDAY - timedelta(days=9)
    )

    assert (decision.outcome, decision.reason) == ("held", "frozen_held")
    assert (decision.numbers["sessions"], decision.numbers["span_days"]) == (0, 0.0)


@pytest.mark.parametrize("words", [2, 3])
def test_no_further_challenge_is_parked_beside_steadier_ones(a_mind, words):
    """[F3]: two sessions are more than one"""
    mind = a_mind(GatePolicy(override=OverridePolicy(per_item=1)))
    frozen = mind.freezes()
    for _ in range(words):
        mind.prefers("long", confidence=0.8)

    decision = mind.prefers("rhyming", confidence=0.8)

    assert (decision.outcome, decision.reason, decision.item_id) == (
        "ignored", "frozen_challenges_full", frozen.id,
    )  # fmt: skip
    assert [p.candidate.value for p in mind.challenges] == ["long"]


NEAR = Likeness(same=0.85, conflicting=0.0, cosine=0.9)


@pytest.mark.parametrize(
    ("first", "second", "like", "together"),
    [
        # The same words in other spelling, the same value of the same slot, or near enough.
        ({"value": "long"}, {"value": "Long "}, None, True),
        ({"value": "long", "content": "x"}, {"value": "rhyming", "content": "X."}, None, True),
        ({"value": "long"}, {"value": "extended"}, NEAR, True),
        (
            {"value": "long"},
            {"value": "extended"},
            Likeness(same=0.849, conflicting=0, cosine=1),
            False,
        ),
        ({"value": "long"}, {"value": "extended"}, None, False),
        # To deny is not the same, whatever the words.
        ({"value": "long"}, {"value": "short", "content": "long", "polarity": "-"}, NEAR, False),
    ],
)
def test_challenges_that_say_the_same_are_parked_as_one(mind, first, second, like, together):
    """[F3, C1]"""
    mind.knows(**SLOT, value="short", status=S.FROZEN, confirm_count=3.0)

    def says(value, content="long", **more):
        return mind.says(f"{content} ({value})" if content == "long" else content, **SLOT,
                         value=value, confidence=0.8, **more)  # fmt: skip

    one = says(**first)
    parked = {one.pending_id: like} if like else None
    other = says(**second, parked=parked)

    assert (other.pending_id == one.pending_id) is together


def test_without_a_slot_an_equal_value_does_not_make_two_challenges_one(mind):
    """[C1]"""
    mind.knows("The user prefers short answers", status=S.FROZEN, confirm_count=3.0)
    contrary = Likeness(same=0.0, conflicting=0.95, cosine=0.9)

    one = mind.says("long answers", value="long", confidence=0.8, likeness=contrary)
    other = mind.says("long films", value="long", confidence=0.8, likeness=contrary)

    assert one.outcome == other.outcome == "held"
    assert one.pending_id != other.pending_id


def test_another_slot_is_another_challenge_though_the_value_is_the_same(mind):
    """[C1]"""
    mind.knows("The user prefers short answers", status=S.FROZEN, confirm_count=3.0)
    contrary = Likeness(same=0.0, conflicting=0.95, cosine=0.9)

    one = mind.prefers("long", confidence=0.8, likeness=contrary)
    other = mind.says("films", attribute="film_length", value="long", confidence=0.8,
                      likeness=contrary)  # fmt: skip

    assert one.outcome == other.outcome == "held"
    assert one.pending_id != other.pending_id


# --- a thaw


def thaws(mind, count=3.0, **fields):
    """Let a frozen item be challenged in five sessions over 24 days."""
    frozen = mind.knows(**SLOT, value="short", status=S.FROZEN, confirm_count=count)
    for n in range(5):
        decision = mind.prefers("long", confidence=0.8, quote=f"long, please ({n})",
                                session=f"talk-{n}", **fields)  # fmt: skip
        mind.days_pass(6)
    mind.now -= timedelta(days=6)
    return frozen, decision


def test_a_thaw_records_the_sessions_and_the_days_that_made_it(mind):
    """[F3, C2]: with five against two the challenge leads at once"""
    frozen, decision = thaws(mind, likeness=ALONE)
    risen = mind.items[next(iter(mind.pendings))]

    assert (decision.outcome, decision.reason, decision.item_id) == (
        "contested", "thawed", frozen.id,
    )  # fmt: skip
    assert decision.numbers == {
        "confidence": 0.8, **COMPARED, "relation": "exclusive", "override_at": 0.9,
        "sessions": 5, "thaw_sessions": 5, "span_days": 24.0,
    }  # fmt: skip
    assert logged(mind)[:3] == [
        (frozen.id, S.FROZEN, S.CONFIRMED, C.THAWED, {"sessions": 5, "span_days": 24.0}),
        (risen.id, None, S.CONFIRMED, C.REPLACED_ANOTHER, {"sessions": 5}),
        (frozen.id, S.CONFIRMED, S.SUPERSEDED, C.SUPERSEDED, {"successor": risen.id, "lead": 3.0}),
    ]


def test_what_rises_by_a_thaw_has_what_its_sessions_said(mind):
    """[F3, A2, F2]"""
    thaws(mind)
    (pending,) = mind.pendings.values()
    risen = mind.items[pending.id]

    assert pending.state is PendingState.THAWED
    assert (risen.confirm_count, risen.spaced_count) == (5.0, 5)
    assert (risen.confidence, risen.calm_confidence) == (0.8, 0.8)
    assert (risen.created_at, risen.last_seen_at) == (MONDAY, mind.now)
    assert (risen.user_id, risen.source_session_id) == (USER, "talk-4")
    said = [s for s in mind.last_plan.signals if s.item_id == risen.id]
    assert [(s.id, s.session_id, s.at, s.confidence, s.quote, s.agrees) for s in said] == [
        (f"{pending.id}:{n}", f"talk-{n}", MONDAY + timedelta(days=6 * n), 0.8,
         "long, please (0)", True)
        for n in range(5)
    ]  # fmt: skip


@pytest.mark.parametrize(("before", "after"), [(12.0, 11.0), (1.0, 0.0), (0.5, 0.0)])
def test_the_thawed_item_loses_one_confirmation_and_never_falls_under_nought(mind, before, after):
    """[C1, F2]"""
    frozen, _ = thaws(mind, count=before)

    assert mind.current(frozen).confirm_count == after


def test_a_thawed_item_that_must_make_room_is_in_no_contest(a_mind):
    """[A5, C1]: a contest with the archive could not be settled by either side"""
    mind = a_mind(OF_ONE)

    frozen, _ = thaws(mind, importance=1.0)

    assert mind.current(frozen).status is S.ARCHIVED
    assert [(i.value, i.contested) for i in (*mind.hot, *mind.frozen)] == [("long", False)]


def test_what_rises_by_a_thaw_needs_no_place_to_be_free(a_mind):
    """[F3]"""
    mind = a_mind(OF_ONE)

    _, decision = thaws(mind, importance=0.0)

    assert decision.reason == "thawed"
    assert [i.value for i in (*mind.hot, *mind.frozen)] == ["long"]


def test_an_accepted_challenge_counts_the_sessions_since_the_last_word_for_the_old_value(mind):
    """[F3]"""
    frozen = mind.freezes()
    held = mind.prefers("long", confidence=0.8)
    mind.days_pass(1)
    mind.does("like", frozen)
    mind.days_pass(1)
    mind.prefers("long", confidence=0.75)

    mind.settles(mind.pendings[held.pending_id], accept=True)

    assert len(mind.pendings[held.pending_id].challenges) == 2
    assert mind.items[held.pending_id].confirm_count == 1.0


def test_an_accepted_challenge_with_no_session_since_counts_those_before(mind):
    """[F3]"""
    frozen = mind.freezes()
    held = mind.prefers("long", confidence=0.8)
    mind.days_pass(1)
    mind.does("like", frozen)

    mind.settles(mind.pendings[held.pending_id], accept=True)

    assert mind.items[held.pending_id].confirm_count == 1.0
    assert mind.pendings[held.pending_id].challenges == (
        Challenge(session_id=held.session_id, at=held.at, confidence=0.8),
    )
