"""What the user's own verbs write down: every move with its numbers, every word as a signal [F6].

Why an item stands as it stands is read out of these lines [W2, S1], so they are facts, too.
"""

from __future__ import annotations

from datetime import timedelta

import pytest

from dualgate.domain import curation
from dualgate.domain.admission import AdmissionPolicy
from dualgate.domain.curation import own_session
from dualgate.domain.plan import Actor, PendingState
from dualgate.domain.policy import GatePolicy
from dualgate.domain.signals import Signal
from dualgate.domain.status import Cause, Status
from dualgate.domain.types import Evidence, ItemType, Polarity, Source
from dualgate.errors import ConfirmationRequiredError, InvalidInputError
from dualgate.testing.builders import MONDAY, USER, a_pending

S, C = Status, Cause
FACT = {"item_type": ItemType.FACT}  # of a type that does not freeze by itself
OF_ONE = GatePolicy(admission=AdmissionPolicy(capacity=1, floor_places=0))


def logged(mind):
    """Return the moves of the last verb; each says that the user made it, and when."""
    moves = mind.last_plan.moves
    assert {(m.actor, m.at, m.user_id) for m in moves} <= {(Actor.USER, mind.now, USER)}
    return [(m.item_id, m.before, m.after, m.cause, dict(m.numbers)) for m in moves]


def own_word(mind, item, signal_id, *, agrees):
    return Signal(
        id=signal_id,
        user_id=USER,
        item_id=item.id,
        session_id=own_session(mind.now),
        at=mind.now,
        confidence=1.0,
        evidence=Evidence.EXPLICIT,
        agrees=agrees,
        source=Source.USER,
    )


def contested(mind, *versions):
    """Return items that all say otherwise, with these versions."""
    ids = [f"known-side-{n}" for n, _ in enumerate(versions)]
    return [
        mind.knows(f"says {item_id}", id=item_id, version=version, status=S.CONFIRMED, **FACT,
                   contested_with=tuple(i for i in ids if i != item_id))
        for item_id, version in zip(ids, versions, strict=True)
    ]  # fmt: skip


# --- like and dislike


def test_a_like_is_a_signal_of_the_users_own_and_confirms(mind):
    item = mind.knows(**FACT)

    mind.does("like", item)

    assert logged(mind) == [(item.id, S.CANDIDATE, S.CONFIRMED, C.CONFIRMED, {"own_word": True})]
    assert mind.signals == [own_word(mind, item, mind.signals[0].id, agrees=True)]
    assert mind.signals[0].id.startswith("own-")


@pytest.mark.parametrize(("days", "spaced"), [(0, 2), (2, 3)])
def test_a_like_on_another_day_is_a_spaced_confirmation(mind, days, spaced):
    """[F5, F6]"""
    item = mind.knows(**FACT, spaced_count=2, confidence=0.7, calm_confidence=0.7)
    mind.days_pass(days)

    liked = mind.does("like", item)

    assert (liked.spaced_count, liked.last_seen_at, liked.liked_at) == (spaced, mind.now, mind.now)
    assert (liked.confidence, liked.calm_confidence, liked.evidence) == (
        1.0, 1.0, Evidence.EXPLICIT,
    )  # fmt: skip


def test_a_dislike_is_a_signal_against_and_says_what_is_left(mind):
    item = mind.knows(**FACT, confirm_count=1.0)

    mind.does("dislike", item)

    ((item_id, before, after, cause, numbers),) = logged(mind)
    assert (item_id, before, after, cause) == (item.id, S.CANDIDATE, S.ARCHIVED, C.DISLIKED)
    assert numbers == {"confirm_count": 0.0, "score": pytest.approx(0.25 + 0.35 + 0.225)}
    assert mind.signals == [own_word(mind, item, mind.signals[0].id, agrees=False)]
    assert mind.signals[0].id.startswith("own-")


