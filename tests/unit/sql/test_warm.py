"""A warm user costs one look at the version; what others wrote is never missed."""

from __future__ import annotations

from datetime import timedelta

import numpy as np
import pytest
import pytest_asyncio

from dualgate.adapters.sql import open_sqlite, reading
from dualgate.domain.plan import PendingState
from dualgate.domain.status import Status
from dualgate.domain.view import OwnTime
from dualgate.pipeline.ports import Use
from dualgate.testing.backend import a_vector, write
from dualgate.testing.builders import MONDAY, a_pending, a_plan, an_item

DAY = timedelta(days=1)


@pytest_asyncio.fixture
async def two(tmp_path):
    """The same file opened twice, as by two processes."""
    both = [await open_sqlite(tmp_path / "memory.db", archive_capacity=100) for _ in range(2)]
    yield both
    for backend in both:
        await backend.close()


@pytest.fixture
def loads(monkeypatch):
    seen = []
    for name in ("load_snapshot", "load_pool", "load_standings"):
        original = getattr(reading, name)

        def counting(*args, _original=original, _name=name):
            seen.append(_name)
            return _original(*args)

        monkeypatch.setattr(reading, name, counting)
    return seen


async def test_reading_a_warm_user_loads_nothing(two, loads):
    one, _ = two
    await write(one, a_plan(an_item()), vectors={"item-1": a_vector(1)})
    await one.store.snapshot("ann")
    await one.store.nearest("ann", a_vector(1), limit=1, gate=0)
    loads.clear()
    for number in range(3):
        await write(
            one, a_plan(an_item(id=f"n{number}")), vectors={f"n{number}": a_vector(1, number)}
        )
        await one.store.snapshot("ann")
        near = await one.store.nearest("ann", a_vector(1), limit=9, gate=0)
    await one.store.record_uses("ann", [Use(item_id="n0", at=MONDAY, hit=True)], OwnTime())

    assert len(near) == 4
    assert (await one.store.snapshot("ann")).hot["n0"].access_count == 1
    assert loads == []


async def test_what_another_process_wrote_is_seen_at_once(two):
    one, other = two
    await write(one, a_plan(an_item()), vectors={"item-1": a_vector(1)})
    for backend in two:
        await backend.store.snapshot("ann")
        await backend.store.nearest("ann", a_vector(1), limit=9, gate=0)
    await write(other, a_plan(an_item(id="theirs")), vectors={"theirs": a_vector(1)})

    async with one.store.begin("ann") as unit:
        inside = set((await unit.snapshot()).hot)
        near_inside = await unit.nearest(a_vector(1), limit=9, gate=0.5)
    near = await one.store.nearest("ann", a_vector(1), limit=9, gate=0.5)
    assert inside == set((await one.store.snapshot("ann")).hot) == {"item-1", "theirs"}
    assert {i for i, _ in near} == {i for i, _ in near_inside} == {"item-1", "theirs"}


async def test_the_warm_state_is_the_state_in_the_file(two):
    """After any change, who kept up and who reads anew see the same."""
    one, other = two
    rng = np.random.default_rng(5)
    statuses = list(Status)
    for step in range(60):
        number = int(rng.integers(12))
        item = an_item(
            id=f"i{number}",
            status=statuses[int(rng.integers(len(statuses)))],
            score=float(rng.random()),
            was_confirmed=bool(rng.integers(2)),
        )
        state = PendingState.OPEN if rng.integers(2) else PendingState.LAPSED
        pending = a_pending(id=f"p{number}", item_id=f"i{number}", state=state)
        vectors = {item.id: a_vector(*rng.normal(size=8))} if rng.integers(2) else {}
        purged = (f"i{int(rng.integers(12))}",) if step % 9 == 8 else ()
        async with one.store.begin("ann") as unit:
            await unit.apply(a_plan(items=(item,), moves=(), pendings=(pending,)), vectors)
            await unit.nearest(a_vector(1), limit=1, gate=0)
            await unit.apply(a_plan(purged=purged))
            await unit.touch(OwnTime(step, MONDAY + step * DAY))
            inside = await unit.snapshot()
        kept = await one.store.snapshot("ann")

        assert kept == await other.store.snapshot("ann")
        assert inside.hot == kept.hot
        query = a_vector(*rng.normal(size=8))
        warm = await one.store.nearest("ann", query, limit=50, gate=-1.0)
        cold = await other.store.nearest("ann", query, limit=50, gate=-1.0)
        assert [i for i, _ in warm] == [i for i, _ in cold]


