"""Another embedding model: nothing is lost, nothing is mixed, recall goes on meanwhile [T3]."""

from __future__ import annotations

import asyncio
import dataclasses
import sqlite3

import pytest

from dualgate import Candidate, Memory, Settings
from dualgate.errors import ModelUnavailableError
from dualgate.pipeline.endpoints import EmbeddingSettings
from dualgate.pipeline.reembedding import BATCH, RE_EMBEDDING, reembed
from dualgate.testing import Fault, HashEmbedder, LlmServer, Manners, ScriptedExtractor

OLD = HashEmbedder(64)
FACTS = {
    f"I keep my {thing} in the {place}.": f"The user keeps a {thing} in the {place}"
    for thing, place in [("tent", "cellar"), ("kayak", "garage"), ("violin", "attic")]
}


class Reads(ScriptedExtractor):
    def __init__(self, facts=FACTS):
        super().__init__({
            said: [Candidate("fact", kept, confidence=0.95, quote=said)]
            for said, kept in facts.items()
        })  # fmt: skip


@pytest.fixture
def url(tmp_path):
    return f"sqlite:///{tmp_path / 'memory.db'}"


@pytest.fixture
def server():
    with LlmServer(manners=Manners(dim=96)) as running:
        yield running


def settings_of(server, **more):
    endpoint = {
        "base_url": server.url, "name": "new", "timeout_seconds": 0.5, "retry_seconds": 0.01,
        "rest_seconds": 0.05,
    }  # fmt: skip
    embedding = EmbeddingSettings(**endpoint | more)
    return dataclasses.replace(Settings(), embedding=embedding)


async def remember(url, facts=FACTS, users=("ann",)):
    """Fill a memory whose vectors are of the old model."""
    async with Memory.open(url, embedder=OLD, extractor=Reads(facts)) as memory:
        for user in users:
            for place, said in enumerate(facts):
                await memory.observe(user, f"s{place}", [{"role": "user", "content": said}])
        await memory.drain(30)


def opened(url, server, **more):
    return Memory.open(url, settings=settings_of(server, **more), extractor=Reads())


async def until(done):
    async with asyncio.timeout(10):
        while not await done():  # noqa: ASYNC110 - another task's work is looked at, not awaited
            await asyncio.sleep(0.02)


def vectors_in(url):
    with sqlite3.connect(url.removeprefix("sqlite:///")) as database:
        return dict(
            database.execute(
                "SELECT model || ' ' || dim, count(*) FROM memory_vectors GROUP BY 1"
            ).fetchall()
        )


async def test_after_a_change_recall_goes_by_words_and_says_so_until_the_vectors_are_made(
    url, server
):
    await remember(url)
    server.misbehave(Fault.FAIL, status=503, times=None)
    async with opened(url, server) as memory:
        during = await memory.recall("ann", "Where is my kayak?")
        server.behave()

        async def whole():
            return not (await memory.recall("ann", "Where is my kayak?")).degraded

        await until(whole)
        after = await memory.recall("ann", "Where is my kayak?")

    assert "503" in during.degraded
    assert ["kayak" in hit.item.content for hit in during.hits] == [True]
    assert "kayak" in after.hits[0].item.content
    assert after.hits[0].paths["semantic"] > 0
    assert vectors_in(url) == {"endpoint/new 96": 3}


async def test_nobody_has_to_write_or_read_for_the_vectors_to_be_made(url, server):
    await remember(url, users=("ann", "bob", "eve"))
    async with opened(url, server):

        async def all_new():
            return set(vectors_in(url)) == {"endpoint/new 96"}

        await until(all_new)

    assert vectors_in(url) == {"endpoint/new 96": 9}


async def test_a_process_without_a_worker_leaves_the_vectors_to_others(url, server):
    await remember(url)
    settings = dataclasses.replace(settings_of(server), run_worker=False)
    async with Memory.open(url, settings=settings) as memory:
        found = await memory.recall("ann", "Where is my kayak?")

        assert found.degraded == RE_EMBEDDING
        assert ["kayak" in hit.item.content for hit in found.hits] == [True]
    assert vectors_in(url) == {"hash-ngram-64 64": 3}


