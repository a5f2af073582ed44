"""The user's own verbs from every status: they always win, or say why not [F6]."""

from __future__ import annotations

from datetime import timedelta

import pytest

from dualgate.domain import curation
from dualgate.domain.admission import AdmissionPolicy
from dualgate.domain.archiving import ArchivePolicy
from dualgate.domain.curation import own_session
from dualgate.domain.freezing import FreezePolicy
from dualgate.domain.policy import GatePolicy
from dualgate.domain.status import Cause, Status
from dualgate.domain.types import ItemType, Polarity
from dualgate.errors import ConfirmationRequiredError, InvalidInputError
from dualgate.testing.builders import MONDAY

S = Status
LONG = ("reply_length", "long", Polarity.POSITIVE, ())


def use(mind, verb, item):
    if verb == "correct":
        return correct(mind, item)
    if verb == "forget":
        return mind.does("forget", item, confirmed=True)
    return mind.does(verb, item)


def correct(mind, item, content="The user prefers long answers", structure=LONG):
    mind.apply(
        curation.correct(
            mind.current(item), content, mind.snapshot(), mind.policy, mind.now,
            f"{item.id}-v{item.version}", structure,
        )
    )  # fmt: skip
    return mind.current(item)


REFUSED = None
# What an item of this status is after the verb; the type is one that does not freeze by itself.
OUTCOMES = {
    "like": {S.CANDIDATE: S.CONFIRMED, S.CONFIRMED: S.CONFIRMED, S.FROZEN: S.FROZEN,
             S.ARCHIVED: S.CONFIRMED, S.SUPERSEDED: REFUSED, S.FORGOTTEN: REFUSED},
    "dislike": {S.CANDIDATE: S.ARCHIVED, S.CONFIRMED: S.CONFIRMED, S.FROZEN: S.CONFIRMED,
                S.ARCHIVED: S.ARCHIVED, S.SUPERSEDED: REFUSED, S.FORGOTTEN: REFUSED},
    "pin": {S.CANDIDATE: S.FROZEN, S.CONFIRMED: S.FROZEN, S.FROZEN: S.FROZEN,
            S.ARCHIVED: S.FROZEN, S.SUPERSEDED: REFUSED, S.FORGOTTEN: REFUSED},
    "unpin": {S.CANDIDATE: S.CANDIDATE, S.CONFIRMED: S.CONFIRMED, S.FROZEN: S.CONFIRMED,
              S.ARCHIVED: S.ARCHIVED, S.SUPERSEDED: REFUSED, S.FORGOTTEN: REFUSED},
    "correct": {S.CANDIDATE: S.CONFIRMED, S.CONFIRMED: S.CONFIRMED, S.FROZEN: S.FROZEN,
                S.ARCHIVED: S.CONFIRMED, S.SUPERSEDED: REFUSED, S.FORGOTTEN: REFUSED},
    "forget": {S.CANDIDATE: S.FORGOTTEN, S.CONFIRMED: S.FORGOTTEN, S.FROZEN: S.FORGOTTEN,
               S.ARCHIVED: S.FORGOTTEN, S.SUPERSEDED: S.FORGOTTEN, S.FORGOTTEN: REFUSED},
    "restore": {S.CANDIDATE: REFUSED, S.CONFIRMED: REFUSED, S.FROZEN: REFUSED,
                S.ARCHIVED: S.CANDIDATE, S.SUPERSEDED: REFUSED, S.FORGOTTEN: S.CANDIDATE},
}  # fmt: skip


@pytest.mark.parametrize("status", list(Status))
@pytest.mark.parametrize("verb", list(OUTCOMES))
def test_every_verb_from_every_status(mind, verb, status):
    item = mind.knows(item_type=ItemType.FACT, status=status)
    expected = OUTCOMES[verb][status]

    if expected is REFUSED:
        with pytest.raises(InvalidInputError, match=f"{verb} needs an item") as caught:
            use(mind, verb, item)
        assert caught.value.argument == "item_id"
        assert str(caught.value).endswith(f"(given: '{status.value}')")
        assert mind.moves == []
    else:
        assert use(mind, verb, item).status is expected
        assert all(move.actor == "user" for move in mind.moves if move.cause is not Cause.FROZE)


# --- like


def test_a_like_counts_once_a_day_as_an_explicit_confirmation(mind):
    item = mind.knows(confirm_count=1.0, support=0.6)
    mind.does("like", item)
    mind.days_pass(0.1)
    again = mind.does("like", item)
    assert (again.confirm_count, again.support) == (2.0, 1.0)

    mind.days_pass(1)
    assert mind.does("like", item).confirm_count == 3.0
    assert {s.session_id for s in mind.signals} == {
        own_session(MONDAY), own_session(mind.now),
    }  # fmt: skip


def test_a_like_keeps_what_is_sensitive(mind):
    """[P1]"""
    item = mind.knows(sensitivity="sensitive", expires_at=MONDAY + timedelta(days=30))

    assert mind.does("like", item).expires_at is None


