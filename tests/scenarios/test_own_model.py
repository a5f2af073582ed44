"""A model of one's own: what it is used for, what it may cost, who stands in for it [W5]."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path

import pytest

from dualgate import Candidate, Memory, Message, Settings
from dualgate.adapters.llm.prompting import LANGUAGES, prompt
from dualgate.bootstrap import open_backend, wire
from dualgate.domain.audit import FindingKind, FindingState
from dualgate.domain.plan import Decision, Outcome
from dualgate.domain.view import Likeness
from dualgate.errors import ModelUnavailableError, NotFoundError
from dualgate.pipeline.ports import JobKind, ModelTask
from dualgate.pipeline.reading import HostTrust
from dualgate.pipeline.spending import BudgetPolicy
from dualgate.testing import HashEmbedder, ManualClock, ScriptedModel

from .own_model import (
    NOTHING,
    QUICK,
    active,
    hears,
    memory_with,
    policy,
    said,
    statement,
)
from .talk import START, USER

TEA = "From now on I only drink green tea."
TEA_FACT = statement("The user only drinks green tea", TEA, type="preference",
                     attribute="drink", value="green tea")  # fmt: skip
AWAY = ModelUnavailableError("the endpoint is away")


def reads_tea(question):
    """Find the tea in whichever turn it stands."""
    return said(
        *({**TEA_FACT, "turn": turn["turn"]} for turn in question.shown["turns"]
          if "tea" in turn["text"])
    )  # fmt: skip


# --- who reads


async def test_a_decision_says_which_model_and_which_prompt_read_the_turn() -> None:
    async with memory_with(ScriptedModel(reads_tea)) as memory:
        (decision,) = await hears(memory, TEA)

        assert decision.outcome is Outcome.ADMITTED
        assert decision.numbers["read_by"] == "scripted"
        assert decision.numbers["prompt"] == "extract.en/1 extract.zh/1"


async def test_turns_that_come_together_are_read_in_one_question() -> None:
    model = ScriptedModel(reads_tea)
    async with memory_with(model) as memory:
        turns = [Message("user", text) for text in ("Good morning!", TEA, "Is it raining?")]
        await memory.observe(USER, "s1", turns, wait=True)

        assert [i.content for i in await active(memory)] == [TEA_FACT["content"]]
    assert [len(question.shown["turns"]) for question in model.asked] == [3]


async def test_turns_of_one_moment_are_read_in_one_question_whoever_sends_them() -> None:
    model = ScriptedModel(reads_tea)
    async with memory_with(model, extraction=policy(debounce_seconds=0.3)) as memory:
        for n in range(4):
            await memory.observe(USER, "s1", [Message("user", f"Line {n} of my letter.")])
        # drain() would not wait for the moment
        while (await memory.stats()).queue.waiting:  # noqa: ASYNC110
            await asyncio.sleep(0.02)

        assert (await memory.stats()).turns == 4
    assert [len(question.shown["turns"]) for question in model.asked] == [4]


async def test_a_long_turn_is_read_in_parts_and_none_is_dropped() -> None:
    """[W5]: split on sentences"""
    model = ScriptedModel(reads_tea)
    long = "I walked along the river for a while. " * 60 + TEA
    async with memory_with(model, extraction=policy(part_characters=500)) as memory:
        await hears(memory, long)

        assert [i.content for i in await active(memory)] == [TEA_FACT["content"]]
    shown = [turn["text"] for question in model.asked for turn in question.shown["turns"]]
    assert "".join(shown) == long
    assert max(len(text) for text in shown) <= 500


async def test_one_turn_that_cannot_be_read_spoils_no_other() -> None:
    def answer(question):
        texts = [turn["text"] for turn in question.shown["turns"]]
        return "no idea" if any("riddle" in text for text in texts) else reads_tea(question)

    async with memory_with(ScriptedModel(answer)) as memory:
        await memory.observe(USER, "s1", [Message("user", "Here is a riddle.")])
        await memory.observe(USER, "s2", [Message("user", TEA)])
        await memory.drain(timeout=30)

        assert [i.content for i in await active(memory)] == [TEA_FACT["content"]]
        assert len(await memory.dead(USER)) == 1


async def test_a_turn_with_nothing_in_it_never_reaches_the_model() -> None:
    model = ScriptedModel(reads_tea)
    spared = policy(prefilter=True, prefilter_at=0.05)
    async with memory_with(model, extraction=spared) as memory:
        await hears(memory, "今天天气怎么样？")
        await hears(memory, TEA)
        (line,) = (await memory.stats(USER)).models

        assert (line.turns, line.skipped) == (1, 1)
    assert len(model.asked) == 1


# --- who stands in


async def test_in_an_outage_the_local_extractor_reads_and_the_decision_says_so() -> None:
    model = ScriptedModel([AWAY])
    async with memory_with(model) as memory:
        decisions = await hears(memory, "My name is Clara and I live in Lyon.")
        (line,) = (await memory.stats(USER)).models

        assert decisions
        for decision in decisions:
            assert decision.numbers["read_by"] == "local"
            assert decision.numbers["instead_of"] == "scripted"
            assert decision.numbers["because"] == "outage"
        assert line.fell_back == 1


@pytest.mark.parametrize("url", ["memory://", "sqlite"])
async def test_what_was_read_in_an_outage_is_read_again_and_counted_once(
    url: str, tmp_path: Path
) -> None:
    """[F2]: the same session says it again"""
    turn = "I am allergic to peanuts and I live in Lyon."
    answers = {"now": AWAY}

    def answer(question):
        is_it = any(each["text"] == turn for each in question.shown["turns"])
        return answers["now"] if is_it or answers["now"] is AWAY else NOTHING

    model = ScriptedModel(answer)
    where = url if url != "sqlite" else f"sqlite:///{tmp_path / 'memory.db'}"
    async with memory_with(model, url=where) as memory:
        await hears(memory, turn)
        await memory.drain(timeout=20)
        before = {item.id: item.confirm_count for item in await active(memory)}
        (parked,) = await memory.dead(USER)
        answers["now"] = said(
            statement("The user is allergic to peanuts", "I am allergic to peanuts",
                      type="constraint", attribute="allergy", value="peanuts"),
            statement("The user lives in Lyon", "I live in Lyon", attribute="home", value="Lyon"),
        )  # fmt: skip
        await hears(memory, "Good to know.", session="s2")
        await memory.drain(timeout=20)
        items = await active(memory)

        assert before
        assert parked.job.kind == JobKind.REREAD
        assert turn not in json.dumps(dict(parked.job.payload))
        assert len([i for i in items if "peanut" in i.content.lower()]) == 1
        assert max(item.confirm_count for item in items) == 1
        assert await memory.dead(USER) == []


async def test_what_the_user_forgot_since_an_outage_is_not_read_again() -> None:
    """[P3]"""
    turn = "My name is Clara and I live in Lyon."
    answers = {"now": AWAY}
    model = ScriptedModel(lambda _: answers["now"])
    async with memory_with(model) as memory:
        await hears(memory, turn)
        await memory.drain(timeout=20)
        for item in await active(memory):
            await memory.forget(USER, item.id)
        answers["now"] = said(statement("The user lives in Lyon", "I live in Lyon"))
        await hears(memory, "Good evening.", session="s2")
        await memory.drain(timeout=20)

        assert not [i for i in await active(memory) if i.source_session_id == "s1"]


# --- what it may cost


async def test_over_the_users_budget_the_model_is_not_asked() -> None:
    model = ScriptedModel([NOTHING])
    async with memory_with(model, budget=BudgetPolicy(user_tokens=100)) as memory:
        await hears(memory, "One line.")
        decisions = await hears(memory, "My name is Clara and I live in Lyon.")
        await memory.observe("bob", "s", [Message("user", "Hello.")], wait=True)
        usage = (await memory.stats(USER)).models

        assert {d.numbers["because"] for d in decisions} == {"budget"}
        assert sum(line.usage.calls for line in usage) == 1
        assert await memory.dead(USER) == []  # tomorrow's budget is not spent on today
    assert len(model.asked) == 2  # bob has a budget of his own


async def test_over_the_total_budget_nobodys_model_is_asked() -> None:
    model = ScriptedModel([NOTHING])
    async with memory_with(model, budget=BudgetPolicy(total_tokens=100)) as memory:
        for user in ("ann", "bob", "eve"):
            await memory.observe(user, "s", [Message("user", "Hello.")], wait=True)

        assert sum(line.usage.calls for line in (await memory.stats()).models) == 1
    assert len(model.asked) == 1


# --- a host's word


LIKES = Candidate("preference", "The user prefers short answers", attribute="reply_length",
                  value="short", confidence=0.95, quote="Short answers, please")  # fmt: skip


async def propose_in_sessions(memory: Memory, *, words: bool, sessions: int = 5) -> str:
    decision = None
    for n in range(sessions):
        if words:
            await memory.observe(USER, f"h{n}", [Message("user", "Short answers, please!")])
        receipt = await memory.propose(USER, f"h{n}", [LIKES], wait=True)
        (decision,) = receipt.decisions
    return str(decision.item_id)


async def test_a_host_alone_never_freezes_anything() -> None:
    async with memory_with(ScriptedModel([NOTHING])) as memory:
        item = await memory.item(USER, await propose_in_sessions(memory, words=False))

        assert (item.status, item.confirm_count) == ("candidate", 0)


async def test_a_host_who_quotes_the_user_counts_like_the_user() -> None:
    async with memory_with(ScriptedModel([NOTHING])) as memory:
        item = await memory.item(USER, await propose_in_sessions(memory, words=True, sessions=3))

        assert (item.status, item.confirm_count) == ("frozen", 3)


async def test_a_hosts_word_does_not_touch_what_is_frozen() -> None:
    async with memory_with(ScriptedModel([NOTHING])) as memory:
        kept = await propose_in_sessions(memory, words=True, sessions=3)
        other = Candidate("preference", "The user prefers long answers", confidence=0.95,
                          attribute="reply_length", value="long", correction=True,
                          quote="Long answers from now on")  # fmt: skip
        (decision,) = (await memory.propose(USER, "x", [other], wait=True)).decisions

        assert (decision.outcome, decision.reason) == ("ignored", "frozen_hint")
        assert decision.numbers["users_words"] is False
        assert (await memory.item(USER, kept)).status == "frozen"
        assert await memory.pending(USER) == []


async def test_a_true_quote_does_not_carry_a_false_statement() -> None:
    async with memory_with(ScriptedModel([NOTHING])) as memory:
        await memory.observe(USER, "h", [Message("user", "Short answers, please!")], wait=True)
        made = Candidate("identity", "The user is the CEO of Acme", confidence=0.95,
                         quote="Short answers, please")  # fmt: skip
        (decision,) = (await memory.propose(USER, "h", [made], wait=True)).decisions

        assert decision.numbers["users_words"] is False


# --- judge


class InDoubt:
    """A judge that finds every pair neither the same nor different."""

    def compare(self, candidate, items, cosines):
        _ = candidate
        return [Likeness(same=0.75, conflicting=0.1, cosine=cosine) for cosine, _ in
                zip(cosines, items, strict=True)]  # fmt: skip


async def two_that_overlap(model: ScriptedModel) -> list[Decision]:
    """Say two things that only a model could tell apart."""
    extraction = policy(tasks=frozenset({ModelTask.JUDGE}), host_trust=HostTrust.FULL)
    settings = Settings(extraction=extraction, queue=QUICK)
    backend = await open_backend("memory://", settings)
    parts = wire(backend, settings, ManualClock(START), embedder=HashEmbedder(), model=model)
    decisions: list[Decision] = []
    async with Memory(replace(parts, judge=InDoubt())) as memory:
        memory.start()
        for n, thing in enumerate(("the old ledger", "the old ledger of the mill")):
            made = Candidate("fact", f"The user transcribes {thing}", confidence=0.9)
            receipt = await memory.propose(USER, f"j{n}", [made], wait=True)
            decisions += receipt.decisions
    return decisions


@pytest.mark.parametrize(
    ("word", "outcome", "reason"),
    [
        ("same", "merged", "restated"),
        ("conflict", "superseded", "newer_value"),
        ("different", "admitted", "overlap_kept_apart"),
    ],
)
async def test_the_model_settles_what_neither_structure_nor_the_fit_can_tell(
    word: str, outcome: str, reason: str
) -> None:
    """[C1]"""
    model = ScriptedModel([{"pairs": [{"pair": 1, "relation": word}]}])
    decision = (await two_that_overlap(model))[-1]

    assert (decision.outcome, decision.reason) == (outcome, reason)
    assert decision.numbers.get("judged_by", "") == ("" if word == "different" else "scripted")


async def test_without_an_answer_overlapping_statements_both_stay() -> None:
    """[C1]: in doubt keep both"""
    decision = (await two_that_overlap(ScriptedModel([AWAY])))[-1]

    assert decision.reason == "overlap_kept_apart"


# --- summary


def a_chat() -> list[Message]:
    turns = []
    for n in range(16):
        turns.append(Message("user", f"Step {n}: have a look at part {n}, please."))
        turns.append(Message("assistant", f"Part {n} looks fine to me, go on with the next one."))
    turns[2] = Message("user", "The budget must not exceed 4200 euros.")
    return turns


async def test_a_summary_gets_back_what_it_forgets_and_loses_what_it_invents() -> None:
    """[L1]: keeps what the extractive one keeps"""
    model = ScriptedModel([
        {"lines": [
            {"turn": 1, "keep": "fact", "text": "Parts are looked at one after the other"},
            {"turn": 1, "keep": "decision", "text": "The order goes to Zenith for 9999 euros"},
        ]}
    ])  # fmt: skip
    async with memory_with(model) as memory:
        short = await memory.compact(a_chat())

        text = "\n".join(message.content for message in short)
        assert "4200" in text
        assert "Zenith" not in text
        assert short.report.restored >= 1
    assert {question.task for question in model.asked} == {ModelTask.SUMMARIZE}


async def test_a_conversation_is_compacted_though_the_model_is_away() -> None:
    async with memory_with(ScriptedModel([AWAY])) as memory:
        short = await memory.compact(a_chat())

        assert len(short) < len(a_chat())
        assert "4200" in "\n".join(message.content for message in short)


# --- audit


AUDITED = policy(tasks=frozenset({ModelTask.AUDIT}), host_trust=HostTrust.FULL)
BY_RULES = replace(AUDITED, tasks=frozenset())


async def frozen(memory: Memory, content: str, **fields: object) -> str:
    made = Candidate("preference", content, confidence=0.95, **fields)
    for n in range(3):
        receipt = await memory.propose(USER, f"{content}-{n}", [made], wait=True)
    return str(receipt.decisions[0].item_id)


async def test_rules_find_a_mood_among_the_frozen_items_and_change_nothing() -> None:
    """[U2]"""
    async with memory_with(ScriptedModel([NOTHING]), extraction=BY_RULES) as memory:
        await frozen(memory, "The user likes green tea", attribute="drink", value="green tea")
        mood = await frozen(memory, "The user is tired today", attribute="state", value="tired")
        found = await memory.audit(USER)

        assert [(f.kind, f.item_id, f.by) for f in found] == [(FindingKind.PASSING, mood, "rules")]
        assert (await memory.item(USER, mood)).status == "frozen"


async def test_a_settled_finding_stays_settled_until_its_item_changes() -> None:
    clock = ManualClock(START)
    async with memory_with(ScriptedModel([NOTHING]), extraction=BY_RULES, clock=clock) as memory:
        mood = await frozen(memory, "The user is tired today", attribute="state", value="tired")
        (finding,) = await memory.audit(USER)
        settled = await memory.settle_finding(USER, finding.id)
        again = await memory.audit(USER)
        clock.advance(days=1)
        await memory.correct(USER, mood, "The user is sleepy right now")
        changed = await memory.audit(USER)

        assert settled.state is FindingState.SETTLED
        assert again == []
        assert [f.item_id for f in changed] == [mood]
        with pytest.raises(NotFoundError):
            await memory.settle_finding(USER, "no such finding")


async def test_the_models_findings_stand_beside_those_of_the_rules() -> None:
    model = ScriptedModel([
        {"findings": [{"kind": "implausible", "item": 1, "other": None, "reason": "too good"}]}
    ])
    async with memory_with(model, extraction=AUDITED) as memory:
        item = await frozen(memory, "The user likes green tea", attribute="drink", value="tea")
        (finding,) = await memory.audit(USER)

        assert (finding.kind, finding.item_id, finding.by) == ("implausible", item, "scripted")
        assert await memory.findings(USER) == [finding]


async def test_the_rules_look_alone_where_the_model_does_not_answer() -> None:
    async with memory_with(ScriptedModel([AWAY]), extraction=AUDITED) as memory:
        await frozen(memory, "The user is tired today", attribute="state", value="tired")

        assert [f.by for f in await memory.audit(USER)] == ["rules"]


async def test_the_frozen_pool_is_looked_through_weekly_by_itself() -> None:
    """[U2]"""
    clock = ManualClock(START)
    async with memory_with(ScriptedModel([NOTHING]), extraction=BY_RULES, clock=clock) as memory:
        await frozen(memory, "The user likes green tea", attribute="drink", value="green tea")
        await memory.drain(timeout=20)
        await frozen(memory, "The user is tired today", attribute="state", value="tired")
        await memory.drain(timeout=20)
        before = await memory.findings(USER)
        clock.advance(days=8)
        await hears(memory, "Hello again.", session="later")
        await memory.drain(timeout=20)
        after = await memory.findings(USER)

        assert (len(before), len(after)) == (0, 1)


# --- prompts


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("task", [t for t in ModelTask if t is not ModelTask.CHECK])
def test_a_prompt_has_a_version_and_no_example_of_a_fact(task: ModelTask, lang: str) -> None:
    """local-models.md §5"""
    shipped = prompt(task, lang)

    assert shipped.label == f"{task}.{lang}/1"
    for word in ("for example", "e.g.", "例如", "比如", "示例："):
        assert word not in shipped.text.lower()
