"""Live events for the panel: that something changed, never what [U1].

The page then asks for itself again, so that all text goes through the templates.
"""

from __future__ import annotations

from collections.abc import AsyncIterator

from dualgate import Memory
from dualgate.entrypoints.http.events import Events, stream

CHANGED = "event: changed\ndata: 1\n\n"
BEAT = ": here\n\n"


async def changes(memory: Memory, events: Events, user_id: str) -> AsyncIterator[str]:
    """Yield server-sent events until the browser goes away or the server ends."""
    yield BEAT
    async for event in stream(memory, events, user_id):
        yield BEAT if event is None else CHANGED
