"""The two pages about memories: all of them, and one with its whole history."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from dualgate.domain.assembly import Group, group_of
from dualgate.domain.items import MemoryItem
from dualgate.domain.policy import GatePolicy
from dualgate.domain.signals import Signal
from dualgate.domain.status import ACTIVE, HOT, Status
from dualgate.domain.types import ItemType
from dualgate.entrypoints.http.access import PanelUser
from dualgate.entrypoints.panel import page, telling
from dualgate.entrypoints.panel.failures import PanelRoute
from dualgate.entrypoints.panel.words import Words

router = APIRouter(route_class=PanelRoute)

POOLS: Mapping[str, frozenset[Status]] = {
    "live": ACTIVE,
    "frozen": frozenset({Status.FROZEN}),
    "hot": HOT,
    "archive": frozenset({Status.ARCHIVED}),
    "replaced": frozenset({Status.SUPERSEDED}),
    "forgotten": frozenset({Status.FORGOTTEN}),
}
_SHOWN = 250  # all that is frozen or hot, at the usual capacities


@dataclass(frozen=True, slots=True)
class Row:
    """An item as a list shows it."""

    item: MemoryItem
    why: str


async def policy_for(request: Request, user_id: str) -> GatePolicy:
    """Return the gates of this user's class."""
    pools = (await page.memory_of(request).stats(user_id)).pools
    return page.settings_of(request).policy_of("default" if pools is None else pools.user_class)


async def rows_of(
    request: Request, user_id: str, items: Sequence[MemoryItem], say: Words
) -> list[Row]:
    """Return the items with the sentences that say why each is here."""
    signals = await page.memory_of(request).signals(user_id, [item.id for item in items])
    policy = await policy_for(request, user_id)

    def why(item: MemoryItem) -> str:
        return say.together(telling.why_here(item, signals[item.id], policy, say))

    return [Row(item, why(item)) for item in items]


def grouped(rows: Sequence[Row]) -> list[tuple[Group, list[Row]]]:
    """Return the rows by group, frozen ones first, then the strongest."""
    by_group: dict[Group, list[Row]] = {}
    for row in sorted(rows, key=lambda r: (r.item.status is not Status.FROZEN, -r.item.score)):
        by_group.setdefault(group_of(row.item), []).append(row)
    return [(group, by_group[group]) for group in Group if group in by_group]


@router.get("/")
async def memories(
    request: Request,
    looking: PanelUser,
    pool: Annotated[str, Query()] = "live",
    kind: Annotated[str, Query()] = "",
    text: Annotated[str, Query()] = "",
    cursor: Annotated[str | None, Query()] = None,
) -> Response:
    """Show what is remembered, by group."""
    if looking.user_id is None:
        return page.go(request, "/choose")
    say = page.words_for(request)
    pool = pool if pool in POOLS else "live"
    kind = kind if kind in list(ItemType) else ""
    found = await page.memory_of(request).items(
        looking.stored_id, status=POOLS[pool], item_type=kind or None, text=text or None,
        limit=_SHOWN, cursor=cursor,
    )  # fmt: skip
    rows = await rows_of(request, looking.stored_id, found.items, say)
    return await page.render(
        request, "memory.html", looking, groups=grouped(rows), pool=pool, pools_known=POOLS,
        kinds=list(ItemType), kind=kind, text=text, cursor=found.cursor,
    )  # fmt: skip


@router.get("/items/{item_id}")
async def memory(request: Request, looking: PanelUser, item_id: str) -> Response:
    """Show one memory: why it is here, and everything that happened to it."""
    say, held = page.words_for(request), page.memory_of(request)
    item = await held.item(looking.stored_id, item_id)
    history = await held.history(looking.stored_id, item_id)
    policy = await policy_for(request, looking.stored_id)
    own = [signal for signal in history.signals if signal.item_id == item_id]
    return await page.render(
        request, "item.html", looking, item=item,
        why=telling.why_here(item, own or history.signals, policy, say),
        signals=_newest(history.signals), is_own=telling.is_own,
        moves=[(move, telling.numbers_told(move.numbers, say)) for move in history.moves[::-1]],
        versions=history.versions, recalls=history.recalls,
    )  # fmt: skip


def _newest(signals: Sequence[Signal]) -> list[Signal]:
    return sorted(signals, key=lambda signal: signal.at, reverse=True)
