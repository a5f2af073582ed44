"""Play a conversation through a real memory, turn by turn, and gather what it decided.

Rule: everything in a Story was returned by the memory's public methods, or read from its file.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from dualgate.bootstrap import Memory
from dualgate.config import Settings
from dualgate.domain.assembly import ContextBlock
from dualgate.domain.items import MemoryItem, Message
from dualgate.domain.plan import Decision, Pending
from dualgate.domain.status import Status
from dualgate.domain.types import Role
from dualgate.entrypoints.demo.clock import ReplayClock
from dualgate.entrypoints.demo.conversations import Conversation, Session
from dualgate.pipeline.looking import History, Pools

NEXT_SESSION = "next"
_PAGE = 1_000
_SHOWN = frozenset(Status) - {Status.FORGOTTEN}

Progress = Callable[[Message], None]


@dataclass(frozen=True, slots=True)
class Heard:
    """One message, and what was decided about each statement in it."""

    message: Message
    decisions: tuple[Decision, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """How often the secret's bytes occur in the memory's files, and how much was searched."""

    found: int
    searched: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Story:
    """What a memory made of a conversation."""

    conversation: Conversation
    heard: tuple[Heard, ...]
    items: tuple[MemoryItem, ...]
    histories: Mapping[str, History]
    pendings: tuple[Pending, ...]
    pools: Pools
    block: ContextBlock
    settings: Settings
    secret: Search

    @property
    def decisions(self) -> tuple[Decision, ...]:
        """All decisions, in the order in which they were made."""
        return tuple(decision for heard in self.heard for decision in heard.decisions)

    def item(self, item_id: str | None) -> MemoryItem | None:
        """Return an item of the story."""
        return next((item for item in self.items if item.id == item_id), None)

    def silent(self) -> list[Message]:
        """Return what the user said that held no statement at all."""
        return [
            heard.message
            for heard in self.heard
            if heard.message.role is Role.USER and not heard.decisions
        ]


async def play(told: Conversation, file: Path, progress: Progress) -> Story:
    """Play the conversation into a new SQLite file and return what came of it."""
    settings = Settings()
    clock = ReplayClock(told.starts_at)
    async with Memory.open(f"sqlite:///{file}", settings=settings, clock=clock) as memory:
        heard: list[Heard] = []
        for session in told.sessions:
            heard += await _session(memory, told, session, clock, progress)
        clock.move_to(told.next_at)
        await memory.maintain(told.user)
        block = await memory.context(told.user, NEXT_SESSION, told.next_says, lang=told.lang)
        items = (await memory.items(told.user, status=_SHOWN, limit=_PAGE)).items
        histories = {item.id: await memory.history(told.user, item.id) for item in items}
        pendings = tuple(await memory.pending(told.user))
        pools = (await memory.stats(told.user)).pools
    if pools is None:  # pragma: no cover - one user always has pools
        raise AssertionError(told.user)
    return Story(
        conversation=told, heard=tuple(heard), items=items, histories=histories,
        pendings=pendings, pools=pools, block=block, settings=settings,
        secret=_search(file, told.secret),
    )  # fmt: skip


async def _session(
    memory: Memory, told: Conversation, session: Session, clock: ReplayClock, progress: Progress
) -> list[Heard]:
    """Do what an application does: ask for the context, hand in each turn, end the session."""
    heard = []
    for message in session.messages:
        if message.at is not None:
            clock.move_to(message.at)
        if message is session.messages[0]:
            await memory.context(told.user, session.id, session.opening, lang=told.lang)
        receipt = await memory.observe(told.user, session.id, [message], wait=True)
        heard.append(Heard(message, tuple(receipt.decisions or ())))
        progress(message)
    await memory.end_session(told.user, session.id)
    return heard


def _search(file: Path, secret: str) -> Search:
    """Look for the secret in the database and in the files SQLite keeps beside it."""
    contents = [path.read_bytes() for path in file.parent.glob(f"{file.name}*")]
    return Search(
        found=sum(content.count(secret.encode()) for content in contents),
        searched=sum(map(len, contents)),
    )
