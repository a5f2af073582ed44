"""SyncMemory: the same methods for callers without an event loop [spec §8].

One private loop in one thread runs the async Memory; every method waits for its answer. It is safe
to share between threads.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Collection, Coroutine, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Self, TypeVar

from dualgate.bootstrap import Memory
from dualgate.config import Settings
from dualgate.conversation.compacting import Compacted
from dualgate.conversation.shapes import HostMessage
from dualgate.conversation.working import WorkingMemory
from dualgate.domain.assembly import ContextBlock
from dualgate.domain.audit import Finding
from dualgate.domain.items import Candidate, MemoryItem
from dualgate.domain.plan import Decision, Move, Pending
from dualgate.domain.signals import Signal
from dualgate.domain.status import Status
from dualgate.domain.types import ItemType
from dualgate.errors import DualgateError
from dualgate.pipeline.dossier import ErasureReport
from dualgate.pipeline.exporting import ExportReport, ImportReport
from dualgate.pipeline.intake import Receipt
from dualgate.pipeline.looking import History, Stats
from dualgate.pipeline.observer import Observer
from dualgate.pipeline.paging import DecisionPage
from dualgate.pipeline.ports import ChatModel, Clock, DeadJob, Embedder, Extractor, ItemPage
from dualgate.pipeline.recall import Found
from dualgate.pipeline.waiting import JobReport

_T = TypeVar("_T")


class _Loop:
    """A private event loop in a daemon thread."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(
            target=self._loop.run_forever, name="dualgate-loop", daemon=True
        )
        self._thread.start()

    def is_running(self) -> bool:
        """Return whether the loop still takes work."""
        return self._thread.is_alive()

    def run(self, work: Coroutine[Any, Any, _T]) -> _T:
        """Run a coroutine there and wait for it."""
        if not self._thread.is_alive():
            work.close()
            raise DualgateError("this memory is closed")
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    def stop(self) -> None:
        """End the loop and its thread."""
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


class SyncWorkingMemory:
    """WorkingMemory for callers without an event loop [L2]."""

    def __init__(self, notes: WorkingMemory, loop: _Loop) -> None:
        self._notes = notes
        self._loop = loop

    def set(self, key: str, value: str) -> None:
        """Keep a note."""
        self._loop.run(self._notes.set(key, value))

    def get(self, key: str) -> str | None:
        """Return a note, None if there is none."""
        return self._loop.run(self._notes.get(key))

    def all(self) -> dict[str, str]:
        """Return all notes of the task."""
        return self._loop.run(self._notes.all())

    def clear(self) -> None:
        """End the task: its notes go."""
        self._loop.run(self._notes.clear())


