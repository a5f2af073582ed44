"""The encoder reads a turn in one go, the same on every machine, whatever stands in it [W3-W5, T3]."""
from __future__ import annotations

import numpy as np
import pytest

from dualgate.adapters.local.extraction import encoder, model
from dualgate.adapters.local.extraction.reading import Reading, read_text
from dualgate.adapters.local.extraction.tokenizer import SPACE, WORD_LIMIT, Tokenizer

PIECES = ["<s>", "<unk>", SPACE, f"{SPACE}data", "base", "d", "a", "t", "数据", "数", "据", "库"]
SCORES = [0.0, 0.0, -2.0, -3.0, -4.0, -6.0, -6.0, -6.0, -5.0, -7.0, -7.0, -7.0]


def cut(text: str, *, starts_word: bool = True) -> list[str]:
    made = Tokenizer(PIECES, SCORES, 1)(text, starts_word=starts_word)
    return [PIECES[index] for index in made]


def read(text: str, history: tuple[tuple[str, str], ...] = ()) -> tuple[Reading, encoder.Encoded]:
    reading = read_text(text, history)
    return reading, encoder.load().read(reading, range(len(reading.clauses)))


def lasting(text: str, clause: int, history: tuple[tuple[str, str], ...] = ()) -> float:
    return float(read(text, history)[1].span("state", clause, clause)[1])


def test_the_likeliest_cut_wins_not_the_longest_piece() -> None:
    assert cut("database") == [f"{SPACE}data", "base"]
    assert cut("数据库", starts_word=False) == ["数据", "库"]


def test_a_character_nobody_knows_is_one_unknown_piece() -> None:
    assert cut("data☃base") == [f"{SPACE}data", "<unk>", "base"]


def test_what_nobody_sees_changes_nothing() -> None:
    assert cut("data\x00ba\u200bse\ud800") == cut("database")
    assert cut("\u202edatabase\u202c") == cut("database")


def test_full_width_letters_are_read_as_plain_ones() -> None:
    assert cut("ｄａｔａｂａｓｅ") == cut("database")


def test_marks_are_never_typed() -> None:
    assert "<s>" not in cut("<s>")


def test_a_word_without_end_is_cut_off() -> None:
    assert len(Tokenizer(PIECES, SCORES, 1)("数" * 5_000)) <= WORD_LIMIT + 1


@pytest.mark.parametrize(
    ("said", "clause"),
    [("我对花生过敏，帮我找个食谱", 0), ("I'm allergic to peanuts. Find me a recipe", 0)],
)
def test_a_fact_beside_a_task_is_told_from_it(said: str, clause: int) -> None:
    assert lasting(said, clause) > 0.8
    assert lasting(said, clause + 1) < 0.3


@pytest.mark.parametrize(
    ("alone", "framed"),
    [
        ("我住在杭州", "翻译成英文：我住在杭州"),
        ("I live in Oslo", "How would you say this in Dutch: I live in Oslo"),
    ],
)
def test_the_words_around_a_clause_change_what_it_states(alone: str, framed: str) -> None:
    assert lasting(alone, 0) > 0.8
    _, encoded = read(framed)
    assert float(encoded.turn[1]) < 0.5


def test_what_was_asked_is_read_before_the_answer() -> None:
    own = (("assistant", "Any food allergies I should know about?"),)
    text = (("assistant", "Which word shall I put into the second line of the poem?"),)
    assert lasting("peanuts", 0, own) > lasting("peanuts", 0, text)


def test_a_turn_longer_than_a_window_is_read_whole_and_in_bounds() -> None:
    reading, encoded = read("我对花生过敏，我住在杭州。" * 60)
    assert set(encoded.owner) == set(range(len(reading.clauses)))
    assert encoded.hidden.shape == (len(encoded.owner), 384)


@pytest.mark.parametrize("text", ["\ud800 a", "🤖🤖🤖 ok", "ﷺ مرحبا بك", "a" * 5_000, "\u200b\u200b b"])
def test_any_text_gives_finite_numbers(text: str) -> None:
    _, encoded = read(text)
    assert np.isfinite(encoded.hidden).all()
    assert encoded.turn.sum() == pytest.approx(1.0, abs=1e-5)


def test_the_same_turn_gives_the_same_numbers() -> None:
    first, second = (read("I moved to Oslo, so no more meetings before ten")[1] for _ in range(2))
    assert np.array_equal(first.hidden, second.hidden)


@pytest.mark.parametrize("said", ["谢谢，明白了", "thanks, got it"])
def test_a_turn_that_says_nothing_is_left_after_the_first_layers(said: str) -> None:
    reading = read_text(said, ())
    clauses = range(len(reading.clauses))
    encoded = encoder.load().read(reading, clauses, leave_at=model.load().leave_at)
    assert encoded.hidden.shape == (0, 384)
    assert encoded.heard(clauses) == []


def test_what_is_to_be_read_through_is_read_through() -> None:
    reading = read_text("thanks, that helps a lot!", ())
    clauses = range(len(reading.clauses))
    encoded = encoder.load().read(reading, clauses, leave_at=1.0, through={0})
    assert encoded.heard(clauses) == list(clauses)
