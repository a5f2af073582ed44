"""The person's verbs as forms: each does one thing and goes back to a page that says so [F6]."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Form, Request, Response

from dualgate.entrypoints.http.access import PanelUser, Scope
from dualgate.entrypoints.http.csrf import CsrfChecked
from dualgate.entrypoints.panel import page
from dualgate.entrypoints.panel.failures import PanelRoute
from dualgate.errors import ConfirmationRequiredError

router = APIRouter(route_class=PanelRoute)

SIMPLE = ("like", "dislike", "pin", "unpin", "restore")


@router.post("/items/{item_id}/correct", dependencies=[CsrfChecked])
async def correct(
    request: Request, looking: PanelUser, item_id: str, content: Annotated[str, Form()] = ""
) -> Response:
    """Reword an item."""
    looking.caller.require(Scope.WRITE)
    await page.memory_of(request).correct(looking.stored_id, item_id, content)
    return page.done(request, "correct", f"/items/{item_id}", item_id=item_id)


@router.post("/items/{item_id}/forget", dependencies=[CsrfChecked])
async def forget(
    request: Request, looking: PanelUser, item_id: str, confirm: Annotated[str, Form()] = ""
) -> Response:
    """Remove an item, undoably; a frozen one asks once more [F6]."""
    looking.caller.require(Scope.WRITE)
    memory = page.memory_of(request)
    try:
        await memory.forget(looking.stored_id, item_id, confirm=confirm == "yes")
    except ConfirmationRequiredError:
        return page.go(request, f"/items/{item_id}/forget")
    return page.done(request, "forget", "/", item_id=item_id)


@router.get("/items/{item_id}/forget")
async def ask_forget(request: Request, looking: PanelUser, item_id: str) -> Response:
    """Ask once more before a frozen item goes [F6]."""
    item = await page.memory_of(request).item(looking.stored_id, item_id)
    days = page.settings_of(request).gates.archive.undo_days
    return await page.render(request, "forget.html", looking, item=item, days=days)


@router.get("/items/{item_id}/erase")
async def ask_erase(request: Request, looking: PanelUser, item_id: str) -> Response:
    """Ask before the bytes go."""
    item = await page.memory_of(request).item(looking.stored_id, item_id)
    return await page.render(request, "erase.html", looking, item=item)


@router.post("/items/{item_id}/erase", dependencies=[CsrfChecked])
async def erase(request: Request, looking: PanelUser, item_id: str) -> Response:
    """Erase an item for good [P3]."""
    looking.caller.require(Scope.WRITE)
    await page.memory_of(request).erase(looking.stored_id, item_id)
    return page.done(request, "erase", "/")


@router.post("/items/{item_id}/{verb}", dependencies=[CsrfChecked])
async def simple(
    request: Request, looking: PanelUser, item_id: str, verb: str
) -> Response:
    """Like, dislike, pin, unpin, or take a forget back."""
    looking.caller.require(Scope.WRITE)
    memory = page.memory_of(request)
    verbs = {name: getattr(memory, name) for name in SIMPLE}
    if verb not in verbs:
        return page.go(request, f"/items/{item_id}")
    await verbs[verb](looking.stored_id, item_id)
    return page.done(request, verb, f"/items/{item_id}", item_id=item_id)