async def test_a_full_archive_is_not_read_at_every_write(tmp_path, loads):
    backend = await open_sqlite(tmp_path / "memory.db", archive_capacity=300)
    archived = [
        an_item(id=f"a{n:03d}", status=Status.ARCHIVED, score=0.1 + n / 1000) for n in range(299)
    ]
    await write(backend, a_plan(items=tuple(archived), moves=()))
    await backend.store.snapshot("ann")
    loads.clear()
    for n in range(60):
        async with backend.store.begin("ann") as unit:
            worst = (await unit.snapshot()).archive_tail[0]
            new = an_item(id=f"b{n:03d}", status=Status.ARCHIVED, score=0.9)
            gone = worst.with_(status=Status.FORGOTTEN)
            await unit.apply(a_plan(items=(new, gone), moves=()))

        assert worst.id == f"a{n:03d}"
    assert loads == ["load_standings"]
    assert (await backend.store.snapshot("ann")).archive_count == 299
    await backend.close()


async def test_a_newcomer_that_ranks_lowest_leaves_first(tmp_path):
    backend = await open_sqlite(tmp_path / "memory.db", archive_capacity=100)
    archived = [an_item(id=f"a{n}", status=Status.ARCHIVED, score=0.5) for n in range(90)]
    await write(backend, a_plan(items=tuple(archived), moves=()))
    await backend.store.snapshot("ann")
    await write(backend, a_plan(an_item(id="weak", status=Status.ARCHIVED, score=0.01)))

    tail = (await backend.store.snapshot("ann")).archive_tail
    assert (tail[0].id, len(tail)) == ("weak", 64)
    await backend.close()


async def test_vectors_of_another_model_are_never_near(tmp_path):
    path = tmp_path / "memory.db"
    old = await open_sqlite(path, vector_model="old")
    await write(old, a_plan(an_item()), vectors={"item-1": a_vector(1)})
    await old.close()
    new = await open_sqlite(path, vector_model="new")
    await write(new, a_plan(an_item(id="b")), vectors={"b": a_vector(1)})

    near = await new.store.nearest("ann", a_vector(1), limit=9, gate=0)
    longer = await new.store.nearest("ann", a_vector(1, dim=16), limit=9, gate=-1)
    assert [item_id for item_id, _ in near] == ["b"]
    assert longer == []
    await new.close()


async def test_erased_words_and_vectors_are_gone_from_the_file(tmp_path):
    path = tmp_path / "memory.db"
    backend = await open_sqlite(path)
    said = "zanzibar-花生"
    kept = [an_item(f"kept {n}", id=f"k{n}") for n in range(50)]
    await write(backend, a_plan(an_item(said, status=Status.FORGOTTEN), *kept))
    await write(backend, a_plan(an_item(said)))
    await write(backend, a_plan(purged=("item-1",)))
    await backend.close()

    left = path.read_bytes()
    assert b"zanzibar" not in left
    assert "花生".encode() not in left


async def test_an_item_keeps_its_newest_uses_and_counts_them_all(tmp_path):
    backend = await open_sqlite(tmp_path / "memory.db")
    await write(backend, a_plan(an_item(), an_item(id="other")))
    for start in range(0, 300, 100):
        uses = [
            Use(item_id="item-1", at=MONDAY + n * DAY, hit=False)
            for n in range(start, start + 100)
        ]
        rare = Use(item_id="other", at=MONDAY, hit=False)
        await backend.store.record_uses("ann", [*uses, rare], OwnTime(1, MONDAY + start * DAY))

    kept = await backend.store.uses("ann", "item-1", limit=1_000)
    assert [use.at for use in kept] == [MONDAY + n * DAY for n in reversed(range(100, 300))]
    assert len(await backend.store.uses("ann", "other")) == 3
    assert (await backend.store.snapshot("ann")).hot["item-1"].access_count == 300
    await backend.close()
