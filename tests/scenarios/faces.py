"""One memory and its faces: the library, REST, the panel and the command line.

Rule: nothing is asserted here.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2

from dualgate import Memory, Settings
from dualgate.config import ServerSettings
from dualgate.entrypoints.http import create_app
from dualgate.pipeline.worker import QueuePolicy
from dualgate.testing import HashEmbedder, ManualClock

from .talk import START, TRUST, USER

ADDRESS = "http://127.0.0.1:7734"
COMMAND = [sys.executable, "-c", "from dualgate.entrypoints.cli.main import main; main()"]


class Faces:
    """A memory, and a client of its server on this machine."""

    def __init__(self, memory: Memory, app: Any, rest: httpx2.AsyncClient) -> None:
        self.memory = memory
        self.app = app
        self.rest = rest

    async def get(self, path: str, user: str = USER, **params: Any) -> Any:
        """Return the JSON of a GET under /v1 for a user."""
        answer = await self.rest.get(f"/v1{path}", params={"user_id": user, **params})
        return answer.raise_for_status().json()

    async def post(self, path: str, user: str = USER, **body: Any) -> Any:
        """Return the JSON of a POST under /v1 for a user; None where there is none."""
        answer = await self.rest.post(f"/v1{path}", json={"user_id": user, **body})
        answer.raise_for_status()
        return answer.json() if answer.content else None

    async def page(self, path: str, user: str = USER, **params: Any) -> str:
        """Return a page of the panel as a browser gets it."""
        answer = await self.rest.get(
            f"/panel{path}", params={"user": user, **params}, follow_redirects=True
        )
        return str(answer.raise_for_status().text)

    def client(self, **headers: str) -> httpx2.AsyncClient:
        """Return one more client, with headers of its own; to be closed."""
        transport = httpx2.ASGITransport(app=self.app, raise_app_exceptions=False)
        return httpx2.AsyncClient(transport=transport, base_url=ADDRESS, headers=headers)


@asynccontextmanager
async def faces(
    url: str = "memory://", *, server: Mapping[str, Any] | None = None, **given: Any
) -> AsyncIterator[Faces]:
    """Open a memory with its server; `given` goes to Memory.open."""
    settings = Settings(
        server=ServerSettings(**{"keyless": True, **(server or {})}),
        queue=QueuePolicy(max_attempts=1, poll_seconds=0.02), extraction=TRUST, flush_seconds=0.0,
    )  # fmt: skip
    given = {"clock": ManualClock(START), "embedder": HashEmbedder(), **given}
    async with Memory.open(url, settings=settings, **given) as memory:
        app = create_app(memory, settings)
        transport = httpx2.ASGITransport(app=app, raise_app_exceptions=False)
        async with (
            app.router.lifespan_context(app),
            httpx2.AsyncClient(transport=transport, base_url=ADDRESS) as rest,
        ):
            yield Faces(memory, app, rest)


def environment(home: Path, **more: str) -> dict[str, str]:
    """Return the environment of a user whose home is a folder of the test."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("DUALGATE_", "LC_", "LANG"))}
    return {**kept, "HOME": str(home), "XDG_DATA_HOME": str(home / "data"), **more}


def call(
    home: Path, *words: str, cwd: Path | None = None, stdin: bytes = b"", **more: str
) -> subprocess.CompletedProcess[bytes]:
    """Run the installed command to its end."""
    return subprocess.run(
        [*COMMAND, *words], input=stdin, capture_output=True, env=environment(home, **more),
        cwd=cwd or home, timeout=60, check=False,
    )  # fmt: skip
