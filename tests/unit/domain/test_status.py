"""The state machine, row by row [S1]."""

from __future__ import annotations

import pytest

from dualgate.domain.status import ACTIVE, ARROWS, HOT, LIVE, Cause, Status, move, replay
from dualgate.errors import IllegalMoveError

S, C = Status, Cause

# Every legal move, written out by hand: the table may not grow or shrink unseen.
LEGAL = {
    (None, C.ADMITTED): {S.CANDIDATE},
    (None, C.REPLACED_ANOTHER): {S.CANDIDATE, S.CONFIRMED},
    (None, C.CORRECTED): {S.SUPERSEDED},
    (S.CANDIDATE, C.CONFIRMED): {S.CONFIRMED},
    (S.CANDIDATE, C.EVICTED): {S.ARCHIVED},
    (S.CANDIDATE, C.FADED): {S.ARCHIVED},
    (S.CANDIDATE, C.DISLIKED): {S.ARCHIVED},
    (S.CANDIDATE, C.EXPIRED): {S.ARCHIVED, S.FORGOTTEN},
    (S.CANDIDATE, C.SUPERSEDED): {S.SUPERSEDED},
    (S.CANDIDATE, C.FORGOT): {S.FORGOTTEN},
    (S.CONFIRMED, C.FROZE): {S.FROZEN},
    (S.CONFIRMED, C.EVICTED): {S.ARCHIVED},
    (S.CONFIRMED, C.FADED): {S.ARCHIVED},
    (S.CONFIRMED, C.DISLIKED): {S.ARCHIVED},
    (S.CONFIRMED, C.EXPIRED): {S.ARCHIVED, S.FORGOTTEN},
    (S.CONFIRMED, C.SUPERSEDED): {S.SUPERSEDED},
    (S.CONFIRMED, C.FORGOT): {S.FORGOTTEN},
    (S.FROZEN, C.WEATHERED): {S.CONFIRMED},
    (S.FROZEN, C.THAWED): {S.CONFIRMED},
    (S.FROZEN, C.DISLIKED): {S.CONFIRMED},
    (S.FROZEN, C.EXPIRED): {S.ARCHIVED, S.FORGOTTEN},
    (S.FROZEN, C.SUPERSEDED): {S.SUPERSEDED},
    (S.FROZEN, C.FORGOT): {S.FORGOTTEN},
    (S.ARCHIVED, C.REACTIVATED): {S.CANDIDATE, S.CONFIRMED},
    (S.ARCHIVED, C.RESTORED): {S.CANDIDATE, S.CONFIRMED},
    (S.ARCHIVED, C.CROWDED_OUT): {S.FORGOTTEN},
    (S.ARCHIVED, C.EXPIRED): {S.FORGOTTEN},
    (S.ARCHIVED, C.SUPERSEDED): {S.SUPERSEDED},
    (S.ARCHIVED, C.FORGOT): {S.FORGOTTEN},
    (S.SUPERSEDED, C.FORGOT): {S.FORGOTTEN},
    (S.FORGOTTEN, C.RESTORED): {S.CANDIDATE, S.CONFIRMED, S.SUPERSEDED},
    **{(status, C.ERASED): {S.FORGOTTEN} for status in S},
}
EVERY = [(status, cause) for status in (None, *Status) for cause in Cause]


def test_the_table_has_no_row_but_these():
    assert dict(ARROWS) == LEGAL


@pytest.mark.parametrize(("status", "cause"), EVERY)
@pytest.mark.parametrize("to", list(Status))
def test_every_status_and_cause_leads_where_the_table_says_and_nowhere_else(status, cause, to):
    if to in LEGAL.get((status, cause), set()):
        assert move(status, cause, to) is to
    else:
        with pytest.raises(IllegalMoveError):
            move(status, cause, to)


@pytest.mark.parametrize(("status", "cause"), EVERY)
def test_without_a_choice_only_a_single_target_is_taken(status, cause):
    targets = LEGAL.get((status, cause), set())
    if len(targets) == 1:
        assert {move(status, cause)} == targets
    else:
        with pytest.raises(IllegalMoveError):
            move(status, cause)


def test_a_refused_move_names_status_and_cause():
    with pytest.raises(IllegalMoveError, match="frozen cannot move by evicted") as caught:
        move(Status.FROZEN, Cause.EVICTED)

    assert (caught.value.status, caught.value.cause) == ("frozen", "evicted")


def test_pressure_on_the_pools_cannot_move_a_frozen_item():
    """[F4]"""
    for cause in (Cause.EVICTED, Cause.FADED, Cause.CROWDED_OUT):
        assert (Status.FROZEN, cause) not in ARROWS


def test_only_a_confirmed_item_freezes():
    """[F1]"""
    assert [row for row in ARROWS if row[1] is Cause.FROZE] == [(Status.CONFIRMED, Cause.FROZE)]


def test_the_table_cannot_be_changed():
    with pytest.raises(TypeError):
        ARROWS[(None, Cause.FROZE)] = frozenset({Status.FROZEN})


def test_the_groups_of_statuses():
    assert set(HOT) == {Status.CANDIDATE, Status.CONFIRMED}
    assert set(ACTIVE) == {*HOT, Status.FROZEN}
    assert set(LIVE) == {*ACTIVE, Status.ARCHIVED}


def test_replaying_the_log_gives_every_status_again():
    log = [
        ("a", Cause.ADMITTED, Status.CANDIDATE),
        ("b", Cause.REPLACED_ANOTHER, Status.CONFIRMED),
        ("a", Cause.SUPERSEDED, Status.SUPERSEDED),
        ("b", Cause.FROZE, Status.FROZEN),
    ]

    assert replay(log) == {"a": Status.SUPERSEDED, "b": Status.FROZEN}
    assert replay([]) == {}


def test_a_log_with_an_illegal_line_is_not_replayed():
    with pytest.raises(IllegalMoveError):
        replay([("a", Cause.FROZE, Status.FROZEN)])


def test_what_does_not_exist_yet_is_told_as_such():
    with pytest.raises(IllegalMoveError) as refused:
        move(None, Cause.FROZE)

    assert str(refused.value) == "an item that is not there yet cannot move by froze"
