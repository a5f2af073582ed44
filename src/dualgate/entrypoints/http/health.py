"""/healthz, /readyz and /metrics: for probes and scrapers."""

from __future__ import annotations

import asyncio
from http import HTTPStatus
from importlib import metadata

from fastapi import APIRouter, Request, Response
from fastapi.responses import PlainTextResponse
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from pydantic import BaseModel, Field

from dualgate.entrypoints.http.access import caller_of, from_this_machine
from dualgate.entrypoints.http.problems import ForbiddenError
from dualgate.entrypoints.http.routes.parts import Memories
from dualgate.entrypoints.http.watching import Watching
from dualgate.errors import DualgateError

router = APIRouter(tags=["health"])
PATIENCE_SECONDS = 5.0


class HealthOut(BaseModel):
    """The process answers."""

    status: str = "ok"
    version: str


class ReadyOut(BaseModel):
    """Whether the store answers, and how fresh things are."""

    status: str = Field(examples=["ready"], description="ready, or not ready")
    last_write_age_seconds: float | None = Field(
        description="Since this process last saw something written; null: nothing yet."
    )
    oldest_waiting_age_seconds: float | None = Field(
        description="Since the oldest job that still waits was accepted; null: none waits."
    )
    waiting: int | None
    dead: int | None


@router.get("/healthz")
async def healthz() -> HealthOut:
    """Say that the process answers."""
    return HealthOut(version=metadata.version("dualgate"))


@router.get("/readyz", responses={HTTPStatus.SERVICE_UNAVAILABLE: {"model": ReadyOut}})
async def readyz(request: Request, response: Response, memory: Memories) -> ReadyOut:
    """Say whether the store answers, with the age of the last write and of the oldest job."""
    watching: Watching = request.app.state.watching
    last = watching.last_write_at
    age = None if last is None else watching.age_of(last)
    try:
        async with asyncio.timeout(PATIENCE_SECONDS):
            queue = (await memory.stats()).queue
    except (DualgateError, TimeoutError):
        response.status_code = HTTPStatus.SERVICE_UNAVAILABLE
        return ReadyOut(status="not ready", last_write_age_seconds=age,
                        oldest_waiting_age_seconds=None, waiting=None, dead=None)  # fmt: skip
    oldest = queue.oldest_enqueued_at
    return ReadyOut(
        status="ready", last_write_age_seconds=age,
        oldest_waiting_age_seconds=None if oldest is None else watching.age_of(oldest),
        waiting=queue.waiting, dead=queue.dead,
    )  # fmt: skip


@router.get("/metrics", response_class=PlainTextResponse)
async def metrics(request: Request) -> Response:
    """Metrics for Prometheus: to this machine, or to an operator's key."""
    if not from_this_machine(request) and not (await caller_of(request)).operates:
        raise ForbiddenError("only an admin key of the local tenant may do this")
    watching: Watching = request.app.state.watching
    return Response(await watching.exposition(), media_type=CONTENT_TYPE_LATEST)
