"""Upkeep of one user or of all, when it is due, until nothing is left to do."""

from __future__ import annotations

from datetime import timedelta

from dualgate.adapters.local.lexer import SnowballLexer
from dualgate.adapters.memory import open_memory
from dualgate.domain.policy import GatePolicy
from dualgate.domain.status import Status
from dualgate.pipeline.keep import KeepPorts, keep_all, keep_if_due, keep_user
from dualgate.pipeline.observer import Silent
from dualgate.testing import HashEmbedder, ManualClock
from dualgate.testing.backend import write
from dualgate.testing.builders import MONDAY, a_plan, an_item


class Listener(Silent):
    def __init__(self) -> None:
        self.told = []

    def moved(self, moves) -> None:
        self.told += moves


class House:
    def __init__(self) -> None:
        self.backend = open_memory()
        self.store = self.backend.store
        self.clock = ManualClock(MONDAY)
        self.listener = Listener()
        self.on = KeepPorts(store=self.store, clock=self.clock, policy_of=lambda _: GatePolicy(),
                            observer=self.listener, embedder=HashEmbedder(),
                            lexer=SnowballLexer())  # fmt: skip

    async def add(self, *items):
        for item in items:
            await write(self.backend, a_plan(item), user_id=item.user_id)


def over(**fields):
    return an_item(expires_at=MONDAY, **fields)


async def test_what_moved_is_returned_and_told():
    house = House()
    await house.add(over())

    moves = await keep_user("ann", house.on)

    assert [(m.item_id, m.cause) for m in moves] == [("item-1", "expired")]
    assert house.listener.told == moves
    assert await keep_user("ann", house.on) == []


async def test_everybody_is_kept_a_page_at_a_time(monkeypatch):
    from dualgate.pipeline import keep

    monkeypatch.setattr(keep, "_PAGE", 2)
    house = House()
    await house.add(*(over(user_id=f"user-{n}") for n in range(5)))

    moves = await keep_all(house.on)

    assert sorted(m.user_id for m in moves) == [f"user-{n}" for n in range(5)]


async def test_upkeep_that_rides_along_comes_once_a_day():
    house = House()
    await house.add(an_item())
    await keep_if_due("ann", house.on)
    first = (await house.store.snapshot("ann")).maintained_at
    assert first == MONDAY

    house.clock.advance(hours=23.9)
    await keep_if_due("ann", house.on)
    assert (await house.store.snapshot("ann")).maintained_at == first

    house.clock.advance(hours=0.1)
    await keep_if_due("ann", house.on)
    assert (await house.store.snapshot("ann")).maintained_at == MONDAY + timedelta(days=1)


async def test_a_clock_that_went_back_does_not_stop_upkeep_for_ever():
    """Nor does it run at every write until the old time is reached again."""
    house = House()
    await house.add(over())
    house.clock.advance(days=400)
    await keep_user("ann", house.on)
    house.clock.set(MONDAY)
    await house.add(over(id="item-2"))

    await keep_if_due("ann", house.on)

    assert (await house.store.items("ann", ["item-2"]))["item-2"].status is Status.ARCHIVED
    assert (await house.store.snapshot("ann")).maintained_at == MONDAY


async def test_the_bytes_of_what_was_forgotten_go_after_the_undo_window():
    """[P3]"""
    house = House()
    await house.add(an_item(status=Status.FORGOTTEN))
    house.clock.advance(days=30)
    await keep_user("ann", house.on)
    assert "item-1" in await house.store.items("ann", ["item-1"])

    house.clock.advance(seconds=1)
    await keep_user("ann", house.on)

    assert await house.store.items("ann", ["item-1"]) == {}
