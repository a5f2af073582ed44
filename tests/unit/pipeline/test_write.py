"""A queued job becomes memory: what is read, what may pass, what is applied once [W1-W3]."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta

import pytest

from dualgate import Candidate, Memory, Message, Settings
from dualgate.errors import ExtractionError, JobFailedError
from dualgate.pipeline.worker import QueuePolicy
from dualgate.testing import HashEmbedder, ManualClock, ScriptedExtractor

START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
USER = "ann"
IMPATIENT = Settings(queue=QueuePolicy(max_attempts=1))


def tea(**fields):
    return Candidate(
        fields.pop("item_type", "preference"), fields.pop("content", "The user likes tea"),
        **{"confidence": 0.9, "quote": "I like tea", "attribute": "drink", "value": "tea",
           **fields},
    )  # fmt: skip


class Desk:
    """A memory whose extractor says what the test scripts."""

    def __init__(self, memory, clock, extractor) -> None:
        self.memory = memory
        self.clock = clock
        self.extractor = extractor

    async def observe(self, *said, session="s1", **options):
        messages = [m if isinstance(m, Message) else Message("user", m) for m in said]
        receipt = await self.memory.observe(USER, session, messages, wait=True, **options)
        return [(str(d.outcome), d.reason) for d in receipt.decisions]

    async def items(self):
        return list((await self.memory.items(USER)).items)

    @property
    def heard(self):
        return [turn.message.content for turn in self.extractor.heard]


@asynccontextmanager
async def desk_with(script, settings=IMPATIENT) -> AsyncIterator[Desk]:
    clock, extractor = ManualClock(START), ScriptedExtractor(script)
    async with Memory.open(
        "memory://", settings=settings, clock=clock, extractor=extractor, embedder=HashEmbedder()
    ) as memory:
        yield Desk(memory, clock, extractor)


# --- who may speak


async def test_what_the_user_says_of_himself_is_admitted():
    async with desk_with({"I like tea": [tea()]}) as desk:
        assert await desk.observe("I like tea") == [("admitted", "new")]
        (item,) = await desk.items()
        history = await desk.memory.history(USER, item.id)
        assert [s.quote for s in history.signals] == ["I like tea"]


async def test_what_the_assistant_says_of_the_user_makes_no_user_fact():
    """[W3]"""
    said = Message("assistant", "I like tea")
    async with desk_with({"I like tea": [tea()]}) as desk:
        assert await desk.observe(said) == [("refused", "not_the_users_words")]
        assert await desk.items() == []


async def test_what_the_assistant_promises_is_its_commitment():
    """[W3]"""
    promise = tea(item_type="commitment", subject="assistant", quote="I will brew tea",
                  content="The assistant brews tea")  # fmt: skip
    async with desk_with({"I will brew tea": [promise]}) as desk:
        assert await desk.observe(Message("assistant", "I will brew tea")) == [("admitted", "new")]


@pytest.mark.parametrize("role", ["tool", "system"])
async def test_tool_output_and_instructions_are_not_even_read(role):
    async with desk_with({"I like tea": [tea()]}) as desk:
        assert await desk.observe(Message(role, "I like tea")) == []
        assert desk.heard == []


# --- grounding


async def test_a_candidate_that_nobody_said_is_refused():
    """[W5]: model output is bad input"""
    invented = tea(content="Loves opera in Verona", quote="opera")
    async with desk_with({"What a day": [invented]}) as desk:
        assert await desk.observe("What a day") == [("refused", "ungrounded")]


async def test_a_candidate_without_a_quote_stands_if_its_words_were_said():
    async with desk_with({"tea is what I like": [tea(quote=None)]}) as desk:
        assert await desk.observe("tea is what I like") == [("admitted", "new")]


async def test_an_answer_may_rest_on_the_question_before_it():
    script = {"Yes.": [tea(quote="do you like tea")]}
    async with desk_with(script) as desk:
        await desk.observe(Message("assistant", "So, do you like tea?"))
        assert await desk.observe("Yes.") == [("admitted", "new")]


# --- once


async def test_a_turn_that_is_known_is_not_read_twice():
    """[W1, F2]"""
    turn = Message("user", "I like tea", START, "m1")
    async with desk_with({"I like tea": [tea()]}) as desk:
        await desk.observe(turn)
        assert await desk.observe(turn, session="imported again") == []
        assert desk.heard == ["I like tea"]
        assert [i.confirm_count for i in await desk.items()] == [1]


async def test_only_what_is_new_of_a_payload_is_read():
    async with desk_with({}) as desk:
        one, two = (Message("user", text, START, text) for text in ("one", "two"))
        await desk.observe(one)
        await desk.observe(one, two)
        assert desk.heard == ["one", "two"]


async def test_the_same_id_twice_in_one_payload_is_read_once():
    turn = Message("user", "I like tea", START, "m1")
    async with desk_with({"I like tea": [tea()]}) as desk:
        assert await desk.observe(turn, turn) == [("admitted", "new")]


async def test_a_turn_said_again_in_a_later_call_is_read_again():
    """[W1]: tabs, spaces, tabs: the last word counts"""
    def uses(what):
        return Candidate("fact", f"The project uses {what}", attribute="indent", value=what,
                         confidence=0.9, quote=what)  # fmt: skip

    script = {what: [uses(what)] for what in ("tabs", "spaces")}
    async with desk_with(script) as desk:
        for what in ("tabs", "spaces", "tabs"):
            desk.clock.advance(minutes=1)
            await desk.observe(what)
        page = await desk.memory.items(USER, status="candidate")
        assert [i.value for i in page.items] == ["tabs"]


async def test_an_extractor_fails_and_nothing_of_the_turn_is_applied_yet_it_is_kept():
    """[W5]: an error with retry, never "no facts" """
    answer = ExtractionError("no JSON", raw="{")
    async with desk_with({"I like tea": answer}) as desk:
        with pytest.raises(JobFailedError, match="ExtractionError: no JSON"):
            await desk.observe("I like tea")
        assert (await desk.memory.stats(USER)).turns == 0
        assert (await desk.memory.stats()).queue.dead == 1


async def test_of_one_message_that_fails_the_others_of_its_job_wait_too():
    """All of a job or nothing."""
    script = {"I like tea": [tea()], "boom": ExtractionError("no JSON")}
    async with desk_with(script) as desk:
        with pytest.raises(JobFailedError):
            await desk.observe("I like tea", "boom")
        assert await desk.items() == []


# --- our own words


async def test_our_own_block_in_a_users_turn_is_not_read():
    """[W3]"""
    async with desk_with({"I like tea": [tea()]}) as desk:
        await desk.observe("I like tea")
        block = await desk.memory.context(USER, "next")
        assert "tea" in block.text
        await desk.observe(f"{block.text}\nWhat now?", session="next")
        assert "tea" not in desk.heard[-1]


async def test_our_own_sentence_without_its_mark_is_no_confirmation():
    """[W3]: in whatever path it comes back"""
    echo = tea(quote="The user likes tea")
    script = {"I like tea": [tea()], "The user likes tea": [echo]}
    async with desk_with(script) as desk:
        await desk.observe("I like tea")
        assert await desk.observe("The user likes tea", session="s2") == [("ignored", "echo")]
        assert [i.confirm_count for i in await desk.items()] == [1]


# --- time


async def test_an_old_log_is_judged_as_of_its_own_time():
    old = Message("user", "I like tea", START - timedelta(days=700), "m1")
    async with desk_with({"I like tea": [tea()]}) as desk:
        assert await desk.observe(old) == [("admitted", "new")]
        (item,) = await desk.items()
        assert item.created_at == item.last_seen_at == old.at


async def test_several_turns_of_one_job_see_what_the_earlier_ones_did():
    script = {
        "I like tea": [tea()],
        "Tea, as I said": [tea(quote="tea, as i said")],
        "No: coffee": [tea(content="The user likes coffee", value="coffee", quote="coffee",
                           correction=True)],
    }  # fmt: skip
    async with desk_with(script) as desk:
        outcomes = await desk.observe(*script)
        assert [o for o, _ in outcomes] == ["admitted", "merged", "superseded"]


async def test_history_is_handed_to_the_extractor_oldest_first_and_bounded():
    async with desk_with({}, Settings(history_turns=2)) as desk:
        await desk.observe("one", "two")
        await desk.observe("three")
        assert [m.content for m in desk.extractor.heard[-1].history] == ["one", "two"]


# --- lineage and emotion


async def test_a_fork_whose_context_was_asked_for_first_is_still_a_fork():
    """[F2, R1]: every session starts with context()"""
    script = {"I like tea": [tea()], "Tea!": [tea(quote="tea")]}
    async with desk_with(script) as desk:
        await desk.observe("I like tea", session="root")
        await desk.memory.context(USER, "fork")
        await desk.observe("Tea!", session="fork", parent_session_id="root")
        assert [i.confirm_count for i in await desk.items()] == [1]


async def test_an_outburst_and_a_calm_word_of_one_lineage_count_as_one():
    """[F2, A2]"""
    script = {"TEA!!!": [tea(quote="tea", evidence="emotional")], "tea": [tea(quote="tea")]}
    async with desk_with(script) as desk:
        await desk.observe("tea", session="root")
        await desk.observe("TEA!!!", session="fork", parent_session_id="root")
        (item,) = await desk.items()
        assert (item.confirm_count, item.support) == (1, pytest.approx(0.9))


# --- propose


async def test_every_decision_is_recorded_as_plain_json():
    """[W2]"""
    async with desk_with({}) as desk:
        for candidate in (tea(), tea(confidence=0.5), tea(value="coffee", content="coffee"),
                          tea(scope="task"), tea(importance=0.0)):  # fmt: skip
            receipt = await desk.memory.propose(USER, "s", [candidate], wait=True)
            for decision in receipt.decisions:
                json.dumps(dict(decision.numbers), allow_nan=False)
        assert len(await desk.memory.why(USER)) == 5
