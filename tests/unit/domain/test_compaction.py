"""What of a conversation's oldest turns must outlive them [L1]."""

from __future__ import annotations

import pytest

from dualgate.domain.compaction import (
    CompactionPolicy,
    Cost,
    Keep,
    Line,
    choose,
    details,
    missing,
    names_something,
    turns_to_fold,
)


@pytest.mark.parametrize(
    ("turns", "folded"),
    [(0, 0), (1, 0), (20, 0), (21, 10), (30, 10), (31, 20), (40, 20), (100, 80)],
)
def test_a_conversation_of_more_than_twenty_turns_has_its_oldest_ten_folded(turns, folded):
    """[L1]: again as it grows, as often as it takes"""
    assert turns_to_fold(turns, CompactionPolicy()) == folded


def test_others_sizes_fold_likewise():
    policy = CompactionPolicy(after_turns=5, fold_turns=3)

    assert [turns_to_fold(n, policy) for n in (5, 6, 8, 9)] == [0, 3, 3, 6]


def test_costs_add_up_in_tokens_and_in_characters():
    assert Cost(1, 20) + Cost(3, 40) == Cost(4, 60)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("She moved to Oslo", True),
        ("she is in seat 12", True),
        ("the code is x", False),
        ("She moved again", False),
    ],
)
def test_a_number_or_a_name_is_something_to_keep(text, names):
    assert names_something(text) is names


def test_of_one_rank_the_line_with_a_name_is_kept_before_a_newer_one():
    """[L1]"""
    lines = [Line(Keep.FACT, "it is for Ana"), Line(Keep.FACT, "it is for somebody")]
    costs, free = [Cost(5, 5)] * 2, Cost()

    assert choose(lines, costs, {Keep.FACT: free}, free, Cost(5, 5)) == [0]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("use the iPhone4.", {"iphone4", "4"}),
        ("use macOSX", {"macosx"}),
        ("pay 1,200 - now", {"1,200"}),
    ],
)
def test_a_detail_is_spelt_in_one_way(text, found):
    assert details(text) == found


@pytest.mark.parametrize(
    ("said", "summary", "is_carried"),
    [
        # The typographer's apostrophe denies like the plain one.
        ("I don’t eat nuts", "I don't eat nuts", True),
        ("I don’t eat nuts", "I do eat nuts", False),
        # What begins a sentence has its capital from standing there.
        ("Budget: five hundred a month", "five hundred a month", True),
        # A name may stand first in the summary, or be all that it says beside a number.
        ("the budget is for Ana", "Ana has the budget", True),
        ("pay Ana 500", "Ana 500", True),
        # Half of the words is enough, a few of many are not.
        ("no nuts, please", "no nuts", True),
        ("no nuts in any cake that is served to guests", "no nuts", False),
        # Without any words there is nothing to miss.
        ("!?", "anything at all", True),
    ],
)
def test_a_summary_carries_a_line_in_other_words_of_the_same_sense(said, summary, is_carried):
    """[L1]: what constrains the assistant must outlive its turn"""
    rule = Line(Keep.RULE, said)

    assert missing([rule], [Line(Keep.FACT, summary)]) == ([] if is_carried else [rule])
