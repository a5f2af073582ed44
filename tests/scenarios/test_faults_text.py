"""Any text at all: Chinese, emoji, broken bytes, megabytes, secrets [P1, W1].

S0xx is the number of the report that a test retells.
"""

from __future__ import annotations

import asyncio
import sqlite3
from pathlib import Path

import pytest

from dualgate import Candidate, Memory, Message, Settings
from dualgate.errors import ExtractionError, JobFailedError
from dualgate.pipeline.ports import Vectors
from dualgate.pipeline.worker import QueuePolicy
from dualgate.testing import HashEmbedder, ManualClock, ScriptedExtractor

from .talk import START, USER, Talk, contents

# --- cjk-text


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        ("皮影", "皮影戏"), ("皮影戏", "皮影戏"), ("K7盘点", "K7盘点"), ("盘点", "K7盘点"),
        ("皮影戲", "皮影戏"),
    ],
)  # fmt: skip
async def test_part_of_a_chinese_word_finds_its_item_first(
    talk: Talk, query: str, wanted: str
) -> None:
    """S097 [R2]"""
    for text in ("用户周末看了皮影戏，票是自己订的", "用户负责K7盘点流程"):
        await talk.memory.propose(
            USER, text[:8], [Candidate("fact", text, confidence=0.9)], wait=True
        )

    assert wanted in (await talk.recalled(query))[0]


async def test_half_a_match_of_characters_is_no_match(talk: Talk) -> None:
    """S097: 皮天 shares one character with 皮影, and nothing else"""
    await talk.memory.propose(
        USER, "s", [Candidate("event", "用户周末看了皮影戏", confidence=0.9)], wait=True
    )

    assert await talk.recalled("皮天") == []


@pytest.mark.parametrize(
    ("query", "colour"),
    [("青鸟 主题", "红色"), ("白鹭 主题", "绿色"), ("白鹭项目用什么颜色？", "绿色")],
)
async def test_two_projects_with_chinese_names_are_two_things(
    talk: Talk, query: str, colour: str
) -> None:
    """S100"""
    for session, text in (("s1", "青鸟项目用红色主题"), ("s2", "白鹭项目用绿色主题")):
        await talk.memory.propose(
            USER, session, [Candidate("project", text, confidence=0.9)], wait=True
        )

    assert len(await talk.active("主题")) == 2
    assert colour in (await talk.recalled(query))[0]


# --- unicode

TEXTS = [
    "My badge colour is teal \ud83d",  # S104: half of a surrogate pair
    "\udc00 teal badge",
    "teal 👩‍👩‍👧‍👦🏳️‍🌈 family badge",
    "شارة teal اللون",
    "te\u0301al \u202eegdab\u202c \u200b\ufeff",
    "teal \x00 NUL \x07 bell",
    "𠮷野家 teal 𝒳",
]


@pytest.mark.parametrize("backend", ["memory", "sqlite"])
@pytest.mark.parametrize("text", TEXTS)
async def test_any_text_is_stored_as_valid_text(backend: str, text: str, tmp_path: Path) -> None:
    """S104"""
    url = "memory://" if backend == "memory" else f"sqlite:///{tmp_path / 'm.db'}"
    async with Memory.open(url, clock=ManualClock(START), embedder=HashEmbedder()) as memory:
        made = Candidate("fact", text, value=text, quote=text, confidence=0.9)
        await memory.observe(USER, "s", [Message("user", text)], wait=True)
        await memory.propose(USER, "s", [made], wait=True)

        items = (await memory.items(USER, text="t")).items
        assert items
        for item in items:
            item.content.encode("utf-8")
            assert "\x00" not in item.content
        await memory.recall(USER, text)
        assert (await memory.context(USER, "later", text)).text.encode("utf-8")


async def test_an_answer_that_cannot_be_read_is_tried_again_and_nothing_is_lost() -> None:
    """S105 [W5]"""
    words = "我喜欢爬山🙂，周末常去后山。"

    class Stumbling(ScriptedExtractor):
        """Fails the first time."""

        async def extract(self, turn):
            answer = await super().extract(turn)
            if len(self.heard) == 1:
                raise ExtractionError("not JSON", '{"content": "\\u62e"}')
            return answer

    extractor = Stumbling(
        {words: [Candidate("preference", "用户喜欢爬山🙂", confidence=0.9, quote=words)]}
    )
    settings = Settings(queue=QueuePolicy(backoff_seconds=0.01))
    async with Memory.open(
        "memory://", settings=settings, clock=ManualClock(START), extractor=extractor,
        embedder=HashEmbedder(),
    ) as memory:  # fmt: skip
        talk = Talk(memory, ManualClock(START))
        await talk.says(words)

        assert contents(await talk.active("爬山")) == ["用户喜欢爬山🙂"]
        assert len(extractor.heard) == 2


# --- long-input


