"""Live events for the panel: that something changed, never what [U1].

The page then asks for itself again, so that all text goes through the templates.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable

from dualgate import Memory
from dualgate.entrypoints.http.events import Events, stream

CHANGED = "event: changed\ndata: 1\n\n"
BEAT = ": here\n\n"


async def changes(
    memory: Memory, events: Events, user_id: str, *, may: Callable[[], Awaitable[bool]]
) -> AsyncIterator[str]:
    """Yield server-sent events until the browser goes away, the key or the server ends."""
    yield BEAT
    async for event in stream(memory, events, user_id):
        if not await may():
            return
        yield BEAT if event is None else CHANGED
