"""Duplicates, wrong merges, updates and losses, told by the host's own candidates [C1-C3, F3].

What is said is understood already here (`propose`): these are faults of judging, not of reading.
The same kinds in plain words stand in test_faults_extractor.py. S0xx is the report's number.

Which test holds which report stands in docs/results/fault-scenarios.md.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import numpy as np
import pytest

from dualgate import Candidate, Memory, Message
from dualgate.pipeline.ports import Vectors
from dualgate.testing import HashEmbedder, ManualClock, ScriptedExtractor

from .talk import START, USER, Talk, contents


class Alike:
    """An embedder to which all texts are nearly the same: cosine 0.96 between any two."""

    model = "alike"
    dim = 64

    async def embed(self, texts: list[str]) -> Vectors:
        own = await HashEmbedder(63).embed(texts)
        shared = np.full((len(texts), 1), np.sqrt(0.96), dtype=np.float32)
        return np.hstack([shared, own * np.float32(0.2)]).astype(np.float32)


async def said(talk: Talk, session: str, *candidates: Candidate) -> list[str]:
    """Propose in a session; return the outcomes."""
    talk.clock.advance(days=1)
    receipt = await talk.memory.propose(USER, session, candidates, wait=True)
    return [d.outcome for d in receipt.decisions]


# --- duplicate


@pytest.mark.parametrize(
    ("first", "again"),
    [
        ("用户对花生过敏", "用户对花生过敏"),  # S008
        ("The user is allergic to peanuts", "The user has a peanut allergy"),
        ("用户喜欢简短的回答", "用户希望回答尽量简洁"),
        ("The user prefers short answers", "The user likes answers to be brief"),
    ],
)
async def test_what_is_said_twice_is_one_item_with_two_confirmations(
    talk: Talk, first: str, again: str
) -> None:
    """S008 [A4, C1]"""
    item_type = "constraint" if "过敏" in first or "allerg" in first else "preference"
    await said(talk, "s1", Candidate(item_type, first, confidence=0.9))
    outcomes = await said(talk, "s2", Candidate(item_type, again, confidence=0.9))

    assert outcomes == ["merged"]
    (item,) = await talk.active()
    assert item.confirm_count == 2
    moves = (await talk.memory.history(USER, item.id)).moves
    assert {m.after for m in moves} <= {"candidate", "confirmed"}  # nothing was deleted


async def test_the_same_payload_sent_again_is_one_turn_and_one_confirmation() -> None:
    """S022 [W1]: the first answer was lost, so the client sends it again, and once more"""
    words = "My passport expires in November 2029."
    scripted = ScriptedExtractor(
        {words: [Candidate("fact", "The user's passport expires in 11/2029", confidence=0.9)]}
    )
    async with Memory.open("memory://", clock=ManualClock(START), extractor=scripted) as memory:
        talk = Talk(memory, ManualClock(START))
        message = Message("user", words, id="m-1")
        for _ in range(3):
            await memory.observe(USER, "s1", [message], wait=True)

        (item,) = await talk.active("2029")
        assert item.confirm_count == 1
        assert len(scripted.heard) == 1


async def test_a_log_read_twice_in_another_time_zone_adds_nothing() -> None:
    """S023: the instant is what counts, not how it was written [F2]"""
    lines = {"我养了两只乌龟。": "用户养了两只乌龟", "我每周三晚上练琴。": "用户每周三晚上练琴"}
    scripted = ScriptedExtractor(
        {k: [Candidate("fact", v, confidence=0.9)] for k, v in lines.items()}
    )
    first = datetime(2025, 6, 1, tzinfo=UTC)
    async with Memory.open("memory://", clock=ManualClock(START), extractor=scripted) as memory:
        talk = Talk(memory, ManualClock(START))
        for hours in (8, -7):
            zone = timezone(timedelta(hours=hours))
            for n, line in enumerate(lines):
                at = (first + timedelta(days=2 * n)).astimezone(zone)
                await memory.observe(USER, f"old{n}", [Message("user", line, at)], wait=True)

        items = await talk.active()
        assert sorted(contents(items)) == sorted(lines.values())
        assert [i.confirm_count for i in items] == [1, 1]
        assert {i.created_at.year for i in items} == {2025}


async def test_repeating_oneself_in_a_session_is_one_confirmation(talk: Talk) -> None:
    """S080 [F2]"""
    for words in ("回答别用表格", "不要用表格", "用户不要表格", "别用表格", "再说一遍，别用表格"):
        await said(
            talk,
            "the only one",
            Candidate(
                "preference", words, attribute="format", value="表格", polarity="-", confidence=0.9
            ),
        )

    (item,) = await talk.active("表格")
    assert item.confirm_count == 1
    assert item.status != "frozen"
    assert (await talk.context()).count("表格") == 1


# --- over-merge


@pytest.mark.parametrize(
    "pair",
    [
        ("讲解时多打比方", "打比方要用厨房里的东西"),  # S028
        ("仓库甲的门禁码换成了尾号四的那张卡", "仓库乙的门禁码换成了尾号七的那张卡"),  # S031
        (
            "Rig Osprey passed the load test with the small profile",  # S007
            "Rig Osprey passed the load test with the large profile",
        ),
        ("The user likes window seats on trains", "The user likes aisle seats on buses"),
        ("青鸟项目用红色主题", "白鹭项目用绿色主题"),  # S100
        ("The user meets Ana on Mondays", "The user meets Ben on Mondays"),
        ("用户喜欢简洁的回答", "用户喜欢详细的回答"),
        ("The user's server has 16 GB", "The user's server has 64 GB"),
    ],
)
async def test_an_embedder_that_finds_all_alike_merges_nothing(pair: tuple[str, str]) -> None:
    """[C1]: embeddings find partners; they cannot decide"""
    async with Memory.open(
        "memory://",
        clock=ManualClock(START),
        embedder=Alike(),  # type: ignore[arg-type]
    ) as memory:
        talk = Talk(memory, ManualClock(START))
        outcomes = [
            (await said(talk, f"s{n}", Candidate("preference", text, confidence=0.9)))[0]
            for n, text in enumerate(pair)
        ]

        assert "merged" not in outcomes
        assert sorted(contents(await talk.active())) == sorted(pair)


async def test_a_modifier_keeps_two_wishes_apart(talk: Talk) -> None:
    """[C1]: compatible, another qualifier"""
    await said(
        talk,
        "s1",
        Candidate(
            "preference",
            "用户喜欢简短的代码示例",
            attribute="code_examples",
            value="code",
            qualifiers=("short",),
            confidence=0.9,
        ),
    )
    await said(
        talk,
        "s2",
        Candidate(
            "preference",
            "用户喜欢带注释的代码示例",
            attribute="code_examples",
            value="code",
            qualifiers=("commented",),
            confidence=0.9,
        ),
    )

    assert len(await talk.active("代码示例")) == 2


# --- contradiction


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (
            ("The user's standing desk is at 104 cm", "104 cm"),  # S003
            ("The user's standing desk is at 110 cm", "110 cm"),
        ),
        (("部署环境是乙云", "乙云"), ("部署环境是甲云", "甲云")),  # S004
        (
            ("The team deploys on Tuesdays", "Tuesday"),
            ("The team deploys on Thursdays", "Thursday"),
        ),
    ],
)
async def test_a_newer_value_of_a_state_replaces_the_older(
    talk: Talk, old: tuple[str, str], new: tuple[str, str]
) -> None:
    """S003 [C1, C3]"""
    for n, (content, value) in enumerate((old, new)):
        await said(
            talk,
            f"s{n}",
            Candidate("fact", content, attribute="the_one", value=value, confidence=0.9),
        )

    (item,) = await talk.active()
    assert item.content == new[0]
    (gone,) = [i for i in await talk.any() if i.status == "superseded"]
    assert (gone.content, gone.id) == (old[0], item.override_of)


async def test_a_correction_by_the_user_is_what_is_recalled(talk: Talk) -> None:
    """S004, S013: correct, then like; it keeps its id and place [F6]"""
    await said(talk, "s1", Candidate("fact", "Garden plot number is 17", confidence=0.9))
    (item,) = await talk.active()

    await talk.memory.correct(USER, item.id, "Garden plot number is 71")
    await talk.memory.like(USER, item.id)

    (after,) = await talk.active()
    assert (after.id, after.content) == (item.id, "Garden plot number is 71")
    assert after.status == "confirmed"
    assert await talk.recalled("garden plot number") == ["Garden plot number is 71"]
    assert contents(await talk.active("17")) == []
    oldest, *_ = (await talk.memory.history(USER, item.id)).versions
    assert oldest.content == "Garden plot number is 17"


async def test_maintenance_changes_nothing_the_second_time(talk: Talk) -> None:
    """S006"""
    await said(
        talk,
        "s1",
        Candidate(
            "fact", "用户在社区图书馆做编目", attribute="job", value="图书馆", confidence=0.9
        ),
    )
    await said(
        talk,
        "s2",
        Candidate(
            "fact",
            "用户在出版社做校对",
            attribute="job",
            value="出版社",
            confidence=0.9,
            correction=True,
        ),
    )
    await talk.memory.maintain(USER)
    before = await talk.any()

    for _ in range(3):
        assert await talk.memory.maintain(USER) == []
        assert await talk.any() == before
    assert (await talk.recalled("用户做什么工作"))[0] == "用户在出版社做校对"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("用户喜欢早起", "早起"), ("用户喜欢晚睡晚起", "晚起")),
        (("The user prefers tea", "tea"), ("The user prefers coffee", "coffee")),
    ],
)
async def test_a_trait_is_not_overturned_by_one_remark(
    talk: Talk, one: tuple[str, str], other: tuple[str, str]
) -> None:
    """[C1, C2]: states follow, traits resist"""
    for n, (content, value) in enumerate((one, other)):
        await said(
            talk,
            f"s{n}",
            Candidate("preference", content, attribute="the_one", value=value, confidence=0.8),
        )

    items = await talk.active()
    assert sorted(contents(items)) == sorted((one[0], other[0]))
    assert all(i.contested for i in items)


# --- overwrite-loss


@pytest.mark.parametrize(
    ("kept", "attribute", "rivals"),
    [
        (
            ("用户习惯看短句", "短"),
            "sentence_length",  # S014
            [("这份写长些、书面些", "长", "task"), ("再长一点也行", "长", "moment")],
        ),
        (
            ("The user wants replies in English", "English"),
            "reply_language",
            [("This letter goes out in German", "German", "task")],
        ),
    ],
)
async def test_a_wish_for_this_once_leaves_the_frozen_item_alone(
    talk: Talk, kept: tuple[str, str], attribute: str, rivals: list[tuple[str, str, str]]
) -> None:
    """S014 [F3]"""
    for n in range(3):
        await said(
            talk,
            f"s{n}",
            Candidate("preference", kept[0], attribute=attribute, value=kept[1], confidence=0.9),
        )
    for content, value, scope in rivals:
        await said(
            talk,
            "s4",
            Candidate(
                "preference",
                content,
                attribute=attribute,
                value=value,
                scope=scope,
                confidence=0.95,
            ),
        )

    (item,) = await talk.active()
    assert (item.content, item.status) == (kept[0], "frozen")


async def test_the_parts_of_one_document_all_arrive_in_any_order() -> None:
    """S011: the pieces of one import; a second import adds nothing"""
    pieces = "我的猫叫麻薯。 天气不错。 路上很堵。 灯坏了。 我住在三楼。".split()
    facts = {"我的猫叫麻薯。": "用户的猫叫麻薯", "我住在三楼。": "用户住在三楼"}
    scripted = ScriptedExtractor(
        {k: [Candidate("fact", v, confidence=0.9)] for k, v in facts.items()}
    )
    for order in (pieces, pieces[::-1]):
        async with Memory.open(
            "memory://", clock=ManualClock(START), extractor=scripted
        ) as memory:
            talk = Talk(memory, ManualClock(START))
            for _ in range(2):
                for piece in order:
                    message = Message("user", piece, id=f"diary-1#{pieces.index(piece)}")
                    await memory.observe(USER, "diary-1", [message])
                await memory.drain()

            assert sorted(contents(await talk.active())) == sorted(facts.values())
            assert {i.confirm_count for i in await talk.active()} == {1}
