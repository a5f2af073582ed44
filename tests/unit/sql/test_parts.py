"""Words, vectors and the queue's corners."""

from __future__ import annotations

import contextlib
import sqlite3
from datetime import timedelta

import numpy as np
import pytest

from dualgate.adapters.sql import open_sqlite, rows
from dualgate.adapters.sql.cache import Entry, UserCache
from dualgate.adapters.sql.tables import memory_items
from dualgate.adapters.sql.text import (
    QUERY_WORDS,
    fts5_query,
    indexed_words,
    query_words,
    row_number,
    words_of,
)
from dualgate.adapters.sql.vectors import Pool, quantised, restored, rounded
from dualgate.domain.items import MemoryItem
from dualgate.domain.view import Snapshot
from dualgate.testing.builders import MONDAY, a_candidate, a_job, a_plan, an_item


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("简洁", ["简", "简洁", "洁"]),
        ("カメラ", ["カ", "カメ", "メ", "メラ", "ラ"]),
        ("한국어", ["한", "한국", "국", "국어", "어"]),
        ("Привет, МИР", ["привет", "мир"]),
        ("vs_code C3", ["vs_code", "c3"]),
        ("ＡＢＣ", ["abc"]),
        ("👋 -- !", []),
        ("", []),
    ],
)
def test_words_of_any_script(text, words):
    assert list(words_of(text)) == words


def test_every_query_of_a_sentence_meets_the_words_of_that_sentence():
    sentence = "用户对花生严重过敏 carries an EpiPen since 2019"
    indexed = set(words_of(sentence))

    assert set(query_words(sentence)) <= indexed


def test_a_query_is_cut_at_a_number_of_words():
    assert len(query_words(" ".join(f"word{n}" for n in range(5_000)))) == QUERY_WORDS
    assert len(query_words("".join(chr(0x4E00 + n) for n in range(5_000)))) == QUERY_WORDS


def test_words_that_carry_no_subject_are_asked_for_only_alone():
    assert fts5_query("ann", "What is the name of my cat?") == fts5_query("ann", "name cat")
    assert fts5_query("ann", "who is it") is not None


@pytest.mark.parametrize(
    ("one", "many"), [("birthday", "birthdays"), ("allergy", "allergies"), ("box", "boxes")]
)
def test_a_thing_is_asked_for_by_its_plural_and_the_other_way_round(one: str, many: str) -> None:
    """[R2]: the index holds words as they were written"""
    asked = [set((fts5_query("ann", word) or "").split(" OR ")) for word in (one, many)]

    assert asked[0] == asked[1]
    assert len(asked[0]) == 2


def test_two_users_have_no_word_in_common():
    ann = set(indexed_words("ann", "short answers 简洁").split())

    assert len(ann) == 5
    assert not ann & set(indexed_words("bob", "short answers 简洁").split())
    assert fts5_query("ann", "!") is None


def test_row_numbers_are_apart():
    pairs = [(f"u{n % 50}", f"i{n}") for n in range(20_000)]

    assert len({row_number(*pair) for pair in pairs}) == len(pairs)
    assert row_number("a", "bc") != row_number("ab", "c")


