"""What a candidate, a message and an item accept; every refusal names argument and rule."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dualgate.domain.items import (
    CONTENT_LIMIT,
    QUOTE_LIMIT,
    Message,
    choice,
    clean_text,
    folded,
    require_aware,
    to_utc,
    unit_interval,
)
from dualgate.domain.types import Evidence, ItemType, Polarity, Role, Scope
from dualgate.errors import InvalidInputError
from dualgate.testing.builders import MONDAY, a_candidate, an_item

NAIVE = datetime(2026, 1, 5, 9)  # noqa: DTZ001


@pytest.mark.parametrize(
    ("fields", "argument"),
    [
        ({"item_type": "wish"}, "item_type"),
        ({"item_type": None}, "item_type"),
        ({"content": ""}, "content"),
        ({"content": " \n "}, "content"),
        ({"content": "x" * (CONTENT_LIMIT + 1)}, "content"),
        ({"content": 5}, "content"),
        ({"content": None}, "content"),
        ({"subject": 5}, "subject"),
        ({"attribute": 5}, "attribute"),
        ({"value": b"x"}, "value"),
        ({"polarity": "?"}, "polarity"),
        ({"qualifiers": "short"}, "qualifiers"),
        ({"qualifiers": 5}, "qualifiers"),
        ({"entities": (5,)}, "entities"),
        ({"tags": "tag"}, "tags"),
        ({"confidence": 1.01}, "confidence"),
        ({"confidence": -0.01}, "confidence"),
        ({"confidence": float("nan")}, "confidence"),
        ({"confidence": True}, "confidence"),
        ({"confidence": "0.9"}, "confidence"),
        ({"confidence": None}, "confidence"),
        ({"importance": 2}, "importance"),
        ({"evidence": "shouted"}, "evidence"),
        ({"scope": "ever"}, "scope"),
        ({"sensitivity": "very"}, "sensitivity"),
        ({"correction": 1}, "correction"),
        ({"event_at": NAIVE}, "event_at"),
        ({"expires_at": "2026-01-05"}, "expires_at"),
        ({"quote": 5}, "quote"),
        ({"message_id": 5}, "message_id"),
    ],
)
def test_a_candidate_that_makes_no_sense_names_the_argument(fields, argument):
    with pytest.raises(InvalidInputError) as caught:
        a_candidate(**{"content": "The user likes tea", **fields})

    assert caught.value.argument == argument
    assert caught.value.rule in str(caught.value)


TOO_LONG = "x" * (CONTENT_LIMIT + 1)
NO_INSTANT = datetime.max.replace(tzinfo=timezone(timedelta(hours=-14)))


@pytest.mark.parametrize(
    ("fields", "rule"),
    [
        ({"content": " "}, "content: must not be blank"),
        ({"content": TOO_LONG}, f"content: at most 2000 characters (given: '{'x' * 76}...)"),
        ({"content": 5}, "content: must be a string (given: 5)"),
        ({"tags": "tag"}, "tags: must be a sequence of strings (given: 'tag')"),
        ({"tags": 5}, "tags: must be a sequence of strings (given: 5)"),
        ({"confidence": "1"}, "confidence: must be a number between 0 and 1 (given: '1')"),
        ({"confidence": True}, "confidence: must be a number between 0 and 1 (given: True)"),
        ({"confidence": 1.5}, "confidence: must be between 0 and 1 (given: 1.5)"),
        ({"importance": -1}, "importance: must be between 0 and 1 (given: -1)"),
        ({"correction": 1}, "correction: must be True or False (given: 1)"),
        ({"polarity": "?"}, "polarity: must be one of + | - (given: '?')"),
        (
            {"event_at": NAIVE},
            f"event_at: must be a datetime with a time zone (given: {NAIVE!r})",
        ),
        (
            {"expires_at": NO_INSTANT},
            (
                "expires_at: must lie between the years 1 and 9999 in UTC "
                f"(given: {repr(NO_INSTANT)[:77]}...)"
            ),
        ),
    ],
)
def test_a_refusal_names_the_argument_the_rule_and_what_was_given(fields, rule):
    with pytest.raises(InvalidInputError) as caught:
        a_candidate(**{"content": "The user likes tea", **fields})

    assert str(caught.value) == rule


def test_a_statement_may_be_as_long_as_its_limit():
    assert len(a_candidate("x" * CONTENT_LIMIT).content) == CONTENT_LIMIT


@pytest.mark.parametrize("bad", [" ", 5])
def test_the_id_of_a_message_is_a_word_or_nothing(bad):
    with pytest.raises(InvalidInputError) as caught:
        Message("user", "hi", None, bad)

    assert str(caught.value) == f"id: must be a non-blank string or None (given: {bad!r})"


def test_a_candidate_is_tidied():
    candidate = a_candidate(
        "  The user likes tea ", subject=" ", attribute=" ", value=" tea ",
        qualifiers=["hot", " hot ", ""], quote="q" * (QUOTE_LIMIT + 9),
    )  # fmt: skip

    assert (candidate.content, candidate.subject) == ("The user likes tea", "user")
    assert (candidate.attribute, candidate.value) == (None, "tea")
    assert candidate.qualifiers == ("hot",)
    assert len(candidate.quote) == QUOTE_LIMIT


def test_words_become_members_of_their_vocabulary():
    candidate = a_candidate(evidence="implied", scope="task", polarity="-", item_type="fact")

    assert candidate.evidence is Evidence.IMPLIED
    assert candidate.scope is Scope.TASK
    assert candidate.polarity is Polarity.NEGATIVE
    assert candidate.item_type is ItemType.FACT


@pytest.mark.parametrize("confidence", [0, 1, 0.0, 1.0])
def test_the_ends_of_the_unit_interval_belong_to_it(confidence):
    assert a_candidate(confidence=confidence).confidence == float(confidence)


def test_a_message_may_be_empty_and_in_any_zone():
    at = datetime(2026, 1, 5, 17, tzinfo=timezone(timedelta(hours=8)))

    message = Message("assistant", "", at)

    assert (message.role, message.at) == (Role.ASSISTANT, at)


@pytest.mark.parametrize(
    ("given", "argument"),
    [
        (("boss", "hi"), "role"),
        (("user", None), "content"),
        (("user", "hi", NAIVE), "at"),
        (("user", "hi", None, " "), "id"),
        (("user", "hi", None, 5), "id"),
    ],
)
def test_a_message_that_makes_no_sense_names_the_argument(given, argument):
    with pytest.raises(InvalidInputError) as caught:
        Message(*given)

    assert caught.value.argument == argument


@given(st.text(st.characters(codec=None)))
def test_any_text_can_be_stored_once_it_is_clean(text):
    clean = clean_text("content", text)

    assert clean.encode("utf-8").decode("utf-8") == clean
    assert "\x00" not in clean
    assert clean_text("content", clean) == clean


def test_a_surrogate_pair_that_came_in_two_parts_is_one_character():
    assert clean_text("content", chr(0xD83D) + chr(0xDE00)) == "😀"


def test_clean_text_is_left_alone():
    text = "é 用户 😀 \u202e"

    assert clean_text("content", text) is text


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("PostgreSQL", "postgresql"),
        ("ＰｏｓｔｇｒｅＳＱＬ", "postgresql"),
        ("简洁。", "简洁"),
        ("  a   b ", "a b"),
        ("Straße", "STRASSE"),
    ],
)
def test_two_spellings_of_one_word_fold_to_the_same(one, other):
    assert folded(one) == folded(other)


@given(st.text())
def test_folding_twice_is_folding_once(text):
    once = folded(text)

    assert folded(folded(once)) == folded(once)


def test_nothing_folds_to_nothing():
    assert folded(None) == folded(" 。 ") == ""


def test_an_item_is_contested_if_somebody_says_otherwise():
    assert not an_item().contested
    assert an_item(contested_with=("other",)).contested


def test_a_copy_changes_only_what_is_named():
    item = an_item()

    assert item.with_(version=2).with_(version=1) == item


@pytest.mark.parametrize("bad", [NAIVE, None, "now", 5])
def test_an_instant_needs_a_zone(bad):
    with pytest.raises(InvalidInputError, match="with a time zone"):
        require_aware("at", bad)

    assert require_aware("at", MONDAY) is MONDAY
    assert MONDAY.tzinfo is UTC


@pytest.mark.parametrize(
    "outside",
    [
        datetime.max.replace(tzinfo=timezone(timedelta(hours=-14))),
        datetime.min.replace(tzinfo=timezone(timedelta(hours=14))),
    ],
)
def test_an_instant_that_utc_cannot_hold_is_refused_before_it_is_stored(outside):
    with pytest.raises(InvalidInputError, match=r"expires_at: .* between the years 1 and 9999"):
        a_candidate(expires_at=outside)
    with pytest.raises(InvalidInputError, match=r"at: .* between the years 1 and 9999"):
        Message("user", "I have a boat", at=outside)

    never = datetime.max.replace(tzinfo=UTC)
    assert a_candidate(expires_at=never).expires_at == never


def test_a_wrong_word_is_answered_with_the_right_ones():
    with pytest.raises(InvalidInputError, match=r"user \| assistant \| tool \| system"):
        choice("role", Role, ["user"])


@pytest.mark.parametrize("bad", [float("inf"), -1, "1", None, True])
def test_a_share_is_a_number_between_nought_and_one(bad):
    with pytest.raises(InvalidInputError, match="between 0 and 1"):
        unit_interval("x", bad)


def test_an_instant_is_the_same_in_utc():
    at = datetime(2026, 1, 5, 17, tzinfo=timezone(timedelta(hours=8)))

    assert to_utc(at) == MONDAY
    assert to_utc(at).tzinfo is UTC


def test_text_of_many_scripts_is_cleaned_of_what_no_store_can_hold():
    """NUL and lone surrogates; everything else stays as it is"""
    assert clean_text("content", "a\x00b") == "ab"
    assert clean_text("content", "茶\ud83d!") == "茶\ufffd!"
    for lone in ("\ud800", "\udc00", "\udfff"):
        assert clean_text("content", f"茶{lone}") == "茶\ufffd"
    assert clean_text("content", "\ud83d\ude00") == "😀"
    assert clean_text("content", "茶\ue000\uffff") == "茶\ue000\uffff"