def test_a_like_brings_an_archived_item_back_into_a_full_pool(a_mind):
    """The user's own word needs no place to be free."""
    mind = a_mind(GatePolicy(admission=AdmissionPolicy(capacity=1, floor_places=0)))
    mind.knows("strong", importance=1.0, support=1.0)
    item = mind.knows("weak", item_type=ItemType.FACT, status=Status.ARCHIVED, importance=0.1)

    assert mind.does("like", item).status is Status.CONFIRMED


@pytest.mark.parametrize("verb", ["like", "pin", "correct", "restore"])
def test_what_the_user_brings_back_is_not_crowded_out_by_what_it_displaces(a_mind, verb):
    """[A7, S1] Hot pool and archive are both full: the two change places, nobody is forgotten."""
    mind = a_mind(
        GatePolicy(
            admission=AdmissionPolicy(capacity=1, floor_places=0),
            archive=ArchivePolicy(capacity=1),
        )
    )
    hot = mind.knows("strong", item_type=ItemType.FACT, importance=0.9)
    item = mind.knows("weak", item_type=ItemType.FACT, status=Status.ARCHIVED, importance=0.1)
    use(mind, verb, item)

    assert mind.current(item).status is not Status.ARCHIVED
    assert mind.current(hot).status is Status.ARCHIVED
    moved = [(move.item_id, move.cause) for move in mind.moves if move.before is not None]
    assert [cause for item_id, cause in moved if item_id == hot.id] == [Cause.EVICTED]
    assert Cause.CROWDED_OUT not in [cause for _, cause in moved]


@pytest.mark.parametrize("verb", ["like", "pin", "correct", "restore"])
def test_what_the_user_brings_back_does_not_fade_at_the_next_upkeep(mind, verb):
    """[F6, D1]"""
    item = mind.knows(item_type=ItemType.FACT, importance=0.5)
    for _ in range(20):
        mind.days_pass(7)
        mind.own_time = mind.own_time.touched(mind.now)
    mind.maintains()
    assert mind.current(item).status is Status.ARCHIVED

    use(mind, verb, item)
    mind.maintains()

    assert mind.current(item).status is not Status.ARCHIVED


def test_liking_one_side_of_a_contest_may_settle_it(mind):
    """[C2]"""
    old = mind.knows(attribute="reply_length", value="short")
    new = mind.items[mind.prefers("long").item_id]

    mind.does("like", new)

    assert mind.current(old).status is Status.SUPERSEDED


# --- dislike


def test_a_dislike_takes_one_confirmation_off_and_the_pin_with_it(mind):
    item = mind.knows(status=Status.FROZEN, confirm_count=5.0, pinned=True)

    item = mind.does("dislike", item)

    assert (item.status, item.confirm_count, item.pinned) == (Status.CONFIRMED, 4.0, False)


def test_a_disliked_item_does_not_freeze_again_in_the_same_breath(mind):
    item = mind.knows(status=Status.FROZEN, confirm_count=9.0)

    assert mind.does("dislike", item).status is Status.CONFIRMED
    assert mind.maintains() == []


def test_a_count_never_falls_under_nought(mind):
    """[F2]"""
    item = mind.knows(confirm_count=0.5)

    assert mind.does("dislike", item).confirm_count == 0


# --- a contest


def test_choosing_one_side_of_a_contest_supersedes_the_other(mind):
    """[C2]: by the user in the panel"""
    old = mind.knows(attribute="reply_length", value="short")
    new = mind.items[mind.prefers("long").item_id]

    assert mind.does("choose", old).status is Status.CONFIRMED
    assert not mind.current(old).contested
    assert mind.current(new).superseded_by == old.id
    assert mind.current(old).override_of == new.id


def test_keeping_both_sides_of_a_contest_leaves_both_confirmed(mind):
    """[C2, F6]: the user says that both hold"""
    old = mind.knows(attribute="reply_length", value="short")
    new = mind.items[mind.prefers("long").item_id]

    mind.does("keep_both", old)

    assert [mind.current(i).contested for i in (old, new)] == [False, False]
    assert [mind.current(i).status for i in (old, new)] == [Status.CONFIRMED] * 2


@pytest.mark.parametrize("verb", ["choose", "keep_both"])
def test_only_a_contested_item_can_end_a_contest(mind, verb):
    item = mind.knows(attribute="reply_length", value="short")

    with pytest.raises(InvalidInputError, match="must be a contested item"):
        mind.does(verb, item)


# --- pin


def test_a_pin_settles_a_contest_for_its_item(mind):
    """[C2]: by the user in the panel"""
    old = mind.knows(attribute="reply_length", value="short")
    new = mind.items[mind.prefers("long").item_id]

    assert mind.does("pin", old).status is Status.FROZEN
    assert mind.current(new).superseded_by == old.id


