"""What time does to memory, whenever upkeep happens to run [F3-F5, A7, D1, P1]."""

from __future__ import annotations

from datetime import timedelta

import pytest

from dualgate.domain.admission import AdmissionPolicy
from dualgate.domain.archiving import ArchivePolicy, kept_strength
from dualgate.domain.freezing import FreezePolicy
from dualgate.domain.plan import Actor, PendingState
from dualgate.domain.policy import GatePolicy
from dualgate.domain.status import Cause, Status
from dualgate.domain.types import ItemType, Sensitivity
from dualgate.domain.upkeep import fitted, maintain
from dualgate.domain.view import OwnTime
from dualgate.testing.builders import MONDAY, USER, a_pending


def small(*, hot=3, frozen=2, archive=5, places=1):
    return GatePolicy(
        admission=AdmissionPolicy(capacity=hot, floor_places=places),
        freeze=FreezePolicy(capacity=frozen),
        archive=ArchivePolicy(capacity=archive),
    )


def causes(moves):
    return [move.cause for move in moves]


def test_an_empty_memory_needs_nothing(mind):
    assert mind.maintains() == []


@pytest.mark.parametrize("status", [Status.CANDIDATE, Status.CONFIRMED, Status.FROZEN])
def test_what_has_run_out_is_archived_and_what_is_sensitive_forgotten(mind, status):
    """[P1, R5]"""
    fields = {"status": status, "expires_at": MONDAY + timedelta(days=1)}
    plain = mind.knows("plain", **fields)
    delicate = mind.knows("delicate", sensitivity=Sensitivity.SENSITIVE, **fields)
    mind.days_pass(1)

    mind.maintains()

    assert mind.current(plain).status is Status.ARCHIVED
    assert mind.current(delicate).status is Status.FORGOTTEN


def test_an_archived_item_that_ran_out_stays_unless_it_is_sensitive(mind):
    fields = {"status": Status.ARCHIVED, "expires_at": MONDAY}
    plain = mind.knows("plain", **fields)
    delicate = mind.knows("delicate", sensitivity=Sensitivity.SENSITIVE, **fields)

    moves = mind.maintains()

    assert causes(moves) == [Cause.EXPIRED]
    assert mind.current(plain).status is Status.ARCHIVED
    assert mind.current(delicate).status is Status.FORGOTTEN


def test_what_is_hardly_retained_fades_and_the_protected_stay(mind):
    """[D1, A6]"""
    mind.own_time = OwnTime(100.0, MONDAY)
    plain = mind.knows("plain", item_type=ItemType.FACT)
    limit = mind.knows("limit", item_type=ItemType.CONSTRAINT, status=Status.CONFIRMED)

    moves = mind.maintains()

    assert [(m.item_id, m.cause) for m in moves] == [(plain.id, Cause.FADED)]
    assert moves[0].numbers["retention"] < 0.1
    assert mind.current(limit).status is Status.CONFIRMED


def test_an_absence_fades_nothing_that_was_fresh(mind):
    mind.knows(item_type=ItemType.FACT)
    mind.own_time = OwnTime(0.0, MONDAY)
    mind.days_pass(400)

    assert mind.maintains() == []


def test_running_twice_changes_nothing_the_second_time(mind):
    """Idempotent."""
    mind.own_time = OwnTime(90.0, MONDAY)
    mind.freezes()
    mind.knows("plain", item_type=ItemType.FACT)
    mind.prefers("long", confidence=0.8)
    mind.days_pass(70)

    assert mind.maintains() != []
    before = dict(mind.items)
    assert mind.maintains() == []
    assert mind.items == before


def test_the_clock_going_back_undoes_nothing(mind):
    mind.freezes()
    mind.days_pass(-400)

    assert mind.maintains() == []


def test_smaller_pools_let_the_weakest_go_and_the_pinned_last(a_mind):
    """[F7]: after a change of the user's class"""
    mind = a_mind()
    mind.knows("pinned", status=Status.FROZEN, pinned=True, importance=0.1)
    mind.knows("strong", status=Status.FROZEN, importance=0.9)
    mind.knows("weak", status=Status.FROZEN, importance=0.5)
    for n in range(5):
        mind.knows(f"hot {n}", importance=n / 10)
    mind.policy = small(hot=3, frozen=2, archive=10)

    mind.maintains()

    assert {i.content for i in mind.frozen} == {"pinned", "strong"}
    assert len(mind.hot) == 3
    assert "hot 0" in {i.content for i in mind.archive}


