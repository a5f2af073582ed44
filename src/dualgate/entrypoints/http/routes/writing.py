"""Handing things in: observe, propose, sessions, working memory."""

from __future__ import annotations

import asyncio
from http import HTTPStatus

from fastapi import APIRouter, Response

from dualgate import Memory
from dualgate.config import ServerSettings
from dualgate.entrypoints.http.access import Caller, Reading, Writing
from dualgate.entrypoints.http.answers import JobOut, NotesOut, ReceiptOut
from dualgate.entrypoints.http.bodies import Id, NoteIn, ObserveIn, ProposeIn, SessionIn, TaskIn
from dualgate.entrypoints.http.once import OnceOnly
from dualgate.entrypoints.http.routes.parts import Memories, Server, UserId

router = APIRouter(tags=["writing"])
NOTHING = "nothing queued"


@router.post(
    "/observe",
    status_code=HTTPStatus.ACCEPTED,
    responses={HTTPStatus.OK: {"model": ReceiptOut, "description": "With `wait`: decided."}},
)
async def observe(
    body: ObserveIn, caller: Writing, memory: Memories, server: Server, once: OnceOnly,
    response: Response,
) -> ReceiptOut:  # fmt: skip
    """Hand over turns; they are durably queued when this answers [W1].

    With `wait` the answer (200) has the decisions, unless they take longer than the server waits:
    then it is 202, and the job can be asked for later.
    """
    user = caller.user(body.user_id)

    async def work() -> str | None:
        receipt = await memory.observe(
            user, body.session_id, [each.message() for each in body.messages],
            private=body.private, task_id=body.task_id, parent_session_id=body.parent_session_id,
            idempotency_key=once.key,
        )  # fmt: skip
        return receipt.job_id

    if body.private:
        # Nothing is written, so nothing can be done twice; the key would be a trace of it [P2].
        job_id = await work()
    else:
        job_id = await once.run(user, work, _same, _subject)
    return await _receipt(memory, server, caller, user, job_id, response, wait=body.wait)


@router.post(
    "/propose",
    status_code=HTTPStatus.ACCEPTED,
    responses={HTTPStatus.OK: {"model": ReceiptOut, "description": "With `wait`: decided."}},
)
async def propose(
    body: ProposeIn, caller: Writing, memory: Memories, server: Server, once: OnceOnly,
    response: Response,
) -> ReceiptOut:  # fmt: skip
    """Hand over candidates that your assistant's own model understood [W5]."""
    user = caller.user(body.user_id)

    async def work() -> str | None:
        candidates = [each.candidate() for each in body.candidates]
        receipt = await memory.propose(
            user, body.session_id, candidates, idempotency_key=once.key
        )
        return receipt.job_id

    job_id: str | None = await once.run(user, work, _same, _subject)
    return await _receipt(memory, server, caller, user, job_id, response, wait=body.wait)


@router.get("/jobs/{job_id}")
async def job(
    job_id: Id, user_id: UserId, caller: Reading, memory: Memories, server: Server,
    wait: bool = False,
) -> JobOut:  # fmt: skip
    """How a job stands: waiting, done or dead, with its decisions or its error."""
    user = caller.user(user_id)
    if wait:
        await _waited(memory, server, user, job_id)
    return JobOut.of(await memory.job(user, job_id), caller.shown)


@router.post("/end_session", status_code=HTTPStatus.NO_CONTENT)
async def end_session(
    body: SessionIn, caller: Writing, memory: Memories, once: OnceOnly
) -> None:
    """End a session: its working memory goes [L2]."""
    user = caller.user(body.user_id)
    await once.run(user, lambda: memory.end_session(user, body.session_id), _done)


@router.get("/working")
async def working(
    user_id: UserId, session_id: Id, task_id: Id, caller: Reading, memory: Memories
) -> NotesOut:
    """The notes of a task [L2]."""
    notes = await memory.working(caller.user(user_id), session_id, task_id)
    return NotesOut(notes=await notes.all())


@router.put("/working", status_code=HTTPStatus.NO_CONTENT)
async def set_note(body: NoteIn, caller: Writing, memory: Memories, once: OnceOnly) -> None:
    """Set a note of a task; secrets in it are redacted [P1]."""
    user = caller.user(body.user_id)
    notes = await memory.working(user, body.session_id, body.task_id)
    await once.run(user, lambda: notes.set(body.key, body.value), _done)


@router.post("/working/clear", status_code=HTTPStatus.NO_CONTENT)
async def clear_notes(body: TaskIn, caller: Writing, memory: Memories, once: OnceOnly) -> None:
    """End a task: its notes go."""
    user = caller.user(body.user_id)
    notes = await memory.working(user, body.session_id, body.task_id)
    await once.run(user, notes.clear, _done)


async def _receipt(
    memory: Memory,
    server: ServerSettings,
    caller: Caller,
    user: str,
    job_id: str | None,
    response: Response,
    *,
    wait: bool,
) -> ReceiptOut:
    if not job_id:
        response.status_code = HTTPStatus.OK if wait else HTTPStatus.ACCEPTED
        return ReceiptOut(job_id=None, state=NOTHING)
    if not wait:
        return ReceiptOut(job_id=job_id, state="waiting")
    await _waited(memory, server, user, job_id)
    report = await memory.job(user, job_id)
    if report.state != "waiting":
        response.status_code = HTTPStatus.OK
    return ReceiptOut.of(report, caller.shown)


async def _waited(memory: Memory, server: ServerSettings, user: str, job_id: str) -> None:
    """Wait until the job is done or dead, but no longer than the server waits."""
    try:
        async with asyncio.timeout(server.wait_seconds):
            await memory.job(user, job_id, wait=True)
    except TimeoutError:
        return


def _subject(job_id: str | None) -> str:
    return job_id or ""


async def _same(subject: str) -> str | None:
    return subject or None


async def _done(_: str) -> None:
    return None
