"""What every Store does, part seven: all of one user as one value, taken out and given back."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from dualgate.domain.erasure import ErasureKind, item_mark, turn_mark
from dualgate.domain.status import Cause, Status
from dualgate.errors import InvalidInputError, NotFoundError
from dualgate.pipeline.dossier import AskedErasure, Dossier, Erasure, KeptJob
from dualgate.pipeline.ports import ItemFilter, Session, Use
from dualgate.testing.backend import Backend, a_vector, write
from dualgate.testing.builders import (
    MONDAY,
    a_decision,
    a_job,
    a_move,
    a_pending,
    a_plan,
    a_signal,
    a_turn,
    an_item,
)
from dualgate.testing.transcript_contract import INDEX, entry, near, turns, worded

LATER = MONDAY + timedelta(days=30)


def asked(kind: ErasureKind = ErasureKind.ITEM, **fields: Any) -> AskedErasure:
    """Return an erasure of item-1 that ann asked for."""
    given = {"id": "erasure-1", "user_id": "ann", "target": "item-1", "asked_at": LATER, **fields}
    return AskedErasure(kind=kind, **given)


async def erased(backend: Backend, **fields: Any) -> dict[str, int]:
    """Erase in a unit of its own; return the counts."""
    erasure = Erasure(**{"asked": asked(), "at": LATER, **fields})
    await backend.store.ask_erasure(erasure.asked)
    async with backend.store.begin(erasure.asked.user_id) as unit:
        return dict(await unit.erase(erasure))


async def lived(backend: Backend, user_id: str = "ann") -> None:
    """Let a user have something of every kind."""
    mine: dict[str, Any] = {"user_id": user_id}
    plan = a_plan(
        an_item(id="item-1", **mine),
        an_item("The user has a cat", id="item-2", **mine),
        signals=(
            a_signal(message_id="t0", **mine),
            a_signal("item-2", id="signal-2", message_id="t1", **mine),
        ),
        decision=a_decision(item_id="item-1", **mine),
        pendings=(a_pending(**mine),),
    )
    await write(
        backend, plan, user_id=user_id, vectors={"item-1": a_vector(1), "item-2": a_vector(0, 1)}
    )
    said = turns("short answers", "I have a cat", "thanks", **mine)
    async with backend.store.begin(user_id) as unit:
        await unit.session("s1", MONDAY, None)
        await unit.add_turns(said)
        await unit.index_turns([entry(turn, a_vector(1)) for turn in said], MONDAY)
    use = Use(item_id="item-1", at=MONDAY, hit=True, query_relevance=0.5, session_id="s1")
    snapshot = await backend.store.snapshot(user_id)
    await backend.store.record_uses(user_id, [use], snapshot.own_time)
    await backend.store.note(user_id, "s1", "task", "tried", "short", MONDAY, LATER)
    await backend.queue.enqueue(a_job("job-1", **mine))


class ErasureContract:
    """Dossiers, erasures and tombstones [P3, P4]."""

    async def test_a_dossier_holds_something_of_every_kind(self, backend: Backend) -> None:
        await lived(backend)

        found = await backend.store.dossier("ann")

        assert [item.id for item in found.items] == ["item-1", "item-2"]
        assert [(s.item_id, s.id) for s in found.signals] == [
            ("item-1", "signal-1"), ("item-2", "signal-2"),
        ]  # fmt: skip
        assert [(m.item_id, m.cause) for m in found.moves] == [
            ("item-1", Cause.ADMITTED), ("item-2", Cause.ADMITTED),
        ]  # fmt: skip
        assert [d.id for d in found.decisions] == ["decision-1"]
        assert [p.id for p in found.pendings] == ["pending-1"]
        assert [(u.item_id, u.hit) for u in found.uses] == [("item-1", True)]
        assert [(n.task_id, n.key, n.text) for n in found.notes] == [("task", "tried", "short")]
        assert [s.id for s in found.sessions] == ["s1"]
        assert [(k.turn.id, k.stored_at) for k in found.turns] == [
            ("t0", MONDAY), ("t1", MONDAY), ("t2", MONDAY),
        ]  # fmt: skip
        assert [(k.job.id, k.dead) for k in found.jobs] == [("job-1", False)]
        assert (found.tombstones, found.tombstone_key) == ((), "")

    async def test_a_stranger_has_an_empty_dossier_and_is_not_made_by_looking(
        self, backend: Backend
    ) -> None:
        assert await backend.store.dossier("nobody") == Dossier(user_id="nobody")
        assert await backend.store.users(None, 9) == []

    async def test_an_erased_item_takes_all_that_is_about_it(self, backend: Backend) -> None:
        await lived(backend)

        gone = await erased(
            backend, item_ids=("item-1",), turn_ids=("t0",), stale_turn_ids=("t1",),
            moves=(a_move(before=Status.CANDIDATE, after=Status.FORGOTTEN, cause=Cause.ERASED),),
            note_keys=(("s1", "task", "tried"),), job_ids=("job-1",),
        )  # fmt: skip
        left = await backend.store.dossier("ann")

        assert [item.id for item in left.items] == ["item-2"]
        assert [s.item_id for s in left.signals] == ["item-2"]
        assert (left.decisions, left.pendings, left.uses) == ((), (), ())
        assert (left.notes, left.jobs) == ((), ())
        assert [k.turn.id for k in left.turns] == ["t1", "t2"]
        assert [m.cause for m in left.moves][-1] is Cause.ERASED
        assert await backend.store.by_words("ann", "short answers", limit=9) == []
        assert await backend.store.nearest("ann", a_vector(1), limit=9, gate=0.5) == []
        assert await worded(backend, "short", "answers") == []
        assert [i for i, _ in await near(backend, a_vector(1))] == ["t2"]
        assert await backend.queue.job_state("ann", "job-1") == "done"
        assert (await backend.queue.depth()).waiting == 0
        assert gone.items() >= {
            "items": 1, "vectors": 1, "signals": 1, "decisions": 1, "pendings": 1, "uses": 1,
            "turns": 1, "notes": 1, "jobs": 1,
        }.items()  # fmt: skip

    async def test_what_was_found_by_an_erased_turns_words_waits_for_a_new_index(
        self, backend: Backend
    ) -> None:
        await lived(backend)
        await erased(backend, turn_ids=("t0",), stale_turn_ids=("t1",))

        async with backend.store.begin("ann") as unit:
            waiting = await unit.unindexed_turns(INDEX, 9)
            await unit.index_turns([entry(waiting[0].turn, a_vector(1))], LATER)
        found = await backend.store.dossier("ann")

        assert [one.turn.id for one in waiting] == ["t1"]
        assert waiting[0].before == ()
        assert found.turns[0].stored_at == MONDAY  # the retention does not begin anew [L3]

    async def test_what_an_erasure_changes_is_written_whole(self, backend: Backend) -> None:
        await lived(backend)
        quoteless = a_signal("item-2", id="signal-2", message_id="t1", quote=None)
        item = an_item("The user has a cat", id="item-2", confirm_count=0.5)
        job = a_job("job-1", payload={"messages": []})
        session = Session(user_id="ann", id="s1", root_id="s1", started_at=MONDAY, core_text="x")
        decision = a_decision(id="decision-1", item_id="item-1", reason="new")
        await erased(
            backend, items=(item,), signals=(quoteless,), jobs=(KeptJob(job=job),),
            sessions=(session,), decisions=(decision,),
        )  # fmt: skip

        left = await backend.store.dossier("ann")

        assert left.items[1] == item
        assert left.signals[1] == quoteless
        assert left.jobs[0].job.payload == {"messages": []}
        assert left.sessions == (session,)
        assert left.decisions == (decision,)
        assert (await backend.store.snapshot("ann")).hot["item-2"].confirm_count == 0.5

    async def test_single_signals_decisions_pendings_and_sessions_go(
        self, backend: Backend
    ) -> None:
        await lived(backend)
        gone = await erased(
            backend, signal_ids=(("item-2", "signal-2"),), decision_ids=("decision-1",),
            pending_ids=("pending-1",), session_ids=("s1",),
        )  # fmt: skip

        left = await backend.store.dossier("ann")

        assert [s.id for s in left.signals] == ["signal-1"]
        assert (left.decisions, left.pendings, left.sessions) == ((), (), ())
        assert gone == {"signals": 1, "decisions": 1, "pendings": 1, "sessions": 1}

    async def test_a_dead_job_is_ended_or_thinned(self, backend: Backend) -> None:
        for job_id in ("a", "b"):
            await backend.queue.enqueue(a_job(job_id))
        lease = await backend.queue.claim(MONDAY, 60, 9)
        assert lease is not None
        for job in lease.jobs:
            await backend.queue.bury(lease, job, "I have a cat", MONDAY)
        await backend.queue.release(lease)
        thin = KeptJob(job=a_job("b", payload={"left": 1}), error="gone", died_at=MONDAY)
        await erased(backend, job_ids=("a",), jobs=(thin,))

        dead = await backend.queue.dead("ann")

        assert [(d.job.id, d.job.payload, d.error) for d in dead] == [("b", {"left": 1}, "gone")]
        assert await backend.queue.job_state("ann", "a") == "done"

    async def test_an_erased_user_is_gone_and_others_are_untouched(
        self, backend: Backend
    ) -> None:
        for user_id in ("ann", "bob"):
            await lived(backend, user_id)
        before = await backend.store.dossier("bob")
        version = (await backend.store.snapshot("ann")).version

        gone = await erased(backend, asked=asked(ErasureKind.USER, target=""), whole=True)

        left = await backend.store.dossier("ann")
        assert replace(left, tombstone_key="") == Dossier(user_id="ann")
        assert await backend.store.users(None, 9) == ["bob"]
        assert await backend.store.dossier("bob") == before
        assert (await backend.store.stats("ann")).turns == 0
        with pytest.raises(NotFoundError):
            await backend.queue.job_state("ann", "job-1")
        assert (await backend.queue.depth()).waiting == 1
        assert await worded(backend, "cat") == []
        assert gone.items() >= {"items": 2, "turns": 3, "signals": 2, "jobs": 1}.items()
        # Another process holds a state of that number: a new one must not pass for it.
        assert (await backend.store.snapshot("ann")).version > version

    async def test_an_erased_user_may_begin_anew(self, backend: Backend) -> None:
        await lived(backend)
        await erased(backend, asked=asked(ErasureKind.USER, target=""), whole=True)

        await write(backend, a_plan(an_item("The user has a dog", id="item-9")))

        page = await backend.store.page("ann", ItemFilter(), limit=9, cursor=None)
        assert [item.id for item in page.items] == ["item-9"]
        assert set((await backend.store.snapshot("ann")).hot) == {"item-9"}
        assert await backend.store.users(None, 9) == ["ann"]

    async def test_marks_are_known_by_their_tombstones_and_to_their_user_only(
        self, backend: Backend
    ) -> None:
        marks = (item_mark("item-1"), turn_mark("t0"))
        await erased(backend, marks=marks)

        found = await backend.store.erased("ann", [*marks, turn_mark("t1")])
        async with backend.store.begin("ann") as unit:
            inside = await unit.erased(marks)

        assert found == inside == dict.fromkeys(marks, (ErasureKind.ITEM, LATER))
        assert await backend.store.erased("bob", marks) == {}

    async def test_tombstones_hold_no_word_and_have_a_key_of_their_user(
        self, backend: Backend
    ) -> None:
        for user_id in ("ann", "bob"):
            wish = asked(user_id=user_id, id=f"erasure-{user_id}")
            await erased(backend, asked=wish, marks=(turn_mark("secret"),))

        ann, bob = [await backend.store.dossier(user_id) for user_id in ("ann", "bob")]

        assert "secret" not in str(ann)
        assert ann.tombstone_key != bob.tombstone_key
        assert ann.tombstones[0].hash != bob.tombstones[0].hash

    async def test_an_erasure_is_asked_for_until_its_bytes_are_gone(
        self, backend: Backend
    ) -> None:
        wish = asked()
        await backend.store.ask_erasure(wish)
        before = await backend.store.asked_erasures()
        await erased(backend, asked=wish)
        done = await backend.store.asked_erasures()
        scrubbed = await backend.store.scrub()

        assert before == [wish]
        assert done == [replace(wish, target="", done_at=LATER)]
        assert scrubbed
        assert await backend.store.asked_erasures() == []

    async def test_a_unit_left_by_an_exception_erases_nothing(self, backend: Backend) -> None:
        await lived(backend)
        before = await backend.store.dossier("ann")
        with pytest.raises(RuntimeError):
            async with backend.store.begin("ann") as unit:
                await unit.erase(Erasure(asked=asked(), at=LATER, whole=True, marks=("m",)))
                raise RuntimeError

        assert await backend.store.dossier("ann") == before

    async def test_an_erasure_of_another_user_is_refused(self, backend: Backend) -> None:
        async with backend.store.begin("bob") as unit:
            with pytest.raises(InvalidInputError, match="user_id"):
                await unit.erase(Erasure(asked=asked(), at=LATER))
            with pytest.raises(InvalidInputError, match="user_id"):
                await unit.put_back(Dossier(user_id="ann"), {})

    async def test_a_dossier_given_back_is_the_same_dossier(self, backend: Backend) -> None:
        await lived(backend)
        async with backend.store.begin("ann") as unit:
            await unit.set_user(user_class="vip", recall_paused=True, maintained_at=MONDAY)
        given = await backend.store.dossier("ann")
        await erased(backend, asked=asked(ErasureKind.USER, target=""), whole=True)

        async with backend.store.begin("ann") as unit:
            await unit.put_back(given, {"item-1": a_vector(1), "item-2": a_vector(0, 1)})

        kept = await backend.store.dossier("ann")
        assert replace(kept, tombstone_key="") == given
        assert [i for i, _ in await backend.store.by_words("ann", "cat", limit=9)] == ["item-2"]
        found = await backend.store.nearest("ann", a_vector(1), limit=9, gate=0.5)
        assert [i for i, _ in found] == ["item-1"]
        assert set((await backend.store.snapshot("ann")).hot) == {"item-1", "item-2"}
        assert (await backend.queue.depth()).waiting == 1

    async def test_giving_back_twice_changes_nothing(self, backend: Backend) -> None:
        await lived(backend)
        before = await backend.store.dossier("ann")

        async with backend.store.begin("ann") as unit:
            await unit.put_back(before, {"item-1": a_vector(1)})

        assert await backend.store.dossier("ann") == before

    async def test_what_is_known_stays_as_it_is(self, backend: Backend) -> None:
        await lived(backend)
        other = an_item("something else", id="item-1")
        new = an_item("The user runs", id="item-3")
        given = Dossier(user_id="ann", user_class="vip", items=(other, new))

        async with backend.store.begin("ann") as unit:
            await unit.put_back(given, {})

        kept = await backend.store.dossier("ann")
        assert [item.content for item in kept.items] == [
            "The user prefers short answers", "The user has a cat", "The user runs",
        ]  # fmt: skip
        assert kept.user_class == "default"

    async def test_tombstones_move_along_where_the_key_is_free(self, backend: Backend) -> None:
        mark = turn_mark("t0")
        await erased(backend, marks=(mark,))
        given = await backend.store.dossier("ann")

        async with backend.store.begin("bob") as unit:
            await unit.put_back(replace(given, user_id="bob"), {})

        assert set(await backend.store.erased("bob", [mark])) == {mark}

    async def test_every_method_refuses_a_blank_user(self, backend: Backend) -> None:
        with pytest.raises(InvalidInputError, match="user_id"):
            await backend.store.dossier(" ")
        with pytest.raises(InvalidInputError, match="user_id"):
            await backend.store.erased("", ["m"])
        with pytest.raises(InvalidInputError, match="user_id"):
            await backend.store.ask_erasure(asked(user_id=""))

    async def test_a_turn_that_was_kept_before_is_known_after_an_erasure_only_by_its_tombstone(
        self, backend: Backend
    ) -> None:
        await lived(backend)
        await erased(backend, turn_ids=("t0",), marks=(turn_mark("t0"),))

        async with backend.store.begin("ann") as unit:
            known = await unit.known_turns(["t0", "t1"])
            added = await unit.add_turns([a_turn("short answers", id="t0")])

        assert known == {"t1"}
        assert added == ["t0"]  # to look for tombstones is the pipeline's part
