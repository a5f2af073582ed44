"""What a process keeps of the vectors of turns is never behind the file [T1, P3]."""

# what is kept has no public face

from __future__ import annotations

import numpy as np
import pytest

from dualgate.adapters.sql import open_sqlite, transcripts
from dualgate.adapters.sql.transcripts import Talk, TalkCache
from dualgate.adapters.sql.vectors import ByteRows, quantised, rounded
from dualgate.pipeline.ports import IndexedTurn
from dualgate.testing.backend import a_vector
from dualgate.testing.builders import MONDAY, a_turn


class Two:
    """Two processes, as far as one test can have them, on one file."""

    def __init__(self, here, there):
        self.here, self.there = here, there

    async def say(self, turn_id, vector, made_by="words"):
        entry = IndexedTurn(
            turn_id=turn_id, made_by=made_by, words=frozenset({"tea"}), vector=vector
        )
        async with self.there.store.begin("ann") as unit:
            await unit.add_turns([a_turn(id=turn_id)])
            await unit.index_turns([entry], MONDAY)

    async def empty(self, *turn_ids):
        async with self.there.store.begin("ann") as unit:
            await unit.empty_turns(turn_ids)

    async def near(self, made_by="words"):
        found = await self.here.store.turns_near(
            "ann", a_vector(1), made_by=made_by, limit=9, gate=0.5
        )
        return [turn_id for turn_id, _ in found]


@pytest.fixture
async def two(tmp_path):
    here = await open_sqlite(tmp_path / "memory.db")
    there = await open_sqlite(tmp_path / "memory.db")
    yield Two(here, there)
    await here.close()
    await there.close()


async def test_what_another_process_said_emptied_or_changed_is_seen_at_once(two):
    await two.say("a", a_vector(1))
    first = await two.near()
    await two.say("b", a_vector(4, 3))
    more = await two.near()
    await two.say("a", a_vector(0, 1))
    changed = await two.near()
    await two.empty("b")
    emptied = await two.near()
    await two.empty("a")
    await two.say("c", a_vector(1))
    both = await two.near()

    assert (first, more, changed, emptied, both) == (["a"], ["a", "b"], ["b"], [], ["c"])


async def test_as_many_removed_as_added_does_not_pass_for_unchanged(two):
    for turn_id in ("a", "b"):
        await two.say(turn_id, a_vector(1))
    await two.near()
    await two.empty("a", "b")
    for turn_id in ("c", "d"):
        await two.say(turn_id, a_vector(1))

    assert await two.near() == ["c", "d"]


async def test_a_search_with_another_model_reads_its_own_vectors(two):
    await two.say("a", a_vector(1))
    await two.near()
    await two.say("b", a_vector(1), made_by="other")

    assert await two.near("other") == ["b"]
    assert await two.near() == ["a"]


async def test_what_is_kept_is_read_on_and_not_again(two, monkeypatch):
    await two.say("a", a_vector(1))
    await two.near()
    monkeypatch.setattr(transcripts, "_VECTORS", None)  # reading all again would fail
    await two.say("b", a_vector(1))

    assert await two.near() == ["a", "b"]


def test_the_users_served_last_are_kept_within_the_limit():
    def talk():
        return Talk("words", 8, 1, ByteRows.of([("a", bytes(8))], 8))

    cache = TalkCache(limit=16)
    for user_id in ("ann", "bob", "eve"):
        cache.put(user_id, talk())

    assert cache.get("ann") is None
    assert cache.get("bob") is not None
    assert cache.get("eve") is not None


def test_rows_of_bytes_rank_as_their_vectors_do():
    rng = np.random.default_rng(5)
    vectors = rng.normal(size=(1_300, 16)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    ids = [f"t{n:04d}" for n in range(len(vectors))]
    rows = [(i, quantised(v)[1]) for i, v in zip(ids, vectors, strict=True)]
    cosines = np.array([rounded(v) for v in vectors]) @ vectors[7]
    best = sorted(zip(ids, cosines.tolist(), strict=True), key=lambda pair: (-pair[1], pair[0]))

    found = ByteRows.of(rows, 16).nearest(vectors[7], limit=20, gate=-1.0)

    assert [i for i, _ in found] == [i for i, _ in best[:20]]
    assert [c for _, c in found] == pytest.approx([c for _, c in best[:20]], abs=1e-5)


def test_of_equals_the_first_by_name_are_kept():
    rows = ByteRows.of([(name, bytes([100, 0])) for name in "dbca"], 2)

    assert [i for i, _ in rows.nearest(np.array([1.0, 0.0]), limit=2, gate=0.0)] == ["a", "b"]
