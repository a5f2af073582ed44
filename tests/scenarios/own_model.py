"""A memory with a model of one's own, scripted: how tests open it and what the model says.

Rule: nothing is asserted here.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from dualgate import Memory, MemoryItem, Message, Settings
from dualgate.pipeline.reading import ExtractionPolicy
from dualgate.pipeline.worker import QueuePolicy
from dualgate.testing import HashEmbedder, ManualClock

from .talk import ACTIVE, START, USER

QUICK = QueuePolicy(backoff_seconds=0.01, outage_seconds=0.02, poll_seconds=0.02)


def policy(**changes: Any) -> ExtractionPolicy:
    """Return a policy in which every turn reaches the model at once."""
    given = {"prefilter": False, "debounce_seconds": 0.0, "rest_seconds": 0.0, **changes}
    return ExtractionPolicy(**given)


def statement(content: str, quote: str | None, **fields: Any) -> dict[str, Any]:
    """Return one statement as a well-behaved model gives it."""
    return {
        "turn": 1, "quote": quote, "content": content, "type": "fact", "subject": "user",
        "attribute": None, "value": None, "qualifiers": [], "polarity": "+", "confidence": 0.9,
        "evidence": "explicit", "correction": False, "scope": "lasting", "event_at": None,
        "expires_at": None, "entities": [], "sensitivity": "normal", **fields,
    }  # fmt: skip


def said(*statements: dict[str, Any]) -> dict[str, Any]:
    """Return an answer with these statements."""
    return {"statements": list(statements)}


NOTHING = said()


@asynccontextmanager
async def memory_with(
    model: Any, *, extraction: ExtractionPolicy | None = None, url: str = "memory://", **more: Any
) -> AsyncIterator[Memory]:
    """Open a memory that asks this model."""
    clock = more.pop("clock", None) or ManualClock(START)
    embedder = more.pop("embedder", None) or HashEmbedder()
    settings = Settings(extraction=extraction or policy(), queue=QUICK, **more)
    async with Memory.open(
        url, settings=settings, clock=clock, embedder=embedder, model=model
    ) as memory:
        yield memory


async def hears(memory: Memory, *texts: str, session: str = "s1") -> list[Any]:
    """Let the user say something, and wait for what comes of it."""
    messages = [Message("user", text) for text in texts]
    return list((await memory.observe(USER, session, messages, wait=True)).decisions)


async def active(memory: Memory) -> list[MemoryItem]:
    """Return what is hot or frozen."""
    return list((await memory.items(USER, status=ACTIVE)).items)
