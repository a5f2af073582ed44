"""How a query is read: courtesy, whom it is about, and the turns of a talk [R1, R2]."""

from __future__ import annotations

import pytest

from dualgate.domain.query import (
    COURTESY_LIMIT,
    QUERY_LIMIT,
    first_sentence,
    is_courtesy,
    read_query,
    to_subject,
    without_dative,
)


@pytest.mark.parametrize(
    ("text", "courteous"),
    [
        ("谢谢ok", True),
        ("hi你ok", True),
        # A word is not polite by the letters it begins with.
        ("kno", False),
        ("hi kno", False),
        ("thanksy", False),
        # Nobody is polite for longer than this.
        ("谢谢" * (COURTESY_LIMIT // 2), True),
        ("谢谢" * (COURTESY_LIMIT // 2) + "哦", False),
        ("!" * (COURTESY_LIMIT + 1), True),
    ],
)
def test_courtesy_is_made_of_whole_words_and_short(text, courteous):
    assert is_courtesy(text) is courteous
    assert read_query(text).courtesy is courteous


def test_an_opening_is_looked_for_at_the_beginning_only():
    """[R1]: the first sentence, not one after pages of thanks"""
    thanks = "谢谢谢谢。" * (4 * QUERY_LIMIT // 5)

    assert first_sentence(thanks + "我的猫叫什么？") == ""
    assert first_sentence(thanks[:300] + "我的猫叫什么？") == "我的猫叫什么？"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Tell me a joke", "Tell a joke"),
        ("帮我写诗", "帮写诗"),
        ("告诉我们结果", "告诉结果"),
        ("How do I change a tyre", "How do you change a tyre"),
        ("How do I manage my time", "How do I manage my time"),
        ("Which tyre do I have", "Which tyre do I have"),
    ],
)
def test_who_is_merely_served_is_left_out(text, expected):
    """[R2]"""
    assert without_dative(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("What is my name?", "What is the user's name?"),
        ("I'm sure I've met me", "the user is sure the user has met the user"),
        ("我和咱们", "用户和咱们"),
        ("我们用什么数据库", "我们用什么数据库"),
    ],
)
def test_the_first_person_singular_becomes_the_stored_subject(text, expected):
    """[R2]"""
    assert to_subject(text) == expected


def test_a_talk_of_several_lines_is_read_as_one_text_and_as_its_turns():
    """[R2]"""
    query = read_query("The first  one.\n\n…\nMy second one?")

    assert query.text == "The first one. My second one?"
    assert query.lines == ("The first one.", "the user's second one?")


@pytest.mark.parametrize(
    ("earlier", "latest", "kept"),
    [
        (499, 499, 2),  # with one character between turns, exactly the limit
        (500, 499, 1),
        (499, 500, 1),
        (5, QUERY_LIMIT + 9, 1),
    ],
)
def test_a_talk_keeps_the_last_turns_that_fit_and_always_the_last(earlier, latest, kept):
    """[R2]"""
    talk = read_query("a" * earlier + "\n" + "b" * latest)

    # A single line is no talk.
    assert len(talk.lines or ("",)) == kept
    assert talk.text.endswith("b" * min(latest, QUERY_LIMIT))


def test_a_short_talk_keeps_every_turn():
    assert read_query("one\ntwo\nthree").lines == ("one", "two", "three")
