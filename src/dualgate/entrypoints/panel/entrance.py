"""Coming in: the API key where one is needed, whose memory to look at, language and appearance."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import quote, urlsplit

from fastapi import APIRouter, Form, Request, Response

from dualgate.entrypoints.http.access import (
    SESSION_COOKIE,
    USER_COOKIE,
    CallerBook,
    Looking,
    PanelUser,
    Reading,
    Scope,
)
from dualgate.entrypoints.http.csrf import CsrfChecked
from dualgate.entrypoints.http.guard import client_address
from dualgate.entrypoints.panel import look, page
from dualgate.entrypoints.panel.failures import PanelRoute

router = APIRouter(route_class=PanelRoute)

_USERS_SHOWN = 100


@router.get("/choose")
async def choose(request: Request, caller: Reading) -> Response:
    """Ask whose memory to look at."""
    users = []
    if Scope.ADMIN in caller.scopes:
        users = await request.app.state.access.users(caller, limit=_USERS_SHOWN)
    return await page.render(request, "choose.html", Looking(caller, None), users=users)


@router.post("/choose", dependencies=[CsrfChecked])
async def chosen(
    request: Request, looking: PanelUser, user: Annotated[str, Form()] = ""
) -> Response:
    """Look at this user's memory from now on."""
    looking.caller.user(user)
    response = page.go(request, "/")
    look.keep(request, response, USER_COOKIE, quote(user, safe=""), look.YEAR_SECONDS)
    return response


@router.get("/sign-in")
async def ask_key(request: Request) -> Response:
    """Ask for an API key."""
    return await page.render(request, "sign-in.html", None, wrong=False)


@router.post("/sign-in", dependencies=[CsrfChecked])
async def sign_in(request: Request, key: Annotated[str, Form()] = "") -> Response:
    """Keep the key in a cookie that scripts cannot read, if it is one of ours."""
    access: CallerBook = request.app.state.access
    await access.count(f"address {client_address(request)}")  # keys cannot be tried in a row
    if not key.strip() or await access.caller_for(key.strip()) is None:
        return await page.render(request, "sign-in.html", None, status=403, wrong=True)
    response = page.go(request, "/")
    look.keep(request, response, SESSION_COOKIE, key.strip(), look.YEAR_SECONDS)
    return response


@router.post("/sign-out", dependencies=[CsrfChecked])
async def sign_out(request: Request) -> Response:
    """Forget the key and whose memory was looked at."""
    response = page.done(request, "signed_out", "/sign-in")
    for name in (SESSION_COOKIE, USER_COOKIE):
        response.delete_cookie(name, path="/")
    return response


@router.post("/look", dependencies=[CsrfChecked])
async def looks(
    request: Request,
    lang: Annotated[str, Form()] = "",
    theme: Annotated[str, Form()] = "",
    back: Annotated[str, Form()] = "/",
) -> Response:
    """Choose language or appearance, and go back to the page."""
    response = page.go(request, _inside(back))
    if lang in ("en", "zh"):
        look.keep(request, response, look.LANG_COOKIE, lang, look.YEAR_SECONDS)
    if theme in look.THEMES:
        look.keep(request, response, look.THEME_COOKIE, theme, look.YEAR_SECONDS)
    return response


def _inside(back: str) -> str:
    """Return the path if it is one of the panel's, so that nobody is led elsewhere."""
    parts = urlsplit(back)
    inside = back.startswith("/") and not back.startswith(("//", "/\\")) and not parts.netloc
    return back if inside else "/"
