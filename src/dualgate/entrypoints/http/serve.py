"""One process: REST, live events, panel and worker on one address."""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import secrets
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import uvicorn

from dualgate import Memory, Settings
from dualgate.entrypoints.http.app import create_app
from dualgate.entrypoints.http.watching import configure_logs
from dualgate.errors import SettingsError, StoreError
from dualgate.pipeline.serving import KEY_PREFIX

SHUTDOWN_SECONDS = 5
BACKLOG = 2_048
KEEP_ALIVE_SECONDS = 75  # longer than clients keep theirs: who closes first must be the client
_SIGNALS = (signal.SIGINT, signal.SIGTERM)
WARMING_TURNS = 24  # more than compaction leaves alone by default


def require_safe(settings: Settings) -> None:
    """Refuse to let everybody in from everywhere. Raises SettingsError."""
    if settings.server.keyless and not _is_loopback(settings.server.host):
        raise SettingsError(
            [f"server.keyless is for loopback only, not for server.host {settings.server.host}"]
        )


class _Server(uvicorn.Server):
    """Says when it listens, and ends by a signal without ending the process.

    Uvicorn sends itself the signal again once it has stopped; the memory, which finishes the job
    in hand, would not be closed any more.
    """

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Stop at the first SIGINT or SIGTERM, at once at the second."""
        loop = asyncio.get_running_loop()
        try:
            for name in _SIGNALS:
                loop.add_signal_handler(name, self.handle_exit, name, None)
        except NotImplementedError:
            # Windows has no such handlers; there Uvicorn's own must do.
            with super().capture_signals():
                yield
            return
        try:
            yield
        finally:
            for name in _SIGNALS:
                loop.remove_signal_handler(name)

    def __init__(self, config: uvicorn.Config, said: Callable[[], None]) -> None:
        super().__init__(config)
        self._said = said

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to listen."""
        await super().startup(sockets)
        if self.started:
            self._said()


async def serve(
    memory: Memory, settings: Settings, said: Callable[[str, str | None], None]
) -> None:
    """Serve until SIGINT or SIGTERM.

    said: told the address once it listens, and the one that signs a browser in. Raises
    SettingsError, and StoreError where the address cannot be had.
    """
    require_safe(settings)
    configure_logs(level=logging.INFO)
    own_key = None if settings.server.keyless else KEY_PREFIX + secrets.token_urlsafe(32)
    app = create_app(memory, settings, own_key=own_key)
    listening = _listen(settings.server.host, settings.server.port)
    config = uvicorn.Config(
        app, log_config=None, access_log=False, proxy_headers=False, server_header=False,
        timeout_graceful_shutdown=SHUTDOWN_SECONDS, timeout_keep_alive=KEEP_ALIVE_SECONDS,
        backlog=BACKLOG, lifespan="on", ws="none",
    )  # fmt: skip
    # The models are loaded while nobody waits for them yet.
    warming = asyncio.create_task(_warm(memory))
    address = _address(listening)
    entry = None if own_key is None else f"{address}/enter?key={own_key}"
    await _Server(config, lambda: said(address, entry)).serve(sockets=[listening])
    await warming


async def _warm(memory: Memory) -> None:
    """Let everything that a first message needs be loaded; nothing is stored."""
    turns = [{"role": "user", "content": "Good morning. 早上好。"}] * WARMING_TURNS
    await memory.compact(turns)


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # Named, because asyncio sends small answers at once (TCP_NODELAY) only where it reads "TCP":
    # without it every answer in two pieces waited 40 ms for an acknowledgement.
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
    except OSError as error:
        listening.close()
        problem = f"cannot listen on {host}:{port}: {error.strerror or error}"
        advice = "Choose another --host or --port; --port 0 takes a free one"
        raise StoreError(problem, advice) from error
    return listening


def _address(listening: socket.socket) -> str:
    host, port = listening.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
