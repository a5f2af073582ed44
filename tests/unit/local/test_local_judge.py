"""Same or not is decided by what is said, not by how close two sentences lie [C1]."""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dualgate.adapters.local.embedder import UseEmbedder
from dualgate.adapters.local.features import NAMES, compare
from dualgate.adapters.local.judge import StatementJudge
from dualgate.adapters.local.slots import SlotReader
from dualgate.adapters.local.statements import read
from dualgate.adapters.local.structure import LexiconStructurer
from dualgate.domain.items import Candidate, MemoryItem
from dualgate.domain.status import Status
from dualgate.domain.types import ItemType
from dualgate.errors import InvalidInputError

JUDGE = StatementJudge()
NOW = datetime(2026, 3, 4, tzinfo=UTC)


def item(content: str, **given: object) -> MemoryItem:
    return MemoryItem(
        id="i", user_id="u", item_type=ItemType.PREFERENCE, content=content, status=Status.CANDIDATE,
        importance=0.5, confidence=0.9, support=0.5, created_at=NOW, updated_at=NOW, last_seen_at=NOW,
        source_session_id="s", **given,
    )  # fmt: skip


def likeness(one: str, other: str, cosine: float = 0.75) -> tuple[float, float]:
    candidate = Candidate(ItemType.PREFERENCE, one, confidence=0.9)
    (found,) = JUDGE.compare(candidate, [item(other)], [cosine])
    return found.same, found.conflicting


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("用户偏好简短的回复", "用户喜欢精炼的回答"),
        ("用户住在成都", "用户目前在成都生活"),
        ("User is called Sophie", "The user's name is Sophie"),
        ("用户不喝酒", "用户从来不喝酒"),
        ("User is allergic to mango", "用户对芒果过敏"),
    ],
)
def test_a_paraphrase_says_the_same(one: str, other: str) -> None:
    same, conflicting = likeness(one, other)

    assert same >= 0.7
    assert conflicting < 0.3


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("用户偏好简短的回复", "用户偏好详尽的回复"),
        ("用户住在成都", "用户住在厦门"),
        ("用户今年24岁", "用户今年42岁"),
        ("User likes tea", "User does not like tea"),
        ("The deadline is June 8", "The deadline is September 12"),
        ("用户已婚", "User is divorced"),
        ("我们的数据库是 MongoDB", "我们从 MongoDB 迁移到了 TiDB"),
    ],
)
def test_another_value_or_the_opposite_conflicts_however_close(one: str, other: str) -> None:
    same, conflicting = likeness(one, other, cosine=0.93)

    assert same < 0.5  # the least that counts as an overlap is 0.70
    assert conflicting >= 0.7


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("用户偏好代码示例", "用户偏好简短的代码示例"),
        ("User likes climbing", "User likes climbing in winter"),
        ("用户喜欢茶", "用户喜欢咖啡"),
        ("User is allergic to mango", "User is allergic to milk"),
        ("用户喜欢游泳", "User prefers short replies"),
    ],
)
def test_narrower_and_compatible_statements_neither_merge_nor_conflict(
    one: str, other: str
) -> None:
    same, conflicting = likeness(one, other, cosine=0.8)

    assert same < 0.85
    assert conflicting < 0.7


def test_the_same_words_are_the_same_whatever_they_mean() -> None:
    assert likeness("Zorblax quux.", "zorblax  quux") == (1.0, 0.0)


def test_other_people_are_never_the_same_and_never_conflict() -> None:
    candidate = Candidate(ItemType.IDENTITY, "住在成都", subject="sister", confidence=0.9)
    (found,) = JUDGE.compare(candidate, [item("住在成都")], [1.0])

    assert (found.same, found.conflicting) == (0.0, 0.0)


def test_given_structure_counts_more_than_the_lexicon() -> None:
    candidate = Candidate(
        ItemType.PREFERENCE, "Zorblax is best", attribute="tool", value="zorblax", confidence=0.9
    )
    same_slot = item("Quux it is", attribute="tool", value="zorblax")
    other_slot = item("Quux it is", attribute="tool", value="quux")
    first, second = JUDGE.compare(candidate, [same_slot, other_slot], [0.6, 0.6])

    assert first.same > second.same


def test_swapping_the_two_statements_changes_nothing() -> None:
    one, other = read("用户喜欢不加糖的咖啡"), read("User likes coffee, 2 cups a day")

    assert compare(one, other, slots=(None, None), cosine=0.5) == compare(
        other, one, slots=(None, None), cosine=0.5
    )