def test_a_full_archive_lets_the_unconfirmed_go_first(a_mind):
    """[A7]"""
    mind = a_mind(small(archive=2))
    confirmed = mind.knows("c", status=Status.ARCHIVED, was_confirmed=True, importance=0.1)
    unconfirmed = mind.knows("u", status=Status.ARCHIVED, importance=0.9)
    mind.knows("over", status=Status.CONFIRMED, expires_at=MONDAY)

    mind.maintains()

    assert mind.current(unconfirmed).status is Status.FORGOTTEN
    assert mind.current(confirmed).status is Status.ARCHIVED
    assert len(mind.archive) == 2


def test_an_archive_without_places_keeps_nothing(a_mind):
    mind = a_mind(small(archive=0))
    item = mind.knows("over", expires_at=MONDAY)

    moves = mind.maintains()

    assert causes(moves) == [Cause.EXPIRED, Cause.CROWDED_OUT]
    assert mind.current(item).status is Status.FORGOTTEN


def test_what_weathers_into_a_full_pool_displaces_the_weakest(a_mind):
    """[F4, F5, A8]"""
    mind = a_mind(small(hot=1, places=0))
    hot = mind.knows("hot", importance=0.2)
    frozen = mind.knows("frozen", status=Status.FROZEN, importance=0.9)
    mind.days_pass(60)

    mind.maintains()

    assert mind.current(frozen).status is Status.CONFIRMED
    assert mind.current(hot).status is Status.ARCHIVED


def test_a_challenge_lapses_and_its_item_stays(mind):
    """[F3]"""
    frozen = mind.freezes()
    mind.prefers("long", confidence=0.8)
    mind.days_pass(59)
    mind.items[frozen.id] = mind.current(frozen).with_(last_hit_at=mind.now)
    mind.days_pass(1)

    mind.maintains()

    assert mind.challenges == []
    assert mind.current(frozen).status is Status.FROZEN


def test_what_was_forgotten_long_ago_is_named_for_purging(mind):
    """[P3]"""
    gone = mind.knows(status=Status.FORGOTTEN)

    plan = maintain(mind.snapshot(), mind.policy, mind.now, (), (gone,))

    assert plan.purged == (gone.id,)


# --- what is written down [S1]


def logged(mind):
    moves = mind.last_plan.moves
    assert {(m.actor, m.at, m.user_id) for m in moves} <= {(Actor.SYSTEM, mind.now, USER)}
    return [(m.item_id, m.cause, dict(m.numbers)) for m in moves]


def test_what_has_run_out_says_when(mind):
    """[P1]"""
    plain = mind.knows("plain", expires_at=MONDAY)
    quiet = mind.knows("quiet", expires_at=MONDAY, sensitivity=Sensitivity.SENSITIVE)
    over = {"expires_at": "2026-01-05 09:00:00+00:00"}

    mind.maintains()

    assert logged(mind) == [
        (plain.id, Cause.EXPIRED, {"score": pytest.approx(0.825), **over}),
        (quiet.id, Cause.EXPIRED, over),
    ]


def test_what_was_kept_in_the_meantime_does_not_hold_up_the_others(mind):
    """[F6, P1]: the list of what has run out was made a moment before"""
    liked, over = (mind.knows(text, expires_at=MONDAY) for text in ("liked", "over"))
    seen = mind.snapshot()
    mind.does("like", liked)

    mind.apply(maintain(mind.snapshot(), mind.policy, mind.now, list(seen.hot.values())))

    assert mind.current(liked).status is Status.CONFIRMED
    assert mind.current(over).status is Status.ARCHIVED


def test_what_fades_says_how_little_is_left_and_what_is_exactly_at_the_limit_stays(a_mind):
    """[D1]: under it, not at it"""
    mind = a_mind()
    at_limit = mind.knows("at the limit", importance=0.5)
    weaker = mind.knows("weaker", importance=0.4)
    kept = [
        kept_strength(item, mind.now, mind.own_time, mind.policy.score, mind.policy.archive)
        for item in (at_limit, weaker)
    ]
    mind.policy = GatePolicy(archive=ArchivePolicy(fade_below=kept[0]))

    mind.maintains()

    assert logged(mind) == [
        (weaker.id, Cause.FADED, {"score": pytest.approx(kept[1]), "retention": kept[1]})
    ]


