"""What only the in-memory backend can be asked: interleavings in one process, and its limits."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest

from dualgate.adapters.memory import open_memory
from dualgate.adapters.memory.words import terms
from dualgate.errors import InvalidInputError, LeaseLostError, NotFoundError, StoreError
from dualgate.testing.backend import a_vector, write
from dualgate.testing.builders import MONDAY, a_decision, a_job, a_move, a_plan, an_item

pytestmark = pytest.mark.asyncio

LATER = MONDAY + timedelta(minutes=5)


async def test_a_lease_lost_during_the_unit_rolls_it_back():
    backend = open_memory()
    await backend.queue.enqueue(a_job())
    lease = await backend.queue.claim(MONDAY, 30, 10)
    with pytest.raises(LeaseLostError):
        async with backend.store.begin("ann", lease) as unit:
            await unit.apply(a_plan(an_item()))
            await unit.finish(a_job(), [])
            await backend.queue.claim(LATER, 30, 10)

    assert await backend.store.users(None, 10) == []
    assert await backend.queue.job_state("ann", "job-1") == "waiting"


async def test_a_job_ended_by_somebody_else_during_the_unit_rolls_it_back():
    backend = open_memory()
    for n in (1, 2):
        await backend.queue.enqueue(a_job(f"job-{n}"))
    lease = await backend.queue.claim(MONDAY, 30, 10)
    with pytest.raises(NotFoundError):
        async with backend.store.begin("ann", lease) as unit:
            await unit.apply(a_plan(an_item()))
            await unit.finish(lease.jobs[0], [])
            await unit.finish(lease.jobs[1], [])
            await backend.queue.bury(lease, lease.jobs[1], "x", MONDAY)

    assert await backend.store.users(None, 10) == []
    assert await backend.queue.job_state("ann", "job-1") == "waiting"


async def test_a_unit_that_was_left_takes_no_more_changes():
    backend = open_memory()
    async with backend.store.begin("ann") as unit:
        pass

    with pytest.raises(StoreError, match="ended"):
        await unit.apply(a_plan(an_item()))


async def test_units_of_two_users_run_at_the_same_time():
    backend = open_memory()
    async with backend.store.begin("ann") as hers:
        await hers.apply(a_plan(an_item()))
        await write(backend, a_plan(an_item(user_id="bob")), user_id="bob")

        assert await backend.store.users(None, 10) == ["bob"]


@pytest.mark.parametrize("strange", [[1.0, float("nan")], [[1.0, 0.0]], [], [float("inf")]])
async def test_a_vector_that_cannot_be_compared_is_refused(strange):
    backend = open_memory()
    with pytest.raises(InvalidInputError, match="vector"):
        await write(backend, a_plan(an_item()), vectors={"item-1": strange})

    assert await backend.store.users(None, 10) == []


async def test_vectors_of_two_lengths_are_refused_in_one_unit_and_in_two():
    backend = open_memory()
    with pytest.raises(InvalidInputError, match="vector"):
        async with backend.store.begin("ann") as unit:
            await unit.apply(a_plan(an_item(id="a")), {"a": a_vector(1, dim=8)})
            await unit.apply(a_plan(an_item(id="b")), {"b": a_vector(1, dim=4)})
    await write(backend, a_plan(an_item(id="a")), vectors={"a": a_vector(1, dim=8)})
    with pytest.raises(InvalidInputError, match="vector"):
        await write(backend, a_plan(an_item(id="b")), vectors={"b": a_vector(1, dim=4)})
    with pytest.raises(InvalidInputError, match="vector"):
        await backend.store.nearest("ann", a_vector(1, dim=4), limit=1, gate=0)

    assert set(await backend.store.items("ann", ["a", "b"])) == {"a"}


async def test_a_vector_changed_by_its_giver_stays_as_it_was_given():
    backend = open_memory()
    vector = a_vector(1)
    await write(backend, a_plan(an_item()), vectors={"item-1": vector})
    vector[:] = 0

    assert len(await backend.store.nearest("ann", a_vector(1), limit=1, gate=0.9)) == 1


async def test_what_a_reader_does_to_an_answer_reaches_nobody():
    backend = open_memory()
    await write(backend, a_plan(an_item(), moves=(a_move(),), decision=a_decision()))
    await backend.queue.enqueue(a_job(payload={"turns": ["one"]}))
    lease = await backend.queue.claim(MONDAY, 30, 10)
    await backend.queue.release(lease)
    lease.jobs[0].payload["turns"].append("two")
    (await backend.store.moves("ann"))[0].numbers["score"] = -1
    (await backend.store.decisions("ann"))[0].numbers["score"] = -1
    (await backend.store.snapshot("ann")).hot.clear()

    assert (await backend.store.moves("ann"))[0].numbers["score"] == 0.7
    assert (await backend.store.decisions("ann"))[0].numbers["score"] == 0.7
    assert set((await backend.store.snapshot("ann")).hot) == {"item-1"}
    again = await backend.queue.claim(MONDAY, 30, 10)
    assert again.jobs[0].payload == {"turns": ["one"]}


async def test_many_vectors_come_and_go_and_the_right_ones_stay():
    backend = open_memory()
    ids = [f"i{n:03d}" for n in range(150)]
    rng = np.random.default_rng(3)
    vectors = {item_id: a_vector(*rng.normal(size=8)) for item_id in ids}
    await write(backend, a_plan(*(an_item(id=i) for i in ids)), vectors=vectors)
    await write(backend, a_plan(purged=tuple(ids[:140])))

    near = await backend.store.nearest("ann", vectors["i145"], limit=20, gate=-1)

    assert {item_id for item_id, _ in near} == set(ids[140:])
    assert near[0][0] == "i145"


async def test_a_purged_item_written_anew_in_the_same_unit_has_lost_its_vector():
    backend = open_memory()
    await write(backend, a_plan(an_item()), vectors={"item-1": a_vector(1)})
    async with backend.store.begin("ann") as unit:
        await unit.apply(a_plan(purged=("item-1",)))
        await unit.apply(a_plan(an_item("anew")))
        inside = await unit.nearest(a_vector(1), limit=5, gate=-1)

    assert inside == []
    assert await backend.store.nearest("ann", a_vector(1), limit=5, gate=-1) == []
    assert (await backend.store.items("ann", ["item-1"]))["item-1"].content == "anew"


async def test_a_users_backlog_does_not_keep_the_others_waiting():
    backend = open_memory()
    for n in range(5):
        await backend.queue.enqueue(a_job(f"ann-{n}"))
    await backend.queue.enqueue(a_job("bob-0", user_id="bob", enqueued_at=LATER))

    served = []
    for minutes in range(10, 12):
        lease = await backend.queue.claim(MONDAY + timedelta(minutes=minutes), 30, 1)
        served.append(lease.user_id)
        await backend.queue.release(lease)

    assert served == ["ann", "bob"]


async def test_a_core_kept_while_a_unit_makes_the_session_stays():
    backend = open_memory()
    async with backend.store.begin("ann") as unit:
        made = await unit.session("s1", MONDAY, None)
        kept = await backend.store.keep_core(replace(made, core_text="core"))

    assert await backend.store.session("ann", "s1") == kept


async def test_a_delay_is_over_once_the_user_was_claimed_again():
    backend = open_memory()
    await backend.queue.enqueue(a_job())
    lease = await backend.queue.claim(MONDAY, 30, 10)
    await backend.queue.retry(lease, lease.jobs[0], "x", LATER)
    await backend.queue.release(await backend.queue.claim(LATER, 30, 10))

    assert await backend.queue.claim(MONDAY, 30, 10) is not None


async def test_a_clock_put_back_stalls_nobody():
    backend = open_memory()
    await backend.queue.enqueue(a_job(enqueued_at=LATER))

    assert await backend.queue.claim(MONDAY, 30, 10) is not None


@pytest.mark.parametrize("limits", [{"per_user": 0}, {"total": 0}, {"archive_capacity": -1}])
async def test_limits_that_make_no_sense_are_refused(limits):
    with pytest.raises(InvalidInputError, match=next(iter(limits))):
        open_memory(**limits)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("对花生过敏", ["对花", "花生", "生过", "过敏"]),
        ("用Postgres数据库", ["用", "postgres", "数据", "据库"]),
        ("C3PO snake_case don't", ["c3po", "snake", "case", "don", "t"]),
        ("茶", ["茶"]),
        ("𠮷野家 カレー", ["𠮷野", "野家", "カレ", "レー"]),
        ("Žluťoučký Ünïcode", ["žluťoučký", "ünïcode"]),
        ("👋 …!?", []),
    ],
)
async def test_terms_of_a_question(text, found):
    assert terms(text, asked=True) == found


async def test_one_chinese_character_asked_for_alone_is_found():
    backend = open_memory()
    await write(backend, a_plan(an_item("每天喝绿茶")))

    assert [i for i, _ in await backend.store.by_words("ann", "茶", limit=5)] == ["item-1"]
