"""A working copy of the pools: what goes in, what comes out, and the bounds in between [A8]."""

from __future__ import annotations

from datetime import timedelta

import pytest

from dualgate.domain.admission import AdmissionPolicy
from dualgate.domain.archiving import ArchivePolicy
from dualgate.domain.draft import Draft, numbers_of
from dualgate.domain.freezing import FreezePolicy
from dualgate.domain.plan import Actor, PendingState
from dualgate.domain.policy import GatePolicy
from dualgate.domain.status import Cause, Status
from dualgate.domain.types import ItemType
from dualgate.domain.view import Snapshot
from dualgate.errors import IllegalMoveError
from dualgate.testing.builders import MONDAY, a_pending, an_item

EARLIER = MONDAY - timedelta(days=1)
TIGHT = GatePolicy(
    admission=AdmissionPolicy(capacity=2, floor_places=1),
    freeze=FreezePolicy(capacity=1),
    archive=ArchivePolicy(capacity=1),
)


def draft_of(*items, policy=TIGHT, pendings=()):
    by = {status: {i.id: i for i in items if i.status is status} for status in Status}
    archive = tuple(by[Status.ARCHIVED].values())
    snapshot = Snapshot(
        user_id="ann",
        hot=by[Status.CANDIDATE] | by[Status.CONFIRMED],
        frozen=by[Status.FROZEN],
        archive_count=len(archive),
        archive_tail=archive,
        pendings=pendings,
    )
    return Draft(snapshot, policy, MONDAY, Actor.CONVERSATION)


def candidate(item_id, importance=0.5, **fields):
    return an_item(id=item_id, importance=importance, **fields)


def test_what_nobody_touched_is_not_in_the_plan():
    plan = draft_of(candidate("a"), candidate("b")).plan()

    assert (plan.items, plan.moves, plan.signals, plan.pendings) == ((), (), (), ())


def test_the_snapshot_it_was_made_from_is_not_changed():
    snapshot = Snapshot(user_id="ann", hot={"a": candidate("a")})
    draft = Draft(snapshot, TIGHT, MONDAY, Actor.SYSTEM)

    draft.archive(draft.hot["a"], Cause.EVICTED)

    assert set(snapshot.hot) == {"a"}


def test_an_illegal_move_is_refused_and_logs_nothing():
    draft = draft_of(an_item(id="f", status=Status.FROZEN))

    with pytest.raises(IllegalMoveError):
        draft.shift(draft.frozen["f"], Cause.EVICTED)

    assert draft.plan().moves == ()


def test_entering_a_full_pool_evicts_the_weakest_with_both_moves_logged():
    """[A5, S1]"""
    draft = draft_of(candidate("weak", 0.1), candidate("strong", 0.9))

    draft.enter_hot(candidate("new", 0.5), Cause.ADMITTED, Status.CANDIDATE, is_new=True)

    assert [(m.item_id, m.before, m.after) for m in draft.plan().moves] == [
        ("weak", Status.CANDIDATE, Status.ARCHIVED),
        ("new", None, Status.CANDIDATE),
    ]
    assert set(draft.hot) == {"strong", "new"}


def test_entering_where_nobody_is_weaker_fails_and_leaves_all_as_it_was():
    draft = draft_of(candidate("a", 0.8), candidate("b", 0.9))

    entered = draft.enter_hot(
        candidate("new", 0.8), Cause.ADMITTED, Status.CANDIDATE, is_new=True
    )

    assert entered is None
    assert draft.plan().items == ()


def test_force_takes_the_weakest_place_and_spares_the_protected():
    """[A6]"""
    limit = candidate("limit", 0.1, item_type=ItemType.CONSTRAINT, status=Status.CONFIRMED)
    draft = draft_of(limit, candidate("strong", 0.9))

    draft.enter_hot(
        candidate("new", 0.0), Cause.ADMITTED, Status.CANDIDATE, is_new=True, force=True
    )

    assert set(draft.hot) == {"limit", "new"}


