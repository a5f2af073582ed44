"""Privacy: what may be remembered and used, what is sensitive, taking it along, erasing it all."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit

from fastapi import APIRouter, Form, Request, Response
from fastapi.responses import FileResponse
from starlette.background import BackgroundTask

from dualgate import Memory, Settings
from dualgate.domain.items import MemoryItem
from dualgate.domain.status import LIVE
from dualgate.domain.types import Sensitivity
from dualgate.entrypoints.http.access import USER_COOKIE, PanelUser, Scope
from dualgate.entrypoints.http.csrf import CsrfChecked
from dualgate.entrypoints.panel import page, reading
from dualgate.entrypoints.panel.failures import PanelRoute

router = APIRouter(route_class=PanelRoute)

# (capture paused, recall paused) of each mode [P2]
MODES: Mapping[str, tuple[bool, bool]] = {
    "on": (False, False),
    "no_capture": (True, False),
    "no_recall": (False, True),
    "private": (True, True),
}
_PAGE = 1_000
EXPORT = "dualgate-memory.zip"


@router.get("/privacy")
async def privacy(request: Request, looking: PanelUser) -> Response:
    """Show what may be remembered and used, and what is sensitive."""
    if looking.user_id is None:
        return page.go(request, "/choose")
    memory, user_id = page.memory_of(request), looking.stored_id
    pools = (await memory.stats(user_id)).pools
    paused = (False, False) if pools is None else (pools.capture_paused, pools.recall_paused)
    sensitive = await _sensitive(memory, user_id)
    rows = await reading.rows_of(request, user_id, sensitive, page.words_for(request))
    return await page.render(
        request, "privacy.html", looking, modes=MODES, paused=paused, rows=rows,
        days=page.settings_of(request).gates.archive.sensitive_days,
        hosts=_asked(page.settings_of(request)),
    )  # fmt: skip


def _asked(settings: Settings) -> list[str]:
    """Return the hosts of the models that read what is said, without keys or paths."""
    urls = (settings.model.base_url, settings.embedding.base_url)
    return sorted({urlsplit(url).hostname or url for url in urls if url})


async def _sensitive(memory: Memory, user_id: str) -> list[MemoryItem]:
    found: list[MemoryItem] = []
    cursor = None
    while True:
        listed = await memory.items(user_id, status=LIVE, limit=_PAGE, cursor=cursor)
        found += [i for i in listed.items if i.sensitivity is Sensitivity.SENSITIVE]
        cursor = listed.cursor
        if cursor is None:
            return found


@router.post("/privacy/mode", dependencies=[CsrfChecked])
async def mode(request: Request, looking: PanelUser, mode: Annotated[str, Form()]) -> Response:
    """Pause or resume remembering and using [P2]."""
    looking.caller.require(Scope.WRITE)
    if mode in MODES:
        capture, recall = MODES[mode]
        await page.memory_of(request).pause(looking.stored_id, capture=capture, recall=recall)
    return page.done(request, "pause", "/privacy")


@router.post("/privacy/keep/{item_id}", dependencies=[CsrfChecked])
async def keep(request: Request, looking: PanelUser, item_id: str) -> Response:
    """Keep a sensitive memory: it has no time limit any more, and may be used [P1]."""
    looking.caller.require(Scope.WRITE)
    await page.memory_of(request).like(looking.stored_id, item_id)
    return page.done(request, "keep", "/privacy", item_id=item_id)


@router.get("/privacy/export")
async def export(request: Request, looking: PanelUser) -> Response:
    """Hand over everything that is remembered, in one file [P3]."""
    looking.caller.require(Scope.ADMIN)  # as over REST
    folder = Path(await asyncio.to_thread(tempfile.mkdtemp, prefix="dualgate-export-"))
    archive = folder / EXPORT
    try:
        await page.memory_of(request).export(looking.stored_id, archive)
    except BaseException:
        await asyncio.to_thread(shutil.rmtree, folder)
        raise
    return FileResponse(
        archive, media_type="application/zip", filename=EXPORT,
        headers={"Cache-Control": "no-store"},
        background=BackgroundTask(shutil.rmtree, folder),
    )  # fmt: skip


@router.get("/privacy/erase")
async def ask_erase(request: Request, looking: PanelUser) -> Response:
    """Ask before everything goes."""
    looking.caller.require(Scope.ADMIN)
    return await page.render(request, "erase-all.html", looking, wrong=False)


@router.post("/privacy/erase", dependencies=[CsrfChecked])
async def erase(
    request: Request, looking: PanelUser, name: Annotated[str, Form()] = ""
) -> Response:
    """Erase the user, if his name was typed [P3]."""
    looking.caller.require(Scope.ADMIN)
    if name.strip() != (looking.user_id or "").strip() or not name.strip():
        return await page.render(request, "erase-all.html", looking, status=422, wrong=True)
    await page.memory_of(request).erase_user(looking.stored_id)
    response = page.done(request, "erase_all", "/choose")
    response.delete_cookie(USER_COOKIE, path="/")
    return response
