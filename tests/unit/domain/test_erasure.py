"""What has the erased words in it, and what is left to recognise old text by [P3]."""

from __future__ import annotations

import pytest

from dualgate.domain.erasure import (
    is_telling,
    keyed,
    said_mark,
    statement_marks,
    text_mark,
    turn_mark,
    words_of,
)
from dualgate.testing.builders import a_candidate, an_item

DOG = an_item("The user's dog is called Quillfeather", value="Quillfeather")


@pytest.mark.parametrize(
    "text",
    [
        "Quillfeather ate my shoe",
        "(QUILLFEATHER!)",
        "the user's dog is called   quillfeather.",
        "He said: my dog is Quillfeather, you know",
    ],
)
def test_a_text_that_says_the_value_or_the_sentence_is_found(text):
    assert words_of([DOG], ["my dog is Quillfeather"]).said_in(text)


@pytest.mark.parametrize("text", ["", "Quillfeathers", "quill feather pens", "my dog barks"])
def test_a_text_that_does_not_is_left_alone(text):
    assert not words_of([DOG], []).said_in(text)


@pytest.mark.parametrize(("value", "text", "found"), [
    ("霜月花", "霜月花今天很乖", True),
    ("霜月花", "霜月很美", False),
    ("茶", "我喝茶", False),  # a single character is in everything
    ("no", "no, thanks", False),
    ("C++", "we use C++ here", True),
    ("New York", "in new  york again", True),
])  # fmt: skip
def test_values_stand_as_words_of_their_own(value, text, found):
    assert words_of([an_item("x y z content", value=value)], []).said_in(text) is found


def test_without_a_value_the_words_shared_with_the_quote_are_the_value():
    item = an_item("The user drinks oolong from Wuyi")
    words = words_of([item], ["I only drink oolong from Wuyi, please"])

    assert words.values == ("oolong from wuyi",)
    assert words.said_in("Oolong from Wuyi it is!")


def test_a_short_text_is_not_found_by_standing_in_a_long_sentence():
    assert not words_of([], ["yes, I live in Zwettl and my dog is called"]).quoted_in("yes")


def test_marks_of_the_same_words_are_the_same_mark():
    assert text_mark("I drink  Tea.") == text_mark("i drink tea")
    assert text_mark("tea") != said_mark("tea") != turn_mark("tea")


def test_a_statement_is_known_by_its_wording_and_by_its_slot_and_value():
    item = an_item("The user lives in Zwettl", item_type="identity", attribute="home",
                   value="Zwettl")  # fmt: skip
    reworded = a_candidate("User's home: Zwettl", item_type="identity", attribute="home",
                           value="zwettl")  # fmt: skip
    other = a_candidate("The user lives in Bregenz", item_type="identity", attribute="home",
                        value="Bregenz")  # fmt: skip
    denied = a_candidate("not in Zwettl", item_type="identity", attribute="home", value="Zwettl",
                         polarity="-")  # fmt: skip

    mine = set(statement_marks(item))
    assert mine & set(statement_marks(reworded))
    assert not mine & set(statement_marks(other))
    assert not mine & set(statement_marks(denied))


def test_a_tombstone_depends_on_its_key_and_shows_no_word():
    one, other = keyed(b"a" * 32, "turn:secret"), keyed(b"b" * 32, "turn:secret")

    assert one != other
    assert "secret" not in one
    assert one == keyed(b"a" * 32, "turn:secret")


@pytest.mark.parametrize(("text", "telling"), [
    ("Yes, please!", False), ("好的，谢谢", False), ("ok", False),
    ("My sister moved to Hobart", True), ("我妹妹三月搬到了霍巴特", True),
])  # fmt: skip
def test_only_longer_texts_are_told_apart_by_their_words(text, telling):
    assert is_telling(text) is telling
