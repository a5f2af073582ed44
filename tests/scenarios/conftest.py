"""A story: one user, a clock that stands still between lines, the real pipeline."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any

import pytest

from dualgate import Candidate, Memory, MemoryItem
from dualgate.domain.plan import Decision
from dualgate.testing import HashEmbedder, ManualClock

from .talk import TRUSTING, Talk

USER = "ming"
START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


class Story:
    """Lets one user say things in sessions, and looks at what is remembered."""

    def __init__(self, memory: Memory, clock: ManualClock) -> None:
        self.memory = memory
        self.clock = clock
        self._session = 0

    async def says(
        self, content: str, *, session: str | None = None, item_type: str = "preference",
        confidence: float = 0.9, **fields: Any,
    ) -> Decision:
        """Let the user state something; without a session it is a new one, a day later."""
        if session is None:
            self._session += 1
            self.clock.advance(days=1)
            session = f"session-{self._session}"
        candidate = Candidate(item_type, content, confidence=confidence, **fields)
        receipt = await self.memory.propose(USER, session, [candidate], wait=True)
        return receipt.decisions[0]

    async def prefers(self, value: str, content: str | None = None, **fields: Any) -> Decision:
        """Let the user state how long answers should be."""
        fields.setdefault("attribute", "reply_length")
        return await self.says(content or f"用户喜欢{value}的回答", value=value, **fields)

    async def active(self) -> list[MemoryItem]:
        """Return what is hot or frozen."""
        page = await self.memory.items(USER, status=("candidate", "confirmed", "frozen"))
        return list(page.items)

    async def frozen(self) -> list[str]:
        """Return the contents of the frozen pool."""
        return [i.content for i in (await self.memory.items(USER, status="frozen")).items]

    async def freeze(self, value: str = "简洁") -> MemoryItem:
        """Let the user confirm a preference in three sessions."""
        for _ in range(3):
            decision = await self.prefers(value)
        item = await self.memory.item(USER, str(decision.item_id))
        assert item.status == "frozen"
        return item


@pytest.fixture
async def story() -> AsyncIterator[Story]:
    clock = ManualClock(START)
    async with Memory.open(
        "memory://", clock=clock, embedder=HashEmbedder(), settings=TRUSTING
    ) as memory:
        yield Story(memory, clock)


@pytest.fixture
async def talk() -> AsyncIterator[Talk]:
    """A story told in plain words: the real extractor, embedder and judge read it."""
    clock = ManualClock(START)
    async with Memory.open("memory://", clock=clock, settings=TRUSTING) as memory:
        yield Talk(memory, clock)