def test_a_disliked_frozen_item_thaws_with_its_count(mind):
    item = mind.knows(**FACT, status=S.FROZEN, confirm_count=4.0)

    mind.does("dislike", item)

    assert logged(mind) == [(item.id, S.FROZEN, S.CONFIRMED, C.DISLIKED, {"confirm_count": 3.0})]


# --- pin


def test_a_pin_says_what_it_superseded(mind):
    """[C2]"""
    one, other = contested(mind, 1, 1)

    mind.does("pin", one)

    assert logged(mind)[0] == (
        other.id, S.CONFIRMED, S.SUPERSEDED, C.SUPERSEDED, {"successor": one.id, "pinned": True},
    )  # fmt: skip


def test_an_unpinned_item_thaws_unless_it_has_earned_its_place(mind):
    """[F6]: whenever it thawed before; the pin had frozen it since"""
    item = mind.knows(**FACT, status=S.FROZEN, pinned=True)
    earned = mind.knows(status=S.FROZEN, pinned=True, confirm_count=3.0, thawed_at=MONDAY)

    assert mind.does("unpin", item).pinned is False
    assert logged(mind) == [(item.id, S.FROZEN, S.CONFIRMED, C.THAWED, {"unpinned": True})]
    assert mind.does("unpin", earned).status is S.FROZEN


# --- a contest


def test_the_side_that_is_chosen_follows_the_latest_version_of_the_others(mind):
    """[C2, C3]"""
    one, two, three = contested(mind, 1, 4, 2)

    chosen = mind.does("choose", one)

    assert logged(mind) == [
        (side.id, S.CONFIRMED, S.SUPERSEDED, C.SUPERSEDED, {"successor": one.id, "chosen": True})
        for side in (two, three)
    ]
    assert (chosen.override_of, chosen.version, chosen.contested) == (two.id, 5, False)


def test_a_chosen_side_keeps_the_lineage_and_the_version_that_it_has(mind):
    """[C3]"""
    one, _ = contested(mind, 7, 1)
    mind.items[one.id] = one.with_(override_of="older")

    assert mind.does("choose", one).override_of == "older"
    two, _ = contested(mind, 7, 1)
    assert mind.does("choose", two).version == 7


@pytest.mark.parametrize("verb", ["choose", "keep_both"])
def test_a_contest_with_what_is_gone_can_be_ended(mind, verb):
    item = mind.knows(**FACT, status=S.CONFIRMED, contested_with=("gone",))

    item = mind.does(verb, item)

    assert (item.contested_with, item.override_of, item.version) == ((), None, 1)


def test_keeping_both_leaves_a_contest_with_a_third_side_to_it(mind):
    """[C2]: the user spoke of these two"""
    one, two, three = contested(mind, 1, 1, 1)
    mind.items[one.id] = one.with_(contested_with=(two.id,))
    mind.items[three.id] = three.with_(contested_with=(two.id,))

    mind.does("keep_both", one)

    assert mind.current(one).contested_with == ()
    assert mind.current(two).contested_with == (three.id,)


@pytest.mark.parametrize("verb", ["choose", "keep_both"])
def test_ending_a_contest_names_the_rule_it_needs(mind, verb):
    archived = mind.knows(**FACT, status=S.ARCHIVED)
    at_peace = mind.knows(**FACT)

    with pytest.raises(InvalidInputError) as stored_away:
        mind.does(verb, archived)
    with pytest.raises(InvalidInputError) as uncontested:
        mind.does(verb, at_peace)

    assert str(stored_away.value) == (
        f"item_id: {verb} needs an item that is candidate | confirmed (given: 'archived')"
    )
    assert str(uncontested.value) == (
        f"item_id: must be a contested item (given: '{at_peace.id}')"
    )


# --- correct


def corrected(mind, item, content, structure):
    mind.apply(
        curation.correct(
            mind.current(item), content, mind.snapshot(), mind.policy, mind.now,
            f"known-v{item.version}", structure,
        )
    )  # fmt: skip
    return mind.current(item)


