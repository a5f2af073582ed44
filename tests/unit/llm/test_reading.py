"""One JSON value out of what models say: strict, and never a guess [W5]."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dualgate.adapters.llm.reading import NotReadableError, parse, read_answer
from dualgate.pipeline.ports import AnswerForm


def whole_number(tree):
    if not isinstance(tree, dict) or not isinstance(tree.get("n"), int):
        raise ValueError("n: must be a whole number")  # noqa: TRY004
    return tree["n"]


FORM = AnswerForm(name="n", schema={"type": "object"}, read=whole_number)


@pytest.mark.parametrize(
    "text",
    [
        '{"n": 1}',
        '\ufeff  {"n": 1}\n',
        '```json\n{"n": 1}\n```',
        '```\n{"n": 1}\n```',
        'Here you are:\n```json\n{"n": 1}\n```\nAnything else?',
        'The answer is {"n": 1}. I hope it helps!',
        'Well {as you see} the answer is {"n": 1}',
        '<think>maybe {"n": 2}?</think>{"n": 1}',
        'so {"n": 2}? no.</think>\n\n{"n": 1}',
        '{"n": 1} {"n": 1}',
        '{"n": 1, "quote": "she wrote </think> and ```"}',
        '{"m": 0} is wrong, {"n": 1} is right',
    ],
)
def test_an_answer_is_found_within_what_models_put_around_it(text):
    assert read_answer(text, FORM).value == 1


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "is empty"),
        ("<think>hm</think>", "holds no JSON"),
        ("no facts", "holds no JSON object"),
        ('{"n": 1} or rather {"n": 2}', "2 different JSON objects"),
        ('{"n": "1"}', "n: must be a whole number"),
        ('{"n": 1, "n": 2}', "'n' stands twice"),
        ('{"n": 1, "deep": {"a": 1, "a": 1}}', "'a' stands twice"),
        ('{"n": NaN}', "NaN is no JSON number"),
        ("{'n': 1,}", "not JSON"),
        ('{"n": 1', "not JSON"),
        ('{"n": 1, "s": "\\ud83d"}', "half a character"),
        ("[1, 2]", "n: must be"),
        ('{"a":' * 100_000, "not JSON|nested too deeply"),
        ("{" * 100_000, "not JSON"),
    ],
)
def test_what_is_no_answer_says_why(text, problem):
    with pytest.raises(NotReadableError, match=problem):
        read_answer(text, FORM)


def test_json_that_was_shown_is_no_answer_unless_it_is_all_that_is_said():
    shown = ['They said {"n": 1}.']

    with pytest.raises(NotReadableError, match="repeats what was asked"):
        read_answer('They said {"n": 1}.', FORM, shown)
    with pytest.raises(NotReadableError, match="repeats what was asked"):
        read_answer('{"n": 1}', FORM, ['{"n": 1}'])
    assert read_answer('{"n": 1}', FORM, shown).value == 1
    assert read_answer('They said {"n": 1}, I say {"n": 2}', FORM, shown).value == 2


@given(st.text() | st.text(alphabet='{}[]",:n1 `\n<think>/'))
def test_any_text_is_an_answer_or_not_readable(text):
    with contextlib.suppress(NotReadableError):
        assert isinstance(read_answer(text, FORM).value, int)


@given(st.dictionaries(st.text(), st.integers() | st.text() | st.booleans() | st.none()))
def test_what_json_can_hold_is_read_unchanged(tree):
    import json

    assert parse(json.dumps(tree)) == tree
