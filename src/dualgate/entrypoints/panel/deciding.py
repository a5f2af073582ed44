"""What waits for the person's word, and the forms that give it [C2, F3, U2]."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Form, Request, Response

from dualgate.entrypoints.http.access import PanelUser, Scope
from dualgate.entrypoints.http.csrf import CsrfChecked
from dualgate.entrypoints.panel import page
from dualgate.entrypoints.panel.failures import PanelRoute
from dualgate.entrypoints.panel.waiting import items_by_id, waiting_for

router = APIRouter(route_class=PanelRoute)


@router.get("/decide")
async def decide(request: Request, looking: PanelUser) -> Response:
    """Show what waits for a decision."""
    if looking.user_id is None:
        return page.go(request, "/choose")
    memory, user_id = page.memory_of(request), looking.stored_id
    open_now = await waiting_for(memory, user_id)
    ids = [pending.item_id for pending in open_now.pendings]
    for finding in open_now.findings:
        ids += [finding.item_id, *([finding.other_id] if finding.other_id else [])]
    items = await items_by_id(memory, user_id, ids)
    return await page.render(request, "decide.html", looking, open_now=open_now, items=items)


@router.post("/pending/{pending_id}", dependencies=[CsrfChecked])
async def settle(
    request: Request, looking: PanelUser, pending_id: str, word: Annotated[str, Form()]
) -> Response:
    """Let the new value win, the old one stand, or both hold."""
    looking.caller.require(Scope.WRITE)
    word = word if word in ("accept", "both") else "reject"
    await page.memory_of(request).settle(
        looking.stored_id, pending_id, accept=word != "reject", keep_old=word == "both"
    )
    return page.done(request, word, "/decide")


@router.post("/audit", dependencies=[CsrfChecked])
async def audit(request: Request, looking: PanelUser) -> Response:
    """Look through the frozen pool now [U2]."""
    looking.caller.require(Scope.WRITE)
    found = await page.memory_of(request).audit(looking.stored_id)
    return page.done(request, "audit", "/decide", count=len(found))


@router.post("/findings", dependencies=[CsrfChecked])
async def finding(
    request: Request, looking: PanelUser, finding_id: Annotated[str, Form()]
) -> Response:
    """Say that a finding may stand [U2]."""
    looking.caller.require(Scope.WRITE)
    await page.memory_of(request).settle_finding(looking.stored_id, finding_id)
    return page.done(request, "finding", "/decide")


@router.post("/contests/{item_id}", dependencies=[CsrfChecked])
async def contest(
    request: Request, looking: PanelUser, item_id: str, word: Annotated[str, Form()]
) -> Response:
    """End a contradiction: this one holds, or both do."""
    looking.caller.require(Scope.WRITE)
    memory = page.memory_of(request)
    if word == "both":
        await memory.keep_both(looking.stored_id, item_id)
    else:
        await memory.choose(looking.stored_id, item_id)
    return page.done(request, "both" if word == "both" else "choose", "/decide")
