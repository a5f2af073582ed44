"""SQLite and the in-memory twin tell the same story, whatever happens to them."""

from __future__ import annotations

from datetime import timedelta

import numpy as np
import pytest

from dualgate.adapters.memory import open_memory
from dualgate.adapters.sql import open_sqlite
from dualgate.domain.plan import Note, Outcome, PendingState
from dualgate.domain.status import Cause, Status
from dualgate.domain.types import ItemType
from dualgate.domain.view import OwnTime
from dualgate.pipeline.ports import ItemFilter, Use
from dualgate.testing.backend import a_vector
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
WORDS = ("tea", "coffee", "简洁", "花生过敏", "postgres", "Berlin", "100%", "under_score", "ОК")


class Chance:
    """Random plans over few ids, so that they meet."""

    def __init__(self, seed: int) -> None:
        self._rng = np.random.default_rng(seed)

    def below(self, bound: int) -> int:
        return int(self._rng.integers(bound))

    def pick(self, values):
        values = list(values)
        return values[self.below(len(values))]

    def text(self) -> str:
        return " ".join(self.pick(WORDS) for _ in range(1 + self.below(4)))

    def when(self):
        return MONDAY + self.below(60) * DAY

    def vector(self):
        return a_vector(*self._rng.normal(size=8))

    def item(self):
        old = f"i{self.below(30)}"
        status = self.pick(Status)
        confirmed = status in {Status.CONFIRMED, Status.FROZEN}
        return an_item(
            self.text(),
            id=f"i{self.below(30)}",
            item_type=self.pick(ItemType),
            status=status,
            attribute=self.pick([None, "city", "City ", "drink"]),
            score=float(self._rng.random()),
            was_confirmed=confirmed or (status is not Status.CANDIDATE and bool(self.below(2))),
            access_count=self.below(5),
            accessed_day=float(self.below(9)),
            expires_at=self.pick([None, self.when()]),
            created_at=self.when(),
            updated_at=self.when(),
            override_of=self.pick([None, None, old]),
            superseded_by=self.pick([None, None, None, old]),
            version=1 + self.below(3),
            tags=(self.pick(WORDS),),
        )

    def plan(self, step: int):
        if self.below(6) == 0:
            return a_plan(purged=(f"i{self.below(30)}",)), {}
        items = {item.id: item for item in (self.item() for _ in range(self.below(4)))}
        moves = [
            a_move(i, after=item.status, cause=self.pick(Cause), at=self.when())
            for i, item in items.items()
        ]
        closed = self.pick([PendingState.OPEN, PendingState.LAPSED])
        fields = {
            "moves": tuple(moves),
            "signals": (a_signal(f"i{self.below(30)}", id=f"s{step}", at=self.when()),),
            "pendings": (a_pending(f"i{self.below(30)}", id=f"p{self.below(9)}", state=closed),),
            "decision": a_decision(
                a_candidate(self.text()),
                id=f"d{step}",
                at=self.when(),
                outcome=self.pick(Outcome),
                item_id=f"i{self.below(30)}",
            ),
            "notes": (Note(user_id="ann", session_id="s1", key="k", text=str(step), at=MONDAY),),
        }
        vectors = {i: self.vector() for i in items if self.below(3)}
        return a_plan(*items.values(), **fields), vectors


@pytest.mark.parametrize("seed", range(3))
async def test_both_tell_the_same(tmp_path, seed):
    twins = (
        open_memory(archive_capacity=66),
        await open_sqlite(tmp_path / "memory.db", archive_capacity=66),
    )
    chance = Chance(seed)
    for step in range(60):
        plan, vectors = chance.plan(step)
        uses = [Use(item_id=f"i{chance.below(30)}", at=chance.when(), hit=bool(step % 2))]
        own_time = OwnTime(float(step), MONDAY + step * DAY)
        query, words, when = chance.vector(), chance.text(), chance.when()
        told = []
        for backend in twins:
            async with backend.store.begin("ann") as unit:
                await unit.apply(plan, vectors)
                await unit.add_turns([a_turn(id=f"t{step % 7}")])
                if step % 3 == 0:
                    await unit.touch(own_time)
                inside = await inside_of(unit, query, when)
            await backend.store.record_uses("ann", uses, own_time)
            told.append((inside, await outside_of(backend.store, query, words, when)))

        assert told[0][0] == told[1][0], step
        assert told[0][1] == told[1][1], step
    await twins[1].close()


async def inside_of(unit, query, when):
    snapshot = await unit.snapshot()
    due = await unit.due(when, when)
    return {
        "hot": snapshot.hot,
        "frozen": snapshot.frozen,
        "pendings": snapshot.pendings,
        "archived": snapshot.archive_count,
        "tail": snapshot.archive_tail,
        "near": {i for i, _ in await unit.nearest(query, limit=99, gate=-1.0)},
        "slot": {item.id for item in await unit.in_slot("User", "CITY")},
        "due": ({i.id for i in due.expired}, {i.id for i in due.forgotten}),
        "signals": await unit.signals([f"i{n}" for n in range(30)]),
    }


async def outside_of(store, query, words, when):
    page = await store.page("ann", ItemFilter(text="tea"), limit=50, cursor=None)
    near = await store.nearest("ann", query, limit=99, gate=-1.0)
    return {
        "snapshot": await store.snapshot("ann"),
        "near": {i for i, _ in near},
        "words": {i for i, _ in await store.by_words("ann", words, limit=99)},
        "page": page.items,
        "believed": {item.id: item for item in await store.believed_at("ann", when)},
        "moves": await store.moves("ann"),
        "versions": [await store.versions("ann", f"i{n}") for n in range(5)],
        "decisions": await store.decisions("ann", text="TEA"),
        "uses": [await store.uses("ann", f"i{n}") for n in range(5)],
        "pendings": await store.pendings("ann", open_only=False),
        "notes": await store.notes("ann", "s1", "", MONDAY),
        "counts": counts_of(await store.stats("ann")),
    }


def counts_of(stats):
    items = {status: count for status, count in stats.items.items() if count}
    decisions = {outcome: count for outcome, count in stats.decisions.items() if count}
    return stats.users, items, stats.turns, decisions, stats.pendings
