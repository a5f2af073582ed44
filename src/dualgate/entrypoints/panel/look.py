"""How a page looks to this visitor: language, light or dark, what has just been done.

Rule: cookies here hold choices from closed lists and ids, never a memory.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from fastapi import Request, Response

LANG_COOKIE = "dualgate_lang"
THEME_COOKIE = "dualgate_theme"
DONE_COOKIE = "dualgate_done"
THEMES = ("auto", "light", "dark")
YEAR_SECONDS = 31_536_000
DONE_SECONDS = 60  # long enough for the page after the form


@dataclass(frozen=True, slots=True)
class Done:
    """What the last form did, told on the next page: a name of [done], the item, a count."""

    verb: str
    item_id: str = ""
    count: int = 0


def language(request: Request) -> str:
    """Return the visitor's language: chosen, else the browser's, else English."""
    chosen = request.cookies.get(LANG_COOKIE)
    if chosen in ("en", "zh"):
        return chosen
    return preferred(request.headers.get("accept-language", ""))


def preferred(accepted: str) -> str:
    """Return the language of an Accept-Language header that the panel speaks best.

    >>> preferred("fr, zh-TW;q=0.8, en;q=0.5"), preferred("de"), preferred("en, zh")
    ('zh', 'en', 'en')
    """
    best = max(_weighed(accepted), default=(0.0, 0, "en"))
    return best[2]


def _weighed(accepted: str) -> Iterable[tuple[float, int, str]]:
    for place, part in enumerate(accepted.split(",")):
        tag, _, parameters = part.partition(";")
        lang = tag.strip().lower().split("-")[0]
        if lang not in ("en", "zh"):
            continue
        _, _, weight = parameters.strip().partition("q=")
        try:
            yield (float(weight) if weight else 1.0), -place, lang
        except ValueError:
            continue


def theme(request: Request) -> str:
    """Return auto, light or dark."""
    chosen = request.cookies.get(THEME_COOKIE, "")
    return chosen if chosen in THEMES else "auto"


def base(request: Request) -> str:
    """Return where the panel is mounted."""
    return f"{request.scope.get('root_path', '')}/panel"


def keep(request: Request, response: Response, name: str, value: str, seconds: int) -> None:
    """Let the browser keep a choice, for our pages only."""
    response.set_cookie(
        name, value, max_age=seconds, path="/", httponly=True, samesite="strict",
        secure=request.url.scheme == "https",
    )  # fmt: skip


def told(request: Request, known: Any) -> Done | None:
    """Return what the last form did, if it is something that we say."""
    verb, _, rest = request.cookies.get(DONE_COOKIE, "").partition(":")
    item_id, _, count = rest.partition(":")
    if not verb or not known(f"done.{verb}"):
        return None
    counted = count.isdecimal() and len(count) < _COUNT_DIGITS
    return Done(verb, item_id, int(count) if counted else 0)


_COUNT_DIGITS = 9  # a browser's cookie may hold anything
