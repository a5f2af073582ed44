"""Messages as hosts write them: ours, OpenAI's, Anthropic's [L1]."""

from __future__ import annotations

import pytest

from dualgate import Message
from dualgate.conversation.shapes import (
    answers_of,
    calls_of,
    checked,
    counted_text,
    role_of,
    shortened,
    text_of,
    with_short_blocks,
)
from dualgate.conversation.units import laid_out
from dualgate.domain.types import Role
from dualgate.errors import InvalidInputError

ASKS = {
    "role": "assistant",
    "content": None,
    "tool_calls": [
        {"id": "a", "function": {"name": "find", "arguments": '{"q": "tea"}'}},
        {"id": "b", "function": {"name": "read", "arguments": "{}"}},
    ],
}
USES = {
    "role": "assistant",
    "content": [
        {"type": "thinking", "thinking": "hm", "signature": "xyz"},
        {"type": "text", "text": "Looking."},
        {"type": "tool_use", "id": "u", "name": "find", "input": {"q": "茶"}},
    ],
}
HITS = {"type": "text", "text": "7 hits"}
RESULT = {
    "role": "user",
    "content": [
        {"type": "tool_result", "tool_use_id": "u", "content": [HITS]},
        {"type": "text", "text": "and now?"},
    ],
}
PICTURE = {
    "role": "user",
    "content": [
        {"type": "text", "text": "What is this?"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "A" * 5_000}},
    ],
}


@pytest.mark.parametrize(
    ("messages", "argument"),
    [
        ("hi", "messages"),
        (Message("user", "hi"), "messages"),
        ({"role": "user", "content": "hi"}, "messages"),
        (None, "messages"),
        (["hi"], "messages[0]"),
        ([{"content": "hi"}], "messages[0]"),
        ([Message("user", "hi"), {"role": "narrator", "content": "hi"}], "messages[1].role"),
        ([{"role": 7, "content": "hi"}], "messages[0].role"),
        ([{"role": "user", "content": 7}], "messages[0].content"),
        ([{"role": "user", "content": [7]}], "messages[0].content"),
    ],
)  # fmt: skip
def test_what_is_no_message_is_named_with_its_rule(messages, argument):
    with pytest.raises(InvalidInputError) as caught:
        checked(messages)

    assert caught.value.argument == argument


def test_the_hosts_roles_are_ours():
    roles = ["user", "assistant", "tool", "function", "system", "developer"]

    assert [role_of({"role": role}) for role in roles] == [
        Role.USER, Role.ASSISTANT, Role.TOOL, Role.TOOL, Role.SYSTEM, Role.SYSTEM
    ]  # fmt: skip


def test_the_words_of_a_message_are_what_was_said_and_no_call_or_result():
    assert text_of(USES) == "Looking."
    assert text_of(RESULT) == "and now?"
    assert text_of(ASKS) == ""
    assert text_of({"role": "tool", "tool_call_id": "a", "content": "7 hits"}) == ""
    assert text_of(PICTURE) == "What is this?\n[image_url]"


def test_calls_and_answers_are_found_in_every_format():
    assert calls_of(ASKS) == {"a": "find", "b": "read"}
    assert calls_of(USES) == {"u": "find"}
    assert answers_of({"role": "tool", "tool_call_id": "a", "content": "7 hits"}) == [
        ("a", "7 hits")
    ]
    assert answers_of(RESULT) == [("u", "7 hits")]
    assert answers_of(Message("tool", "7 hits")) == [(None, "7 hits")]


def test_calls_and_results_count_and_media_do_not():
    assert "find" in counted_text(ASKS)
    assert "茶" in counted_text(USES)
    assert "7 hits" in counted_text(RESULT)
    assert len(counted_text(PICTURE)) < 50


def test_the_answers_of_one_message_stay_with_its_call():
    answers = [{"role": "tool", "tool_call_id": call, "content": "ok"} for call in "ba"]
    messages = [{"role": "user", "content": "hi"}, ASKS, *answers, USES, RESULT]

    layout = laid_out(messages)

    assert [unit.places for unit in layout.units] == [(0,), (1, 2, 3), (4, 5)]
    assert [unit.turns for unit in layout.units] == [1, 1, 2]


def test_a_late_answer_holds_all_together_up_to_its_call():
    late = {"role": "tool", "tool_call_id": "a", "content": "ok"}
    messages = [Message("user", "hi"), ASKS, Message("user", "well?"), late]

    assert [unit.places for unit in laid_out(messages).units] == [(0,), (1, 2, 3)]


def test_an_answer_without_a_call_stays_with_the_message_before_it():
    messages = [Message("user", "hi"), Message("assistant", "wait"), Message("tool", "ok")]

    assert [unit.places for unit in laid_out(messages).units] == [(0,), (1, 2)]


def test_short_blocks_keep_calls_whole_and_touch_no_original():
    long = {
        "role": "user",
        "content": [{"type": "tool_result", "tool_use_id": "u", "content": "x" * 900}],
    }

    short = with_short_blocks(long, 100)

    assert len(short["content"][0]["content"]) <= 100
    assert short["content"][0]["tool_use_id"] == "u"
    assert len(long["content"][0]["content"]) == 900
    assert with_short_blocks(USES, 80) is USES
    assert with_short_blocks(ASKS, 80) is ASKS


def test_a_pasted_block_is_cut_and_the_words_around_it_are_not():
    text = "Why does it fail?\n```\n" + "log line\n" * 200 + "```\nIt must not fail."

    short = with_short_blocks({"role": "user", "content": text}, 100)["content"]

    assert short.startswith("Why does it fail?")
    assert short.endswith("It must not fail.")
    assert len(short) < 150


@pytest.mark.parametrize("limit", [80, 81, 200, 1_200])
@pytest.mark.parametrize("text", ["a" * 5_000, "茶" * 5_000])
def test_what_was_shortened_is_not_shortened_again(text, limit):
    once = shortened(text, limit)

    assert len(once) <= limit
    assert shortened(once, limit) == once