def test_force_takes_a_protected_place_rather_than_break_the_bound():
    """[A8]"""
    policy = GatePolicy(admission=AdmissionPolicy(capacity=1, floor_places=1))
    draft = draft_of(candidate("pinned", 0.9, pinned=True), policy=policy)

    draft.enter_hot(
        candidate("new", 0.0), Cause.ADMITTED, Status.CANDIDATE, is_new=True, force=True
    )

    assert set(draft.hot) == {"new"}


def test_an_overfull_archive_lets_one_go_for_each_that_comes():
    """[A7, A8]"""
    draft = draft_of(candidate("a"), candidate("old", status=Status.ARCHIVED))

    draft.archive(draft.hot["a"], Cause.EVICTED)

    assert draft.archive_count == 1
    assert draft.plan().moves[-1].cause is Cause.CROWDED_OUT


def test_a_score_in_the_plan_is_the_live_one():
    """[A1]"""
    draft = draft_of(candidate("a", 0.4, support=0.8, score=0.0, updated_at=EARLIER))

    item = draft.put(draft.hot["a"])

    assert (item.score, item.updated_at) == (pytest.approx(0.25 + 0.2 + 0.2), MONDAY)


def test_freezing_and_thawing_leave_their_marks():
    draft = draft_of(candidate("a", status=Status.CONFIRMED))
    frozen = draft.shift(draft.hot["a"], Cause.FROZE)
    assert (frozen.frozen_at, set(draft.frozen), set(draft.hot)) == (MONDAY, {"a"}, set())

    thawed = draft.thaw(frozen, Cause.THAWED)
    assert (thawed.thawed_at, thawed.status) == (MONDAY, Status.CONFIRMED)
    assert thawed.was_confirmed


def test_an_item_that_leaves_frees_the_other_side_of_its_contests():
    """[C1]"""
    draft = draft_of(candidate("a"), candidate("b"))
    draft.contest(draft.hot["a"], draft.hot["b"])
    assert draft.hot["a"].contested

    gone = draft.shift(draft.hot["b"], Cause.FORGOT)

    assert not draft.hot["a"].contested
    assert not gone.contested


def test_contesting_twice_is_contesting_once():
    draft = draft_of(candidate("a"), candidate("b"))
    for _ in range(2):
        one, other = draft.contest(draft.hot["a"], draft.hot["b"])

    assert (one.contested_with, other.contested_with) == (("b",), ("a",))


def test_a_challenge_closes_with_its_item():
    pending = a_pending("f")
    draft = draft_of(an_item(id="f", status=Status.FROZEN), pendings=(pending,))

    draft.shift(draft.frozen["f"], Cause.SUPERSEDED)

    (closed,) = draft.plan().pendings
    assert (closed.id, closed.state, closed.closed_at) == (pending.id, "lapsed", MONDAY)


def test_the_standing_numbers_of_the_gate():
    """[W2]"""
    draft = draft_of(candidate("a", 0.8, support=0.8))

    numbers = numbers_of(draft, {"score": 0.5})
    assert (numbers["hot"], numbers["hot_capacity"], numbers["score"]) == (1, 2, 0.5)
    assert numbers["threshold"] == pytest.approx(0.6 + 0.25 * 0.5)


# --- what is written down


def test_who_makes_room_is_logged_with_who_came_and_both_scores():
    """[A5, S1]"""
    draft = draft_of(candidate("weak", 0.1), candidate("strong", 0.9))

    draft.enter_hot(
        candidate("new", 0.5), Cause.ADMITTED, Status.CANDIDATE, {"why": "x"}, is_new=True
    )

    left, came = draft.plan().moves
    assert left.numbers == {
        "score": pytest.approx(0.25 + 0.05 + 0.225), "for": "new",
        "newcomer_score": pytest.approx(0.25 + 0.25 + 0.225),
    }  # fmt: skip
    assert came.numbers == {"why": "x"}


