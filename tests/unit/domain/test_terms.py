"""The words of a text and what they weigh; whose name a text holds [R2]."""

from __future__ import annotations

import pytest

from dualgate.domain.terms import (
    BIGRAM_WEIGHT,
    NAME_ALONE,
    NAME_WEIGHT,
    is_stop_word,
    item_terms,
    names_in,
    names_subject,
    overlap,
    singular,
    terms,
    without_stop_phrases,
)
from dualgate.testing.builders import an_item

WORD = 1.0


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # A capital in the middle of a sentence, or within a word, makes a name.
        ("the database", {"database": WORD}),
        ("Databases grow", {"database": WORD, "grow": WORD}),
        ("in Oslo", {"oslo": NAME_WEIGHT}),
        ("far. Oslo", {"far": WORD, "oslo": WORD}),
        ('"Oslo', {"oslo": WORD}),
        ("Model X Oslo", {"model": WORD, "x": NAME_WEIGHT, "oslo": NAME_WEIGHT}),
        ("iPhone", {"iphone": NAME_WEIGHT}),
        ("PostgreSQL", {"postgresql": NAME_WEIGHT}),
        # So does a digit within a word; a number tells the more, the longer it is.
        ("x86", {"x86": NAME_WEIGHT}),
        ("A4", {"a4": NAME_WEIGHT}),
        ("7", {"7": 0.25}),
        ("42", {"42": WORD}),
        ("365", {"365": WORD}),
        ("1.5", {"1.5": WORD}),
        ("2026", {"2026": NAME_WEIGHT}),
        # Latin words inside Chinese are names; a single letter is not.
        ("我用 git 写", {"git": NAME_WEIGHT}),
        ("我用 Go 写", {"go": NAME_WEIGHT}),
        ("我用 r 写", {"r": WORD}),
        ("数据库", {"数据": BIGRAM_WEIGHT, "据库": BIGRAM_WEIGHT}),
        # Of one word in two places, the weightier.
        ("oslo in Oslo", {"oslo": NAME_WEIGHT}),
    ],
)
def test_a_name_weighs_more_than_a_word_and_a_long_number_more_than_a_short_one(text, expected):
    """[R2]"""
    assert dict(terms(text)) == expected


def test_a_word_that_carries_no_meaning_is_no_term():
    assert is_stop_word("the")
    assert not is_stop_word("theory")
    assert terms("what is the") == {}
    assert without_stop_phrases("预算是多少") == "预算  "


def test_an_item_carries_the_words_of_its_content_its_value_and_its_tags():
    """[R2]"""
    item = an_item("lives in a hut", value="log cabin", tags=("home", "wood"))

    assert set(item_terms(item)) == {"live", "hut", "log", "cabin", "home", "wood"}
    assert set(item_terms(an_item("lives in a hut"))) == {"live", "hut"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("what is the", 0.0),
        ("green tea", 1.0),
        ("green tea ceremony school", 0.5),
        ("green cups", 0.5),
        ("cups", 0.0),
    ],
)
def test_the_overlap_is_the_share_of_the_questions_words(text, expected):
    """[R2]"""
    assert overlap(text, an_item("drinks green tea")) == expected


LONG = "compare the prices of long trips to {} next week, with breakfast"


@pytest.mark.parametrize(
    ("fields", "name"),
    [({"entities": ("Oslo",)}, "oslo"), ({"subject": "Kevin"}, "kevin")],
)
def test_a_shared_name_is_evidence_by_itself_however_long_the_question(fields, name):
    """[R2]: an entity of the item, or whom it is about"""
    item = an_item("prefers a window seat", **fields)

    assert overlap(LONG.format(name), item) == NAME_ALONE
    assert overlap(LONG.format("somewhere"), item) == 0.0


def test_the_user_is_no_name():
    """[R2]"""
    assert overlap("a user interface with bright colours", an_item("The user likes tea")) == 0.0
    assert not names_subject("a user interface", "user")


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("ask kevin now", True),
        ("Kevin knows", True),
        ("ask Kevin", True),
        ("kevin", True),
        ("(kevin)", True),
        ("问kevin吧", True),
        ("kevins", False),
        ("mckevin", False),
        ("mckevin and kevin", True),
        ("mckevin and kevin and kevins", True),
        ("kevin and kevins", True),
        ("nobody", False),
    ],
)
def test_a_latin_name_stands_as_a_word_of_its_own(text, named):
    """[R2]"""
    assert names_subject(text, "Kevin") is named


def test_a_chinese_name_stands_anywhere():
    assert names_subject("请问张伟在吗", "张伟")


def test_what_is_a_name_in_one_item_is_one_in_all():
    """[R2]: entities and subjects; a word that carries no meaning is none"""
    items = [
        an_item("x", entities=("青山项目", "Oslo", "The")),
        an_item("y", subject="Kevin"),
        an_item("z"),
    ]

    assert names_in("青山项目 and the trip of Kevin", items) == {"青山项目", "kevin"}
    assert names_in("nothing of it", items) == names_in("Kevin", []) == frozenset()
    plain = an_item("the trip to oslo was long")
    asked = "compare the prices of a trip to oslo next week, with breakfast"
    assert overlap(asked, plain, {"oslo"}) == max(NAME_ALONE, overlap(asked, plain))
    assert overlap(asked, plain) < NAME_ALONE


def test_what_is_a_name_in_one_item_is_a_name_in_all():
    """[R2]"""
    known = an_item("用户在做青禾", entities=("青禾",))
    other = an_item("青禾采用 BSD 协议")
    names = names_in("青禾里的搜索页帮我看一下", [known, other])

    assert names == {"青禾"}
    assert overlap("青禾里的搜索页帮我看一下", other) < NAME_ALONE
    assert overlap("青禾里的搜索页帮我看一下", other, names) >= NAME_ALONE


def test_a_word_that_carries_no_meaning_is_no_name_even_where_an_item_calls_it_one():
    item = an_item("It is decided", entities=("It",))

    assert names_in("what is it about?", [item]) == frozenset()


@pytest.mark.parametrize(
    ("asked", "stored"),
    [("birthdays?", "The user's wife's birthday is 3 May"),
     ("any allergy", "The user has two allergies"),
     ("which boxes", "The user's box is green")],
)  # fmt: skip
def test_a_thing_and_its_plural_are_one_word(asked: str, stored: str) -> None:
    """[R2]"""
    assert set(terms(asked)) & set(terms(stored))


@pytest.mark.parametrize("word", ["glass", "status", "redis", "k8s", "bus", "gas1", "用户s"])
def test_what_only_looks_like_a_plural_stays(word: str) -> None:
    assert singular(word) == word
