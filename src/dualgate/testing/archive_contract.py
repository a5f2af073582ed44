"""What every Store does, part two: who leaves a full archive first [A7]."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from dualgate.domain.items import MemoryItem
from dualgate.domain.status import Status
from dualgate.domain.view import OwnTime
from dualgate.testing.backend import OpenBackend, write
from dualgate.testing.builders import MONDAY, a_plan, an_item

DAY = timedelta(days=1)


class ArchiveContract:
    """The archive shows who leaves first, once it is nearly full [A7]."""

    async def test_the_tail_is_empty_while_there_is_room(self, open_backend: OpenBackend) -> None:
        backend = await open_backend(archive_capacity=70)
        await write(backend, a_plan(*_archived(5)))

        seen = await backend.store.snapshot("ann")

        assert (seen.archive_count, seen.archive_tail) == (5, ())

    async def test_the_tail_names_the_64_that_leave_first(self, open_backend: OpenBackend) -> None:
        backend = await open_backend(archive_capacity=70)
        await write(backend, a_plan(*_archived(68)))
        async with backend.store.begin("ann") as unit:
            await unit.touch(OwnTime(30, MONDAY + 30 * DAY))

        seen = await backend.store.snapshot("ann")
        tail = [item.id for item in seen.archive_tail]

        assert seen.archive_count == 68
        assert len(tail) == 64
        # 000-009 were never confirmed, 010-019 have expired, the rest fades by retention.
        assert set(tail[:10]) == {f"a{n:03d}" for n in range(10)}
        assert set(tail[10:20]) == {f"a{n:03d}" for n in range(10, 20)}
        assert tail[20:] == [f"a{n:03d}" for n in range(20, 64)]

    async def test_what_is_used_often_stays_longer(self, open_backend: OpenBackend) -> None:
        backend = await open_backend(archive_capacity=4)
        same: dict[str, Any] = {"status": Status.ARCHIVED, "was_confirmed": True, "score": 0.5}
        await write(
            backend,
            a_plan(
                an_item(id="often", access_count=20, **same),
                an_item(id="lately", accessed_day=40.0, **same),
                an_item(id="never", **same),
            ),
        )

        async with backend.store.begin("ann") as unit:
            await unit.touch(OwnTime(45, MONDAY + 45 * DAY))

        tail = (await backend.store.snapshot("ann")).archive_tail

        assert [item.id for item in tail] == ["never", "lately", "often"]

    async def test_an_item_that_leaves_the_archive_leaves_the_tail(
        self, open_backend: OpenBackend
    ) -> None:
        backend = await open_backend(archive_capacity=3)
        await write(backend, a_plan(*_archived(3)))
        await write(backend, a_plan(an_item(id="a001", status=Status.FORGOTTEN)))

        seen = await backend.store.snapshot("ann")

        assert seen.archive_count == 2
        assert {item.id for item in seen.archive_tail} == {"a000", "a002"}

    async def test_a_unit_sees_the_tail_with_its_own_plans(
        self, open_backend: OpenBackend
    ) -> None:
        backend = await open_backend(archive_capacity=40)
        await write(backend, a_plan(*_archived(14)))
        async with backend.store.begin("ann") as unit:
            await unit.touch(OwnTime(1, MONDAY + DAY))
        async with backend.store.begin("ann") as unit:
            await unit.apply(
                a_plan(
                    an_item(id="a012", status=Status.CONFIRMED, was_confirmed=True),
                    an_item(id="new", status=Status.ARCHIVED, was_confirmed=True, score=0.001),
                    purged=("a003",),
                )
            )
            inside = (await unit.snapshot()).archive_tail
        after = (await backend.store.snapshot("ann")).archive_tail

        unconfirmed = [f"a{n:03d}" for n in range(10) if n != 3]
        assert [item.id for item in inside] == [*unconfirmed, "a010", "a011", "a013", "new"]
        assert after == inside


def _archived(count: int) -> list[MemoryItem]:
    return [
        an_item(
            id=f"a{n:03d}",
            status=Status.ARCHIVED,
            was_confirmed=n >= 10,
            expires_at=MONDAY + DAY if 10 <= n < 20 else None,
            score=0.2 + n / 100,
        )
        for n in range(count)
    ]
