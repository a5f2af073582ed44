"""How raw turns are ranked [R6]."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from dualgate.domain.passages import PassageWeights, RankedTurn, rank_turns

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