async def test_what_is_said_again_is_the_same_memory_though_the_model_has_changed(url, server):
    await remember(url)
    settings = dataclasses.replace(settings_of(server), run_worker=False)
    async with Memory.open(url, settings=settings, extractor=Reads()) as memory:
        said = next(iter(FACTS))
        receipt = await memory.observe(
            "ann", "later", [{"role": "user", "content": said}], wait=True
        )

        assert [d.outcome for d in receipt.decisions] == ["merged"]
        assert len((await memory.items("ann")).items) == 3
    assert vectors_in(url) == {"endpoint/new 96": 3}


async def test_upkeep_makes_the_vectors_too_and_an_outage_does_not_stop_it(url, server):
    await remember(url)
    settings = dataclasses.replace(settings_of(server), run_worker=False)
    async with Memory.open(url, settings=settings) as memory:
        server.misbehave(Fault.FAIL, status=503, times=2)
        await memory.maintain()
        assert vectors_in(url) == {"hash-ngram-64 64": 3}

        await asyncio.sleep(0.06)  # the endpoint's rest
        await memory.maintain()
        assert vectors_in(url) == {"endpoint/new 96": 3}


async def test_what_was_left_off_is_taken_up_where_it_was():
    """The store is asked what is missing, so no vector is made twice."""
    from dualgate.adapters.memory import open_memory
    from dualgate.testing.builders import a_plan, an_item

    backend = open_memory()
    items = [an_item(id=f"i{n:03}", content=f"fact number {n}") for n in range(2 * BATCH + 5)]
    async with backend.store.begin("ann") as unit:
        await unit.apply(a_plan(*items))
    new = Stumbling(HashEmbedder(64), after=BATCH)

    with pytest.raises(ModelUnavailableError):
        await reembed("ann", backend.store, new)
    first = list(new.asked)
    new.after = None
    done = await reembed("ann", backend.store, new)

    assert len(first) == BATCH
    assert done == BATCH + 5
    assert len(new.asked) == len(set(new.asked)) == len(items)


class Stumbling:
    """An embedder that is down after so many texts."""

    def __init__(self, inner, after):
        self.inner, self.after, self.asked = inner, after, []
        self.model, self.dim = inner.model, inner.dim

    async def embed(self, texts):
        if self.after is not None and len(self.asked) >= self.after:
            raise ModelUnavailableError("it is down")
        self.asked += texts
        return await self.inner.embed(texts)


async def test_the_size_of_a_model_is_found_out_on_an_empty_memory(url, server):
    async with opened(url, server) as memory:
        said = next(iter(FACTS))
        await memory.observe("ann", "s", [{"role": "user", "content": said}], wait=True)
        found = await memory.recall("ann", "tent")

        assert len(found.hits) == 1
        assert not found.degraded
    assert vectors_in(url) == {"endpoint/new 96": 1}


async def test_a_long_turn_is_kept_whatever_the_model_can_take(url):
    long = "我的工号是四七一一。" + "填充" * 1_000
    reads = ScriptedExtractor({
        long: [Candidate("identity", "用户的工号是四七一一", confidence=0.95,
                         quote="我的工号是四七一一")],
    })  # fmt: skip
    with LlmServer(manners=Manners(longest=512)) as server:
        settings = settings_of(server)
        async with Memory.open(url, settings=settings, extractor=reads) as memory:
            receipt = await memory.observe(
                "ann", "s", [{"role": "user", "content": long}], wait=True
            )

            assert [d.outcome for d in receipt.decisions] == ["admitted"]


async def test_who_is_read_comes_before_his_turn():
    """Users are walked in order; one who is asked about is served at once."""
    from dualgate.adapters.memory import open_memory
    from dualgate.pipeline.observer import Silent
    from dualgate.pipeline.reembedding import Reembedding, ReembedPorts
    from dualgate.testing.builders import a_plan, an_item

    backend = open_memory()
    users = [f"u{n:02}" for n in range(20)]
    for user in users:
        async with backend.store.begin(user) as unit:
            await unit.apply(a_plan(an_item(user_id=user, content=f"of {user}")))
    embedder = Stumbling(HashEmbedder(64), after=None)
    served = []

    async def turns(user):
        served.append(user)
        await asyncio.sleep(0.01)

    work = Reembedding(
        ReembedPorts(store=backend.store, embedder=embedder, observer=Silent(), turns=turns)
    )
    work.start()
    try:
        assert await work.waits("u19")

        async def all_served():
            return set(served) == set(users)

        await until(all_served)
    finally:
        await work.stop()

    assert served.index("u19") < 3
    assert embedder.asked.count("of u19") == 1
    assert not await work.waits("u19")
