"""What every Store does, part five: raw turns are kept, found, and gone when they have to be."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest

from dualgate.domain.status import Status
from dualgate.errors import InvalidInputError
from dualgate.pipeline.ports import IndexedTurn, StoredTurn, Vector
from dualgate.testing.backend import Backend, a_vector, write
from dualgate.testing.builders import MONDAY, a_plan, a_signal, a_turn, an_item

CLOSE = 0.01
INDEX = "words/1 hash/8"
MINUTE = timedelta(minutes=1)


def turns(*texts: str, **fields: Any) -> list[StoredTurn]:
    """Return a session of turns a minute apart, named t0, t1, …"""
    given = {"session_id": "s1", **fields}
    return [
        a_turn(text, id=f"{given.get('id', 't')}{n}", at=MONDAY + n * MINUTE,
               **{k: v for k, v in given.items() if k != "id"})
        for n, text in enumerate(texts)
    ]  # fmt: skip


def entry(turn: StoredTurn, vector: Vector | None = None, made_by: str = INDEX) -> IndexedTurn:
    """Return what the turn is found by: its words as they stand between spaces."""
    return IndexedTurn(
        turn_id=turn.id, made_by=made_by, words=frozenset(turn.content.split()), vector=vector
    )


async def kept(
    backend: Backend,
    said: Sequence[StoredTurn],
    vectors: Sequence[Vector] = (),
    *,
    user_id: str = "ann",
    now: Any = MONDAY,
) -> None:
    """Keep turns and index them."""
    given: list[Vector | None] = [*vectors] or [None] * len(said)
    async with backend.store.begin(user_id) as unit:
        await unit.add_turns(said)
        entries = [entry(turn, vector) for turn, vector in zip(said, given, strict=True)]
        await unit.index_turns(entries, now)


async def worded(backend: Backend, *words: str, user_id: str = "ann") -> list[str]:
    """Return the turns that hold one of the words."""
    found = await backend.store.turns_by_words(user_id, words, limit=50)
    return [turn_id for turn_id, _ in found.turns]


async def near(backend: Backend, vector: Vector, user_id: str = "ann", gate: float = 0.5) -> Any:
    """Return the turns near a vector."""
    return await backend.store.turns_near(user_id, vector, made_by=INDEX, limit=50, gate=gate)


class TranscriptContract:
    """Raw turns [L3, R6, P3, P4]."""

    async def test_turns_are_found_by_rare_words_first(self, backend: Backend) -> None:
        await kept(backend, turns("the dog ran", "the cat", "the the bird", "dog zebra the"))

        found = await backend.store.turns_by_words("ann", ["the", "dog", "zebra", "no"], limit=9)

        assert [turn_id for turn_id, _ in found.turns] == ["t3", "t0", "t1", "t2"]
        assert found.kept == 4
        assert found.holders == {"the": 4, "dog": 2, "zebra": 1, "no": 0}
        summed = math.log1p(0.5 / 4.5) + math.log1p(2.5 / 2.5) + math.log1p(3.5 / 1.5)
        assert dict(found.turns)["t3"] == pytest.approx(summed)

    async def test_a_limit_keeps_the_best(self, backend: Backend) -> None:
        await kept(backend, turns("tea cup", "tea", "tea cup milk"))

        found = await backend.store.turns_by_words("ann", ["tea", "cup", "milk"], limit=1)

        assert [turn_id for turn_id, _ in found.turns] == ["t2"]

    async def test_of_many_words_the_rarest_are_searched(self, backend: Backend) -> None:
        common = [f"w{n:02d}" for n in range(40)]
        await kept(backend, turns(" ".join(common), " ".join([*common, "rare"])))

        found = await backend.store.turns_by_words("ann", [*common, "rare"], limit=5)

        assert found.turns[0][0] == "t1"
        assert found.holders["w39"] == 2

    async def test_no_words_find_nothing(self, backend: Backend) -> None:
        await kept(backend, turns("tea"))

        assert (await backend.store.turns_by_words("ann", [], limit=5)).turns == ()
        assert (await backend.store.turns_by_words("bob", ["tea"], limit=5)).kept == 0

    async def test_words_in_any_script_are_found_as_they_are(self, backend: Backend) -> None:
        odd = ["数据", "naïve", "c++", '"quoted"', "*", "OR", "\U0001f600", "a'b"]
        await kept(backend, turns(*odd))

        assert [await worded(backend, word) for word in odd] == [[f"t{n}"] for n in range(8)]

    async def test_the_nearest_turns_come_best_first(self, backend: Backend) -> None:
        vectors = [a_vector(0, 1), a_vector(1), a_vector(4, 3)]
        await kept(backend, turns("a", "b", "c"), vectors)

        found = await near(backend, a_vector(1))
        first = await backend.store.turns_near(
            "ann", a_vector(1), made_by=INDEX, limit=1, gate=-1.0
        )

        assert [turn_id for turn_id, _ in found] == ["t1", "t2"]
        assert [cosine for _, cosine in found] == pytest.approx([1.0, 0.8], abs=CLOSE)
        assert [turn_id for turn_id, _ in first] == ["t1"]

    async def test_vectors_of_another_model_are_never_near(self, backend: Backend) -> None:
        said = turns("tea")
        async with backend.store.begin("ann") as unit:
            await unit.add_turns(said)
            await unit.index_turns([entry(said[0], a_vector(1), "words/1 other/8")], MONDAY)

        assert await near(backend, a_vector(1)) == []

    async def test_a_turn_without_a_vector_is_found_by_its_words_alone(
        self, backend: Backend
    ) -> None:
        await kept(backend, turns("tea"))

        assert await worded(backend, "tea") == ["t0"]
        assert await near(backend, a_vector(1), gate=-1.0) == []

    async def test_what_is_indexed_again_is_found_by_the_new_alone(self, backend: Backend) -> None:
        said = turns("tea")
        await kept(backend, said, [a_vector(1)])
        anew = IndexedTurn(
            turn_id="t0", made_by=INDEX, words=frozenset({"milk"}), vector=a_vector(0, 1)
        )
        async with backend.store.begin("ann") as unit:
            await unit.index_turns([anew], MONDAY + timedelta(days=9))
            old = await unit.old_turns(MONDAY + MINUTE, 5)

        assert await worded(backend, "tea") == []
        assert await worded(backend, "milk") == ["t0"]
        assert await near(backend, a_vector(1)) == []
        assert old == ["t0"]  # it was stored on Monday, whenever it is indexed

    async def test_turns_of_another_user_are_never_found(self, backend: Backend) -> None:
        await kept(backend, turns("tea at nine"), [a_vector(1)])
        hers = [a_turn("tea at ten", id="t0", user_id="bob", session_id="s1")]
        await kept(backend, hers, [a_vector(1)], user_id="bob")
        await write(
            backend,
            a_plan(an_item(user_id="bob"), signals=(a_signal(user_id="bob", message_id="t0"),)),
            user_id="bob",
        )

        placed = await backend.store.placed_turns("ann", ["t0"], before=5, after=5)
        others = await backend.store.placed_turns("eve", ["t0"], before=5, after=5)

        assert await worded(backend, "nine", "tea") == ["t0"]
        assert await worded(backend, "ten") == []
        assert await worded(backend, "tea", user_id="eve") == []
        assert [i for i, _ in await near(backend, a_vector(1), user_id="eve")] == []
        assert placed["t0"].turn.content == "tea at nine"
        assert (placed["t0"].before, placed["t0"].after) == ((), ())
        assert others == {}
        assert await backend.store.resting_on("ann", ["t0"]) == {}

    async def test_emptying_turns_of_one_user_leaves_the_others(self, backend: Backend) -> None:
        await kept(backend, turns("tea"), [a_vector(1)])
        hers = [a_turn("tea", id="t0", user_id="bob")]
        await kept(backend, hers, [a_vector(1)], user_id="bob")
        async with backend.store.begin("bob") as unit:
            await unit.empty_turns(["t0"])

        assert await worded(backend, "tea") == ["t0"]
        assert [turn_id for turn_id, _ in await near(backend, a_vector(1))] == ["t0"]

    @pytest.mark.parametrize("user_id", ["", "  ", None])
    async def test_a_blank_user_finds_nothing_but_an_error(
        self, backend: Backend, user_id: Any
    ) -> None:
        with pytest.raises(InvalidInputError, match="user_id"):
            await backend.store.turns_by_words(user_id, ["tea"], limit=1)
        with pytest.raises(InvalidInputError, match="user_id"):
            await near(backend, a_vector(1), user_id)
        with pytest.raises(InvalidInputError, match="user_id"):
            await backend.store.placed_turns(user_id, ["t0"], before=0, after=0)
        with pytest.raises(InvalidInputError, match="user_id"):
            await backend.store.resting_on(user_id, ["t0"])

    async def test_a_turn_comes_with_its_neighbours_of_the_session(self, backend: Backend) -> None:
        await kept(backend, turns("a", "b", "c", "d"))
        await kept(backend, turns("x", "y", id="other", session_id="s2"))

        found = await backend.store.placed_turns("ann", ["t1", "t3", "none"], before=2, after=1)

        assert set(found) == {"t1", "t3"}
        assert [t.content for t in found["t1"].before] == ["a"]
        assert [t.content for t in found["t1"].after] == ["c"]
        assert [t.content for t in found["t3"].before] == ["b", "c"]
        assert found["t3"].after == ()

    async def test_turns_of_one_moment_stand_as_they_were_stored(self, backend: Backend) -> None:
        said = [a_turn(text, id=f"t{text}") for text in ("c", "a", "b")]
        await kept(backend, said)

        found = await backend.store.placed_turns("ann", ["ta"], before=1, after=1)

        assert [t.content for t in found["ta"].before] == ["c"]
        assert [t.content for t in found["ta"].after] == ["b"]

    async def test_turns_without_an_index_are_listed_with_the_turn_before(
        self, backend: Backend
    ) -> None:
        said = turns("a", "b", "c")
        async with backend.store.begin("ann") as unit:
            await unit.add_turns(said)
            await unit.index_turns([entry(said[1])], MONDAY)
            missing = await unit.unindexed_turns(INDEX, 10)
            older = await unit.unindexed_turns("words/2 hash/8", 2)

        assert [(p.turn.id, [t.id for t in p.before]) for p in missing] == [
            ("t0", []),
            ("t2", ["t1"]),
        ]
        assert [p.turn.id for p in older] == ["t0", "t1"]

    async def test_a_turn_that_is_not_kept_is_not_indexed(self, backend: Backend) -> None:
        async with backend.store.begin("ann") as unit:
            await unit.index_turns([entry(turns("ghost")[0], a_vector(1))], MONDAY)

        assert await worded(backend, "ghost") == []
        assert await near(backend, a_vector(1)) == []

    async def test_an_emptied_turn_is_gone_but_known(self, backend: Backend) -> None:
        await kept(backend, turns("tea", "cup", "milk"), [a_vector(1)] * 3)
        async with backend.store.begin("ann") as unit:
            await unit.empty_turns(["t1", "unknown"])
            inside = await unit.recent_turns("s1", 9)
        async with backend.store.begin("ann") as unit:
            recent = await unit.recent_turns("s1", 9)
            added = await unit.add_turns(turns("x", "cup")[1:])
            known = await unit.known_turns(["t1"])
            missing = await unit.unindexed_turns(INDEX, 9)
            await unit.index_turns([entry(turns("x", "cup")[1], a_vector(1))], MONDAY)

        placed = await backend.store.placed_turns("ann", ["t1", "t2"], before=1, after=0)

        assert [t.id for t in inside] == [t.id for t in recent] == ["t0", "t2"]
        assert (added, known) == ([], {"t1"})
        # What follows was found by the words of the emptied turn as well: it is indexed anew.
        assert [one.turn.id for one in missing] == ["t2"]
        assert await worded(backend, "cup", "milk") == []
        assert [turn_id for turn_id, _ in await near(backend, a_vector(1))] == ["t0"]
        assert [t.id for t in placed["t2"].before] == ["t0"]
        assert set(placed) == {"t2"}

    async def test_turns_stored_too_long_ago_are_listed_oldest_first(
        self, backend: Backend
    ) -> None:
        days = [MONDAY + timedelta(days=n) for n in range(3)]
        said = turns("a", "b", "c")
        for turn, day in zip(reversed(said), days, strict=True):
            await kept(backend, [turn], now=day)
        async with backend.store.begin("ann") as unit:
            old = await unit.old_turns(days[2], 9)
            oldest = await unit.old_turns(days[2], 1)
            await unit.empty_turns(["t2"])
            left = await unit.old_turns(days[2], 9)

        assert (old, oldest, left) == (["t2", "t1"], ["t2"], ["t1"])

    async def test_the_items_that_rest_on_a_turn_are_known_whatever_their_status(
        self, backend: Backend
    ) -> None:
        await kept(backend, turns("tea", "milk"))
        gone = an_item(id="gone", status=Status.FORGOTTEN)
        signals = (
            a_signal(message_id="t0"),
            a_signal("gone", id="signal-2", message_id="t0"),
            a_signal("gone", id="signal-3", message_id=None),
        )
        await write(backend, a_plan(an_item(), gone, signals=signals))

        found = await backend.store.resting_on("ann", ["t0", "t1"])

        assert {t: sorted(i.id for i in items) for t, items in found.items()} == {
            "t0": ["gone", "item-1"]
        }

    async def test_a_purged_item_takes_the_words_of_the_turns_it_rests_on(
        self, backend: Backend
    ) -> None:
        await kept(backend, turns("my secret illness", "tea"), [a_vector(1)] * 2)
        await write(backend, a_plan(an_item(), signals=(a_signal(message_id="t0"),)))
        await write(backend, a_plan(purged=("item-1",)))

        placed = await backend.store.placed_turns("ann", ["t0", "t1"], before=0, after=0)

        assert await worded(backend, "illness", "tea") == []
        assert await near(backend, a_vector(1)) == []  # t1 was found by the words of t0 as well
        assert set(placed) == {"t1"}

    async def test_a_unit_left_by_an_exception_indexes_and_empties_nothing(
        self, backend: Backend
    ) -> None:
        await kept(backend, turns("tea"))
        with pytest.raises(RuntimeError):
            async with backend.store.begin("ann") as unit:
                await unit.empty_turns(["t0"])
                await unit.add_turns(turns("x", "milk")[1:])
                await unit.index_turns([entry(turns("x", "milk")[1])], MONDAY)
                raise RuntimeError

        assert await worded(backend, "tea", "milk") == ["t0"]
