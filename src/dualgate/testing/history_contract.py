"""What every Store does, part four: the log, transcripts, sessions, notes and counts."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from dualgate.domain.plan import Move, Note, Outcome, PendingState
from dualgate.domain.status import Cause, Status
from dualgate.domain.types import Evidence
from dualgate.errors import InvalidInputError
from dualgate.pipeline.ports import Session
from dualgate.testing.backend import Backend, write
from dualgate.testing.builders import (
    MONDAY,
    a_candidate,
    a_decision,
    a_move,
    a_pending,
    a_plan,
    a_signal,
    a_turn,
    an_item,
)

DAY = timedelta(days=1)
HOUR = timedelta(hours=1)


class HistoryContract:
    """What happened can be told afterwards, in order."""

    async def test_moves_come_back_in_the_order_in_which_they_were_made(
        self, backend: Backend
    ) -> None:
        # Imported history carries old times: the order of writing counts, not the time.
        first = a_move(at=MONDAY + DAY)
        second = _moved(Status.CANDIDATE, Status.CONFIRMED, Cause.CONFIRMED, MONDAY)
        third = _moved(Status.CONFIRMED, Status.FROZEN, Cause.FROZE, MONDAY + DAY)
        await write(backend, a_plan(moves=(first, second)))
        await write(backend, a_plan(moves=(third, a_move("item-2"))))

        assert await backend.store.moves("ann") == [first, second, third, a_move("item-2")]
        assert await backend.store.moves("ann", "item-1") == [first, second, third]
        assert await backend.store.moves("bob") == []

    async def test_what_was_believed_then_has_the_status_it_had_then(
        self, backend: Backend
    ) -> None:
        frozen_then = (
            a_move(),
            _moved(Status.CANDIDATE, Status.CONFIRMED, Cause.CONFIRMED, MONDAY + DAY),
            _moved(Status.CONFIRMED, Status.FROZEN, Cause.FROZE, MONDAY + 2 * DAY),
            _moved(Status.FROZEN, Status.SUPERSEDED, Cause.SUPERSEDED, MONDAY + 3 * DAY),
        )
        await write(backend, a_plan(items=(an_item(status=Status.SUPERSEDED),), moves=frozen_then))

        async def then(days: float) -> list[Status]:
            believed = await backend.store.believed_at("ann", MONDAY + days * DAY)
            return [item.status for item in believed]

        assert await then(-1) == []
        assert await then(0) == [Status.CANDIDATE]
        assert await then(1.5) == [Status.CONFIRMED]
        assert await then(2.5) == [Status.FROZEN]
        assert await then(3) == []

    async def test_an_archived_item_was_not_active_then(self, backend: Backend) -> None:
        moves = (a_move(), _moved(Status.CANDIDATE, Status.ARCHIVED, Cause.FADED, MONDAY + DAY))
        await write(backend, a_plan(items=(an_item(status=Status.ARCHIVED),), moves=moves))

        assert await backend.store.believed_at("ann", MONDAY + 2 * DAY) == []

    async def test_what_the_user_forgot_is_not_believed_at_any_time(
        self, backend: Backend
    ) -> None:
        moves = (a_move(), _moved(Status.CANDIDATE, Status.FORGOTTEN, Cause.FORGOT, MONDAY + DAY))
        await write(backend, a_plan(items=(an_item(status=Status.FORGOTTEN),), moves=moves))

        assert await backend.store.believed_at("ann", MONDAY + HOUR) == []

    async def test_what_was_believed_then_has_the_wording_of_then(self, backend: Backend) -> None:
        # A correction rewords the item in place; a row of its own keeps each old wording.
        berlin = an_item("Berlin", id="v1", status=Status.SUPERSEDED, superseded_by="item-1")
        paris = an_item("Paris", id="v2", status=Status.SUPERSEDED, superseded_by="item-1")
        rome = an_item("Rome", override_of="v2", version=3)
        corrected = {"before": None, "after": Status.SUPERSEDED, "cause": Cause.CORRECTED}
        moves = (
            a_move(),
            a_move("v1", at=MONDAY + DAY, **corrected),
            a_move("v2", at=MONDAY + 2 * DAY, **corrected),
        )
        await write(backend, a_plan(items=(berlin, paris, rome), moves=moves))

        async def then(days: float) -> list[tuple[str, Status]]:
            believed = await backend.store.believed_at("ann", MONDAY + days * DAY)
            return [(item.content, item.status) for item in believed]

        assert await then(-1) == []
        assert await then(0.5) == [("Berlin", Status.CANDIDATE)]
        assert await then(1.5) == [("Paris", Status.CANDIDATE)]
        assert await then(2.5) == [("Rome", Status.CANDIDATE)]

    async def test_signals_come_oldest_first_and_by_session(self, backend: Backend) -> None:
        late = a_signal(id="x1", at=MONDAY + DAY, session_id="s2", evidence=Evidence.EMOTIONAL)
        early = a_signal(id="x2", agrees=False, quote=None)
        await write(backend, a_plan(an_item(), signals=(late, early)))

        async with backend.store.begin("ann") as unit:
            every = await unit.signals(["item-1", "item-2"])
            of_session = await unit.signals(["item-1"], "s2")

        assert await backend.store.signals("ann", "item-1") == [early, late]
        assert every == {"item-1": [early, late], "item-2": []}
        assert of_session == {"item-1": [late]}

    async def test_pendings_are_listed_oldest_first_and_closed_ones_on_request(
        self, backend: Backend
    ) -> None:
        young = a_pending(id="p1", opened_at=MONDAY + DAY)
        old = a_pending(id="p2")
        await write(backend, a_plan(pendings=(young, old)))
        closed = replace(young, state=PendingState.REJECTED, closed_at=MONDAY + 2 * DAY)
        both = (await backend.store.snapshot("ann")).pendings
        await write(backend, a_plan(pendings=(closed,)))

        assert both == (old, young)
        assert (await backend.store.snapshot("ann")).pendings == (old,)
        assert await backend.store.pendings("ann") == [old]
        assert await backend.store.pendings("ann", open_only=False) == [old, closed]
        async with backend.store.begin("ann") as unit:
            assert await unit.pending("p1") == closed
            assert await unit.pending("unknown") is None
        async with backend.store.begin("bob") as unit:
            assert await unit.pending("p1") is None

    async def test_decisions_are_listed_newest_first_by_job_and_by_text(
        self, backend: Backend
    ) -> None:
        tea = a_candidate("Likes Green TEA 绿茶")
        first = a_decision(tea, id="d1", job_id="j1", item_id="item-1")
        second = a_decision(id="d2", at=MONDAY + HOUR, job_id="j1", outcome=Outcome.REFUSED)
        third = a_decision(id="d3", at=MONDAY + DAY, pending_id="p1")
        for decision in (third, first, second):
            await write(backend, a_plan(decision=decision))

        store = backend.store
        assert await store.decisions("ann") == [third, second, first]
        assert await store.decisions("ann", limit=2) == [third, second]
        assert await store.decisions("ann", job_id="j1") == [second, first]
        assert await store.decisions("ann", text="green tea") == [first]
        assert await store.decisions("ann", text="绿茶") == [first]
        assert await store.decisions("ann", text="_") == []
        assert await store.decisions("ann", job_id="j1", text="short") == [second]
        assert await store.decisions("bob") == []

    async def test_versions_are_one_lineage_lowest_version_first(self, backend: Backend) -> None:
        first = an_item(id="z", status=Status.SUPERSEDED)
        second = an_item(id="m", status=Status.SUPERSEDED, override_of="z", version=2)
        third = an_item(id="a", override_of="m", version=3)
        await write(backend, a_plan(first, second, third, an_item(id="other")))

        for item_id in ("z", "m", "a"):
            assert await backend.store.versions("ann", item_id) == [first, second, third]
        assert await backend.store.versions("ann", "unknown") == []
        assert await backend.store.versions("bob", "z") == []

    async def test_every_value_that_one_item_replaced_is_of_its_lineage(
        self, backend: Backend
    ) -> None:
        first = an_item(id="a", status=Status.SUPERSEDED, superseded_by="c")
        other = an_item(id="b", status=Status.SUPERSEDED, superseded_by="c")
        winner = an_item(id="c", override_of="a", version=2)
        await write(backend, a_plan(first, other, winner))

        assert await backend.store.versions("ann", "b") == [first, other, winner]

    async def test_numbers_changed_by_their_giver_stay_as_they_were_given(
        self, backend: Backend
    ) -> None:
        numbers = {"score": 0.7}
        plan = a_plan(moves=(a_move(numbers=numbers),), decision=a_decision(numbers=numbers))
        await write(backend, plan)
        numbers["score"] = 0.0

        assert (await backend.store.moves("ann"))[0].numbers == {"score": 0.7}
        assert (await backend.store.decisions("ann"))[0].numbers == {"score": 0.7}

    async def test_upkeep_sees_what_expired_and_what_was_forgotten_long_ago(
        self, backend: Backend
    ) -> None:
        expired = an_item(id="expired", expires_at=MONDAY + DAY)
        frozen = an_item(id="frozen", expires_at=MONDAY, status=Status.FROZEN)
        archived = an_item(id="archived", expires_at=MONDAY, status=Status.ARCHIVED)
        gone = an_item(id="gone", updated_at=MONDAY, status=Status.FORGOTTEN, expires_at=MONDAY)
        await write(
            backend,
            a_plan(
                expired,
                frozen,
                archived,
                gone,
                an_item(id="later", expires_at=MONDAY + 3 * DAY),
                an_item(id="fresh", updated_at=MONDAY + 2 * DAY, status=Status.FORGOTTEN),
                an_item(id="past", expires_at=MONDAY, status=Status.SUPERSEDED),
            ),
        )

        async with backend.store.begin("ann") as unit:
            due = await unit.due(MONDAY + DAY, MONDAY + DAY)

        assert {item.id for item in due.expired} == {"expired", "frozen", "archived"}
        assert [item.id for item in due.forgotten] == ["gone"]

    async def test_a_turn_is_stored_once_per_user(self, backend: Backend) -> None:
        one, two = a_turn(id="t1"), a_turn(id="t2", at=MONDAY + HOUR)
        async with backend.store.begin("ann") as unit:
            new = await unit.add_turns([one, one])
            again = await unit.add_turns([a_turn("changed", id="t1"), two])
            assert await unit.known_turns(["t2"]) == {"t2"}
        async with backend.store.begin("ann") as unit:
            known = await unit.add_turns([one, two])
            seen = await unit.known_turns(["t1", "t2", "t3"])
            recent = await unit.recent_turns("s1", 10)
        async with backend.store.begin("bob") as unit:
            theirs = await unit.add_turns([a_turn(id="t1", user_id="bob")])

        assert (new, again, known, theirs) == (["t1"], ["t2"], [], ["t1"])
        assert recent == [one, two]
        assert seen == {"t1", "t2"}

    async def test_recent_turns_are_the_last_of_the_session_oldest_first(
        self, backend: Backend
    ) -> None:
        turns = [a_turn(f"{n} 👋", id=f"t{n}", at=MONDAY + n * HOUR) for n in range(5)]
        async with backend.store.begin("ann") as unit:
            await unit.add_turns([*turns, a_turn(id="x", session_id="s2", at=MONDAY + 9 * DAY)])
            recent = await unit.recent_turns("s1", 2)

        assert recent == turns[3:]

    async def test_a_forked_session_has_the_root_of_its_parent(self, backend: Backend) -> None:
        async with backend.store.begin("ann") as unit:
            root = await unit.session("s1", MONDAY, None)
            fork = await unit.session("s2", MONDAY + HOUR, "s1")
            fork_of_fork = await unit.session("s3", MONDAY + HOUR, "s2")
            orphan = await unit.session("s4", MONDAY, "never seen")
            itself = await unit.session("s5", MONDAY, "s5")

        assert (root.root_id, fork.root_id, fork_of_fork.root_id) == ("s1", "s1", "s1")
        assert (orphan.root_id, itself.root_id) == ("never seen", "s5")
        assert await backend.store.session("ann", "s2") == fork

    async def test_the_root_of_a_session_never_changes(self, backend: Backend) -> None:
        async with backend.store.begin("ann") as unit:
            await unit.session("s1", MONDAY, None)
            await unit.session("s2", MONDAY, "s1")
        async with backend.store.begin("ann") as unit:
            without_parent = await unit.session("s2", MONDAY + DAY, None)
            late_parent = await unit.session("s1", MONDAY + DAY, "s9")

        assert (without_parent.root_id, without_parent.started_at) == ("s1", MONDAY)
        assert late_parent.root_id == "s1"

    async def test_a_session_that_was_only_looked_at_gets_its_root_with_its_first_unit(
        self, backend: Backend
    ) -> None:
        """[F2, R1]: its context is asked for before anything is said in it."""
        looked_at = Session(user_id="ann", id="s2", root_id="", started_at=MONDAY, core_text="x")
        await backend.store.keep_core(looked_at)
        async with backend.store.begin("ann") as unit:
            await unit.session("s1", MONDAY, None)
            fork = await unit.session("s2", MONDAY + DAY, "s1")
            again = await unit.session("s2", MONDAY + DAY, "s9")
        kept = await backend.store.session("ann", "s2")

        assert (fork.root_id, again.root_id, fork.core_text) == ("s1", "s1", "x")
        assert kept == fork
        assert fork.started_at == MONDAY

    async def test_the_first_core_of_a_session_stays(self, backend: Backend) -> None:
        async with backend.store.begin("ann") as unit:
            session = await unit.session("s1", MONDAY, None)
        first = replace(session, core_text="用户 👤", core_item_ids=("b", "a"), core_tokens=3)

        assert await backend.store.keep_core(first) == first
        assert await backend.store.keep_core(replace(first, core_text="other")) == first
        assert await backend.store.session("ann", "s1") == first
        async with backend.store.begin("ann") as unit:
            assert await unit.session("s1", MONDAY + DAY, None) == first

    async def test_a_purged_item_goes_from_the_cores_that_showed_it(
        self, backend: Backend
    ) -> None:
        """[P3] Such a session is older than the undo window: its core is made anew."""
        for name, ids in (("s1", ("other", "item-1")), ("s2", ("other",))):
            async with backend.store.begin("ann") as unit:
                session = await unit.session(name, MONDAY, None)
            kept = replace(session, core_text="- x\n", core_item_ids=ids, core_tokens=3)
            await backend.store.keep_core(kept)
        await write(backend, a_plan(an_item(), an_item(id="other")))
        await write(backend, a_plan(purged=("item-1",)))
        shown, other = [await backend.store.session("ann", name) for name in ("s1", "s2")]

        assert shown is not None
        assert (shown.core_text, shown.core_item_ids, shown.core_tokens) == (None, (), 0)
        assert (shown.root_id, shown.started_at) == ("s1", MONDAY)
        assert other == kept

    async def test_an_empty_core_is_a_core(self, backend: Backend) -> None:
        empty = Session(user_id="ann", id="s1", root_id="s1", started_at=MONDAY, core_text="")

        assert await backend.store.keep_core(empty) == empty
        assert await backend.store.keep_core(replace(empty, core_text="late")) == empty
        assert await backend.store.session("bob", "s1") is None

    async def test_the_end_of_a_session_drops_its_notes(self, backend: Backend) -> None:
        store = backend.store
        async with store.begin("ann") as unit:
            await unit.session("s1", MONDAY, None)
        for session in ("s1", "s2"):
            await store.note("ann", session, "task", "tried", "reboot", MONDAY, MONDAY + DAY)
        async with store.begin("ann") as unit:
            await unit.end_session("s1", MONDAY + HOUR)
            await unit.end_session("never seen", MONDAY + HOUR)

        ended = await store.session("ann", "s1")
        assert ended is not None
        assert ended.ended_at == MONDAY + HOUR
        assert await store.session("ann", "never seen") is None
        assert await store.notes("ann", "s1", "task", MONDAY) == {}
        assert await store.notes("ann", "s2", "task", MONDAY) == {"tried": "reboot"}

    async def test_a_note_runs_out(self, backend: Backend) -> None:
        store = backend.store
        await store.note("ann", "s1", "task", "a", "1", MONDAY, MONDAY + HOUR)
        await store.note("ann", "s1", "task", "b", "2", MONDAY, MONDAY + DAY)

        assert await store.notes("ann", "s1", "task", MONDAY) == {"a": "1", "b": "2"}
        assert await store.notes("ann", "s1", "task", MONDAY + HOUR) == {"b": "2"}

    async def test_a_note_is_replaced_removed_and_cleared(self, backend: Backend) -> None:
        store = backend.store
        end = MONDAY + DAY
        for key, value in (("a", "1"), ("a", "2"), ("b", "3"), ("c", "4"), ("b", None)):
            await store.note("ann", "s1", "task", key, value, MONDAY, end)
        await store.note("ann", "s1", "other", "a", "9", MONDAY, end)
        before = await store.notes("ann", "s1", "task", MONDAY)
        await store.clear_notes("ann", "s1", "task")

        assert before == {"a": "2", "c": "4"}
        assert await store.notes("ann", "s1", "task", MONDAY) == {}
        assert await store.notes("ann", "s1", "other", MONDAY) == {"a": "9"}
        assert await store.notes("bob", "s1", "other", MONDAY) == {}

    async def test_the_notes_of_a_plan_are_working_memory(self, backend: Backend) -> None:
        lasting = Note(user_id="ann", session_id="s1", key="a", text="1", at=MONDAY)
        brief = replace(lasting, key="b", task_id="t", expires_at=MONDAY + HOUR)
        await write(backend, a_plan(notes=(lasting, brief)))

        store = backend.store
        assert await store.notes("ann", "s1", "", MONDAY + 400 * DAY) == {"a": "1"}
        assert await store.notes("ann", "s1", "t", MONDAY) == {"b": "1"}
        assert await store.notes("ann", "s1", "t", MONDAY + HOUR) == {}
        async with store.begin("ann") as unit:
            await unit.end_session("s1", MONDAY)
        assert await store.notes("ann", "s1", "", MONDAY) == {}

    async def test_users_are_listed_in_order_page_by_page(self, backend: Backend) -> None:
        for user in ("b", "a", "用户", "c"):
            await write(backend, a_plan(an_item(user_id=user)), user_id=user)

        assert await backend.store.users(None, 2) == ["a", "b"]
        assert await backend.store.users("b", 10) == ["c", "用户"]
        assert await backend.store.users("用户", 10) == []

    async def test_stats_count_one_user_or_all(self, backend: Backend) -> None:
        for user in ("ann", "bob"):
            await write(
                backend,
                a_plan(
                    an_item(id="a", user_id=user),
                    an_item(id="b", user_id=user, status=Status.FROZEN),
                    decision=a_decision(user_id=user),
                    pendings=(
                        a_pending(user_id=user),
                        a_pending(id="p2", user_id=user, state=PendingState.LAPSED),
                    ),
                ),
                user_id=user,
            )
        async with backend.store.begin("ann") as unit:
            await unit.add_turns([a_turn()])

        one, every = await backend.store.stats("ann"), await backend.store.stats()
        nobody = await backend.store.stats("nobody")
        assert (one.users, one.turns, one.pendings) == (1, 1, 1)
        assert (one.items[Status.CANDIDATE], one.items[Status.FROZEN]) == (1, 1)
        assert one.decisions == {"admitted": 1}
        assert (every.users, every.turns, every.pendings) == (2, 1, 2)
        assert every.items[Status.FROZEN] == 2
        assert every.decisions == {"admitted": 2}
        assert (nobody.users, sum(nobody.items.values()), nobody.turns) == (0, 0, 0)

    async def test_a_session_of_a_blank_user_is_refused(self, backend: Backend) -> None:
        blank = Session(user_id=" ", id="s1", root_id="s1", started_at=MONDAY, core_text="x")
        with pytest.raises(InvalidInputError, match="user_id"):
            await backend.store.keep_core(blank)


def _moved(before: Status, after: Status, cause: Cause, at: object) -> Move:
    return a_move(before=before, after=after, cause=cause, at=at)
