"""What models and their endpoints get wrong, and what becomes of it: fault-scenarios of the kinds
llm-output, llm-failure, hallucination, cost and embedding."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path

import pytest

from dualgate import Memory, Message, Settings
from dualgate.adapters.local.embedder import UseEmbedder
from dualgate.errors import ModelUnavailableError, StoreError
from dualgate.pipeline.endpoints import ModelSettings
from dualgate.pipeline.ports import ModelTask
from dualgate.testing import (
    Fault,
    HashEmbedder,
    LlmServer,
    ManualClock,
    ScriptedExtractor,
    ScriptedModel,
)

from .own_model import NOTHING, QUICK, active, hears, memory_with, policy, said, statement
from .talk import START, USER

MUSEUM = "I volunteer at the harbour museum on Sundays."
MUSEUM_FACT = statement("The user volunteers at the harbour museum on Sundays", MUSEUM)


async def _until(happened: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(30):
        while not await happened():  # noqa: ASYNC110 - what happens knows nothing of the test
            await asyncio.sleep(0.005)


def at_endpoint(server: LlmServer) -> Settings:
    model = ModelSettings(base_url=server.url, name="small", retry_seconds=0.01)
    return Settings(model=model, extraction=policy(), queue=QUICK)


# --- hallucination


async def test_what_nobody_said_is_dropped_item_by_item() -> None:
    """S065 [W5]"""
    turn = "Morning! Can you shorten this paragraph for me?"
    model = ScriptedModel([
        said(
            statement("The user works at Northwind", "I work at Northwind"),
            statement("The user prefers a formal tone", "shorten this paragraph for me"),
            statement("The user wants this paragraph shorter", "shorten this paragraph",
                      scope="task"),
        )
    ])  # fmt: skip
    async with memory_with(model, embedder=UseEmbedder()) as memory:
        decisions = await hears(memory, turn)

        assert await active(memory) == []
    assert {d.candidate.content.split()[-1]: d.reason for d in decisions} == {
        "Northwind": "ungrounded", "tone": "invented", "shorter": "not_lasting",
    }  # fmt: skip


async def test_what_the_assistant_claims_to_have_done_is_no_fact() -> None:
    """S069 [W3]: neither from its own turn nor in the user's name"""
    claim = "已经部署完成，所有测试通过。"
    model = ScriptedModel([
        said(
            statement("部署已经完成，所有测试通过", claim, turn=1),
            statement("部署已经完成，所有测试通过", claim, turn=2),
        )
    ])  # fmt: skip
    async with memory_with(model) as memory:
        turns = [Message("assistant", claim), Message("user", "我还没看，先放着。")]
        receipt = await memory.observe(USER, "s1", turns, wait=True)

        assert await active(memory) == []
    assert sorted(d.reason for d in receipt.decisions) == ["not_the_users_words", "ungrounded"]


async def test_recall_on_an_unknown_topic_is_empty_though_a_model_is_there() -> None:
    """S070 [R3]: a model writes no answers"""
    model = ScriptedModel([said(MUSEUM_FACT)])
    async with memory_with(model) as memory:
        found = await memory.recall(USER, "bank holiday plans")
        await hears(memory, MUSEUM)
        known = {item.id for item in await active(memory)}
        later = await memory.recall(USER, "harbour museum")

        assert (list(found.hits), found.text) == ([], "")
        assert {hit.item.id for hit in later.hits} == known
    assert [question.task for question in model.asked] == [ModelTask.EXTRACT]


async def test_a_prompt_given_back_as_an_answer_teaches_nothing() -> None:
    """local-models.md §5: models store what stands in their prompt, sure of it"""

    def parrot(question):
        lines = [
            line.strip("- ") for line in question.messages[0].content.splitlines() if line.strip()
        ]
        return said(*(statement(line[:300], line[:80], confidence=0.95) for line in lines))

    for turn in ("Thanks, that works!", "谢谢，好了。"):
        async with memory_with(ScriptedModel(parrot)) as memory:
            await memory.observe(USER, "s1", [Message("user", turn)])
            await memory.drain(timeout=30)
            (dead,) = await memory.dead(USER)

            assert await active(memory) == []
            assert "repeats the instructions" in dead.error