def test_who_corrects_to_the_same_words_has_confirmed_them(mind):
    """[F6]: there is no older wording to keep"""
    item = mind.knows("tea", **FACT, expires_at=MONDAY + timedelta(days=3), version=2)

    same = corrected(mind, item, "tea", (None, None, Polarity.POSITIVE, ()))

    assert logged(mind) == [(item.id, S.CANDIDATE, S.CONFIRMED, C.CONFIRMED, {"own_word": True})]
    assert (same.version, same.expires_at, same.override_of) == (2, None, None)


def test_a_correction_keeps_the_slot_and_takes_what_else_the_new_words_say(mind):
    """[F6]: the slot stays where the new wording does not name another one"""
    item = mind.knows(**FACT, attribute="reply_length", value="short")
    mind.days_pass(2)

    new = corrected(mind, item, "no long mails", (None, "long", Polarity.NEGATIVE, ("in mails",)))

    assert (new.attribute, new.value, new.polarity, new.qualifiers, new.last_seen_at) == (
        "reply_length", "long", Polarity.NEGATIVE, ("in mails",), mind.now,
    )  # fmt: skip
    moved = corrected(mind, new, "tea", ("drink", "tea", Polarity.POSITIVE, ()))
    assert moved.attribute == "drink"


def test_a_correction_settles_every_contest_and_the_old_wording_holds_none(mind):
    """[C2, C3]"""
    one, two = contested(mind, 1, 1)
    mind.items[one.id] = one = one.with_(contested_with=(two.id, "gone"), pinned=True)

    new = corrected(mind, one, "something else", (None, None, Polarity.POSITIVE, ()))

    assert logged(mind)[:2] == [
        ("known-v1", None, S.SUPERSEDED, C.CORRECTED, {"successor": one.id}),
        (two.id, S.CONFIRMED, S.SUPERSEDED, C.SUPERSEDED,
         {"successor": one.id, "correction": True}),
    ]  # fmt: skip
    old = mind.items["known-v1"]
    assert (old.contested_with, old.pinned, new.contested_with, new.pinned) == (
        (), False, (), True,
    )  # fmt: skip


# --- forget and restore


def test_forgetting_names_the_frozen_item_that_asks_once_more(mind):
    frozen = mind.freezes()

    with pytest.raises(ConfirmationRequiredError) as asked:
        mind.does("forget", frozen, confirmed=False)

    assert asked.value.item_id == frozen.id


def test_what_is_forgotten_is_not_pinned_and_not_challenged_any_more(mind):
    """[F3, F6]: also one that had thawed with a challenge still open"""
    item = mind.knows(**FACT, status=S.CONFIRMED, pinned=True)
    mind.pendings["pending-1"] = a_pending(item.id)

    forgotten = mind.does("forget", item, confirmed=True)

    assert forgotten.pinned is False
    assert mind.pendings["pending-1"].state is PendingState.OVERRIDDEN


@pytest.mark.parametrize("status", [S.ARCHIVED, S.FORGOTTEN])
def test_a_restored_item_needs_no_place_to_be_free_and_has_no_limit(a_mind, status):
    """[F6, P1]"""
    mind = a_mind(OF_ONE)
    mind.knows("strong", importance=1.0, support=1.0, **FACT)
    item = mind.knows(
        **FACT, status=status, importance=0.1, expires_at=MONDAY + timedelta(days=9)
    )

    restored = mind.does("restore", item)

    assert (restored.status, restored.expires_at) == (S.CANDIDATE, None)


# --- a parked challenge


def challenge(mind, **fields):
    frozen = mind.freezes()
    held = mind.prefers("long", confidence=0.8, **fields)
    mind.days_pass(2)
    return frozen, mind.pendings[held.pending_id]


