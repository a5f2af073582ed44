"""What happened: every decision and move, live; and the gate's numbers over time [W2, S1, U1]."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Annotated, Any
from zoneinfo import ZoneInfo

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import StreamingResponse

from dualgate import Memory
from dualgate.domain.plan import Decision, Move
from dualgate.domain.status import HOT
from dualgate.entrypoints.http.access import PanelUser, may_still
from dualgate.entrypoints.panel import charts, page, telling
from dualgate.entrypoints.panel.failures import PanelRoute
from dualgate.entrypoints.panel.live import changes
from dualgate.entrypoints.panel.telling import Event
from dualgate.entrypoints.panel.waiting import items_by_id
from dualgate.entrypoints.panel.words import Words

router = APIRouter(route_class=PanelRoute)

_STEP = 30
_MOST = 1_000
_LOOKED_AT = 10_000
_WHOLE_LOG = 1_000_000
_HOT_PAGE = 1_000


@router.get("/happened")
async def happened(
    request: Request,
    looking: PanelUser,
    show: Annotated[str, Query()] = "all",
    count: Annotated[int, Query(ge=1, le=_MOST)] = _STEP,
) -> Response:
    """Show the timeline, newest first."""
    if looking.user_id is None:
        return page.go(request, "/choose")
    say = page.words_for(request)
    show = show if show in telling.FILTERS else "all"
    events = await _events(
        page.memory_of(request), looking.stored_id, show, count + 1, say
    )
    more = min(_MOST, count + _STEP) if len(events) > count else None
    return await page.render(
        request, "happened.html", looking, events=events[:count], show=show,
        filters=telling.FILTERS, more=more, count=count,
        drawn=await _charts(request, looking.stored_id, say),
    )  # fmt: skip


@router.get("/live")
async def live(request: Request, looking: PanelUser) -> Response:
    """Tell the page that something has changed, as long as it is open."""
    told = changes(
        page.memory_of(request), request.app.state.events, looking.stored_id,
        may=lambda: may_still(request, looking.caller),
    )  # fmt: skip
    return StreamingResponse(
        told, media_type="text/event-stream", headers={"Cache-Control": "no-store"}
    )


async def _events(
    memory: Memory, user_id: str, show: str, count: int, say: Words
) -> list[Event]:
    """Return the newest events of a kind. Only what is shown is looked up."""
    happened: list[Decision | Move] = [
        *await memory.why(user_id, limit=_LOOKED_AT),
        *await memory.moves(user_id, limit=_LOOKED_AT),
    ]
    fitting = [
        what
        for what in happened
        if (kind := telling.kind_of(what)) is not None and show in ("all", kind)
    ]
    shown = sorted(fitting, key=lambda what: what.at, reverse=True)[:count]
    ids = [what.item_id for what in shown if isinstance(what, Move)]
    items = await items_by_id(memory, user_id, ids)

    def told(what: Decision | Move) -> Event:
        if isinstance(what, Decision):
            return telling.of_decision(what, say)
        item = items.get(what.item_id)
        return telling.of_move(what, None if item is None else item.content, say)

    return [told(what) for what in shown]


async def _charts(request: Request, user_id: str, say: Words) -> dict[str, Any]:
    memory = page.memory_of(request)
    zone = ZoneInfo(page.settings_of(request).timezone)
    log = await memory.moves(user_id, limit=_WHOLE_LOG)
    pools = charts.pools_by_day(reversed(log), zone)
    gate = charts.gate_by_day(await memory.why(user_id, limit=_WHOLE_LOG), zone)
    hot = (await memory.items(user_id, status=HOT, limit=_HOT_PAGE)).items
    standing = (await memory.stats(user_id)).pools
    return {
        "pools": pools,
        "pools_json": _drawn(
            [say("pool.frozen"), say("pool.hot"), say("pool.archive")],
            [[p.day.isoformat(), p.frozen, p.hot, p.archive] for p in pools],
        ),
        "gate": gate,
        "gate_json": _drawn(
            [say(f"happened.{n}") for n in ("threshold_short", "lowest", "median", "highest")],
            [[g.day.isoformat(), g.threshold, g.lowest, g.median, g.highest] for g in gate],
        ),
        "bins": charts.histogram([item.score for item in hot]),
        "threshold": 0.0 if standing is None else standing.threshold,
    }


def _drawn(names: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """Return what panel.js draws: names of the lines, then day and values. Numbers only."""
    return json.dumps({"names": list(names), "rows": [list(row) for row in rows]})
