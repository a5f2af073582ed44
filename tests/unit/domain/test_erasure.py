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
    ("霜月", "霜月很美", True),
    ("霜月花", "我的霜月花今天很乖", True),
    ("AB花", "我的AB花很美", True),
    ("AB花", "我的AB花very美", True),
    ("霜月花", "my霜月花", True),
    ("cat", "concatenate", False),
    ("cat", "a bobcat", False),
    ("Quillfeather", "我的狗叫Quillfeather今年三岁", True),
    ("Quillfeather", "我的狗叫Quillfeathers", False),
    ("42号院", "我住42号院", True),
])  # fmt: skip
def test_values_stand_as_words_of_their_own(value, text, found):
    assert words_of([an_item("x y z content", value=value)], []).said_in(text) is found


def test_without_a_value_the_words_shared_with_the_quote_are_the_value():
    item = an_item("The user drinks oolong from Wuyi")
    words = words_of([item], ["I only drink oolong from Wuyi, please"])

    assert words.values == ("oolong from wuyi",)
    assert words.said_in("Oolong from Wuyi it is!")


@pytest.mark.parametrize(("content", "quote", "shared"), [
    ("The user drinks oolong from Wuyi daily", "only oolong from Wuyi, please",
     ("oolong from wuyi",)),
    ("Oolong from Wuyi is what the user drinks", "oolong from Wuyi", ("oolong from wuyi",)),
    ("Wuyi oolong tea is what the user drinks", "oolong tea is from Wuyi", ("oolong tea is",)),
    ("用户养了霜月花猫", "我养了霜月花猫", ("养了霜月花猫",)),
    # Of two equally long, the first.
    ("The user has calm nights, then loud nights", "loud nights, no calm nights",
     ("calm nights",)),
    # A single word may be anybody's, however long; so may a few short ones.
    ("The user is a photographer", "my photographer quit", ()),
    ("The user is in a bar", "a bar", ()),
    ("用户在看书", "我要看书", ()),
])  # fmt: skip
def test_what_the_content_took_from_the_quote_is_its_longest_shared_run(content, quote, shared):
    """[P3]"""
    assert words_of([a_candidate(content)], [quote]).values == shared


@pytest.mark.parametrize(("text", "found"), [
    ("Well, my dog lives in the old mill!", True),
    ("dog lives in the old", True),  # a part that is long enough to be nobody else's
    ("the old mill", False),
    ("", False),
    (None, False),
])
def test_a_sentence_is_found_in_a_text_and_a_telling_text_in_a_sentence(text, found):
    """[P3]"""
    words = words_of([], ["My dog lives in the old mill"])

    assert words.quoted_in(text) is found
    assert words.said_in(text) is found


def test_a_quote_of_three_letters_is_in_everything():
    """[P3]"""
    assert not words_of([], ["Yes"]).said_in("Yes, it is")
    assert words_of([], ["Nope"]).said_in("Nope, it is not")


def test_values_that_others_say_too_can_be_left_out():
    """[P3]"""
    words = words_of([DOG, an_item("The user lives in Zwettl", value="Zwettl")], [])
    rare = words.without(["zwettl", "unheard"])

    assert (words.values, rare.values) == (("quillfeather", "zwettl"), ("quillfeather",))
    assert rare.sentences == words.sentences


def test_a_short_text_is_not_found_by_standing_in_a_long_sentence():
    assert not words_of([], ["yes, I live in Zwettl and my dog is called"]).quoted_in("yes")


def test_marks_of_the_same_words_are_the_same_mark():
    assert text_mark("I drink  Tea.") == text_mark("i drink tea")
    assert text_mark("tea") != said_mark("tea") != turn_mark("tea")
    assert len({mark(text) for mark in (text_mark, said_mark) for text in ("tea", "rum")}) == 4


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


def test_marks_are_worded_as_they_were_when_older_tombstones_were_made():
    """[P3]: the store keeps hashes of these; another wording would let erased text return"""
    item = a_candidate("The user lives in  Zwettl.", item_type="identity", attribute="Home",
                       value="Zwettl am Kamp")  # fmt: skip

    assert statement_marks(item) == (
        "statement:identity|user|says|theuserlivesinzwettl",
        "statement:identity|user|+|home|zwettlamkamp",
    )
    assert text_mark("I drink  Tea.") == "text:idrinktea"
    assert said_mark("I drink  Tea.") == "said:idrinktea"
    assert keyed(b"k" * 32, "turn:t1") == "dc87115cf1f6ec74e0458286033233a2"


def test_a_mark_with_half_a_surrogate_pair_has_a_tombstone_like_any_other():
    """[P3]: text from users can be anything"""
    assert len(keyed(b"k" * 32, "turn:\ud83d")) == 32


def test_a_tombstone_depends_on_its_key_and_shows_no_word():
    one, other = keyed(b"a" * 32, "turn:secret"), keyed(b"b" * 32, "turn:secret")

    assert one != other
    assert "secret" not in one
    assert one == keyed(b"a" * 32, "turn:secret")


@pytest.mark.parametrize(("text", "telling"), [
    ("Yes, please!", False), ("好的，谢谢", False), ("ok", False),
    ("My sister moved to Hobart", True), ("我妹妹三月搬到了霍巴特", True),
    ("fifteen letters", False), ("sixteen letters, ok", True),
    ("abcdefghijklmno", False), ("abcdefghijklmnop", True),
    ("六个汉字而已", False), ("这是七个汉字了", True),
])  # fmt: skip
def test_only_longer_texts_are_told_apart_by_their_words(text, telling):
    assert is_telling(text) is telling
