"""What time does to memory, whenever upkeep happens to run [F3-F5, A7, D1, P1]."""

from __future__ import annotations

from datetime import timedelta

import pytest

from dualgate.domain.admission import AdmissionPolicy
from dualgate.domain.archiving import ArchivePolicy
from dualgate.domain.freezing import FreezePolicy
from dualgate.domain.policy import GatePolicy
from dualgate.domain.status import Cause, Status
from dualgate.domain.types import ItemType, Sensitivity
from dualgate.domain.upkeep import maintain
from dualgate.domain.view import OwnTime
from dualgate.testing.builders import MONDAY


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