def test_what_weathers_says_how_long_it_lay_idle(mind):
    """[F5]"""
    item = mind.knows(status=Status.FROZEN, confirm_count=3.0)
    mind.days_pass(61.5)

    mind.maintains()

    assert logged(mind) == [
        (item.id, Cause.WEATHERED, {"idle_days": 61.5, "confirm_count": 3.0})
    ]


def test_smaller_pools_say_their_size(a_mind):
    """[F7, A6]: the protected leave last"""
    mind = a_mind()
    limit = mind.knows("limit", item_type=ItemType.CONSTRAINT, status=Status.CONFIRMED,
                       importance=0.1, thawed_at=MONDAY)  # fmt: skip
    strong, weak = mind.knows("strong", importance=0.9), mind.knows("weak", importance=0.5)
    old = mind.knows("old", status=Status.FROZEN, importance=0.2)
    mind.policy = small(hot=2, frozen=0, archive=10)

    mind.maintains()

    assert {item.id for item in mind.hot} == {limit.id, strong.id}
    first, second, third = logged(mind)
    assert first[:2] == (weak.id, Cause.EVICTED)
    assert second == (old.id, Cause.THAWED, {"capacity": 0})
    assert third == (old.id, Cause.EVICTED, {"score": pytest.approx(0.575), "capacity": 2})


def test_a_hot_pool_that_is_one_too_large_says_its_size(a_mind):
    """[A8]"""
    mind = a_mind()
    mind.knows("strong", importance=0.9)
    weak = mind.knows("weak", importance=0.5)
    mind.policy = small(hot=1, places=0)

    mind.maintains()

    assert logged(mind) == [
        (weak.id, Cause.EVICTED, {"score": pytest.approx(0.725), "capacity": 1})
    ]


def test_a_challenge_that_lapsed_is_closed_as_such(mind):
    """[F3]"""
    item = mind.knows(status=Status.FROZEN, pinned=True)
    mind.pendings["pending-1"] = a_pending(item.id)
    mind.days_pass(60)

    mind.maintains()

    closed = mind.pendings["pending-1"]
    assert (closed.state, closed.closed_at) == (PendingState.LAPSED, mind.now)


# --- what has to leave, and nothing else


def fits(mind):
    mind.apply(fitted(mind.snapshot(), mind.policy, mind.now))
    return logged(mind)


def crowded(a_mind, *, archived):
    """Return a mind whose pools hold more than its policy allows."""
    mind = a_mind()
    mind.knows("waits", status=Status.CONFIRMED, confirm_count=3.0, importance=0.9)
    mind.knows("old", status=Status.FROZEN, importance=0.2)
    mind.knows("weak", item_type=ItemType.FACT, importance=0.1)
    for n in range(archived):
        mind.knows(f"away {n}", status=Status.ARCHIVED, importance=n / 10)
    return mind


def test_pools_that_hold_too_much_are_fitted_without_freezing_anybody(a_mind):
    """[A8, F2]: making room is no reason to freeze"""
    mind = crowded(a_mind, archived=0)
    mind.policy = small(hot=2, frozen=0, archive=10)

    left = fits(mind)

    assert {cause for _, cause, _ in left} == {Cause.EVICTED, Cause.THAWED}
    assert (len(mind.hot), mind.frozen) == (2, [])
    assert fits(mind) == []
    mind.policy = small(hot=2, frozen=5, archive=10)
    assert fits(mind) == []


def test_an_archive_exactly_at_its_size_does_not_hold_the_others_up(a_mind):
    """[A8]"""
    mind = crowded(a_mind, archived=2)
    mind.policy = small(hot=1, frozen=1, archive=2)

    assert Cause.EVICTED in [cause for _, cause, _ in fits(mind)]
    assert len(mind.hot) == 1


def test_of_an_archive_that_is_too_full_the_least_retained_leave_first(a_mind):
    """[A7, D1]"""
    mind = crowded(a_mind, archived=4)
    mind.policy = small(hot=9, frozen=9, archive=2)

    lines = fits(mind)

    gone = [mind.items[item_id].content for item_id, _, _ in lines]
    assert gone == ["away 0", "away 1"]
    assert [(cause, numbers) for _, cause, numbers in lines] == [
        (Cause.CROWDED_OUT, {"retention": pytest.approx(0.475 + n / 20)}) for n in range(2)
    ]
