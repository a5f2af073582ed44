"""Erase, export, import; the audit of the frozen pool and what it found [P3, U2]."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import AsyncIterable
from http import HTTPStatus
from pathlib import Path
from typing import Annotated, Any

from anyio import open_file, to_thread
from fastapi import APIRouter, Header, Request
from fastapi.responses import FileResponse
from starlette.background import BackgroundTask

from dualgate import Memory
from dualgate.entrypoints.http.access import Governing, Operating, Reading, Writing
from dualgate.entrypoints.http.answers import (
    ErasureOut,
    FindingOut,
    FindingPageOut,
    ImportOut,
    ScrubOut,
)
from dualgate.entrypoints.http.bodies import EraseIn, Id, OfUser
from dualgate.entrypoints.http.guard import IMPORT_BYTES
from dualgate.entrypoints.http.once import OnceOnly
from dualgate.entrypoints.http.routes.parts import Cursor, Limit, Memories, UserId, paged
from dualgate.pipeline.dossier import ErasureReport

router = APIRouter(tags=["privacy"])
ZIP = "application/zip"
_ARCHIVE: dict[int | str, dict[str, Any]] = {
    HTTPStatus.OK: {
        "description": "A zip of JSON Lines, a page of Markdown, and checksums.",
        "content": {ZIP: {"schema": {"type": "string", "format": "binary"}}},
    }
}
_UPLOAD = {
    "requestBody": {
        "required": True,
        "content": {ZIP: {"schema": {"type": "string", "format": "binary"}}},
    }
}


@router.post("/erase")
async def erase(
    body: EraseIn, caller: Writing, memory: Memories
) -> ErasureOut:
    """Erase an item with all its versions, or a session: for ever, everywhere [P3].

    The answer says what was removed where. Said anew, it is new; old text does not bring it back.
    """
    report = await memory.erase(
        caller.user(body.user_id), body.item_id, session_id=body.session_id
    )
    return ErasureOut.of(report, caller.shown)


@router.post("/erase_user")
async def erase_user(body: OfUser, caller: Governing, memory: Memories) -> ErasureOut:
    """Erase all that is kept of a user [P3]. Sent again, it finds nothing left to erase."""
    report: ErasureReport = await memory.erase_user(caller.user(body.user_id))
    return ErasureOut.of(report, caller.shown)


@router.post("/scrub")
async def scrub(_: Operating, memory: Memories) -> ScrubOut:
    """Finish erasures and rewrite the file, however large [P3]."""
    return ScrubOut(bytes_gone=await memory.scrub())


@router.get("/export", response_class=FileResponse, responses=_ARCHIVE)
async def export(user_id: UserId, caller: Governing, memory: Memories) -> FileResponse:
    """Everything that is kept of a user, as one file that `import` reads back without loss."""
    user = caller.user(user_id)
    folder = await to_thread.run_sync(tempfile.mkdtemp)
    archive = Path(folder) / "export.zip"
    gone = BackgroundTask(shutil.rmtree, folder, ignore_errors=True)
    try:
        await memory.export(user, archive)
    except BaseException:
        await gone()
        raise
    return FileResponse(archive, media_type=ZIP, filename="dualgate-export.zip", background=gone)


@router.post("/import", openapi_extra=_UPLOAD, max_body_size=IMPORT_BYTES)
async def import_(
    user_id: UserId, request: Request, caller: Governing, memory: Memories,
    content_type: Annotated[str | None, Header(include_in_schema=False)] = None,  # noqa: ARG001
) -> ImportOut:  # fmt: skip
    """Read an export back, all of it or nothing; twice changes nothing [P3].

    The body is the file itself. An archive that was changed or damaged is refused.
    """
    user = caller.user(user_id)
    folder = await to_thread.run_sync(tempfile.mkdtemp)
    try:
        return await _imported(memory, user, request.stream(), Path(folder) / "import.zip")
    finally:
        await to_thread.run_sync(lambda: shutil.rmtree(folder, ignore_errors=True))


async def _imported(
    memory: Memory, user: str, pieces: AsyncIterable[bytes], path: Path
) -> ImportOut:
    async with await open_file(path, "wb") as file:
        async for piece in pieces:
            await file.write(piece)
    return ImportOut.of(await memory.import_(user, path), str)


@router.post("/audit")
async def audit(body: OfUser, caller: Writing, memory: Memories) -> FindingPageOut:
    """Look through the frozen pool now; the answer is what is wrong and not settled yet [U2]."""
    found = await memory.audit(caller.user(body.user_id))
    shown = [FindingOut.of(each, caller.shown) for each in found]
    return FindingPageOut(findings=shown, cursor=None)


@router.get("/findings")
async def findings(
    user_id: UserId, caller: Reading, memory: Memories, limit: Limit = 100, cursor: Cursor = None
) -> FindingPageOut:
    """What audits found and nobody has settled, oldest first [U2]."""
    found = await memory.findings(caller.user(user_id))
    page, more = paged(found, lambda each: each.id, limit, cursor)
    shown = [FindingOut.of(each, caller.shown) for each in page]
    return FindingPageOut(findings=shown, cursor=more)


@router.post("/findings/{finding_id}/settle", status_code=HTTPStatus.NO_CONTENT)
async def settle_finding(
    finding_id: Id, body: OfUser, caller: Writing, memory: Memories, once: OnceOnly
) -> None:
    """Say that a finding may stand; it comes back if its item changes."""
    user = caller.user(body.user_id)

    async def work() -> None:
        await memory.settle_finding(user, finding_id)

    await once.run(user, work, _nothing)


async def _nothing(_: str) -> None:
    return None