def test_a_pinned_item_waits_protected_where_the_frozen_pool_is_full(a_mind):
    """[F4, F6]"""
    mind = a_mind(GatePolicy(freeze=FreezePolicy(capacity=0)))
    item = mind.knows(item_type=ItemType.FACT)

    assert mind.does("pin", item).status is Status.CONFIRMED
    assert item.id in {i.id for i in mind.hot if i.pinned}


def test_a_passing_limit_does_not_end_what_is_pinned(mind):
    """[F6, P1]: what the user keeps has no time limit"""
    item = mind.knows(attribute="reply_length", value="short")
    mind.does("pin", item)

    mind.prefers("short", expires_at=mind.now + timedelta(days=2))

    assert mind.current(item).expires_at is None


def test_unpinning_leaves_frozen_what_has_earned_it(mind):
    frozen = mind.freezes()
    mind.does("pin", frozen)

    assert mind.does("unpin", frozen).status is Status.FROZEN


# --- correct


def test_a_correction_keeps_id_place_and_counts_and_keeps_the_old_wording(mind):
    """[C3]"""
    item = mind.knows(attribute="reply_length", value="short", confirm_count=1.0, tags=("style",))

    new = correct(mind, item)

    old = mind.items[new.override_of]
    assert (new.id, new.version, new.value, new.tags) == (item.id, 2, "long", ("style",))
    assert (new.created_at, new.confirm_count) == (item.created_at, 1.0)
    assert (old.content, old.status, old.superseded_by, old.version) == (
        item.content, Status.SUPERSEDED, item.id, 1,
    )  # fmt: skip


def test_a_correction_takes_names_along_only_if_they_still_stand_there(mind):
    """[R2]: or the old employer would go on finding the new one"""
    item = mind.knows("The user works at Acme in Oslo", entities=("Acme", "Oslo"))

    new = correct(mind, item, "The user works at Initech in Oslo", (None, None, item.polarity, ()))

    assert new.entities == ("Oslo",)


def test_a_correction_ends_every_challenge(mind):
    """[F3]"""
    frozen = mind.freezes()
    mind.prefers("long", confidence=0.8)

    correct(mind, frozen)

    assert mind.challenges == []


def test_a_correction_into_what_another_item_says_leaves_one_of_them(mind):
    """[C1]: the same statement is never active twice"""
    wrong = mind.knows("The user likes tea")
    known = mind.knows("The user likes coffee", confirm_count=2.0)
    mind.does("pin", known)

    new = correct(mind, wrong, "the user likes Coffee", (None, None, wrong.polarity, ()))

    other = mind.current(known)
    assert (other.status, other.superseded_by) == (Status.SUPERSEDED, new.id)
    assert (new.confirm_count, new.pinned) == (2.0, True)


def test_a_correction_into_the_value_of_another_item_leaves_one_of_them(mind):
    """[C1]"""
    wrong = mind.knows("Keep it long", attribute="reply_length", value="long")
    known = mind.knows("Short answers", attribute="reply_length", value="short")

    new = correct(mind, wrong, "Keep it short", ("reply_length", "short", Polarity.POSITIVE, ()))

    assert mind.current(known).superseded_by == new.id


def test_a_correction_leaves_what_is_said_of_somebody_else(mind):
    """[W3]"""
    wrong = mind.knows("Likes tea")
    hers = mind.knows("Likes coffee", subject="sister")

    correct(mind, wrong, "Likes coffee", (None, None, wrong.polarity, ()))

    assert mind.current(hers).status is hers.status


def test_the_users_wording_is_not_replaced_by_what_is_heard_later(mind):
    """[F6]"""
    item = mind.knows(attribute="reply_length", value="short", evidence="emotional")
    correct(mind, item, "Keep it short", ("reply_length", "short", Polarity.POSITIVE, ()))

    mind.prefers("short")

    assert mind.current(item).content == "Keep it short"


# --- forget and restore


def test_forgetting_a_frozen_item_asks_once_more(mind):
    frozen = mind.freezes()

    with pytest.raises(ConfirmationRequiredError):
        mind.does("forget", frozen, confirmed=False)
    assert mind.current(frozen).status is Status.FROZEN

    assert mind.does("forget", frozen, confirmed=True).status is Status.FORGOTTEN


def test_restoring_what_was_frozen_freezes_it_again(mind):
    """[P3]: forget is undoable"""
    frozen = mind.freezes()
    mind.does("forget", frozen, confirmed=True)

    assert mind.does("restore", frozen).status is Status.FROZEN


def test_a_superseded_item_is_restored_to_where_it_was(mind):
    old = mind.knows(attribute="reply_length", value="short")
    mind.prefers("long", correction=True)
    mind.does("forget", old, confirmed=True)

    assert mind.does("restore", old).status is Status.SUPERSEDED


def test_forgetting_one_side_ends_the_contest_of_the_other(mind):
    old = mind.knows(attribute="reply_length", value="short")
    new = mind.items[mind.prefers("long").item_id]

    mind.does("forget", new, confirmed=True)

    assert not mind.current(old).contested