def test_no_items_give_no_likenesses_and_missing_cosines_are_named() -> None:
    candidate = Candidate(ItemType.FACT, "用户住在成都", confidence=0.9)

    assert JUDGE.compare(candidate, [], []) == []
    with pytest.raises(InvalidInputError) as refused:
        JUDGE.compare(candidate, [item("x")], [])
    assert refused.value.argument == "cosines"


@given(st.text(min_size=1, max_size=120), st.text(min_size=1, max_size=120), st.floats(-1, 1))
@settings(max_examples=150, deadline=None)
def test_any_two_texts_get_probabilities(one: str, other: str, cosine: float) -> None:
    same, conflicting = JUDGE.judge([(one, other)], [cosine])

    assert 0.0 <= same[0] <= 1.0
    assert 0.0 <= conflicting[0] <= 1.0


def test_a_pair_takes_a_tenth_of_a_millisecond() -> None:
    candidate = Candidate(ItemType.PREFERENCE, "用户偏好简短的回复", confidence=0.9)
    items = [item(f"用户的第{n}条偏好是详尽的回复") for n in range(16)]
    JUDGE.compare(candidate, items, [0.5] * 16)
    started = time.process_time()
    for _ in range(20):
        JUDGE.compare(candidate, items, [0.5] * 16)

    assert (time.process_time() - started) / 20 / 16 < 0.0005  # 0.05 ms measured; CI is slower


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("预算5万元", {50_000.0}),
        ("预算是五万", {50_000.0}),
        ("$5,000", {5_000.0}),
        ("five thousand dollars", {5_000.0}),
        ("十点半睡觉", {10.5}),
        ("bedtime 10:30", {10.5}),
        ("覆盖率 80%", {0.8}),
        ("vue3 and gpt-4o", set()),
    ],
)
def test_numbers_are_read_in_every_spelling(text: str, numbers: set[float]) -> None:
    assert read(text).numbers == numbers


@pytest.mark.parametrize(
    ("text", "denies"),
    [
        ("用户不喝酒", True),
        ("用户讨厌开会", True),
        ("用户不讨厌开会", False),
        ("我不得不用 Java", False),
        ("预算不超过5万", False),
        ("用户不介意晚上发提醒", False),
        ("用户不能吃虾，会过敏", False),
        ("用户对虾不过敏", True),
        ("User doesn't mind emojis", False),
        ("User no longer works there", True),
        ("We can't spend more than $500", False),
        ("User is not allergic to milk", True),
        ("非常喜欢", False),
        ("用户未来想去冰岛", False),
    ],
)
def test_a_denial_is_told_from_words_that_look_like_one(text: str, *, denies: bool) -> None:
    assert read(text).denies is denies


def test_the_weights_were_fitted_on_the_features_in_use() -> None:
    from dualgate.adapters import local

    path = Path(local.__file__).parent / "weights" / "judge.json"

    assert json.loads(path.read_text("utf-8"))["features"] == list(NAMES)


WITH_SLOTS = StatementJudge(slots=LexiconStructurer(SlotReader(UseEmbedder())))


def corrected(attribute: str, value: str, old: str, **given: object) -> tuple[float, float]:
    candidate = Candidate(
        ItemType.PREFERENCE, "from now on the other way", confidence=0.95, attribute=attribute,
        value=value, **{"correction": True, **given},
    )  # fmt: skip
    (found,) = WITH_SLOTS.compare(candidate, [item(old)], [0.3])
    return found.same, found.conflicting


@pytest.mark.parametrize(
    ("attribute", "value", "old"),
    [
        ("answer_order", "conclusion first", "The user wants the background before the answer."),
        ("asking_back", "ask first", "The user likes it when the assistant goes ahead without asking."),
        ("reply_length", "concise", "用户希望助手把来龙去脉都写全，越细越好"),
    ],
)
def test_a_correction_of_a_slot_finds_what_was_said_in_other_words(
    attribute: str, value: str, old: str
) -> None:
    """[C2, F3]"""
    assert corrected(attribute, value, old) == (0.0, 1.0)


@pytest.mark.parametrize(
    ("attribute", "value", "other", "given"),
    [
        ("answer_order", "conclusion first", "The user wants the background before the answer.",
         {"correction": False}),
        ("answer_order", "conclusion first", "The user has two cats.", {}),
        ("answer_order", "background first", "The user wants the background before the answer.", {}),
        ("reply_length", "concise", "用户养了两只乌龟", {}),
    ],
)  # fmt: skip
def test_it_finds_neither_other_things_nor_the_same_nor_without_a_correction(
    attribute: str, value: str, other: str, given: dict[str, object]
) -> None:
    """[C1]"""
    _, conflicting = corrected(attribute, value, other, **given)

    assert conflicting < 0.9