def test_an_accepted_challenge_is_the_users_own_word_from_then_on(mind):
    """[F3, F6, P1]: as sure as can be, and without a limit"""
    frozen, pending = challenge(mind, sensitivity="sensitive")

    mind.settles(pending, accept=True)

    risen = mind.items[pending.id]
    assert [line for line in logged(mind) if line[0] in (frozen.id, risen.id)] == [
        (frozen.id, S.FROZEN, S.SUPERSEDED, C.SUPERSEDED,
         {"successor": risen.id, "accepted": True}),
        (risen.id, None, S.CONFIRMED, C.REPLACED_ANOTHER, {"accepted": True}),
    ]  # fmt: skip
    assert mind.last_plan.signals == (own_word(mind, risen, pending.id, agrees=True),)
    assert (risen.user_id, risen.source_session_id) == (USER, own_session(mind.now))
    assert (risen.confidence, risen.calm_confidence, risen.support) == (1.0, 1.0, 1.0)
    assert (risen.last_seen_at, risen.expires_at) == (mind.now, None)


def test_a_challenge_accepted_beside_its_item_is_as_sure(mind):
    """[F6]: the user says that both hold, and has spoken for the frozen one as well"""
    frozen, pending = challenge(mind)
    other = mind.pendings[mind.prefers("rhyming", confidence=0.8).pending_id]
    mind.days_pass(1)

    mind.apply(
        curation.admit(pending, mind.current(frozen), mind.snapshot(), mind.policy, mind.now)
    )

    risen = mind.items[pending.id]
    assert logged(mind)[:2] == [
        (risen.id, None, S.CANDIDATE, C.ADMITTED, {"own_word": True}),
        (risen.id, S.CANDIDATE, S.CONFIRMED, C.CONFIRMED, {"own_word": True}),
    ]
    assert mind.last_plan.signals == (own_word(mind, risen, pending.id, agrees=True),)
    assert (risen.user_id, risen.source_session_id) == (USER, own_session(mind.now))
    assert (risen.confidence, risen.calm_confidence, risen.support) == (1.0, 1.0, 1.0)
    assert risen.last_seen_at == mind.current(frozen).last_seen_at == mind.now
    assert mind.pendings[pending.id].state is PendingState.ACCEPTED
    assert mind.pendings[other.id].counting_since == mind.now


@pytest.mark.parametrize("verb", ["accept", "admit"])
def test_what_the_user_accepts_needs_no_place_to_be_free(a_mind, verb):
    """[F6]: whoever is weakest makes room"""
    mind = a_mind(OF_ONE)
    frozen, pending = challenge(mind, importance=0.1)
    mind.knows("strong", importance=1.0, support=1.0, **FACT)

    mind.apply(
        getattr(curation, verb)(
            pending, mind.current(frozen), mind.snapshot(), mind.policy, mind.now
        )
    )

    assert [item.id for item in mind.hot] == [pending.id]


@pytest.mark.parametrize(("verb", "told"), [("accept", "accept"), ("admit", "keep_both")])
def test_a_challenge_to_what_has_left_can_not_be_settled_for_it(mind, verb, told):
    item = mind.knows(**FACT, status=S.ARCHIVED)

    with pytest.raises(InvalidInputError) as refused:
        getattr(curation, verb)(
            a_pending(item.id), item, mind.snapshot(), mind.policy, mind.now
        )

    assert str(refused.value) == (
        f"item_id: {told} needs an item that is candidate | confirmed | frozen (given: 'archived')"
    )


def test_a_rejected_challenge_is_closed_and_the_user_has_spoken_for_the_item(mind):
    """[F3]; a waiter that freezes with it does so by the user's act"""
    frozen, pending = challenge(mind)
    waiter = mind.knows(status=S.CONFIRMED, confirm_count=3.0)

    mind.settles(pending, accept=False)

    assert mind.pendings[pending.id].state is PendingState.REJECTED
    assert mind.current(frozen).last_seen_at == mind.now
    assert [line[:4] for line in logged(mind)] == [(waiter.id, S.CONFIRMED, S.FROZEN, C.FROZE)]