def test_force_takes_the_place_of_the_lowest_score_whatever_its_name():
    """[A5]"""
    draft = draft_of(candidate("a", 0.9), candidate("b", 0.5))

    draft.enter_hot(
        candidate("new", 0.0), Cause.ADMITTED, Status.CANDIDATE, is_new=True, force=True
    )

    assert set(draft.hot) == {"a", "new"}


def test_a_parked_challenge_stands_in_the_draft_until_it_is_closed():
    """[F3]: closing it twice is closing it once"""
    pending = a_pending("f")
    draft = draft_of(an_item(id="f", status=Status.FROZEN))

    draft.hold(pending)
    assert draft.pendings == {pending.id: pending}

    for _ in range(2):
        draft.end_challenge(pending, PendingState.REJECTED)
    assert draft.pendings == {}
    assert [p.state for p in draft.plan().pendings] == [PendingState.REJECTED]


def test_what_freezes_says_what_it_had_and_how_many_were_frozen():
    """[F1, F4, S1]"""
    policy = GatePolicy(freeze=FreezePolicy(capacity=3))
    ready = {"status": Status.CONFIRMED, "confirm_count": 3.0, "calm_confidence": 0.85}
    draft = draft_of(
        candidate("a", 0.9, **ready), candidate("b", 0.5, **ready, pinned=True), policy=policy
    )

    moves = draft.plan().moves

    # The user's own pin comes first, then the better score.
    assert [(m.item_id, m.cause) for m in moves] == [("b", Cause.FROZE), ("a", Cause.FROZE)]
    shared = {"confirm_count": 3.0, "calm_confidence": 0.85}
    assert [m.numbers for m in moves] == [
        {**shared, "score": pytest.approx(0.725), "frozen": 0, "pinned": True},
        {**shared, "score": pytest.approx(0.925), "frozen": 1, "pinned": False},
    ]


def test_who_comes_out_of_a_full_archive_leaves_its_place_to_who_makes_room():
    """[A5, A7, A8]: nobody is crowded out"""
    away = candidate("away", 0.9, status=Status.ARCHIVED)
    draft = draft_of(candidate("weak", 0.1), candidate("strong", 0.8), away)

    draft.enter_hot(away, Cause.REACTIVATED, Status.CANDIDATE)

    assert [(m.item_id, m.cause) for m in draft.plan().moves] == [
        ("weak", Cause.EVICTED), ("away", Cause.REACTIVATED),
    ]  # fmt: skip
    assert draft.archive_count == 1


@pytest.mark.parametrize("status", [Status.CANDIDATE, Status.FROZEN, Status.ARCHIVED])
def test_an_item_is_asked_for_as_it_stands_now_by_any_older_state_of_it(status):
    item = an_item(id="a", status=status)
    draft = draft_of(item)
    assert draft.current(item) is item

    changed = draft.put(item.with_(confirm_count=7.0))

    assert draft.current(item) is changed


@pytest.mark.parametrize("status", [Status.CANDIDATE, Status.FROZEN])
def test_what_the_snapshot_says_of_an_item_goes_before_what_is_asked_with(status):
    item = an_item(id="a", status=status)

    assert draft_of(item).current(item.with_(confirm_count=7.0)) is item


def test_who_thaws_into_full_pools_costs_the_archive_its_last():
    """[F4, A7, A8]"""
    thawing, old = an_item(id="f", status=Status.FROZEN), candidate("old", status=Status.ARCHIVED)
    draft = draft_of(candidate("weak", 0.1), candidate("strong", 0.8), thawing, old)

    draft.thaw(thawing, Cause.THAWED)

    assert [m.cause for m in draft.plan().moves] == [
        Cause.EVICTED, Cause.CROWDED_OUT, Cause.THAWED,
    ]  # fmt: skip
    assert draft.archive_count == 1
