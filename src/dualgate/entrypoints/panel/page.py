"""Rendering: templates with every text escaped, and what each page needs.

Rule: memory text reaches HTML through Jinja's autoescape alone; nothing here marks text as safe.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from http import HTTPStatus
from importlib.metadata import version
from pathlib import Path
from typing import Any
from urllib.parse import quote
from zoneinfo import ZoneInfo

from fastapi import Request
from fastapi.responses import HTMLResponse, RedirectResponse
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from dualgate import Memory, Settings
from dualgate.entrypoints.http import csrf
from dualgate.entrypoints.http.access import USER_COOKIE, Looking, Scope
from dualgate.entrypoints.panel import look
from dualgate.entrypoints.panel.waiting import waiting_for
from dualgate.entrypoints.panel.words import Words

_HERE = Path(__file__).parent


@cache
def _templates() -> Environment:
    return Environment(
        loader=FileSystemLoader(_HERE / "templates"), autoescape=True, undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip


def memory_of(request: Request) -> Memory:
    """Return the memory that this server serves."""
    memory: Memory = request.app.state.memory
    return memory


def settings_of(request: Request) -> Settings:
    """Return the settings in force."""
    settings: Settings = request.app.state.settings
    return settings


def words_for(request: Request) -> Words:
    """Return the phrases in the visitor's language, dates in the server's time zone."""
    return Words(look.language(request), ZoneInfo(settings_of(request).timezone))


@dataclass(frozen=True, slots=True)
class Crumb:
    """One entry of the navigation."""

    name: str
    href: str


NAV = (
    Crumb("memory", "/"),
    Crumb("decide", "/decide"),
    Crumb("happened", "/happened"),
    Crumb("next", "/next"),
    Crumb("privacy", "/privacy"),
    Crumb("health", "/health"),
)


async def render(
    request: Request,
    template: str,
    looking: Looking | None,
    *,
    status: int = HTTPStatus.OK,
    **parts: Any,
) -> HTMLResponse:
    """Return a page, with its cookies."""
    say = words_for(request)
    memory = memory_of(request)
    user = None if looking is None else looking.user_id
    done = look.told(request, say.knows)
    frame: dict[str, Any] = {
        "say": say,
        "lang": "zh-Hans" if say.lang == "zh" else "en",
        "theme": look.theme(request),
        "themes": look.THEMES,
        "base": look.base(request),
        "path": request.url.path.removeprefix(look.base(request)) or "/",
        "csrf": csrf.csrf_token(request),
        "release": version("dualgate"),
        "user": user,
        "nav": [n for n in NAV if n.name != "health" or _may(looking, Scope.ADMIN)],
        "may_write": _may(looking, Scope.WRITE),
        "may_govern": _may(looking, Scope.ADMIN),
        "done": done,
        "waiting": 0,
        "pools": None,
    }
    if looking is not None and user:
        frame["waiting"] = (await waiting_for(memory, looking.stored_id)).count
        frame["pools"] = (await memory.stats(looking.stored_id)).pools
    html = _templates().get_template(template).render({**frame, **parts})
    # What a page shows is personal: no cache keeps it.
    response = HTMLResponse(html, status, {"Cache-Control": "no-store"})
    csrf.set_csrf(request, response)
    if done is not None:
        response.delete_cookie(look.DONE_COOKIE, path="/")
    if user and request.query_params.get("user") == user:
        look.keep(request, response, USER_COOKIE, quote(user, safe=""), look.YEAR_SECONDS)
    return response


def done(
    request: Request, verb: str, to: str, *, item_id: str = "", count: int = 0
) -> RedirectResponse:
    """Return the answer to a form: go to that page, which tells what was done."""
    response = go(request, to)
    look.keep(
        request, response, look.DONE_COOKIE, f"{verb}:{item_id}:{count}", look.DONE_SECONDS
    )
    return response


def go(request: Request, to: str) -> RedirectResponse:
    """Return a redirect to a page of the panel; `to` begins with a slash."""
    return RedirectResponse(f"{look.base(request)}{to}", HTTPStatus.SEE_OTHER)


def _may(looking: Looking | None, scope: Scope) -> bool:
    return looking is not None and scope in looking.caller.scopes