# --- llm-output


async def test_an_answer_wrapped_in_small_talk_is_read_without_asking_again() -> None:
    """S111"""
    with LlmServer(lambda _: said(MUSEUM_FACT)) as server:
        async with Memory.open(
            "memory://", settings=at_endpoint(server), clock=ManualClock(START),
            embedder=HashEmbedder(),
        ) as memory:  # fmt: skip
            await hears(memory, "Hello there.")  # what the endpoint can do is known from here on
            before = len(server.requests)
            server.misbehave(Fault.CHATTY)
            await hears(memory, MUSEUM)

            assert [i.content for i in await active(memory)] == [MUSEUM_FACT["content"]]
        assert len(server.requests) == before + 1


async def test_an_answer_that_is_no_json_is_asked_for_again_with_the_error_shown() -> None:
    """S113"""
    boat = "My boat's called Heron's Rest."
    right = said(statement("The user's boat is called Heron's Rest", boat))
    broken = "{'statements': [{'content': 'The user's boat is Heron's Rest', },]}"
    model = ScriptedModel([broken, right])
    async with memory_with(model) as memory:
        await hears(memory, boat)

        (item,) = await active(memory)

        assert item.content == "The user's boat is called Heron's Rest"
    first, second = model.asked
    assert len(second.messages) == len(first.messages) + 2
    assert second.messages[-2].content == broken
    assert "could not be read" in second.messages[-1].content


async def test_what_never_becomes_readable_is_parked_with_the_raw_answer() -> None:
    """[W5]: never "no facts" """
    model = ScriptedModel(["Sorry, here are the facts: none that I could name!"])
    async with memory_with(model) as memory:
        receipt = await memory.observe(USER, "s1", [Message("user", MUSEUM)])
        await memory.drain(timeout=20)
        (dead,) = await memory.dead(USER)

        assert dead.job.id == receipt.job_id
        assert "here are the facts" in dead.error
        assert (await memory.stats()).queue.dead == 1


async def test_missing_and_unknown_fields_get_careful_defaults() -> None:
    """S115 [F1]: a guess at the confidence can never freeze"""
    turn = "我在学手语，每周两节课。"
    bare = {"content": "用户在学手语", "quote": "我在学手语"}
    model = ScriptedModel([
        {"statements": [
            {**bare, "type": "fact"},
            {**bare, "content": "用户每周上两节手语课", "quote": "每周两节课", "confidence": 0.9},
            {**bare, "content": "用户学手语", "type": "星座", "confidence": "很高"},
        ]}
    ])  # fmt: skip
    async with memory_with(model) as memory:
        decisions = await hears(memory, turn)

        assert any(re.search("手语", item.content) for item in await active(memory))
    given = [(d.candidate.item_type, d.candidate.confidence) for d in decisions]
    assert given == [("fact", 0.7), ("fact", 0.9), ("fact", 0.7)]


# --- llm-failure


async def test_a_day_without_answers_loses_no_turn_and_its_time_stays_its_own() -> None:
    """S117 [W1]"""
    turn = "我家里有新生儿，晚上十点后别打扰。"
    rule = statement("用户家里有新生儿，晚上十点后别打扰", turn, type="constraint")
    answers = {"now": ""}
    clock = ManualClock(START)
    model = ScriptedModel(lambda _: answers["now"])
    async with memory_with(model, extraction=policy(fallback="wait"), clock=clock) as memory:
        receipt = await memory.observe(USER, "s1", [Message("user", turn)])

        async def tried_often() -> bool:
            return len(model.asked) >= 9  # more tries than would park a job

        await _until(tried_often)
        waiting = (await memory.stats()).queue
        clock.advance(days=1)
        answers["now"] = said(rule)
        await memory.drain(timeout=20)
        (item,) = await active(memory)

        assert receipt.job_id
        assert (waiting.waiting, waiting.dead) == (1, 0)
        assert "十点" in item.content
        assert item.created_at == START


