"""Facts about filling a budget [R1]."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from dualgate.domain.budget import Priced, fill

HEADINGS = {"g": 2, "h": 3}


def test_lines_are_taken_in_rank_order_while_they_fit():
    ranked = [Priced("a", "g", 3), Priced("b", "g", 3), Priced("c", "g", 3)]

    assert fill(ranked, 8, HEADINGS).taken == ("a", "b")
    assert fill(ranked, 8, HEADINGS).left_out == ("c",)


def test_a_heading_is_paid_once_by_its_first_line():
    ranked = [Priced("a", "g", 1), Priced("b", "h", 1), Priced("c", "g", 1)]

    assert fill(ranked, 100, HEADINGS).spent == 3 + 2 + 3


def test_a_line_that_would_only_fit_without_its_heading_is_left_out():
    assert fill([Priced("a", "h", 2)], 4, HEADINGS).taken == ()


def test_a_long_line_does_not_stop_a_shorter_one_of_lower_rank():
    assert fill([Priced("long", "g", 99), Priced("short", "g", 1)], 10, HEADINGS).taken == (
        "short",
    )


def test_the_title_of_a_section_costs_nothing_when_nothing_is_taken():
    assert fill([Priced("a", "g", 9)], 10, HEADINGS, opening_cost=2).spent == 0
    assert fill([Priced("a", "g", 6)], 10, HEADINGS, opening_cost=2).spent == 10


def test_the_title_of_a_section_is_paid_once_by_its_first_line():
    ranked = [Priced("a", "g", 1), Priced("b", "g", 1)]

    assert fill(ranked, 100, HEADINGS, opening_cost=5).spent == 5 + 2 + 1 + 1


def test_a_group_without_a_heading_costs_its_lines_alone():
    assert fill([Priced("a", "bare", 1)], 10, HEADINGS).spent == 1


@given(
    st.lists(st.tuples(st.sampled_from("gh"), st.integers(0, 40)), max_size=30),
    st.integers(-5, 200),
    st.integers(0, 5),
)
def test_the_budget_is_never_exceeded_and_nothing_is_lost(lines, budget, title):
    ranked = [Priced(n, group, cost) for n, (group, cost) in enumerate(lines)]
    filling = fill(ranked, budget, HEADINGS, title)

    assert filling.spent <= max(0, budget)
    assert sorted(filling.taken + filling.left_out) == list(range(len(lines)))
    assert list(filling.taken) == sorted(filling.taken)