class Short(HashEmbedder):
    """An embedder that takes no more than 512 characters a text."""

    async def embed(self, texts: list[str]) -> Vectors:
        if any(len(text) > 512 for text in texts):
            raise OSError("HTTP 500: more than 512 tokens")
        return await super().embed(texts)


@pytest.mark.parametrize("quoted", [True, False])
@pytest.mark.parametrize(
    ("fact", "content", "filler"),
    [
        ("我的工号是四七一一。", "员工证 4711", "这一段只是闲聊，没有别的意思。"),
        ("My locker number is 4711.", "Cabinet no. four thousand", "This line fills a page. "),
    ],
)
async def test_an_embedder_that_refuses_long_texts_loses_no_fact_in_silence(
    fact: str, content: str, filler: str, quoted: bool
) -> None:
    """S109: kept, or an error that an operator sees; never an empty success [W1]"""
    turn = (fact + filler * 80).strip()
    made = Candidate("fact", content, confidence=0.9, quote=fact if quoted else None)
    async with Memory.open(
        "memory://", settings=Settings(queue=QueuePolicy(max_attempts=1)),
        clock=ManualClock(START), embedder=Short(),
        extractor=ScriptedExtractor({turn: [made]}),
    ) as memory:  # fmt: skip
        talk = Talk(memory, ManualClock(START))
        if quoted:
            await talk.says(turn)
            assert contents(await talk.active()) == [content]
        else:
            with pytest.raises(JobFailedError, match="512 tokens"):
                await talk.says(turn)
            assert (await memory.stats()).queue.dead == 1


@pytest.mark.parametrize(
    "text",
    [
        "a" * 200_000,
        "啊" * 200_000,
        "def f(x): return x\n" * 10_000,
        "🙂" * 50_000,
        "ERROR 2026-03-01 12:00:00 connection reset by peer 10.0.0.1\n" * 4_000,
        "مرحبا بالعالم " * 10_000,
        '{"a": [1, 2, 3]}, ' * 10_000,
        "“" * 20_000 + "（" * 20_000,
        "我" * 50_000 + "喜欢" * 50_000,
    ],
    ids=["a", "zh", "code", "emoji", "log", "rtl", "json", "brackets", "words"],
)
async def test_a_huge_paste_neither_raises_nor_stalls_nor_becomes_memory(
    talk: Talk, text: str
) -> None:
    async with asyncio.timeout(30):
        decisions = await talk.says(text)

    assert [d for d in decisions if d.outcome in ("admitted", "superseded", "contested")] == []


# --- privacy

SECRETS = [
    (  # S154
        "The demo key is sk-test-FAKE0000FAKE0000FAKE and the db password is Sample!Pass-000.",
        ["sk-test-FAKE0000FAKE0000FAKE", "Sample!Pass-000"],
    ),
    (  # S155
        "我的卡号是4111 1111 1111 1111，手机13000000000，验证码000000。",
        ["4111 1111 1111 1111", "4111111111111111", "000000。"],
    ),
    ("wifi 密码是 chunfeng-2046，记一下", ["chunfeng-2046"]),
    ("my bank PIN is 8841, please remember it", ["8841"]),
    ("身份证号 11010519491231002X，帮我填表", ["11010519491231002X"]),
    ("export AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
     ["wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"]),
]  # fmt: skip


def bytes_of(folder: Path) -> str:
    """Return all files of a folder as text."""
    return b"".join(p.read_bytes() for p in folder.iterdir()).decode("utf-8", "replace")


@pytest.mark.parametrize(("text", "secrets"), SECRETS)
async def test_a_secret_is_nowhere_in_the_file(
    text: str, secrets: list[str], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """S154, S155 [P1]: not in entries, turns, jobs, vectors' texts, full text or logs"""
    path = tmp_path / "memory.db"
    async with Memory.open(f"sqlite:///{path}", clock=ManualClock(START)) as memory:
        await memory.observe(USER, "s", [Message("user", text)], wait=True)
        made = Candidate("fact", text, value=text, quote=text, confidence=0.9)
        await memory.propose(USER, "s", [made], wait=True)
        shown = (await memory.context(USER, "later", text)).text

    with sqlite3.connect(path) as connection:
        everything = "\n".join(connection.iterdump())
    connection.close()
    raw = bytes_of(tmp_path)
    for secret in secrets:
        for place in (everything, raw, shown, caplog.text):
            assert secret not in place


@pytest.mark.parametrize(
    "text",
    ["我的手机号是13812345678", "I take sertraline for my depression", "我有高血压，在吃药"],
)
async def test_what_is_sensitive_is_not_shown_by_default(talk: Talk, text: str) -> None:
    """S155 [P1, R5]"""
    made = Candidate("fact", text, confidence=0.95, sensitivity="sensitive")
    await talk.memory.propose(USER, "s", [made], wait=True)

    assert len(await talk.active()) == 1
    assert await talk.context(text) == ""
    assert await talk.recalled(text) == []
