"""Reading back: context, recall, items, history, decisions, numbers."""

from __future__ import annotations

import itertools
from typing import Annotated

from fastapi import APIRouter, Query

from dualgate.domain.plan import Move
from dualgate.domain.status import Status
from dualgate.domain.types import ItemType
from dualgate.entrypoints.cli.render import to_plain
from dualgate.entrypoints.http.access import Operating, Reading
from dualgate.entrypoints.http.answers import (
    AllStatsOut,
    CompactedOut,
    ContextOut,
    DecisionOut,
    DecisionPageOut,
    FoundOut,
    HistoryOut,
    ItemOut,
    ItemPageOut,
    MoveOut,
    MovePageOut,
    PendingOut,
    PendingPageOut,
    StatsOut,
)
from dualgate.entrypoints.http.bodies import CompactIn, ContextIn, Id, RecallIn
from dualgate.entrypoints.http.routes.parts import Cursor, Limit, Memories, UserId, paged

router = APIRouter(tags=["reading"])
Sought = Annotated[str | None, Query(max_length=10_000, description="Must occur in the content.")]
MOVES_LIMIT = 1_000


@router.post("/context")
async def context(body: ContextIn, caller: Reading, memory: Memories) -> ContextOut:
    """What the model should know at the start of a session: put `text` before it [R1]."""
    block = await memory.context(
        caller.user(body.user_id), body.session_id, body.query, token_budget=body.token_budget,
        window_tokens=body.window_tokens, lang=body.lang,
    )  # fmt: skip
    return ContextOut.of(block, caller.shown)


@router.post("/recall")
async def recall(body: RecallIn, caller: Reading, memory: Memories) -> FoundOut:
    """The few items that fit the query, each with its relevance per path [R2, R3]."""
    found = await memory.recall(
        caller.user(body.user_id), body.query, limit=body.limit, item_types=body.item_types,
        archived=body.archived, sensitive=body.sensitive, transcripts=body.transcripts,
        as_of=body.as_of, lang=body.lang,
    )  # fmt: skip
    return FoundOut.of(found, caller.shown)


@router.get("/items")
async def items(
    user_id: UserId, caller: Reading, memory: Memories,
    status: Annotated[list[Status] | None, Query(description="None: all but forgotten.")] = None,
    item_type: ItemType | None = None, text: Sought = None, limit: Limit = 100,
    cursor: Cursor = None,
) -> ItemPageOut:  # fmt: skip
    """List items, newest first."""
    page = await memory.items(
        caller.user(user_id), status=status, item_type=item_type, text=text, limit=limit,
        cursor=cursor,
    )  # fmt: skip
    shown = [ItemOut.of(item, caller.shown) for item in page.items]
    return ItemPageOut(items=shown, cursor=page.cursor)


@router.get("/items/{item_id}")
async def item(item_id: Id, user_id: UserId, caller: Reading, memory: Memories) -> ItemOut:
    """Return one item, whatever its status."""
    return ItemOut.of(await memory.item(caller.user(user_id), item_id), caller.shown)


@router.get("/items/{item_id}/history")
async def history(item_id: Id, user_id: UserId, caller: Reading, memory: Memories) -> HistoryOut:
    """Return an item's moves, signals with quotes, versions (oldest first), and recalls."""
    return HistoryOut.of(await memory.history(caller.user(user_id), item_id), caller.shown)


@router.get("/why")
async def why(
    user_id: UserId, caller: Reading, memory: Memories, text: Sought = None,
    job_id: Annotated[str | None, Query(min_length=1, max_length=512)] = None,
    limit: Limit = 100, cursor: Cursor = None,
) -> DecisionPageOut:  # fmt: skip
    """Return recorded decisions, newest first, refused ones too [W2]."""
    page = await memory.decisions(
        caller.user(user_id), text=text, job_id=job_id, limit=limit, cursor=cursor
    )
    shown = [DecisionOut.of(decision, caller.shown) for decision in page.decisions]
    return DecisionPageOut(decisions=shown, cursor=page.cursor)


@router.get("/moves")
async def moves(
    user_id: UserId, caller: Reading, memory: Memories, limit: Limit = 100, cursor: Cursor = None
) -> MovePageOut:
    """Return the last thousand moves of all items, newest first [S1]."""
    last = await memory.moves(caller.user(user_id), MOVES_LIMIT)
    page, more = paged(_named(last), lambda named: named[0], limit, cursor)
    return MovePageOut(moves=[MoveOut.of(move, caller.shown) for _, move in page], cursor=more)


@router.get("/pending")
async def pending(
    user_id: UserId, caller: Reading, memory: Memories, limit: Limit = 100, cursor: Cursor = None
) -> PendingPageOut:
    """Return the open pending overrides, oldest first [F3]."""
    found = await memory.pending(caller.user(user_id))
    page, more = paged(found, lambda each: each.id, limit, cursor)
    shown = [PendingOut.of(each, caller.shown) for each in page]
    return PendingPageOut(pending=shown, cursor=more)


@router.get("/stats")
async def stats(user_id: UserId, caller: Reading, memory: Memories) -> StatsOut:
    """Return one user's numbers: pools against capacities, threshold, counts."""
    return StatsOut.of(await memory.stats(caller.user(user_id)), caller.shown)


@router.get("/stats/all")
async def all_stats(caller: Operating, memory: Memories) -> AllStatsOut:
    """Return everybody's numbers, for whoever runs this server."""
    return AllStatsOut.of(await memory.stats(), caller.shown)


@router.post("/compact")
async def compact(body: CompactIn, _: Reading, memory: Memories) -> CompactedOut:
    """Return the same conversation, shorter; nothing of it is stored [L1]."""
    shorter = await memory.compact(body.messages, body.budget)
    return CompactedOut(
        messages=[to_plain(message) for message in shorter], report=to_plain(shorter.report)
    )


def _named(moves: list[Move]) -> list[tuple[str, Move]]:
    """Give each move a name that stays when newer ones come."""
    named = []
    for at, same in itertools.groupby(moves, key=lambda move: move.at):
        together = list(same)
        for place, move in enumerate(together):
            named.append((f"{at.isoformat()}#{len(together) - place}", move))
    return named