async def test_messages_whose_embedding_fails_are_named_and_only_they_are_done_again() -> None:
    """S118 [W1]"""

    class Failing(HashEmbedder):
        broken = True

        async def embed(self, texts):
            if self.broken and any("odd" in text for text in texts):
                raise ModelUnavailableError("the embedding endpoint is away")
            return await super().embed(texts)

    embedder = Failing()
    settings = Settings(queue=replace(QUICK, backoff_seconds=1, outage_seconds=1))
    async with Memory.open(
        "memory://", settings=settings, clock=ManualClock(START), embedder=embedder,
        extractor=ScriptedExtractor({}),
    ) as memory:  # fmt: skip
        jobs = {}
        for n in range(50):
            kind = "odd" if n % 5 == 0 else "even"
            text = f"Good morning, {kind} day number {n}."
            receipt = await memory.observe(f"user-{n}", "s", [Message("user", text, id=f"m{n}")])
            jobs[receipt.job_id] = n

        async def others_are_done() -> bool:
            return (await memory.stats()).queue.waiting <= 10

        await _until(others_are_done)
        left = [n for job, n in jobs.items()
                if (await memory.job(f"user-{n}", job)).state == "waiting"]  # fmt: skip
        waiting = (await memory.stats()).queue.waiting
        embedder.broken = False
        await memory.drain(timeout=30)

        assert left == list(range(0, 50, 5))
        assert waiting == 10
        assert (await memory.stats()).turns == 50


async def test_a_directory_that_cannot_be_written_is_said_when_the_memory_is_opened(
    tmp_path: Path,
) -> None:
    """S120"""
    (tmp_path / "taken").write_text("a file, no directory")

    with pytest.raises(StoreError, match="taken"):
        await Memory.open(f"sqlite:///{tmp_path / 'taken' / 'memory.db'}")


# --- embedding


async def test_the_size_of_vectors_is_the_embedders_own() -> None:
    """S144 [T3]"""
    async with Memory.open(
        "memory://", clock=ManualClock(START), embedder=HashEmbedder(768),
        model=ScriptedModel([said(statement("The user's tent is for three people",
                                            "My tent is for three people."))]),
        settings=Settings(extraction=policy(), queue=QUICK),
    ) as memory:  # fmt: skip
        await hears(memory, "My tent is for three people.")
        found = await memory.recall(USER, "tent for three people")

        assert [hit.item.content for hit in found.hits] == ["The user's tent is for three people"]


async def test_a_store_of_another_embedder_loses_nothing_and_is_made_anew(tmp_path: Path) -> None:
    """S145 [T3]: words still find it at once, meaning again after upkeep"""
    url = f"sqlite:///{tmp_path / 'memory.db'}"
    settings = Settings(extraction=policy(), queue=QUICK)
    async with Memory.open(
        url, clock=ManualClock(START), embedder=HashEmbedder(384), settings=settings,
        model=ScriptedModel([said(MUSEUM_FACT)]),
    ) as memory:  # fmt: skip
        await hears(memory, MUSEUM)
    async with Memory.open(
        url, clock=ManualClock(START), embedder=HashEmbedder(1024), settings=settings,
        model=ScriptedModel([NOTHING]),
    ) as memory:  # fmt: skip
        at_once = await memory.recall(USER, "harbour museum")
        await memory.maintain(USER)
        later = await memory.recall(USER, "harbour museum")

        assert [hit.item.content for hit in at_once.hits] == [MUSEUM_FACT["content"]]
        assert [hit.item.content for hit in later.hits] == [MUSEUM_FACT["content"]]


# --- cost


async def test_questions_do_not_grow_with_the_session_and_hold_no_tool_output() -> None:
    """S163"""
    model = ScriptedModel([NOTHING])
    output = "line of a log file " * 110
    longest = {}
    async with memory_with(model) as memory:
        for block in range(10):
            turns = []
            for n in range(50 * block, 50 * block + 50, 2):
                turns.append(Message("user", f"And what about step {n:03d} of the plan?"))
                turns.append(Message("tool", output))
            await memory.observe(USER, "s1", turns, wait=True)
            longest[block] = max(question.characters for question in model.asked)
            model.asked.clear()

    assert max(longest[8], longest[9]) <= 1.2 * max(longest[1], longest[2])
    assert longest[9] < 10_000
