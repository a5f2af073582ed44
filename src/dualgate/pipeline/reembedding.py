"""When the embedding model changes: new vectors for old memories, while recall goes on [T3].

Rule: what has no vector of the current model is read from the store, so the work can be left off
and taken up at any point, by any process. Two models are never mixed: until a memory has its new
vector it is found by its words. A user who is written or read comes before his turn.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from dualgate.domain.items import MemoryItem
from dualgate.domain.plan import Plan
from dualgate.errors import DualgateError, ModelError, ModelUnavailableError
from dualgate.pipeline.observer import Observer
from dualgate.pipeline.ports import Embedder, Store

RE_EMBEDDING = "the embedding model has changed; some memories still wait for their new vectors"
BATCH = 64
_PAGE = 200
_KNOWN_USERS = 10_000
_PAUSE_SECONDS = 0.005  # between users of whom there is nothing to do
_RETRY_SECONDS = 30.0
_ANY_TEXT = "."  # to learn the size of a model's vectors


@dataclass(frozen=True, slots=True, kw_only=True)
class ReembedPorts:
    """What re-embedding talks to. turns: brings a user's raw turns up to the current model."""

    store: Store
    embedder: Embedder
    observer: Observer
    turns: Callable[[str], Awaitable[object]]


async def reembed(user_id: str, store: Store, embedder: Embedder) -> int:
    """Give every live item of a user a vector of the current model; return how many got one.

    Hot and frozen items come first. Raises ModelError, after which what was done stays done.
    """
    done = 0
    while missing := await unembedded(user_id, store, embedder, BATCH):
        vectors = await embedder.embed([item.content for item in missing])
        made = {item.id: (item, v) for item, v in zip(missing, vectors, strict=True)}
        async with store.begin(user_id) as tx:
            now = await tx.items(made)
            # What was reworded or removed meanwhile has, or needs, another vector.
            same = [i for i in now.values() if i.content == made[i.id][0].content]
            await tx.apply(Plan(items=tuple(same)), {i.id: made[i.id][1] for i in same})
        done += len(same)
        if not same:
            break
    return done


async def unembedded(
    user_id: str, store: Store, embedder: Embedder, limit: int
) -> list[MemoryItem]:
    """Return live items without a vector of the current model."""
    if not embedder.dim:
        await embedder.embed([_ANY_TEXT])
    return await store.unembedded(user_id, dim=embedder.dim, limit=limit)


class Reembedding:
    """Re-embeds in the background, users in order, those asked for first."""

    def __init__(self, on: ReembedPorts) -> None:
        self._on = on
        self._current: OrderedDict[str, None] = OrderedDict()
        self._asked: dict[str, None] = {}  # each once, in order
        self._wake = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin in the background."""
        self._task = asyncio.create_task(self._run(), name="dualgate-reembedding")

    async def stop(self) -> None:
        """Leave off; the next start takes it up."""
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task
            self._task = None

    async def waits(self, user_id: str) -> bool:
        """Return whether memories of a user lack a current vector; he is then served next.

        Once none does, nothing is asked any more: new ones are written with theirs.
        """
        if user_id in self._current or not self._on.embedder.dim:
            return False
        missing = await unembedded(user_id, self._on.store, self._on.embedder, 1)
        if not missing:
            self._know(user_id)
        elif self._task is not None:
            self._asked[user_id] = None
            self._wake.set()  # the model has just embedded a question: it is there
        return bool(missing)

    async def bring_up(self, user_id: str) -> None:
        """Re-embed one user now, before anything is compared with his memories [C1]."""
        if user_id not in self._current:
            await reembed(user_id, self._on.store, self._on.embedder)
            self._know(user_id)

    def _know(self, user_id: str) -> None:
        self._current[user_id] = None
        while len(self._current) > _KNOWN_USERS:
            self._current.popitem(last=False)

    async def _run(self) -> None:
        walked: str | None = None
        finished = False
        while True:
            try:
                if self._asked:
                    user_id = next(iter(self._asked))
                    await self._one(user_id)
                    del self._asked[user_id]
                    continue
                if finished:
                    self._wake.clear()
                    await self._wake.wait()
                    continue
                page = await self._on.store.users(walked, _PAGE)
                finished = not page
                for user_id in page:
                    await self._one(user_id)
                    walked = user_id  # only now: an outage begins with him again
                    await asyncio.sleep(_PAUSE_SECONDS)
                    if self._asked:
                        break
            except DualgateError as error:
                # The endpoint is away, or the database busy: it goes on where it was.
                self._on.observer.stumbled(f"re-embedding: {error}")
                self._wake.clear()
                wait = max(_RETRY_SECONDS, getattr(error, "retry_after", None) or 0.0)
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(wait):
                        await self._wake.wait()

    async def _one(self, user_id: str) -> None:
        try:
            await self.bring_up(user_id)
            await self._on.turns(user_id)
        except ModelUnavailableError:
            raise
        except ModelError as error:
            # It would be refused again; the others must not wait for it.
            self._on.observer.stumbled(f"re-embedding of {user_id}: {error}")