def test_a_byte_a_number_keeps_the_cosine():
    rng = np.random.default_rng(3)
    vectors = rng.normal(size=(200, 384)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    back = restored((quantised(vector)[1] for vector in vectors), 384)

    assert np.abs(back @ vectors.T - vectors @ vectors.T).max() < 0.01


def test_a_pool_that_grows_and_shrinks_finds_what_is_in_it():
    rng = np.random.default_rng(4)
    pool = Pool(8, [], np.empty((0, 8), dtype=np.float32))
    inside = {}
    for step in range(500):
        item_id = f"i{int(rng.integers(40))}"
        if rng.integers(3):
            inside[item_id] = rng.normal(size=8).astype(np.float32)
            pool.put(item_id, rounded(inside[item_id]))
        else:
            inside.pop(item_id, None)
            pool.drop(item_id)
        if step % 50 == 49:
            found = pool.nearest(np.ones(8, dtype=np.float32), limit=99, gate=-1.0)
            assert dict(found).keys() == inside.keys()


def test_every_field_of_an_item_has_its_column():
    columns = {column.name for column in memory_items.columns}

    assert set(MemoryItem.__dataclass_fields__) == columns - {"slot", "folded"}


def test_a_candidate_comes_back_from_its_text():
    candidate = a_candidate(
        "对花生过敏",
        qualifiers=("严重",),
        event_at=MONDAY,
        importance=0.5,
        correction=True,
        quote="我对花生过敏",
    )

    assert rows.candidate_of(rows.candidate_text(candidate)) == candidate


def test_the_cache_keeps_the_newest_and_lets_go_of_the_oldest():
    cache = UserCache(users=2)
    for user, version in (("a", 1), ("b", 1), ("a", 2), ("c", 1), ("a", 1)):
        cache.put(user, Entry(Snapshot(user_id=user, version=version)))

    assert cache.get("b") is None
    assert cache.get("a").snapshot.version == 2


def test_the_cache_gives_up_matrices_before_users():
    cache = UserCache(pool_bytes=10)
    for user in ("a", "b"):
        pool = Pool(4, ["x"], np.zeros((1, 4), dtype=np.float32))
        cache.put(user, Entry(Snapshot(user_id=user), pool))

    assert cache.get("a").pool is None
    assert cache.get("b").pool is not None


async def test_a_job_without_a_head_is_found_by_idle_workers(tmp_path):
    path = tmp_path / "memory.db"
    backend = await open_sqlite(path)
    await backend.queue.enqueue(a_job())
    with contextlib.closing(sqlite3.connect(path)) as raw:
        raw.execute("delete from queue_heads")
        raw.commit()
    lease = await backend.queue.claim(MONDAY, 60, 1)

    assert [job.id for job in lease.jobs] == ["job-1"]
    await backend.close()


async def test_the_text_of_a_job_goes_when_it_is_done(tmp_path):
    path = tmp_path / "memory.db"
    backend = await open_sqlite(path)
    await backend.queue.enqueue(a_job(payload={"turns": ["my zanzibar secret"]}))
    async with backend.store.begin("ann") as unit:
        await unit.finish(a_job(), [])

    assert await backend.queue.job_state("ann", "job-1") == "done"
    await backend.close()
    assert b"zanzibar" not in path.read_bytes()


async def test_a_busy_user_does_not_overtake_the_others(tmp_path):
    backend = await open_sqlite(tmp_path / "memory.db")
    for n in range(4):
        at = MONDAY + timedelta(seconds=n)
        await backend.queue.enqueue(a_job(f"busy-{n}", user_id="busy", enqueued_at=at))
    at = MONDAY + timedelta(seconds=1)
    await backend.queue.enqueue(a_job("calm", user_id="calm", enqueued_at=at))
    served = []
    now = MONDAY + timedelta(minutes=1)
    for _ in range(3):
        lease = await backend.queue.claim(now, 60, 1)
        served.append(lease.jobs[0].id)
        async with backend.store.begin(lease.user_id, lease) as unit:
            await unit.finish(lease.jobs[0], [])
        await backend.queue.release(lease)

    assert served == ["busy-0", "busy-1", "calm"]
    assert (await backend.queue.depth()).waiting == 2
    await backend.close()


async def test_the_total_is_kept_to_the_job_in_one_process(tmp_path):
    backend = await open_sqlite(tmp_path / "memory.db", queue_limits=(1_000, 100))
    accepted = 0
    with contextlib.suppress(Exception):
        for n in range(150):
            await backend.queue.enqueue(a_job(f"job-{n}", user_id=f"user-{n % 7}"))
            accepted += 1

    assert accepted == 100
    await backend.close()


async def test_an_item_with_every_kind_of_text_is_found_and_kept(tmp_path):
    backend = await open_sqlite(tmp_path / "memory.db")
    texts = ['"quoted" AND NOT', "emoji 👩‍👩‍👧 zwj", "العربية", "हिन्दी", "ไทย", "a" * 2_000]
    items = [an_item(text, id=f"i{n}") for n, text in enumerate(texts)]
    async with backend.store.begin("ann") as unit:
        await unit.apply(a_plan(*items))

    assert await backend.store.items("ann", [i.id for i in items]) == {i.id: i for i in items}
    for item in items:
        hits = await backend.store.by_words("ann", item.content, limit=9)
        assert item.id in dict(hits)
    await backend.close()
