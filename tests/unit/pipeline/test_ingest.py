"""Old logs go in as they were said: in time order, once, with what failed told [F2, W1]."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from dualgate import Candidate, Memory, Message, Settings
from dualgate.errors import ExtractionError
from dualgate.pipeline.ingest import (
    BATCH_LIMIT,
    BadEntry,
    LogSession,
    ReadReport,
    counted,
    in_time_order,
    ingest,
)
from dualgate.pipeline.worker import QueuePolicy
from dualgate.testing import HashEmbedder, ManualClock, ScriptedExtractor

DAY = datetime(2025, 3, 1, 9, tzinfo=UTC)


def session(session_id, *said, parent_id=None):
    messages = tuple(
        Message("user", text, DAY + timedelta(days=day), message_id)
        for day, text, message_id in said
    )
    return LogSession(
        id=session_id,
        source="messages",
        messages=messages,
        parent_id=parent_id,
        started_at=messages[0].at,
    )


def order(*sessions):
    return [(b.session.id, [m.content for m in b.messages]) for b in in_time_order(sessions)]


def test_a_conversation_taken_up_again_does_not_overtake_what_was_said_meanwhile():
    long = session("long", (0, "mysql", "1"), (30, "postgres", "2"))
    short = session("short", (10, "sqlite", "3"))

    assert order(long, short) == [
        ("long", ["mysql"]),
        ("short", ["sqlite"]),
        ("long", ["postgres"]),
    ]


def test_a_session_keeps_its_own_order_where_its_times_jump_back():
    odd = session("odd", (5, "first", "1"), (1, "second", "2"), (6, "third", "3"))

    assert order(odd) == [("odd", ["first", "second", "third"])]


def test_what_has_no_date_comes_last():
    undated = LogSession(id="u", source="paste", messages=(Message("user", "tea", None, "x"),))

    assert order(undated, session("s", (400, "late", "1"))) == [("s", ["late"]), ("u", ["tea"])]


def test_a_message_that_a_fork_repeats_is_sent_once_and_by_the_origin():
    fork = session("a-fork", (0, "hi", "1"), (1, "new", "2"), parent_id="z-origin")
    origin = session("z-origin", (0, "hi", "1"))

    assert order(fork, origin) == [("z-origin", ["hi"]), ("a-fork", ["new"])]


def test_two_forks_that_name_each_other_end():
    one = session("1", (0, "a", "1"), parent_id="2")
    two = session("2", (0, "b", "2"), parent_id="1")

    assert [name for name, _ in order(one, two)] == ["1", "2"]


def test_a_long_session_is_cut_into_jobs():
    long = session("s", *[(i, f"turn {i}", str(i)) for i in range(BATCH_LIMIT + 1)])

    assert [len(said) for _, said in order(long)] == [BATCH_LIMIT, 1]


def test_counting_tells_messages_and_time_span_and_what_was_bad():
    report = ReadReport(files=2, bad=[BadEntry(path="f", line=3, reason="not JSON")])

    summary = counted("ada", [session("s", (0, "a", "1"), (9, "b", "2"))], report)

    assert (summary.sessions, summary.messages, summary.user_messages) == (1, 2, 2)
    assert (summary.first_at, summary.last_at) == (DAY, DAY + timedelta(days=9))
    assert (summary.files, summary.bad[0].line, summary.new_messages) == (2, 3, None)


def likes(drink):
    return [Candidate("preference", f"Likes {drink}", confidence=0.9, quote=drink)]


def open_memory(extractor):
    clock = ManualClock(DAY + timedelta(days=100))
    return Memory.open("memory://", clock=clock, extractor=extractor, embedder=HashEmbedder())


async def test_ingesting_twice_stores_and_decides_once_with_the_original_times():
    extractor = ScriptedExtractor({"I like tea": likes("tea")})
    logs = [session("s", (0, "I like tea", "1"), (1, "thanks", "2"))]
    steps = []

    async with open_memory(extractor) as memory:
        first = await ingest(memory, "ada", logs, progress=lambda *step: steps.append(step))
        second = await ingest(memory, "ada", logs)
        items = (await memory.items("ada")).items

    assert (first.new_messages, first.candidates) == (2, {"admitted": 1})
    assert first.items["candidate"] + first.items.get("confirmed", 0) == 1
    assert (second.messages, second.new_messages, second.candidates) == (2, 0, {})
    assert [(i.content, i.last_seen_at) for i in items] == [("Likes tea", DAY)]
    assert steps == [(2, 2)]


async def test_a_fork_does_not_confirm_what_its_origin_said():
    extractor = ScriptedExtractor({"I like tea": likes("tea"), "tea it is": likes("tea")})
    origin = session("one", (0, "I like tea", "1"))
    fork = session("two", (0, "I like tea", "1"), (1, "tea it is", "2"), parent_id="one")

    async with open_memory(extractor) as memory:
        await ingest(memory, "ada", [fork, origin])
        (item,) = (await memory.items("ada")).items

    assert item.confirm_count == 1


async def test_a_dry_run_stores_nothing():
    async with open_memory(ScriptedExtractor({})) as memory:
        summary = await ingest(memory, "ada", [session("s", (0, "hi", "1"))], dry_run=True)
        stats = await memory.stats("ada")

    assert (summary.dry_run, summary.messages, stats.turns) == (True, 1, 0)


async def test_paused_capture_stores_nothing_and_says_so():
    async with open_memory(ScriptedExtractor({})) as memory:
        await memory.pause("ada")
        summary = await ingest(memory, "ada", [session("s", (0, "hi", "1"))])

    assert (summary.new_messages, summary.unstored_messages) == (0, 1)


@pytest.mark.timeout(60)
async def test_a_batch_that_cannot_be_read_is_told_and_the_others_go_on():
    extractor = ScriptedExtractor(
        {"bad": ExtractionError("gibberish", "}{"), "I like tea": likes("tea")}
    )
    logs = [session("s", (0, "bad", "1")), session("t", (1, "I like tea", "2"))]
    settings = Settings(queue=QueuePolicy(max_attempts=2, backoff_seconds=0.01))

    async with Memory.open(
        "memory://", settings=settings, extractor=extractor, embedder=HashEmbedder()
    ) as memory:
        summary = await ingest(memory, "ada", logs)

    assert [(f.session_id, f.messages) for f in summary.failed] == [("s", 1)]
    assert "gibberish" in summary.failed[0].error
    assert summary.candidates == {"admitted": 1}
