"""Words by which raw turns are found: alike in index and question [R6]."""

from __future__ import annotations

import pytest

from dualgate.adapters.local.lexer import CHARACTER_LIMIT, SnowballLexer

LEXER = SnowballLexer()


@pytest.mark.parametrize(
    ("said", "asked"),
    [
        ("She adopted two dogs.", "Which dog did she adopt?"),
        ("We're HIKING near Innsbruck’s hut", "When did we hike to the huts of Innsbruck?"),
        ("厨房的水龙头换成了黄铜的", "水龙头是什么材质"),
        ("用的是ＰＯＳＴＧＲＥＳ数据库", "postgres"),
        ("order C3PO-77 arrived", "Where is c3po?"),
        ("Žluťoučký kůň", "žluťoučký"),
    ],
)
def test_a_question_shares_words_with_its_answer_whatever_their_forms(said, asked):
    assert set(LEXER.asked(asked)) & set(LEXER.words(said))


def test_words_without_sense_are_neither_kept_nor_asked_for():
    assert LEXER.words("what is it that you would do") == []
    assert LEXER.asked("是不是可以？") == []


def test_only_the_beginning_of_a_document_is_cut():
    assert len(LEXER.words("stone " * CHARACTER_LIMIT)) <= CHARACTER_LIMIT / 5


def test_a_long_question_asks_for_a_bounded_number_of_words():
    assert len(LEXER.asked(" ".join(f"w{n}x" for n in range(500)))) == 48


@pytest.mark.parametrize("text", ["", "…!?", "👋", "\x00", "\ud83d"])
def test_what_has_no_words_has_none(text):
    assert LEXER.words(text) == []
