"""One user who talks, read by the real extractor and the real embedder: what is remembered?

Rule: nothing is asserted here. A pattern is a regular expression over an item's content, upper and
lower case the same.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from dualgate import Memory, MemoryItem, Message, Settings
from dualgate.domain.plan import Decision
from dualgate.pipeline.reading import ExtractionPolicy, HostTrust
from dualgate.testing import ManualClock

USER = "ming"
# Where a story is told through `propose`, it is as if the user himself had said each candidate.
TRUST = ExtractionPolicy(host_trust=HostTrust.FULL)
TRUSTING = Settings(extraction=TRUST)
ACTIVE = ("candidate", "confirmed", "frozen")
START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)

Line = str | tuple[str, str]


class Talk:
    """Lets users say things in sessions a day apart, and looks at what is remembered."""

    def __init__(self, memory: Memory, clock: ManualClock) -> None:
        self.memory = memory
        self.clock = clock
        self._session = 0

    async def says(
        self, *lines: Line, session: str | None = None, at: str | None = None, user: str = USER
    ) -> list[Decision]:
        """Let a user speak; a pair is (role, text). Without a session it is a new one."""
        if session is None:
            self._session += 1
            session = f"session-{self._session}"
            self.clock.advance(days=1)
        when = None if at is None else datetime.fromisoformat(at)
        if when is not None and when > self.clock.now():
            self.clock.set(when + timedelta(minutes=1))
        messages = [
            Message(*(line if isinstance(line, tuple) else ("user", line)), at=when)
            for line in lines
        ]
        receipt = await self.memory.observe(user, session, messages, wait=True)
        return list(receipt.decisions)

    async def active(
        self, pattern: str = "", *, subject: str | None = None, user: str = USER
    ) -> list[MemoryItem]:
        """Return what is hot or frozen and matches."""
        return await self._matching(pattern, ACTIVE, subject, user)

    async def any(self, pattern: str = "", *, user: str = USER) -> list[MemoryItem]:
        """Return what matches in any state, history included."""
        return await self._matching(pattern, None, None, user)

    async def recalled(self, query: str, *, user: str = USER) -> list[str]:
        """Return the contents that a recall brings back, best first."""
        found = await self.memory.recall(user, query)
        return [hit.item.content for hit in found.hits]

    async def context(self, query: str = "", *, user: str = USER) -> str:
        """Return the block that a new session would start with."""
        self._session += 1
        block = await self.memory.context(user, f"opening-{self._session}", query)
        return block.text

    async def _matching(
        self, pattern: str, status: Sequence[str] | None, subject: str | None, user: str
    ) -> list[MemoryItem]:
        found: list[MemoryItem] = []
        cursor: str | None = None
        while True:
            page = await self.memory.items(user, status=status, limit=500, cursor=cursor)
            found += page.items
            cursor = page.cursor
            if cursor is None:
                break
        return [
            item
            for item in found
            if re.search(pattern, item.content, re.IGNORECASE)
            and (subject is None or item.subject == subject)
        ]


def contents(items: Sequence[MemoryItem]) -> list[str]:
    """Return the contents, for asserts that show what was there."""
    return [item.content for item in items]
