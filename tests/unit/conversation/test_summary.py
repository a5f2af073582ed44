"""The summary message: what is written can be read back [L1]."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dualgate import Message
from dualgate.conversation.summary import (
    Summary,
    as_message,
    forms_for,
    quoted_line,
    read,
    written,
)
from dualgate.domain.compaction import Cost, Keep, Line, choose, distinct, missing
from dualgate.domain.types import Role
from dualgate.pipeline.render import strip_injected

SPEAKERS = [Role.USER, Role.ASSISTANT, Role.TOOL]
LINES = st.builds(
    Line,
    st.sampled_from(Keep),
    st.one_of(st.text(min_size=1, max_size=40), st.sampled_from(["user: I", "用户：", "## x"])),
    st.sampled_from(SPEAKERS),
).map(quoted_line)


@given(st.lists(LINES.filter(lambda line: line.text), max_size=8), st.integers(0, 10**6))
def test_a_summary_with_headings_is_read_back_as_it_was_written(lines, turns):
    grouped = sorted(lines, key=lambda line: list(Keep).index(line.keep))
    for form in forms_for(lines)[:2]:
        text = written(Summary(turns, tuple(lines)), form)

        assert read({"role": "user", "content": text}) == Summary(turns, tuple(grouped))
        assert strip_injected(text).strip() == ""


def test_without_headings_the_lines_stay_and_their_kinds_do_not():
    lines = (Line(Keep.RULE, "no nuts"), Line(Keep.DECISION, "plan B?", Role.ASSISTANT))
    text = written(Summary(10, lines), forms_for(lines)[-1])

    assert read(Message("user", text)) == Summary(
        10, tuple(Line(Keep.POINT, line.text, line.speaker) for line in lines)
    )


@pytest.mark.parametrize(
    "message",
    [
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": '<dualgate-memory turns="3">\n</dualgate-memory>'},
        {"role": "user", "content": '<dualgate-memory turns="3">\nmine\n</dualgate-memory>'},
        {"role": "user", "content": '<dualgate-memory turns="3">\n</dualgate-memory> and I'},
        {"role": "user", "content": [{"type": "text", "text": "hi"}]},
        {"role": "user", "content": None},
    ],
)
def test_what_is_not_wholly_ours_is_an_ordinary_message(message):
    assert read(message) is None


def test_a_summary_is_a_message_of_the_hosts_own_kind():
    at = datetime(2026, 3, 2, tzinfo=UTC)

    assert as_message("s", Message("assistant", "hi"), at) == Message("user", "s", at)
    assert as_message("s", {"role": "assistant", "content": "hi"}, None) == {
        "role": "user",
        "content": "s",
    }


# --- what goes first, and how a summary is checked


def test_the_least_important_line_goes_first_and_the_oldest_of_a_kind():
    lines = [
        Line(Keep.TRACE, "t"),
        Line(Keep.RULE, "old rule"),
        Line(Keep.DETAIL, "d", Role.ASSISTANT),
        Line(Keep.DETAIL, "own detail"),
        Line(Keep.CONCLUSION, "c"),
        Line(Keep.RULE, "new rule"),
    ]
    free = dict.fromkeys(Keep, Cost())

    def left(room):
        return choose(lines, [Cost(1, 1)] * len(lines), free, Cost(), Cost(room, room))

    assert [left(room) for room in (1, 2, 3, 4, 5, 6)] == [
        [5], [1, 5], [1, 3, 5], [1, 3, 4, 5], [1, 2, 3, 4, 5], [0, 1, 2, 3, 4, 5]
    ]  # fmt: skip


def test_a_heading_is_paid_once_and_the_frame_always():
    lines = [Line(Keep.RULE, "a"), Line(Keep.RULE, "b"), Line(Keep.FACT, "c")]
    headings = dict.fromkeys(Keep, Cost(2, 2))
    each = [Cost(1, 1)] * 3

    assert choose(lines, each, headings, Cost(3, 3), Cost(7, 7)) == [0, 1]
    assert choose(lines, each, headings, Cost(3, 3), Cost(10, 10)) == [0, 1, 2]
    assert choose(lines, each, headings, Cost(3, 3), Cost(99, 5)) == []


def test_of_equal_lines_the_last_stays():
    lines = [Line(Keep.RULE, "Tea only."), Line(Keep.FACT, "x"), Line(Keep.RULE, "tea only")]

    assert distinct(lines) == lines[1:]


@pytest.mark.parametrize(
    ("said", "summary", "carried"),
    [
        ("The budget is 500 for Ana", "Ana's budget: 500", True),
        ("The budget is 500 for Ana", "Ana's budget: 5000", False),
        ("The budget is 500 for Ana", "The budget is 500 for Eve", False),
        ("Never use emoji", "use emoji", False),
        ("预算不能超过 5 万元", "预算：不超过 5 万", True),
        ("预算不能超过 5 万元", "预算：不超过 8 万", False),
        ("不要用表情", "用表情", False),
    ],
)
def test_a_summary_may_reword_but_not_round_rename_or_turn_around(said, summary, carried):
    reference = [Line(Keep.RULE, said)]

    assert missing(reference, [Line(Keep.FACT, summary)]) == ([] if carried else reference)


def test_only_what_lasts_is_asked_of_a_summary():
    assert missing([Line(Keep.TRACE, "x 12"), Line(Keep.DETAIL, "seat 12")], []) == []
