"""What every Store does, part three: finding items by meaning, words, slot and page."""

from __future__ import annotations

from datetime import timedelta

import numpy as np
import pytest

from dualgate.domain.items import MemoryItem
from dualgate.domain.status import Status
from dualgate.domain.types import ItemType
from dualgate.domain.view import OwnTime
from dualgate.errors import InvalidInputError
from dualgate.pipeline.ports import ItemFilter, Use
from dualgate.testing.backend import Backend, a_vector, write
from dualgate.testing.builders import MONDAY, a_plan, an_item

# A store may keep vectors in a byte a number; cosines are then this close.
CLOSE = 0.01


class SearchContract:
    """What is found is the user's own, live, and in order."""

    async def test_the_nearest_come_best_first_with_their_cosines(self, backend: Backend) -> None:
        vectors = {"same": a_vector(1), "near": a_vector(4, 3), "far": a_vector(0, 1)}
        await write(backend, a_plan(*(an_item(id=i) for i in vectors)), vectors=vectors)

        near = await backend.store.nearest("ann", a_vector(1), limit=10, gate=-1.0)

        assert [item_id for item_id, _ in near] == ["same", "near", "far"]
        assert [cosine for _, cosine in near] == pytest.approx([1.0, 0.8, 0.0], abs=CLOSE)

    async def test_limit_and_gate_bound_what_is_near(self, backend: Backend) -> None:
        vectors = {"same": a_vector(1), "near": a_vector(4, 3), "far": a_vector(0, 1)}
        await write(backend, a_plan(*(an_item(id=i) for i in vectors)), vectors=vectors)

        gated = await backend.store.nearest("ann", a_vector(1), limit=10, gate=0.5)
        limited = await backend.store.nearest("ann", a_vector(1), limit=1, gate=-1.0)

        assert [item_id for item_id, _ in gated] == ["same", "near"]
        assert [item_id for item_id, _ in limited] == ["same"]

    async def test_near_are_only_hot_frozen_and_archived_items(self, backend: Backend) -> None:
        items = [an_item(id=s.value, status=s) for s in Status]
        await write(backend, a_plan(*items), vectors={i.id: a_vector(1) for i in items})

        near = await backend.store.nearest("ann", a_vector(1), limit=10, gate=0.5)
        async with backend.store.begin("ann") as unit:
            near_inside = await unit.nearest(a_vector(1), limit=10, gate=0.5)

        live = {"candidate", "confirmed", "frozen", "archived"}
        assert {item_id for item_id, _ in near} == live
        assert {item_id for item_id, _ in near_inside} == live

    async def test_dead_items_take_no_place_among_the_nearest(self, backend: Backend) -> None:
        dead = [an_item(id=f"dead-{n}", status=Status.SUPERSEDED) for n in range(5)]
        vectors = {item.id: a_vector(1) for item in dead} | {"live": a_vector(4, 3)}
        await write(backend, a_plan(*dead, an_item(id="live")), vectors=vectors)

        near = await backend.store.nearest("ann", a_vector(1), limit=1, gate=0.5)

        assert [item_id for item_id, _ in near] == ["live"]

    async def test_live_items_without_a_vector_of_this_size_are_told_the_pools_first(
        self, backend: Backend
    ) -> None:
        bare = {status: an_item(id=status.value, status=status) for status in Status}
        given = an_item(id="given")
        await write(backend, a_plan(*bare.values(), given), vectors={"given": a_vector(1)})
        dim = a_vector(1).size

        missing = await backend.store.unembedded("ann", dim=dim, limit=10)
        other_size = await backend.store.unembedded("ann", dim=dim + 1, limit=10)

        assert {item.id for item in missing} == {"candidate", "confirmed", "frozen", "archived"}
        assert missing[-1] == bare[Status.ARCHIVED]
        assert {item.id for item in other_size} == {item.id for item in missing} | {"given"}
        assert len(await backend.store.unembedded("ann", dim=dim, limit=2)) == 2
        assert await backend.store.unembedded("bob", dim=dim, limit=10) == []

    async def test_an_item_keeps_its_vector_until_a_new_one_is_given(
        self, backend: Backend
    ) -> None:
        await write(backend, a_plan(an_item()), vectors={"item-1": a_vector(1)})
        await write(backend, a_plan(an_item(score=0.9)))
        kept = await backend.store.nearest("ann", a_vector(1), limit=5, gate=0.5)
        await write(backend, a_plan(an_item(content="Other")), vectors={"item-1": a_vector(0, 1)})
        replaced = await backend.store.nearest("ann", a_vector(1), limit=5, gate=0.5)

        assert [item_id for item_id, _ in kept] == ["item-1"]
        assert replaced == []

    async def test_a_restored_item_is_near_again(self, backend: Backend) -> None:
        await write(backend, a_plan(an_item()), vectors={"item-1": a_vector(1)})
        await write(backend, a_plan(an_item(status=Status.FORGOTTEN)))
        gone = await backend.store.nearest("ann", a_vector(1), limit=5, gate=0.5)
        await write(backend, a_plan(an_item(status=Status.CONFIRMED)))
        back = await backend.store.nearest("ann", a_vector(1), limit=5, gate=0.5)

        assert gone == []
        assert [item_id for item_id, _ in back] == ["item-1"]

    async def test_a_vector_without_its_item_in_the_plan_is_left_aside(
        self, backend: Backend
    ) -> None:
        await write(
            backend,
            a_plan(an_item()),
            vectors={"item-1": a_vector(1), "refused": a_vector(1)},
        )

        near = await backend.store.nearest("ann", a_vector(1), limit=5, gate=0.5)

        assert [item_id for item_id, _ in near] == ["item-1"]

    async def test_cosine_search_agrees_with_numpy_over_many(self, backend: Backend) -> None:
        rng = np.random.default_rng(7)
        rows = rng.normal(size=(300, 32)).astype(np.float32)
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        items = [an_item(id=f"i{n:03d}") for n in range(300)]
        await write(
            backend,
            a_plan(items=tuple(items), moves=()),
            vectors={item.id: row for item, row in zip(items, rows, strict=True)},
        )
        query = rows[17]

        near = await backend.store.nearest("ann", query, limit=10, gate=-1.0)

        cosines = rows @ query
        expected = np.sort(cosines)[::-1][:10]
        assert near[0][0] == "i017"
        assert [c for _, c in near] == pytest.approx(expected.tolist(), abs=CLOSE)

    @pytest.mark.parametrize(
        ("words", "found"),
        [
            ("过敏", {"allergy"}),
            ("对什么过敏？", {"allergy"}),
            ("我喜欢喝绿茶", {"tea"}),
            ("postgres", {"database"}),
            ("POSTGRES database", {"database"}),
            ("Ｐｏｓｔｇｒｅｓ", {"database"}),
            ("EpiPen", {"allergy"}),
            ("绿茶 postgres", {"tea", "database"}),
            ("hiking", {"database"}),
            ("量子纠缠 zyzzyva", set()),
            ("", set()),
            ("🦄 ?!", set()),
            ("post", set()),
        ],
    )
    async def test_words_find_what_holds_them(
        self, backend: Backend, words: str, found: set[str]
    ) -> None:
        await write(backend, a_plan(*_words()))

        hits = await backend.store.by_words("ann", words, limit=10)

        assert {item_id for item_id, _ in hits} == found
        assert all(relevance > 0 for _, relevance in hits)

    @pytest.mark.parametrize(
        "words",
        [
            '"',
            "postgres AND",
            "NEAR(a b",
            "content:postgres*",
            "-",
            "^x",
            "') OR 1=1 --",
            "\ud83d",
            "%",
            "\x00",
            "OR",
            "_uann",
            "ann",
        ],
    )
    async def test_words_are_never_read_as_syntax(self, backend: Backend, words: str) -> None:
        await write(backend, a_plan(*_words()))

        hits = await backend.store.by_words("ann", words, limit=10)

        assert {item_id for item_id, _ in hits} <= {"database"}

    async def test_who_holds_more_of_the_words_comes_first(self, backend: Backend) -> None:
        await write(
            backend,
            a_plan(
                an_item("drinks tea in the evening", id="one"),
                an_item("drinks green tea in the morning", id="two"),
                an_item("owns a bicycle with three wheels", id="none"),
            ),
        )

        hits = await backend.store.by_words("ann", "green tea", limit=10)
        limited = await backend.store.by_words("ann", "green tea", limit=1)

        assert [item_id for item_id, _ in hits] == ["two", "one"]
        assert hits[0][1] > hits[1][1]
        assert [item_id for item_id, _ in limited] == ["two"]

    async def test_words_find_only_live_items_with_their_present_content(
        self, backend: Backend
    ) -> None:
        await write(backend, a_plan(*(an_item("likes tea", id=s.value, status=s) for s in Status)))
        await write(backend, a_plan(an_item("likes coffee", id="candidate")))

        hits = await backend.store.by_words("ann", "tea", limit=10)

        assert {item_id for item_id, _ in hits} == {"confirmed", "frozen", "archived"}

    async def test_words_find_a_restored_item_again(self, backend: Backend) -> None:
        for status in (Status.CANDIDATE, Status.FORGOTTEN, Status.CONFIRMED):
            await write(backend, a_plan(an_item("likes tea", status=status)))

        assert [i for i, _ in await backend.store.by_words("ann", "tea", limit=5)] == ["item-1"]

    async def test_no_search_finds_another_users_items(self, backend: Backend) -> None:
        theirs = an_item("喜欢绿茶 and tea", id="x", user_id="bob", attribute="drink")
        await write(backend, a_plan(theirs), user_id="bob", vectors={"x": a_vector(1)})

        store = backend.store
        assert await store.by_words("ann", "绿茶 tea bob", limit=10) == []
        assert await store.nearest("ann", a_vector(1), limit=10, gate=-1.0) == []
        assert (await store.page("ann", ItemFilter(), limit=10, cursor=None)).items == ()
        async with store.begin("ann") as unit:
            assert await unit.in_slot("user", "drink") == []
            assert await unit.items(["x"]) == {}
            assert await unit.nearest(a_vector(1), limit=10, gate=-1.0) == []

    async def test_a_slot_is_found_whatever_the_spelling(self, backend: Backend) -> None:
        await write(
            backend,
            a_plan(
                an_item(id="a", attribute="Favourite Editor"),
                an_item(id="b", subject="USER", attribute="favourite  editor."),
                an_item(id="c", attribute="favourite shell"),
                an_item(id="d", attribute="favourite editor", status=Status.SUPERSEDED),
                an_item(id="e", attribute="favourite editor", status=Status.ARCHIVED),
                an_item(id="f", subject="sister", attribute="favourite editor"),
                an_item(id="g"),
            ),
        )

        async with backend.store.begin("ann") as unit:
            found = await unit.in_slot("User", "ＦＡＶＯＵＲＩＴＥ editor")

        assert {item.id for item in found} == {"a", "b", "e"}

    async def test_walking_the_pages_gives_every_item_once_newest_first(
        self, backend: Backend
    ) -> None:
        # Pairs share an instant: the id decides there.
        items = [
            an_item(id=f"i{n:02d}", created_at=MONDAY + timedelta(minutes=n // 2))
            for n in range(23)
        ]
        await write(backend, a_plan(*items))

        seen: list[str] = []
        cursor = None
        while True:
            page = await backend.store.page("ann", ItemFilter(), limit=5, cursor=cursor)
            seen += [item.id for item in page.items]
            cursor = page.cursor
            if cursor is None:
                break

        assert seen == [f"i{n:02d}" for n in reversed(range(23))]

    async def test_a_full_last_page_has_no_next(self, backend: Backend) -> None:
        await write(backend, a_plan(*(an_item(id=f"i{n}") for n in range(4))))

        first = await backend.store.page("ann", ItemFilter(), limit=2, cursor=None)
        last = await backend.store.page("ann", ItemFilter(), limit=2, cursor=first.cursor)

        assert len(first.items) == len(last.items) == 2
        assert first.cursor is not None
        assert last.cursor is None

    async def test_an_item_added_during_the_walk_shifts_nothing(self, backend: Backend) -> None:
        await write(backend, a_plan(*(an_item(id=f"i{n}") for n in range(4))))
        first = await backend.store.page("ann", ItemFilter(), limit=2, cursor=None)
        await write(backend, a_plan(an_item(id="new", created_at=MONDAY + timedelta(days=1))))

        rest = await backend.store.page("ann", ItemFilter(), limit=9, cursor=first.cursor)

        assert [item.id for item in rest.items] == ["i1", "i0"]

    @pytest.mark.parametrize(
        ("wanted", "ids"),
        [
            (ItemFilter(statuses=frozenset({Status.FROZEN})), {"frozen"}),
            (ItemFilter(statuses=frozenset()), set()),
            (ItemFilter(item_type=ItemType.PROJECT), {"project"}),
            (ItemFilter(text="BERLIN"), {"project", "frozen"}),
            (ItemFilter(text="柏林"), {"frozen"}),
            (ItemFilter(text="100%"), {"percent"}),
            (ItemFilter(text="_"), set()),
            (ItemFilter(text="berlin", item_type=ItemType.PROJECT), {"project"}),
            (ItemFilter(), {"frozen", "project", "percent", "forgotten"}),
        ],
    )
    async def test_a_page_lists_what_is_wanted(
        self, backend: Backend, wanted: ItemFilter, ids: set[str]
    ) -> None:
        await write(
            backend,
            a_plan(
                an_item("Lives in Berlin (柏林)", id="frozen", status=Status.FROZEN),
                an_item("Moves berlin-db", id="project", item_type=ItemType.PROJECT),
                an_item("100% sure", id="percent"),
                an_item("Gone", id="forgotten", status=Status.FORGOTTEN),
            ),
        )

        page = await backend.store.page("ann", wanted, limit=10, cursor=None)

        assert {item.id for item in page.items} == ids

    @pytest.mark.parametrize("cursor", ["x", "", "e30=", "{}", "你好"])
    async def test_a_strange_cursor_is_refused(self, backend: Backend, cursor: str) -> None:
        await write(backend, a_plan(an_item()))
        with pytest.raises(InvalidInputError, match="cursor"):
            await backend.store.page("ann", ItemFilter(), limit=10, cursor=cursor)

    async def test_a_page_of_nothing_is_refused(self, backend: Backend) -> None:
        with pytest.raises(InvalidInputError, match="limit"):
            await backend.store.page("ann", ItemFilter(), limit=0, cursor=None)

    async def test_uses_are_counted_and_only_hits_move_the_last_hit(
        self, backend: Backend
    ) -> None:
        await write(backend, a_plan(an_item()))
        version = (await backend.store.snapshot("ann")).version
        later = MONDAY + timedelta(hours=1)
        uses = [
            Use(item_id="item-1", at=MONDAY, hit=True, query_relevance=0.8, session_id="s1"),
            Use(item_id="item-1", at=later, hit=False),
            Use(item_id="unknown", at=later, hit=True),
        ]
        await backend.store.record_uses("ann", uses, OwnTime(3.5, later))

        seen = await backend.store.snapshot("ann")
        item = seen.hot["item-1"]
        assert (item.access_count, item.accessed_day) == (2, 3.5)
        assert (item.last_accessed_at, item.last_hit_at) == (later, MONDAY)
        assert item.updated_at == MONDAY
        assert seen.own_time == OwnTime(3.5, later)
        assert seen.version == version + 1
        assert await backend.store.uses("ann", "item-1") == [uses[1], uses[0]]
        assert await backend.store.uses("ann", "item-1", limit=1) == [uses[1]]
        assert await backend.store.uses("ann", "unknown") == []

    async def test_a_late_report_of_uses_turns_no_clock_back(self, backend: Backend) -> None:
        await write(backend, a_plan(an_item()))
        later = MONDAY + timedelta(days=2)
        hit = [Use(item_id="item-1", at=later, hit=True)]
        await backend.store.record_uses("ann", hit, OwnTime(2.0, later))
        old = [Use(item_id="item-1", at=MONDAY, hit=True)]
        await backend.store.record_uses("ann", old, OwnTime(0.0, MONDAY))

        seen = await backend.store.snapshot("ann")
        item = seen.hot["item-1"]
        assert (item.last_accessed_at, item.last_hit_at, item.accessed_day) == (later, later, 2.0)
        assert item.access_count == 2
        assert seen.own_time == OwnTime(2.0, later)


def _words() -> list[MemoryItem]:
    return [
        an_item("用户对花生过敏", id="allergy", entities=("EpiPen",)),
        an_item("用户每天早上喝绿茶", id="tea"),
        an_item("Moved the project to Postgres", id="database", tags=("hiking",)),
    ]
