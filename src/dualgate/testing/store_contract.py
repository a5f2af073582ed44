"""What every Store does, part one: units and pools.

The other parts: archive_contract.py, search_contract.py, history_contract.py.
"""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from dualgate.domain.items import MemoryItem
from dualgate.domain.status import Status
from dualgate.domain.types import ItemType
from dualgate.domain.view import OwnTime
from dualgate.errors import InvalidInputError
from dualgate.pipeline.ports import ItemFilter, Use
from dualgate.testing.backend import Backend, a_vector, write
from dualgate.testing.builders import (
    MONDAY,
    a_decision,
    a_pending,
    a_plan,
    a_signal,
    a_turn,
    an_item,
)

DAY = timedelta(days=1)


class Abandoned(Exception):
    """Raised inside a unit to leave it."""


class StoreContract:
    """Units are atomic, serial per user, and never touch another user."""

    async def test_a_new_user_has_an_empty_memory(self, backend: Backend) -> None:
        seen = await backend.store.snapshot("nobody")

        assert (seen.user_id, seen.version, seen.archive_count) == ("nobody", 0, 0)
        assert not seen.hot
        assert not seen.frozen
        assert seen.pendings == ()
        assert seen.archive_tail == ()
        assert seen.own_time == OwnTime()
        assert (seen.user_class, seen.capture_paused, seen.recall_paused) == (
            "default",
            False,
            False,
        )

    async def test_reading_does_not_bring_a_user_into_being(self, backend: Backend) -> None:
        await backend.store.snapshot("nobody")
        async with backend.store.begin("nobody") as unit:
            await unit.snapshot()

        assert await backend.store.users(None, 10) == []

    async def test_an_item_comes_back_as_it_was_written(self, backend: Backend) -> None:
        item = _rich_item()
        await write(backend, a_plan(item))

        kept = await backend.store.items("ann", ["rich", "unknown"])

        assert kept == {"rich": item}

    async def test_items_stand_in_the_pool_of_their_status(self, backend: Backend) -> None:
        await write(backend, a_plan(*(an_item(id=s.value, status=s) for s in Status)))

        seen = await backend.store.snapshot("ann")

        assert set(seen.hot) == {"candidate", "confirmed"}
        assert set(seen.frozen) == {"frozen"}
        assert seen.archive_count == 1
        assert seen.hot["confirmed"].status is Status.CONFIRMED

    async def test_an_item_that_moves_leaves_its_old_pool(self, backend: Backend) -> None:
        await write(backend, a_plan(an_item()))
        await write(backend, a_plan(an_item(status=Status.FROZEN, frozen_at=MONDAY)))

        seen = await backend.store.snapshot("ann")

        assert not seen.hot
        assert seen.frozen["item-1"].frozen_at == MONDAY

    async def test_each_unit_that_changes_memory_raises_the_version_by_one(
        self, backend: Backend
    ) -> None:
        async with backend.store.begin("ann") as unit:
            await unit.apply(a_plan(an_item(id="a")))
            await unit.apply(a_plan(an_item(id="b")))
        after_two_plans = (await backend.store.snapshot("ann")).version
        await write(backend, a_plan(an_item(id="c")))

        assert after_two_plans == 1
        assert (await backend.store.snapshot("ann")).version == 2

    async def test_what_the_snapshot_does_not_show_leaves_the_version(
        self, backend: Backend
    ) -> None:
        await write(backend, a_plan(decision=a_decision()))
        async with backend.store.begin("ann") as unit:
            await unit.add_turns([a_turn()])
            await unit.session("s1", MONDAY, None)

        assert (await backend.store.snapshot("ann")).version == 0

    async def test_a_setting_of_the_user_raises_the_version(self, backend: Backend) -> None:
        async with backend.store.begin("ann") as unit:
            await unit.set_user(recall_paused=True)

        assert (await backend.store.snapshot("ann")).version == 1

    async def test_a_unit_sees_its_own_plans(self, backend: Backend) -> None:
        async with backend.store.begin("ann") as unit:
            await unit.apply(
                a_plan(
                    an_item(attribute="length"), pendings=(a_pending(),), signals=(a_signal(),)
                ),
                {"item-1": a_vector(1)},
            )
            seen = await unit.snapshot()
            near = await unit.nearest(a_vector(1), limit=5, gate=0.5)
            slot = await unit.in_slot("user", "length")

            assert set(seen.hot) == {"item-1"}
            assert [p.id for p in seen.pendings] == ["pending-1"]
            assert [item_id for item_id, _ in near] == ["item-1"]
            assert [item.id for item in slot] == ["item-1"]
            assert set(await unit.items(["item-1"])) == {"item-1"}
            assert [s.id for s in (await unit.signals(["item-1"]))["item-1"]] == ["signal-1"]
            assert await unit.pending("pending-1") == a_pending()

    async def test_a_unit_sees_what_it_moved_away_gone(self, backend: Backend) -> None:
        await write(
            backend,
            a_plan(
                an_item(id="a", attribute="length"),
                an_item(id="b", attribute="length"),
                an_item(id="c", attribute="length", status=Status.ARCHIVED),
                pendings=(a_pending("b"),),
            ),
            vectors={"a": a_vector(1), "b": a_vector(1), "c": a_vector(1)},
        )
        async with backend.store.begin("ann") as unit:
            await unit.apply(
                a_plan(
                    an_item(id="a", status=Status.ARCHIVED, attribute="width"),
                    an_item(id="c", status=Status.FORGOTTEN, attribute="length"),
                    purged=("b",),
                )
            )
            seen = await unit.snapshot()
            near = await unit.nearest(a_vector(1), limit=5, gate=0.5)

            assert not seen.hot
            assert seen.pendings == ()
            assert seen.archive_count == 1
            assert [item_id for item_id, _ in near] == ["a"]
            assert await unit.in_slot("user", "length") == []
            assert [item.id for item in await unit.in_slot("user", "width")] == ["a"]
            assert set(await unit.items(["a", "b"])) == {"a"}
            assert await unit.pending("pending-1") is None

        after = await backend.store.snapshot("ann")
        assert (after.hot, after.pendings, after.archive_count) == ({}, (), 1)

    async def test_readers_outside_see_the_unit_only_when_it_is_done(
        self, backend: Backend
    ) -> None:
        async with backend.store.begin("ann") as unit:
            await unit.apply(a_plan(an_item()), {"item-1": a_vector(1)})
            before = await backend.store.items("ann", ["item-1"])
            near_before = await backend.store.nearest("ann", a_vector(1), limit=5, gate=0.5)

        assert before == {}
        assert near_before == []
        assert set(await backend.store.items("ann", ["item-1"])) == {"item-1"}

    async def test_a_unit_left_by_an_exception_applies_nothing(self, backend: Backend) -> None:
        await write(backend, a_plan(an_item()), vectors={"item-1": a_vector(1)})
        before = await backend.store.snapshot("ann")
        with pytest.raises(Abandoned):
            async with backend.store.begin("ann") as unit:
                await unit.apply(
                    a_plan(
                        an_item(status=Status.FROZEN),
                        an_item(id="b"),
                        decision=a_decision(),
                        signals=(a_signal(),),
                        pendings=(a_pending(),),
                    ),
                    {"item-1": a_vector(0, 1), "b": a_vector(0, 1)},
                )
                await unit.add_turns([a_turn()])
                await unit.session("s1", MONDAY, None)
                await unit.touch(OwnTime(5, MONDAY))
                await unit.set_user(user_class="vip", capture_paused=True, maintained_at=MONDAY)
                raise Abandoned

        store = backend.store
        assert await store.snapshot("ann") == before
        assert len(await store.moves("ann")) == 1
        assert await store.signals("ann", "item-1") == []
        assert await store.decisions("ann") == []
        assert await store.pendings("ann", open_only=False) == []
        assert await store.session("ann", "s1") is None
        assert (await store.stats("ann")).turns == 0
        assert [i for i, _ in await store.nearest("ann", a_vector(1), limit=5, gate=0.5)] == [
            "item-1"
        ]

    async def test_what_was_returned_never_changes_later(self, backend: Backend) -> None:
        await write(backend, a_plan(an_item(), pendings=(a_pending(),)))
        seen = await backend.store.snapshot("ann")
        moves = await backend.store.moves("ann")
        await write(
            backend, a_plan(an_item(content="Other", status=Status.FROZEN), an_item(id="b"))
        )

        assert {i: item.content for i, item in seen.hot.items()} == {
            "item-1": "The user prefers short answers"
        }
        assert not seen.frozen
        assert len(moves) == 1

    async def test_units_of_one_user_do_not_lose_each_others_writes(
        self, backend: Backend
    ) -> None:
        await write(backend, a_plan(an_item(confirm_count=0.0)))

        async def confirm() -> None:
            async with backend.store.begin("ann") as unit:
                item = (await unit.items(["item-1"]))["item-1"]
                await asyncio.sleep(0)
                changed = item.with_(confirm_count=item.confirm_count + 1)
                await unit.apply(a_plan(items=(changed,), moves=()))

        await asyncio.gather(*(confirm() for _ in range(8)))

        assert (await backend.store.items("ann", ["item-1"]))["item-1"].confirm_count == 8

    async def test_the_users_settings_are_kept_and_none_leaves_them(
        self, backend: Backend
    ) -> None:
        async with backend.store.begin("ann") as unit:
            await unit.set_user(user_class="vip", capture_paused=True)
            await unit.touch(OwnTime(2.5, MONDAY))
        async with backend.store.begin("ann") as unit:
            await unit.set_user(recall_paused=True, maintained_at=MONDAY)
        async with backend.store.begin("ann") as unit:
            await unit.set_user(capture_paused=False)

        seen = await backend.store.snapshot("ann")
        assert (seen.user_class, seen.capture_paused, seen.recall_paused) == ("vip", False, True)
        assert seen.maintained_at == MONDAY
        assert seen.own_time == OwnTime(2.5, MONDAY)

    async def test_purging_takes_all_content_and_leaves_the_log(self, backend: Backend) -> None:
        await write(
            backend,
            a_plan(
                an_item("purgeable", attribute="length"),
                an_item(id="other"),
                signals=(a_signal(), a_signal("other", id="signal-2")),
                pendings=(a_pending(),),
                decision=a_decision(item_id="item-1"),
            ),
            vectors={"item-1": a_vector(1), "other": a_vector(1)},
        )
        own_time = OwnTime(1, MONDAY)
        await backend.store.record_uses(
            "ann", [Use(item_id="item-1", at=MONDAY, hit=True)], own_time
        )
        await write(backend, a_plan(purged=("item-1",)))

        store = backend.store
        assert set(await store.items("ann", ["item-1", "other"])) == {"other"}
        assert await store.by_words("ann", "purgeable", limit=5) == []
        assert [i for i, _ in await store.nearest("ann", a_vector(1), limit=5, gate=0)] == [
            "other"
        ]
        assert (await store.snapshot("ann")).pendings == ()
        assert await store.signals("ann", "item-1") == []
        assert await store.uses("ann", "item-1") == []
        assert await store.decisions("ann") == []
        assert await store.pendings("ann", open_only=False) == []
        assert [m.item_id for m in await store.moves("ann", "item-1")] == ["item-1"]
        assert [s.id for s in await store.signals("ann", "other")] == ["signal-2"]
        many = await store.signals_of("ann", ["other", "item-1", "nobody"])
        assert [s.id for s in many["other"]] == ["signal-2"]
        assert (many["item-1"], many["nobody"]) == ([], [])

    async def test_the_same_ids_of_two_users_are_two_things(self, backend: Backend) -> None:
        for user, content in (("ann", "lives in Berlin"), ("bob", "lives in Paris")):
            await write(
                backend,
                a_plan(
                    an_item(content, user_id=user, attribute="city"),
                    signals=(a_signal(user_id=user),),
                    pendings=(a_pending(user_id=user),),
                    decision=a_decision(user_id=user),
                ),
                user_id=user,
                vectors={"item-1": a_vector(1)},
            )
        await write(backend, a_plan(purged=("item-1",)), user_id="bob")

        store = backend.store
        assert (await store.items("ann", ["item-1"]))["item-1"].content == "lives in Berlin"
        assert len(await store.signals("ann", "item-1")) == 1
        assert len(await store.pendings("ann")) == 1
        assert len(await store.decisions("ann")) == 1
        assert len(await store.nearest("ann", a_vector(1), limit=5, gate=0.5)) == 1
        assert await store.items("bob", ["item-1"]) == {}

    async def test_a_plan_of_another_user_is_refused_whole(self, backend: Backend) -> None:
        strangers = [
            a_plan(an_item(), an_item(id="b", user_id="bob")),
            a_plan(an_item(), signals=(a_signal(user_id="bob"),)),
            a_plan(an_item(), pendings=(a_pending(user_id="bob"),)),
            a_plan(an_item(), decision=a_decision(user_id="bob")),
        ]
        for plan in strangers:
            with pytest.raises(InvalidInputError, match="user_id"):
                await write(backend, plan)
        with pytest.raises(InvalidInputError, match="user_id"):
            async with backend.store.begin("ann") as unit:
                await unit.add_turns([a_turn(user_id="bob")])

        assert await backend.store.users(None, 10) == []

    @pytest.mark.parametrize("blank", ["", "  ", "\n\u3000", None])
    async def test_a_blank_user_is_refused_at_every_door(
        self, backend: Backend, blank: str
    ) -> None:
        store = backend.store
        nowhere = ItemFilter()
        doors = [
            store.snapshot(blank),
            store.nearest(blank, a_vector(1), limit=1, gate=0),
            store.by_words(blank, "tea", limit=1),
            store.items(blank, ["a"]),
            store.page(blank, nowhere, limit=1, cursor=None),
            store.believed_at(blank, MONDAY),
            store.moves(blank),
            store.signals(blank, "a"),
            store.versions(blank, "a"),
            store.uses(blank, "a"),
            store.decisions(blank),
            store.pendings(blank),
            store.record_uses(blank, [], OwnTime()),
            store.session(blank, "s1"),
            store.notes(blank, "s1", "t", MONDAY),
            store.note(blank, "s1", "t", "k", "v", MONDAY, MONDAY + DAY),
            store.clear_notes(blank, "s1", "t"),
        ]
        for door in doors:
            with pytest.raises(InvalidInputError, match="user_id"):
                await door
        with pytest.raises(InvalidInputError, match="user_id"):
            async with store.begin(blank):
                pass
        if blank is not None:
            with pytest.raises(InvalidInputError, match="user_id"):
                await store.stats(blank)


def _rich_item() -> MemoryItem:
    return an_item(
        '用户对花生过敏 🥜 (don\'t; "quote" % _ \\)',
        id="rich",
        item_type=ItemType.CONSTRAINT,
        status=Status.FROZEN,
        attribute="过敏",
        value="花生",
        qualifiers=("严重", "since childhood"),
        calm_confidence=0.93,
        confirm_count=2.5,
        spaced_count=3,
        contested_with=("other",),
        pinned=True,
        was_confirmed=True,
        tags=("health",),
        entities=("花生", "EpiPen"),
        event_at=MONDAY - 400 * DAY,
        expires_at=MONDAY + 30 * DAY,
        last_accessed_at=MONDAY + timedelta(microseconds=7),
        last_hit_at=MONDAY,
        frozen_at=MONDAY,
        liked_at=MONDAY,
        accessed_day=1.25,
        access_count=4,
        thawed_at=MONDAY - DAY,
        override_of="older",
        superseded_by="newer",
        version=3,
    )
