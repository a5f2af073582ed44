"""How raw turns are ranked [R6]."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dualgate.domain.passages import (
    Counted,
    PassageWeights,
    RankedTurn,
    bm25,
    counted,
    date_text,
    rank_turns,
)

WEIGHTS = PassageWeights()


def turn(name, words="", *, session="s", place=0, **others):
    return RankedTurn(id=name, session_id=session, place=place, words=words.split(), **others)


def order(asked, *turns, weights=WEIGHTS):
    return [one.turn_id for one in rank_turns(dict.fromkeys(asked.split(), 1.0), turns, weights)]


def test_no_turns_rank_to_nothing():
    assert rank_turns({"dog": 1.0}, [], WEIGHTS) == []


def test_an_answer_is_found_by_the_words_of_the_question_before_it():
    asked = turn("asked", "what is your dog called", place=0)
    answer = turn("answer", "biscuit", place=1)
    far = turn("far", "biscuit", session="other")

    assert order("dog", asked, answer, far)[:2] == ["asked", "answer"]
    assert "far" not in order("dog", asked, answer, far)


def test_turns_of_another_session_lend_nothing():
    one = turn("one", "dog", session="a", place=0)
    other = turn("other", "", session="b", place=1)

    assert order("dog", one, other) == ["one"]


def test_a_rare_word_counts_more_than_a_common_one():
    turns = [turn(f"t{n}", "weather nice", session=f"s{n}") for n in range(8)]
    rare = turn("rare", "violin lesson", session="r")

    assert order("weather violin", *turns, rare)[0] == "rare"


def test_the_speakers_name_tells_two_turns_apart_but_is_lent_to_neither():
    hers = turn("hers", "paint lake", place=0, about=["ann"])
    his = turn("his", "paint lake", place=1, about=["bob"])

    assert order("bob paint", hers, his)[0] == "his"
    assert order("ann paint", hers, his)[0] == "hers"


def test_the_date_of_a_turn_is_found_by_its_words():
    may = turn("may", "met friend", session="a", dated=["8", "may", "2023"])
    june = turn("june", "met friend", session="b", dated=["8", "june", "2023"])

    assert order("friend june", may, june)[0] == "june"


def test_without_a_shared_word_a_turn_must_be_near():
    near = turn("near", "x", session="a", cosine=WEIGHTS.lowest_cosine)
    far = turn("far", "y", session="b", cosine=WEIGHTS.lowest_cosine - 0.01)

    assert order("dog", near, far) == ["near"]


def test_every_problem_of_the_weights_is_named():
    wrong = PassageWeights(words=0, meaning=0, b=2, reach=-1, before=-1)

    assert len(wrong.problems()) == 4


@given(
    st.lists(
        st.tuples(st.sampled_from("abcd"), st.lists(st.sampled_from(["x", "y", "z"]))),
        max_size=12,
    ),
    st.lists(st.floats(-1, 1), min_size=12, max_size=12),
)
def test_relevance_is_a_share_and_the_order_of_the_input_changes_nothing(made, cosines):
    turns = [
        RankedTurn(id=str(n), session_id=session, place=n, words=words, cosine=cosines[n])
        for n, (session, words) in enumerate(made)
    ]
    ranked = rank_turns({"x": 1.0, "y": 0.5}, turns, WEIGHTS)

    assert all(0 <= one.relevance <= 1 for one in ranked)
    assert [one.relevance for one in ranked] == sorted((o.relevance for o in ranked), reverse=True)
    again = rank_turns({"x": 1.0, "y": 0.5}, turns[::-1], WEIGHTS)
    assert {one.turn_id for one in again} == {one.turn_id for one in ranked}


def test_words_alone_can_be_asked_for():
    worded = turn("worded", "dog", session="a")
    near = turn("near", "cat", session="b", cosine=0.9)

    assert order("dog", worded, near, weights=replace(WEIGHTS, meaning=0.0))[0] == "worded"


# --- against the formulas worked by hand


@pytest.mark.parametrize("month", range(1, 13))
def test_a_date_is_worded_as_questions_word_it(month):
    at = datetime(2023, month, 8, tzinfo=UTC)

    assert date_text(at) == f"{at:%-d %B %Y}, {month}月"


def test_what_a_turn_lends_halves_with_the_distance_and_nothing_is_not_lent():
    """[R6]"""
    usual, one_sided = PassageWeights(), PassageWeights(before=0.0, after=0.5, reach=3)

    assert usual.lent() == {0: 1.0, -1: 0.7, 1: 0.3, -2: 0.35, 2: 0.15}
    assert one_sided.lent() == {0: 1.0, 1: 0.5, 2: 0.25, 3: 0.125}
    assert PassageWeights(reach=0).lent() == {0: 1.0}


def test_the_relevance_is_the_weighted_mean_of_the_paths():
    """[R6]"""
    weights = PassageWeights(words=2.0, meaning=1.0, session=0.5)

    found = weights.relevance({"words": 0.5, "meaning": 0.2, "session": 0.8})

    assert found == pytest.approx((2.0 * 0.5 + 0.2 + 0.5 * 0.8) / 3.5)


def test_only_the_words_that_are_asked_for_are_counted_and_all_make_the_length():
    assert counted(["dog", "cat", "dog", "cow"], {"dog": 1.0, "cow": 1.0}) == Counted(
        {"dog": 2, "cow": 1}, 4.0
    )


def test_a_text_is_added_at_a_share_of_its_weight():
    text = Counted({"dog": 2.0}, 4.0)

    text.add(Counted({"dog": 2.0, "cow": 4.0}, 6.0), 0.5)
    text.add(Counted({"cow": 1.0}, 1.0))

    assert text == Counted({"dog": 3.0, "cow": 3.0}, 8.0)


def by_hand(asked, texts, k1, b):
    """BM25 as Robertson and Zaragoza write it; texts are lists of words."""
    mean = sum(len(text) for text in texts) / len(texts)
    scores = []
    for text in texts:
        score = 0.0
        for word, weight in asked.items():
            if (n := text.count(word)) == 0:
                continue
            holders = sum(word in other for other in texts)
            rarity = math.log(1 + (len(texts) - holders + 0.5) / (holders + 0.5))
            score += weight * rarity * n * (k1 + 1) / (n + k1 * (1 - b + b * len(text) / mean))
        scores.append(score)
    return scores


@pytest.mark.parametrize(("k1", "b"), [(0.9, 0.4), (1.2, 0.0), (1.5, 1.0), (0.0, 0.5)])
def test_words_are_ranked_by_bm25(k1, b):
    """[R6]"""
    asked = {"dog": 1.0, "park": 2.0, "moon": 1.0}
    texts = [line.split() for line in ("a dog", "dog dog park", "the long way to the park", "x")]

    found = bm25(asked, [counted(text, asked) for text in texts], k1, b)

    assert found == pytest.approx(by_hand(asked, texts, k1, b))


def test_bm25_of_nothing_is_nothing():
    assert bm25({"dog": 1.0}, [], 0.9, 0.4) == []
    assert bm25({"dog": 1.0}, [Counted(), Counted()], 0.9, 0.4) == [0, 0]


def test_every_path_of_a_turn_is_a_share_of_the_best():
    """[R6]: words and nearness with what the neighbours lend, and the whole session's words"""
    asked = {"dog": 1.0, "may": 0.5}
    weights = PassageWeights(before=0.5, after=0.25, reach=1, date=0.5, lowest_cosine=0.3)
    turns = [
        turn("a", "my dog", place=0, cosine=0.2, about=["ann"]),
        turn("b", "he is old", place=1, cosine=0.8, dated=["8", "may"]),
        turn("c", "a dog barks", session="other", place=0, cosine=-0.1),
        turn("d", "nothing", session="third", place=0, cosine=0.3),
        turn("e", "nothing", session="third", place=5, cosine=0.29),
    ]
    # What each turn holds: its own words, a half of those before, a quarter of those after, and
    # its own speaker and half of its date.
    texts = [
        Counted({"dog": 1.0}, 2 + 0.25 * 3 + 1),
        Counted({"dog": 0.5, "may": 0.5}, 3 + 0.5 * 2 + 0.5 * 2),
        Counted({"dog": 1.0}, 3.0),
        Counted({}, 1.0),
        Counted({}, 1.0),
    ]
    sessions = [Counted({"dog": 1.0, "may": 0.5}, 2 + 3 + 1 + 1), Counted({"dog": 1.0}, 3.0),
                Counted({}, 2.0)]  # fmt: skip
    # A vector holds the turn before already: what lends nearness is turned around.
    near = [0.2 + 0.5 * 0.8, 0.8 + 0.25 * 0.2, -0.1, 0.3, 0.29]
    worded, told = bm25(asked, texts, 0.9, 0.4), bm25(asked, sessions, 0.9, 0.4)

    ranked = {one.turn_id: one for one in rank_turns(asked, turns, weights)}

    assert set(ranked) == {"a", "b", "c", "d"}
    for place, session in ((0, 0), (1, 0), (2, 1), (3, 2)):
        paths = {
            "words": worded[place] / max(worded),
            "meaning": max(0.0, near[place]) / max(near),
            "session": told[session] / max(told),
        }
        found = ranked[turns[place].id]
        assert found.paths == pytest.approx(paths)
        assert found.relevance == pytest.approx(weights.relevance(paths))


def test_turns_of_one_relevance_are_ordered_by_their_ids():
    twins = [turn(name, "dog", session=name) for name in ("b", "a")]

    assert order("dog", *twins) == ["a", "b"]
