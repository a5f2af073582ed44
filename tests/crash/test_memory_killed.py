"""Real memories killed at any instant: every acknowledged turn is applied once, in order [W1]."""

from __future__ import annotations

import asyncio
import contextlib
import random
import sqlite3
import time
from collections import Counter, defaultdict
from pathlib import Path

from dualgate import Memory, Settings
from dualgate.testing import HashEmbedder

ROLES = Path(__file__).parent / "memory_roles.py"
KILLS = 30


def test_killed_memories_apply_every_acknowledged_turn_once_and_in_order(stage):
    for role in ("work", "work", "work", "observe", "observe", "observe"):
        stage.start(role)
    chance = random.Random(20261130)  # noqa: S311
    time.sleep(1)
    for kill in range(KILLS):
        time.sleep(chance.uniform(0.1, 0.6))
        # Every fifth time one who hands turns over; the rest are in the middle of applying them.
        role = "observe" if kill % 5 == 4 else "work"
        stage.kill(chance.choice(stage.playing(role)))
        stage.start(role)
    stage.tell_to_stop()
    # An empty queue says that all is done only once nobody hands over turns any more.
    until = time.monotonic() + 60
    while len(stage.lines("ended")) < len(stage.playing("observe")) and time.monotonic() < until:
        time.sleep(0.05)
    found = asyncio.run(_drained(stage.directory / "memory.db"))

    assert stage.lines("errors") == []
    acknowledged = [line.split() for line in stage.lines("acknowledged")]
    assert len(acknowledged) > 3 * KILLS
    for user, turn_id, job_id in acknowledged:
        assert found[user].turn_of[job_id] == turn_id
    for seen in found.values():
        assert set(seen.turn_of) == set(seen.accepted_jobs)
        assert seen.notes == [seen.turn_of[job] for job in seen.accepted_jobs]  # once, in order
        assert set(seen.outcomes.values()) == {("admitted", "admitted"), ("admitted", "merged")}
        assert sorted(seen.notes) == sorted(seen.turns)  # what was applied is what is kept
        assert seen.confirm_counts == seen.sessions_by_topic()
        assert seen.signal_counts == Counter(content.split()[1] for content in seen.contents)


class Seen:
    """What a user's memory holds of the turns."""

    def __init__(self, accepted_jobs, turns, born) -> None:
        self.accepted_jobs = accepted_jobs
        self.born = born  # item ids, in the order of the log
        self.turns = turns  # turn id → (session, content), as the transcript has it
        self.turn_of: dict[str, str] = {}
        self.outcomes: dict[str, tuple[str, ...]] = defaultdict(tuple)
        self.notes: list[str] = []  # turn ids, as the log has their items in order
        self.confirm_counts: dict[str, float] = {}
        self.signal_counts: Counter[str] = Counter()

    @property
    def contents(self) -> list[str]:
        return [content for _, content in self.turns.values()]

    def sessions_by_topic(self) -> dict[str, int]:
        """A topic is confirmed once in every session that spoke of it [F2]."""
        sessions = defaultdict(set)
        for session, content in self.turns.values():
            sessions[content.split()[1]].add(session)
        return {topic: len(found) for topic, found in sessions.items()}


async def _drained(path: Path) -> dict[str, Seen]:
    async with Memory.open(
        f"sqlite:///{path}", settings=Settings(run_worker=False), embedder=HashEmbedder()
    ) as memory:
        async with asyncio.timeout(30):
            while (await memory.stats()).queue.waiting:  # noqa: ASYNC110  # others work
                await asyncio.sleep(0.05)
        accepted, turns, born = _raw(path)
        found = {user: Seen(jobs, turns[user], born[user]) for user, jobs in accepted.items()}
        for user, seen in found.items():
            await _look(memory, user, seen)
        return found


async def _look(memory: Memory, user: str, seen: Seen) -> None:
    for decision in (await memory.why(user, limit=100_000))[::-1]:
        seen.turn_of[decision.job_id] = decision.candidate.message_id
        seen.outcomes[decision.job_id] += (decision.outcome,)
    page = await memory.items(user, limit=1_000)
    assert page.cursor is None
    items = {item.id: item for item in page.items}
    notes = {i: item.value for i, item in items.items() if item.item_type == "fact"}
    seen.notes = [notes[item_id] for item_id in seen.born if item_id in notes]
    for item in items.values():
        if item.id in notes:
            assert item.confirm_count == 1
        else:
            seen.confirm_counts[item.value] = item.confirm_count
            signals = (await memory.history(user, item.id)).signals
            seen.signal_counts[item.value] = len(signals)


def _raw(path: Path):
    accepted, turns, born = defaultdict(list), defaultdict(dict), defaultdict(list)
    with contextlib.closing(sqlite3.connect(path)) as raw:
        for user, job in raw.execute("select user_id, id from queue_jobs order by user_id, seq"):
            accepted[user].append(job)
        for user, turn, session, content in raw.execute(
            "select user_id, id, session_id, content from turns"
        ):
            assert turn not in turns[user]
            turns[user][turn] = (session, content)
        for user, item in raw.execute(
            "select user_id, item_id from memory_moves where before is null order by user_id, seq"
        ):
            born[user].append(item)
    return accepted, turns, born
