"""The server in this process: no port, no model; what the user says is scripted."""

from __future__ import annotations

from contextlib import AsyncExitStack, asynccontextmanager

import httpx2
import pytest
import structlog

from dualgate import Candidate, Memory, Settings
from dualgate.config import ServerSettings
from dualgate.entrypoints.http import create_app
from dualgate.pipeline.worker import QueuePolicy
from dualgate.testing import HashEmbedder, ScriptedExtractor

BASE = "http://127.0.0.1:7734"
TEA = "I like tea."
SAID = {
    TEA: [Candidate("preference", TEA, attribute="drink", value="tea", confidence=0.9, quote=TEA)],
    "broken": RuntimeError("broken: a secret sentence"),
}


class Server:
    """An app with its memory, and clients for it."""

    def __init__(self, app, memory, stack):
        self.app = app
        self.memory = memory
        self._stack = stack

    async def client(self, key=None, *, peer="127.0.0.1", **headers):
        """Return a client; key is the secret of an API key."""
        if key is not None:
            headers["authorization"] = f"Bearer {key}"
        transport = httpx2.ASGITransport(
            app=self.app, client=(peer, 5000), raise_app_exceptions=False
        )
        return await self._stack.enter_async_context(
            httpx2.AsyncClient(transport=transport, base_url=BASE, headers=headers)
        )

    async def key(self, tenant="acme", scope="admin", **more):
        """Return the secret of a new key."""
        return (await self.memory.keys.create(tenant, scope=scope, **more)).secret


@asynccontextmanager
async def serving(url="memory://", *, extractor=None, **server):
    settings = Settings(
        server=ServerSettings(**{"keyless": True, **server}),
        queue=QueuePolicy(max_attempts=1, poll_seconds=0.02),
    )
    async with AsyncExitStack() as stack:
        memory = await stack.enter_async_context(
            Memory.open(
                url, settings=settings, extractor=extractor or ScriptedExtractor(SAID),
                embedder=HashEmbedder(),
            )
        )
        app = create_app(memory, settings)
        await stack.enter_async_context(app.router.lifespan_context(app))
        yield Server(app, memory, stack)


@pytest.fixture(autouse=True)
def quiet():
    """Keep the server's log lines for whoever asks."""
    with structlog.testing.capture_logs() as lines:
        yield lines


@pytest.fixture
async def server():
    async with serving() as made:
        yield made


@pytest.fixture
async def client(server):
    return await server.client()


@pytest.fixture
def observed(client):
    """Let a user say something and wait for the decisions."""

    async def say(text=TEA, user_id="ann", session_id="s1", use=None, **more):
        body = {
            "user_id": user_id, "session_id": session_id, "wait": True,
            "messages": [{"role": "user", "content": text}], **more,
        }  # fmt: skip
        return await (use or client).post("/v1/observe", json=body)

    return say
