"""Live events: what the queue decides, told to whoever listens to that user.

What happens in this process is told at once, through the observer. What other processes decide is
found by looking every few seconds. A listener that cannot keep up is told that it missed some.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from dualgate import Memory
from dualgate.domain.plan import Decision, Move
from dualgate.pipeline.ports import Job

LOOK_SECONDS = 3.0
BACKLOG = 1_000  # events a listener may lag behind
REMEMBERED = 2_000  # decisions told already, so that looking tells none twice
LOOKED_AT = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """decision: a candidate ended. moved: items moved. failed: a job failed. missed: some were."""

    kind: str
    user_id: str
    decision: Decision | None = None
    moves: tuple[Move, ...] = ()
    job_id: str | None = None
    dead: bool = False


class Listener:
    """One listener's waiting events."""

    def __init__(self, user_id: str) -> None:
        self._user_id = user_id
        self._waiting: asyncio.Queue[Event | None] = asyncio.Queue(BACKLOG)
        self._told: OrderedDict[str, None] = OrderedDict()
        self._missed = False

    def tell(self, event: Event) -> None:
        """Hand over an event; what is too much is dropped, and said so."""
        if event.decision is not None and not self._is_new(event.decision.id):
            return
        try:
            self._waiting.put_nowait(event)
        except asyncio.QueueFull:
            self._missed = True

    def know(self, decisions: Sequence[Decision]) -> None:
        """Take these decisions as told."""
        for decision in decisions:
            self._is_new(decision.id)

    def close(self) -> None:
        """End the stream, when what waits has been read."""
        try:
            self._waiting.put_nowait(None)
        except asyncio.QueueFull:
            self._waiting.get_nowait()
            self._waiting.put_nowait(None)

    async def next(self, seconds: float) -> Event | None:
        """Return the next event; TimeoutError after so many seconds; None at the end."""
        if self._missed and self._waiting.empty():
            self._missed = False
            return Event(kind="missed", user_id=self._user_id)
        async with asyncio.timeout(seconds):
            return await self._waiting.get()

    def _is_new(self, decision_id: str) -> bool:
        if decision_id in self._told:
            return False
        self._told[decision_id] = None
        if len(self._told) > REMEMBERED:
            self._told.popitem(last=False)
        return True


class Events:
    """An observer that passes on what it is told to those who listen to that user."""

    def __init__(self) -> None:
        self._listeners: dict[str, list[Listener]] = {}

    @contextmanager
    def listening(self, user_id: str) -> Iterator[Listener]:
        """Listen to a user (his stored id)."""
        listener = Listener(user_id)
        self._listeners.setdefault(user_id, []).append(listener)
        try:
            yield listener
        finally:
            left = [each for each in self._listeners.get(user_id, []) if each is not listener]
            if left:
                self._listeners[user_id] = left
            else:
                self._listeners.pop(user_id, None)

    def close(self) -> None:
        """End every stream."""
        for listeners in list(self._listeners.values()):
            for listener in listeners:
                listener.close()

    def decided(self, decision: Decision) -> None:
        """A candidate ended."""
        self._tell(Event(kind="decision", user_id=decision.user_id, decision=decision))

    def moved(self, moves: Sequence[Move]) -> None:
        """Items moved."""
        of_user: dict[str, list[Move]] = {}
        for move in moves:
            of_user.setdefault(move.user_id, []).append(move)
        for user_id, moved in of_user.items():
            self._tell(Event(kind="moved", user_id=user_id, moves=tuple(moved)))

    def failed(self, job: Job, error: str, *, dead: bool) -> None:  # noqa: ARG002
        """Tell of a failed job, without the error: it may quote what was said."""
        self._tell(Event(kind="failed", user_id=job.user_id, job_id=job.id, dead=dead))

    def stumbled(self, error: str) -> None:
        """Nobody's event."""

    def _tell(self, event: Event) -> None:
        for listener in self._listeners.get(event.user_id, ()):
            listener.tell(event)


async def stream(
    memory: Memory, events: Events, user_id: str, *, after: str | None = None
) -> AsyncIterator[Event | None]:
    """Yield a user's events as they come; None now and then, while nothing happens.

    after: the id of the last decision a listener has seen; what came since is told first.
    """
    with events.listening(user_id) as listener:
        recent = await memory.why(user_id, limit=LOOKED_AT)
        seen = [d.id for d in recent]
        missed = recent[: seen.index(after)] if after in seen else []
        listener.know([d for d in recent if d not in missed])
        for decision in reversed(missed):
            listener.tell(Event(kind="decision", user_id=user_id, decision=decision))
        while True:
            try:
                event = await listener.next(LOOK_SECONDS)
            except TimeoutError:
                for decision in reversed(await memory.why(user_id, limit=LOOKED_AT)):
                    listener.tell(Event(kind="decision", user_id=user_id, decision=decision))
                yield None
                continue
            if event is None:
                return
            yield event
