"""What was believed at a moment, read out of the log [R5, S1, P3]."""

from __future__ import annotations

from datetime import timedelta

from dualgate.domain.belief import believed_at
from dualgate.domain.status import Cause, Status
from dualgate.testing.builders import MONDAY, a_move, an_item


def day(n):
    return MONDAY + timedelta(days=n)


def admitted(item_id, at):
    return a_move(item_id, at=at)


def moved(item_id, before, after, cause, at):
    return a_move(item_id, before=before, after=after, cause=cause, at=at)


def believed(items, moves, when):
    found = believed_at({item.id: item for item in items}, moves, when)
    return [(item.id, item.content, item.status) for item in found]


def test_before_the_first_move_nothing_was_believed():
    assert believed([an_item(id="a")], [admitted("a", day(1))], day(0)) == []


def test_at_the_very_moment_of_a_move_it_has_happened():
    found = believed([an_item("x", id="a")], [admitted("a", day(1))], day(1))

    assert found == [("a", "x", Status.CANDIDATE)]


def test_an_item_has_the_status_of_then():
    item = an_item("x", id="a", status=Status.SUPERSEDED)
    moves = [
        admitted("a", day(0)),
        moved("a", Status.CANDIDATE, Status.CONFIRMED, Cause.CONFIRMED, day(2)),
        moved("a", Status.CONFIRMED, Status.SUPERSEDED, Cause.SUPERSEDED, day(4)),
    ]

    assert [believed([item], moves, day(n))[0][2] for n in (1, 3)] == [
        Status.CANDIDATE, Status.CONFIRMED,
    ]  # fmt: skip
    assert believed([item], moves, day(5)) == []


def test_what_was_in_the_archive_was_not_active():
    item = an_item("x", id="a", status=Status.ARCHIVED)
    moves = [
        admitted("a", day(0)),
        moved("a", Status.CANDIDATE, Status.ARCHIVED, Cause.FADED, day(2)),
    ]

    assert believed([item], moves, day(3)) == []


def test_a_corrected_item_has_the_wording_of_then():
    """Two corrections: each row keeps the wording until its own."""
    items = [
        an_item("third", id="a", version=3),
        an_item("first", id="v1", status=Status.SUPERSEDED, superseded_by="a"),
        an_item("second", id="v2", status=Status.SUPERSEDED, superseded_by="a"),
    ]
    moves = [
        admitted("a", day(0)),
        moved("v1", None, Status.SUPERSEDED, Cause.CORRECTED, day(2)),
        moved("v2", None, Status.SUPERSEDED, Cause.CORRECTED, day(4)),
    ]

    contents = [believed(items, moves, day(n))[0][1] for n in (1, 3, 5)]

    assert contents == ["first", "second", "third"]
    assert [i for i, _, _ in believed(items, moves, day(5))] == ["a"]


def test_what_the_user_has_forgotten_is_not_told_of_any_moment():
    """[P3]"""
    item = an_item(id="a", status=Status.FORGOTTEN)
    moves = [
        admitted("a", day(0)),
        moved("a", Status.CANDIDATE, Status.FORGOTTEN, Cause.FORGOT, day(9)),
    ]

    assert believed([item], moves, day(1)) == []


def test_a_purged_item_is_left_out_though_its_moves_stay():
    assert believed([], [admitted("a", day(0))], day(1)) == []


def test_what_was_replaced_later_lends_its_wording_to_nobody():
    """[R5]: only a correction rewords an item; a successor had its own words from the start."""
    items = [
        an_item("tea", id="a", status=Status.SUPERSEDED, superseded_by="b"),
        an_item("coffee", id="b"),
    ]
    moves = [
        admitted("a", day(0)),
        admitted("b", day(0)),
        moved("a", Status.CANDIDATE, Status.SUPERSEDED, Cause.SUPERSEDED, day(4)),
    ]

    assert [content for _, content, _ in believed(items, moves, day(1))] == ["tea", "coffee"]


def test_an_item_that_left_does_not_hide_those_that_stayed():
    items = [an_item("gone", id="a", status=Status.ARCHIVED), an_item("here", id="b")]
    moves = [
        admitted("a", day(0)),
        moved("a", Status.CANDIDATE, Status.ARCHIVED, Cause.FADED, day(1)),
        admitted("b", day(0)),
    ]

    assert [content for _, content, _ in believed(items, moves, day(2))] == ["here"]


def test_of_a_purged_item_no_older_wording_is_told():
    """[P3]"""
    older = an_item("first", id="v1", status=Status.SUPERSEDED, superseded_by="a")
    moves = [
        admitted("a", day(0)),
        moved("v1", None, Status.SUPERSEDED, Cause.CORRECTED, day(2)),
    ]

    assert believed([older], moves, day(1)) == []
