"""The address that `dualgate serve` prints: it signs the browser in, then shows the panel."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import RedirectResponse

from dualgate.entrypoints.http.access import SESSION_COOKIE, CallerBook
from dualgate.entrypoints.http.guard import client_address
from dualgate.entrypoints.http.problems import UnauthorizedError

router = APIRouter(include_in_schema=False)
PANEL = "/panel/"


@router.get("/")
async def root() -> RedirectResponse:
    """Show the panel."""
    return RedirectResponse(PANEL, HTTPStatus.SEE_OTHER)


@router.get("/enter")
async def enter(
    request: Request, key: Annotated[str, Query(min_length=1, max_length=200)]
) -> RedirectResponse:
    """Keep the key in a cookie that no script and no other site can read."""
    access: CallerBook = request.app.state.access
    await access.count(f"address {client_address(request)}")
    if await access.caller_for(key) is None:
        raise UnauthorizedError("the API key is unknown, expired or revoked")
    answer = RedirectResponse(PANEL, HTTPStatus.SEE_OTHER)
    answer.set_cookie(
        SESSION_COOKIE, key, path="/", httponly=True, samesite="strict",
        secure=request.url.scheme == "https",
    )  # fmt: skip
    return answer
