"""Does a candidate follow from what was said? Model output is bad input [W3, W5]."""

from __future__ import annotations

import pytest

from dualgate.domain.grounding import is_quoted, may_speak, shares_words
from dualgate.domain.types import Role
from dualgate.testing.builders import a_candidate


@pytest.mark.parametrize(
    ("role", "fields", "expected"),
    [
        (Role.USER, {}, True),
        (Role.USER, {"item_type": "commitment", "subject": "assistant"}, True),
        (Role.ASSISTANT, {}, False),
        (Role.ASSISTANT, {"item_type": "commitment", "subject": "assistant"}, True),
        (Role.ASSISTANT, {"item_type": "commitment", "subject": "user"}, False),
        (Role.ASSISTANT, {"item_type": "fact", "subject": "assistant"}, False),
        (Role.TOOL, {"item_type": "commitment", "subject": "assistant"}, False),
        (Role.SYSTEM, {}, False),
    ],
)
def test_only_the_user_speaks_of_himself_and_the_assistant_only_promises(role, fields, expected):
    assert may_speak(a_candidate(**fields), role) is expected


@pytest.mark.parametrize(
    ("quote", "text", "expected"),
    [
        ("I have a  CAT", "well, i have a cat.", True),
        ("我 喜欢 茶", "其实我喜欢茶，尤其是绿茶", True),
        ("ｉ like tea", "I like tea", True),
        ("I like coffee", "I like tea", False),
        ("", "I like tea", False),
        (None, "I like tea", False),
        ("  ...  ", "...", False),
        ("I like tea", "", False),
    ],
)
def test_a_quote_stands_in_the_text_spacing_and_case_aside(quote, text, expected):
    assert is_quoted(a_candidate(quote=quote), text) is expected


@pytest.mark.parametrize(
    ("content", "text", "expected"),
    [
        ("The user prefers short answers", "short answers please", True),
        ("The user prefers short answers", "what a day", False),
        ("用户喜欢简洁的回答", "回答请简洁一点", True),
        ("用户喜欢简洁的回答", "今天天气不错", False),
        ("The user is a", "the user is a", False),
        ("The user prefers short answers without tables", "a short breath", False),
        (" ".join(f"w{n}" for n in range(50)), " ".join(f"w{n}" for n in range(17)), True),
        (" ".join(f"w{n}" for n in range(50)), " ".join(f"w{n}" for n in range(16)), False),
    ],
)
def test_a_third_of_the_words_must_have_been_said(content, text, expected):
    assert shares_words(a_candidate(content), text) is expected