class SyncMemory:
    """Memory for callers without an event loop; see Memory for each method."""

    def __init__(self, memory: Memory, loop: _Loop) -> None:
        self._memory = memory
        self._loop = loop

    @classmethod
    def open(
        cls,
        url: str | None = None,
        *,
        settings: Settings | None = None,
        clock: Clock | None = None,
        extractor: Extractor | None = None,
        embedder: Embedder | None = None,
        observer: Observer | None = None,
        model: ChatModel | None = None,
    ) -> SyncMemory:
        """Open a memory, as `Memory.open`."""
        loop = _Loop()

        async def opened() -> Memory:
            return await Memory.open(
                url, settings=settings, clock=clock, extractor=extractor, embedder=embedder,
                observer=observer, model=model,
            )  # fmt: skip

        try:
            return cls(loop.run(opened()), loop)
        except BaseException:
            loop.stop()
            raise

    def close(self) -> None:
        """Close the memory and end its thread."""
        if self._loop.is_running():
            self._run(self._memory.close())
            self._loop.stop()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _run(self, work: Coroutine[Any, Any, _T]) -> _T:
        return self._loop.run(work)

    def working(self, user_id: str, session_id: str, task_id: str) -> SyncWorkingMemory:
        """Return the notes of a task [L2]."""
        notes = self._run(self._memory.working(user_id, session_id, task_id))
        return SyncWorkingMemory(notes, self._loop)

    def drain(self, timeout: float | None = None) -> None:
        """Wait until nothing is queued or running. Raises TimeoutError after `timeout` seconds."""
        return self._run(self._memory.drain(timeout))

    def run_worker_once(self) -> bool:
        """Work off one user's due jobs; return whether there were any. For worker processes."""
        return self._run(self._memory.run_worker_once())

    def observe(
        self,
        user_id: str,
        session_id: str,
        messages: Sequence[Any],
        *,
        wait: bool = False,
        private: bool = False,
        task_id: str | None = None,
        parent_session_id: str | None = None,
        idempotency_key: str | None = None,
    ) -> Receipt:
        """Hand over turns; return as soon as they are durably queued [W1]."""
        return self._run(
            self._memory.observe(
                user_id,
                session_id,
                messages,
                wait=wait,
                private=private,
                task_id=task_id,
                parent_session_id=parent_session_id,
                idempotency_key=idempotency_key,
            )
        )

    def propose(
        self,
        user_id: str,
        session_id: str,
        candidates: Sequence[Candidate],
        *,
        wait: bool = False,
        private: bool = False,
        idempotency_key: str | None = None,
    ) -> Receipt:
        """Hand over candidates that the assistant's own model understood [W5]."""
        return self._run(
            self._memory.propose(
                user_id,
                session_id,
                candidates,
                wait=wait,
                private=private,
                idempotency_key=idempotency_key,
            )
        )

    def end_session(self, user_id: str, session_id: str) -> None:
        """End a session: its working memory goes [L2]."""
        return self._run(self._memory.end_session(user_id, session_id))

    def context(
        self,
        user_id: str,
        session_id: str,
        query: str = "",
        *,
        token_budget: int | None = None,
        window_tokens: int | None = None,
        lang: str | None = None,
        preview: bool = False,
        private: bool = False,
    ) -> ContextBlock:
        """Return what the model should know at the start of a session [R1, R4]."""
        return self._run(
            self._memory.context(
                user_id,
                session_id,
                query,
                token_budget=token_budget,
                window_tokens=window_tokens,
                lang=lang,
                preview=preview,
                private=private,
            )
        )

    def recall(
        self,
        user_id: str,
        query: str,
        *,
        limit: int = 10,
        item_types: Collection[ItemType | str] | None = None,
        archived: bool = True,
        sensitive: bool = False,
        transcripts: bool = False,
        as_of: datetime | None = None,
        recipe: Any = None,
        lang: str | None = None,
        private: bool = False,
    ) -> Found:
        """Return the few items that fit the query, each with its relevance per path [R2, R3]."""
        return self._run(
            self._memory.recall(
                user_id,
                query,
                limit=limit,
                item_types=item_types,
                archived=archived,
                sensitive=sensitive,
                transcripts=transcripts,
                as_of=as_of,
                recipe=recipe,
                lang=lang,
                private=private,
            )
        )

    def items(
        self,
        user_id: str,
        *,
        status: Status | str | Collection[Status | str] | None = None,
        item_type: ItemType | str | None = None,
        text: str | None = None,
        limit: int = 100,
        cursor: str | None = None,
    ) -> ItemPage:
        """List items, newest first. status: one, several, or None for all but forgotten ones."""
        return self._run(
            self._memory.items(
                user_id,
                status=status,
                item_type=item_type,
                text=text,
                limit=limit,
                cursor=cursor,
            )
        )

    def item(self, user_id: str, item_id: str) -> MemoryItem:
        """Return one item, whatever its status. Raises NotFoundError."""
        return self._run(self._memory.item(user_id, item_id))

    def history(self, user_id: str, item_id: str) -> History:
        """Return an item's moves, signals with quotes, versions (oldest first), and recalls."""
        return self._run(self._memory.history(user_id, item_id))

    def why(
        self,
        user_id: str,
        *,
        text: str | None = None,
        job_id: str | None = None,
        limit: int = 100,
    ) -> list[Decision]:
        """Return recorded decisions, newest first, refused ones too [W2]."""
        return self._run(self._memory.why(user_id, text=text, job_id=job_id, limit=limit))

    def decisions(
        self,
        user_id: str,
        *,
        text: str | None = None,
        job_id: str | None = None,
        limit: int = 100,
        cursor: str | None = None,
    ) -> DecisionPage:
        """Return what `why` returns, a page at a time, newest first."""
        return self._run(
            self._memory.decisions(user_id, text=text, job_id=job_id, limit=limit, cursor=cursor)
        )

    def job(self, user_id: str, job_id: str, *, wait: bool = False) -> JobReport:
        """Return how a job stands: waiting, done or dead, with its decisions or its error."""
        return self._run(self._memory.job(user_id, job_id, wait=wait))

    def moves(self, user_id: str, limit: int = 1_000) -> list[Move]:
        """Return the last moves of all the user's items, newest first [S1]."""
        return self._run(self._memory.moves(user_id, limit))

    def signals(self, user_id: str, item_ids: Sequence[str]) -> dict[str, list[Signal]]:
        """Return what was said for and against each of these items, oldest first."""
        return self._run(self._memory.signals(user_id, item_ids))

    def dead(self, user_id: str | None = None, limit: int = 100) -> list[DeadJob]:
        """Return parked jobs with their errors, newest first: of one user or of all [W1]."""
        return self._run(self._memory.dead(user_id, limit))

    def revive(self, user_id: str, job_id: str) -> None:
        """Let a parked job run again, in its old place. Raises NotFoundError."""
        return self._run(self._memory.revive(user_id, job_id))

    def stats(self, user_id: str | None = None) -> Stats:
        """Return pool sizes, threshold, queue and counts, of one user or of all."""
        return self._run(self._memory.stats(user_id))

    def watch(self, observer: Observer) -> None:
        """Tell this observer, too, what happens; it is told in the loop's thread."""
        self._memory.watch(observer)

    def unwatch(self, observer: Observer) -> None:
        """Tell it no more."""
        self._memory.unwatch(observer)

    def users(self, after: str | None = None, limit: int = 100) -> list[str]:
        """Return the ids of users in order, those after `after`: for whoever runs dualgate."""
        return self._run(self._memory.users(after, limit))

    def correct(self, user_id: str, item_id: str, content: str) -> MemoryItem:
        """Reword an item; it keeps its id, place and counts, the old version is kept."""
        return self._run(self._memory.correct(user_id, item_id, content))

    def like(self, user_id: str, item_id: str) -> MemoryItem:
        """Count one explicit confirmation, once a day."""
        return self._run(self._memory.like(user_id, item_id))

    def dislike(self, user_id: str, item_id: str) -> MemoryItem:
        """Take one confirmation off; a frozen item thaws."""
        return self._run(self._memory.dislike(user_id, item_id))

    def pin(self, user_id: str, item_id: str) -> MemoryItem:
        """Protect an item: it freezes as soon as there is a place, and never weathers."""
        return self._run(self._memory.pin(user_id, item_id))

    def unpin(self, user_id: str, item_id: str) -> MemoryItem:
        """Take the protection back."""
        return self._run(self._memory.unpin(user_id, item_id))

    def forget(self, user_id: str, item_id: str, confirm: bool = False) -> MemoryItem:
        """Remove an item, undoably for 30 days. Raises ConfirmationRequiredError if frozen."""
        return self._run(self._memory.forget(user_id, item_id, confirm))

    def restore(self, user_id: str, item_id: str) -> MemoryItem:
        """Take a forget back, or bring an archived item back."""
        return self._run(self._memory.restore(user_id, item_id))

    def erase(
        self, user_id: str, item_id: str | None = None, *, session_id: str | None = None
    ) -> ErasureReport:
        """Erase an item with all its versions, or a session: for ever, everywhere [P3]."""
        return self._run(self._memory.erase(user_id, item_id, session_id=session_id))

    def erase_user(self, user_id: str) -> ErasureReport:
        """Erase all that is kept of a user; nothing but keyed hashes stays [P3]."""
        return self._run(self._memory.erase_user(user_id))

    def scrub(self) -> bool:
        """Finish erasures and rewrite the file, however large; return whether it worked [P3]."""
        return self._run(self._memory.scrub())

    def export(self, user_id: str, path: str | Path) -> ExportReport:
        """Write all that is kept of a user to a new folder, or .zip file [P3]."""
        return self._run(self._memory.export(user_id, path))

    def import_(self, user_id: str, path: str | Path) -> ImportReport:
        """Read an export back without loss, all of it or nothing; twice changes nothing [P3]."""
        return self._run(self._memory.import_(user_id, path))

    def pending(self, user_id: str) -> list[Pending]:
        """Return the open pending overrides, oldest first [F3]."""
        return self._run(self._memory.pending(user_id))

    def settle(
        self, user_id: str, pending_id: str, accept: bool, keep_old: bool = False
    ) -> MemoryItem:
        """Accept or reject a pending override; return the item that stands now."""
        return self._run(self._memory.settle(user_id, pending_id, accept, keep_old))

    def choose(self, user_id: str, item_id: str) -> MemoryItem:
        """Settle a contest for this item: what contradicts it is superseded [C2]."""
        return self._run(self._memory.choose(user_id, item_id))

    def keep_both(self, user_id: str, item_id: str) -> MemoryItem:
        """End a contest without a loser: this item and what contradicts it hold [C2]."""
        return self._run(self._memory.keep_both(user_id, item_id))

    def pause(self, user_id: str, capture: bool = True, recall: bool = False) -> None:
        """Stop writing, or reading, for a user until `resume` [P2]."""
        return self._run(self._memory.pause(user_id, capture, recall))

    def resume(self, user_id: str) -> None:
        """Write and read again."""
        return self._run(self._memory.resume(user_id))

    def set_user_class(self, user_id: str, name: str) -> None:
        """Give a user another profile of the gates [F7]; upkeep fits the pools to it at once."""
        return self._run(self._memory.set_user_class(user_id, name))

    def compact(self, messages: Sequence[HostMessage], budget: int | None = None) -> Compacted:
        """Return the same conversation, shorter: its oldest turns become a summary [L1]."""
        return self._run(self._memory.compact(messages, budget))

    def audit(self, user_id: str) -> list[Finding]:
        """Look through the frozen pool now; return what is wrong and not settled yet [U2]."""
        return self._run(self._memory.audit(user_id))

    def findings(self, user_id: str) -> list[Finding]:
        """Return what audits found and nobody has settled, oldest first [U2]."""
        return self._run(self._memory.findings(user_id))

    def settle_finding(self, user_id: str, finding_id: str) -> Finding:
        """Say that a finding may stand; it comes back if its item changes."""
        return self._run(self._memory.settle_finding(user_id, finding_id))

    def maintain(self, user_id: str | None = None) -> list[Move]:
        """Do the upkeep that is due: weathering, decay, expiry, capacity; return what moved."""
        return self._run(self._memory.maintain(user_id))
