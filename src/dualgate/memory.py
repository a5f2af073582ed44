"""MemoryVerbs: what an application says to its memory (spec §8); bootstrap adds `open`.

Every method checks its arguments here, then asks one pipeline module; nothing is decided in this
file.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from dualgate.conversation import compacting
from dualgate.conversation.compacting import Compacted
from dualgate.conversation.folding import CompactPorts
from dualgate.conversation.shapes import HostMessage
from dualgate.conversation.working import WorkingMemory
from dualgate.domain.assembly import ContextBlock
from dualgate.domain.audit import AuditPolicy, Finding
from dualgate.domain.compaction import CompactionPolicy
from dualgate.domain.erasure import ErasureKind
from dualgate.domain.items import Candidate, MemoryItem, choice, clean_text
from dualgate.domain.plan import Decision, Move, Pending
from dualgate.domain.policy import GatePolicy
from dualgate.domain.signals import Signal
from dualgate.domain.status import Status
from dualgate.domain.transcript import TranscriptPolicy
from dualgate.domain.types import ItemType
from dualgate.errors import InvalidInputError, JobFailedError, NotFoundError
from dualgate.pipeline import (
    auditing,
    curate,
    erasing,
    exporting,
    intake,
    keep,
    looking,
    opening,
    write,
)
from dualgate.pipeline import recall as recalling
from dualgate.pipeline.ahead import ReadAhead, take_up_again
from dualgate.pipeline.auditing import Auditor
from dualgate.pipeline.dossier import ErasureReport
from dualgate.pipeline.exporting import Archives, ExportReport, ImportReport
from dualgate.pipeline.hearing import Referee
from dualgate.pipeline.intake import Receipt, require_id
from dualgate.pipeline.looking import History, Stats
from dualgate.pipeline.observer import FanOut, Observer
from dualgate.pipeline.paging import DecisionPage, page_of
from dualgate.pipeline.ports import (
    Clock,
    DeadJob,
    Embedder,
    Extractor,
    IdSource,
    ItemPage,
    Job,
    JobKind,
    Judge,
    Lease,
    Lexer,
    Queue,
    Redactor,
    Store,
    Structurer,
    Summarizer,
    TokenCounter,
)
from dualgate.pipeline.reading import HostTrust, Reader
from dualgate.pipeline.recipes import ReadPolicy
from dualgate.pipeline.reembedding import RE_EMBEDDING, Reembedding, ReembedPorts
from dualgate.pipeline.serving import Keyring, ServingStore
from dualgate.pipeline.transcripts import Transcript, index_again, index_missing
from dualgate.pipeline.uses import UseBook
from dualgate.pipeline.waiting import JobReport, Waiting
from dualgate.pipeline.worker import QueuePolicy, Worker

_PAGE_LIMIT = 1_000
_DECISIONS_LIMIT = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """Everything a memory is wired from; bootstrap makes it."""

    store: Store
    queue: Queue
    extractor: Extractor
    structurer: Structurer
    embedder: Embedder
    judge: Judge
    redactor: Redactor
    summarizer: Summarizer
    compaction: CompactionPolicy
    tokens: TokenCounter
    lexer: Lexer
    clock: Clock
    machine_clock: Clock
    ids: IdSource
    serving: ServingStore
    keys: Keyring
    observer: FanOut
    policy_of: Callable[[str], GatePolicy]
    user_classes: Collection[str]
    read: ReadPolicy
    transcripts: TranscriptPolicy
    queue_policy: QueuePolicy
    timezone: str
    history_turns: int
    upkeep_hours: float
    run_worker: bool
    flush_seconds: float
    archives: Archives
    scrub_limit_bytes: int
    close: Callable[[], Any]
    # Where there is a model of one's own [W5]; None is the local way.
    reader: Reader | None = None
    referee: Referee | None = None
    auditor: Auditor | None = None
    reference: Summarizer | None = None
    audit: AuditPolicy = field(default_factory=AuditPolicy)
    debounce_seconds: float = 0.0
    host_trust: HostTrust = HostTrust.WORDS


class MemoryVerbs:
    """The async object an application embeds. One of it serves any number of users."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._write = write.WritePorts(
            store=parts.store, extractor=parts.extractor, structurer=parts.structurer,
            embedder=parts.embedder, judge=parts.judge, clock=parts.clock, ids=parts.ids,
            policy_of=parts.policy_of, observer=parts.observer, redactor=parts.redactor,
            lexer=parts.lexer, history_turns=parts.history_turns, reader=parts.reader,
            queue=parts.queue, referee=parts.referee, host_trust=parts.host_trust,
        )  # fmt: skip
        self._curate = curate.CuratePorts(
            store=parts.store, embedder=parts.embedder, structurer=parts.structurer,
            clock=parts.clock, ids=parts.ids, policy_of=parts.policy_of, observer=parts.observer,
        )  # fmt: skip
        self._keep = keep.KeepPorts(
            store=parts.store, clock=parts.clock, policy_of=parts.policy_of,
            observer=parts.observer, every_hours=parts.upkeep_hours, embedder=parts.embedder,
            lexer=parts.lexer, transcripts=parts.transcripts,
        )  # fmt: skip
        self._reembedding = Reembedding(ReembedPorts(
            store=parts.store, embedder=parts.embedder, observer=parts.observer,
            turns=partial(keep.keep_turns, on=self._keep),
        ))  # fmt: skip
        self._audit = auditing.AuditPorts(
            store=parts.store, embedder=parts.embedder, judge=parts.judge, clock=parts.clock,
            policy_of=parts.policy_of, observer=parts.observer, auditor=parts.auditor,
            policy=parts.audit,
        )  # fmt: skip
        self._ahead = ReadAhead(self._write)
        self._erase = erasing.ErasePorts(
            store=parts.store, clock=parts.clock, ids=parts.ids, reindex=self._reindex,
            limit_bytes=parts.scrub_limit_bytes,
        )  # fmt: skip
        self._export = exporting.ExportPorts(
            store=parts.store, embedder=parts.embedder, redactor=parts.redactor,
            clock=parts.clock, archives=parts.archives, policy_of=parts.policy_of,
        )  # fmt: skip
        self._uses = UseBook(parts.store, parts.flush_seconds, parts.observer)
        self._waiting = Waiting(parts.queue, parts.store)
        self._worker = Worker(
            parts.queue, self._run_job, self._after_user, parts.queue_policy,
            parts.machine_clock, parts.observer, debounce_seconds=parts.debounce_seconds,
        )  # fmt: skip
        self._closed = False

    @property
    def serving(self) -> ServingStore:
        """Return what a server keeps beside the memory."""
        return self._parts.serving

    @property
    def keys(self) -> Keyring:
        """Return the API keys of the server on this memory."""
        return self._parts.keys

    # --- life

    def start(self) -> None:
        """Begin to work the queue off, where this process does so. Called by `open`."""
        if self._parts.run_worker:
            self._worker.start()
            self._reembedding.start()

    async def close(self) -> None:
        """Finish the job in hand, write what is gathered, release files. Queued turns stay."""
        if self._closed:
            return
        self._closed = True
        await self._reembedding.stop()
        if self._parts.run_worker:
            await self._worker.stop()
        try:
            await self._uses.close()
        finally:  # uses that cannot be written must not keep the file open
            await self._parts.close()

    async def drain(self, timeout: float | None = None) -> None:
        """Wait until nothing is queued or running. Raises TimeoutError after `timeout` seconds.

        Where this process has no worker, it works the queue off itself.
        """
        async with asyncio.timeout(timeout):
            with self._worker.hurried():
                await self._until_idle()
        await self._uses.flush()

    async def _until_idle(self) -> None:
        while (await self._parts.queue.depth()).waiting or self._worker.busy:
            self._worker.wake()
            if self._parts.run_worker or not await self._worker.run_once():
                await asyncio.sleep(0.005)

    async def run_worker_once(self) -> bool:
        """Work off one user's due jobs; return whether there were any. For worker processes."""
        return await self._worker.run_once()

    # --- writing

    async def observe(
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
        """Hand over turns; return as soon as they are durably queued [W1].

        messages: list of Message, or of mappings with role, content and optionally at and id.
        private: nothing of it is written [P2]. idempotency_key: the same key again is the same
        job, whatever comes with it. Raises QueueFullError, InvalidInputError.
        """
        require_id("user_id", user_id)
        require_id("session_id", session_id)
        for name, value in (
            ("task_id", task_id),
            ("parent_session_id", parent_session_id),
            ("idempotency_key", idempotency_key),
        ):
            if value is not None:
                require_id(name, value)
        given = intake.as_messages(messages)
        if private or (await self._parts.store.snapshot(user_id)).capture_paused:
            return Receipt(job_id=None)
        now = self._parts.clock.now().astimezone(ZoneInfo(self._parts.timezone))
        kept = await asyncio.to_thread(
            intake.cleaned, given, session_id, now, self._parts.redactor
        )
        new = await erasing.unerased(self._parts.store, user_id, kept, now)
        if not new:
            return Receipt(job_id=None, erased=len(kept))
        payload = {
            "messages": intake.to_payload(new),
            "task_id": task_id,
            "parent_session_id": parent_session_id,
        }
        job = self._job(user_id, session_id, JobKind.TURNS, payload, idempotency_key)
        receipt = await self._queue_up(job, wait=wait)
        return replace(receipt, erased=len(kept) - len(new))

    async def propose(
        self,
        user_id: str,
        session_id: str,
        candidates: Sequence[Candidate],
        *,
        wait: bool = False,
        private: bool = False,
        idempotency_key: str | None = None,
    ) -> Receipt:
        """Hand over candidates that the assistant's own model understood [W5].

        private: nothing of it is written [P2].
        """
        require_id("user_id", user_id)
        require_id("session_id", session_id)
        if isinstance(candidates, Candidate | str) or not isinstance(candidates, Sequence):
            raise InvalidInputError("candidates", "must be a list of Candidate", candidates)
        for index, candidate in enumerate(candidates):
            if not isinstance(candidate, Candidate):
                raise InvalidInputError(f"candidates[{index}]", "must be a Candidate", candidate)
        if private or not candidates or (await self._parts.store.snapshot(user_id)).capture_paused:
            return Receipt(job_id=None)
        safe = [intake.redacted(c, self._parts.redactor) for c in candidates]
        payload = {
            "candidates": [intake.candidate_to_payload(c) for c in safe],
            "at": self._parts.clock.now().isoformat(),
        }
        job = self._job(user_id, session_id, JobKind.CANDIDATES, payload, idempotency_key)
        return await self._queue_up(job, wait=wait)

    async def end_session(self, user_id: str, session_id: str) -> None:
        """End a session: its working memory goes [L2]."""
        require_id("user_id", user_id)
        require_id("session_id", session_id)
        async with self._parts.store.begin(user_id) as tx:
            now = self._parts.clock.now()
            await tx.session(session_id, now, None)
            await tx.end_session(session_id, now)

    # --- reading

    async def context(
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
        """Return what the model should know at the start of a session [R1, R4].

        preview: only look; nothing is kept of it, and it counts as no use of any item. private:
        the same, of a session of which nothing is to be written [P2].
        """
        require_id("user_id", user_id)
        intake.require_flag("preview", preview)
        intake.require_flag("private", private)
        preview = preview or private
        require_id("session_id", session_id)
        parts = self._parts
        block, uses = await opening.open_session(
            parts.store, parts.embedder, parts.tokens,
            user_id=user_id, session_id=session_id, query=clean_text("query", query),
            now=parts.clock.now(), policy=parts.read, token_budget=token_budget,
            window_tokens=window_tokens, lang=lang, preview=preview,
        )  # fmt: skip
        if not preview:
            self._uses.add(user_id, uses, parts.clock.now())
        return block

    async def recall(
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
    ) -> recalling.Found:
        """Return the few items that fit the query, each with its relevance per path [R2, R3].

        transcripts: search the raw turns as well; they come as `found.passages` [R6]. private: it
        counts as no use of any item, so that nothing is written [P2].
        """
        require_id("user_id", user_id)
        intake.require_flag("private", private)
        parts = self._parts
        found, uses = await recalling.recall(
            parts.store, parts.embedder, parts.tokens,
            user_id=user_id, query=clean_text("query", query), now=parts.clock.now(),
            policy=parts.read, limit=limit, item_types=item_types, archived=archived,
            sensitive=sensitive, transcripts=transcripts, as_of=as_of, recipe=recipe, lang=lang,
            lexer=parts.lexer,
        )  # fmt: skip
        if not private:
            self._uses.add(user_id, uses, parts.clock.now())
        if not found.degraded and await self._reembedding.waits(user_id):
            return replace(found, degraded=RE_EMBEDDING)
        return found

    async def items(
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
        require_id("user_id", user_id)
        intake.require_limit(limit, _PAGE_LIMIT)
        kind = None if item_type is None else choice("item_type", ItemType, item_type)
        wanted = looking.wanted(status, kind, intake.text_or_none("text", text))
        page = await self._parts.store.page(user_id, wanted, limit=limit, cursor=cursor)
        return ItemPage(items=await self._live(user_id, page.items), cursor=page.cursor)

    async def item(self, user_id: str, item_id: str) -> MemoryItem:
        """Return one item, whatever its status. Raises NotFoundError."""
        require_id("user_id", user_id)
        require_id("item_id", item_id)
        found = await self._parts.store.items(user_id, [item_id])
        if item_id not in found:
            raise NotFoundError("item", item_id)
        return (await self._live(user_id, [found[item_id]]))[0]

    async def history(self, user_id: str, item_id: str) -> History:
        """Return an item's moves, signals with quotes, versions (oldest first), and recalls."""
        await self.item(user_id, item_id)
        await self._uses.flush()
        return await looking.history(self._parts.store, user_id, item_id)

    async def why(
        self,
        user_id: str,
        *,
        text: str | None = None,
        job_id: str | None = None,
        limit: int = 100,
    ) -> list[Decision]:
        """Return recorded decisions, newest first, refused ones too [W2]."""
        require_id("user_id", user_id)
        text = intake.text_or_none("text", text)
        if job_id is not None:
            require_id("job_id", job_id)
        intake.require_limit(limit, _DECISIONS_LIMIT)
        return await self._parts.store.decisions(user_id, text=text, job_id=job_id, limit=limit)

    async def moves(self, user_id: str, limit: int = 1_000) -> list[Move]:
        """Return the last moves of all the user's items, newest first [S1]."""
        require_id("user_id", user_id)
        intake.require_limit(limit, _DECISIONS_LIMIT)
        return (await self._parts.store.moves(user_id))[: -limit - 1 : -1]

    async def signals(self, user_id: str, item_ids: Sequence[str]) -> dict[str, list[Signal]]:
        """Return what was said for and against each of these items, oldest first."""
        require_id("user_id", user_id)
        for item_id in item_ids:
            require_id("item_ids", item_id)
        return await self._parts.store.signals_of(user_id, list(item_ids))

    async def decisions(
        self,
        user_id: str,
        *,
        text: str | None = None,
        job_id: str | None = None,
        limit: int = 100,
        cursor: str | None = None,
    ) -> DecisionPage:
        """Return what `why` returns, a page at a time, newest first."""
        require_id("user_id", user_id)
        if job_id is not None:
            require_id("job_id", job_id)
        intake.require_limit(limit, _PAGE_LIMIT)
        return await page_of(
            self._parts.store, user_id, text=intake.text_or_none("text", text), job_id=job_id,
            limit=limit, cursor=cursor,
        )  # fmt: skip

    async def job(self, user_id: str, job_id: str, *, wait: bool = False) -> JobReport:
        """Return how a job stands: waiting, done or dead, with its decisions or its error.

        wait: until it is done or dead. Raises NotFoundError.
        """
        require_id("user_id", user_id)
        require_id("job_id", job_id)
        if wait:
            with suppress(JobFailedError):
                await self._waiting.for_job(user_id, job_id, self._helper())
        return await self._waiting.report(user_id, job_id)

    async def dead(self, user_id: str | None = None, limit: int = 100) -> list[DeadJob]:
        """Return parked jobs with their errors, newest first, of one user or of all [W1]."""
        if user_id is not None:
            require_id("user_id", user_id)
        intake.require_limit(limit, _PAGE_LIMIT)
        return await self._parts.queue.dead(user_id, limit)

    async def revive(self, user_id: str, job_id: str) -> None:
        """Let a parked job run again, in its old place. Raises NotFoundError."""
        require_id("user_id", user_id)
        require_id("job_id", job_id)
        await self._parts.queue.revive(user_id, job_id, self._parts.machine_clock.now())
        self._worker.wake()

    async def stats(self, user_id: str | None = None) -> Stats:
        """Return pool sizes, threshold, queue and counts, of one user or of all."""
        if user_id is not None:
            require_id("user_id", user_id)
        return await looking.stats(
            self._parts.store, self._parts.queue, self._parts.policy_of,
            self._parts.clock.now(), user_id, self._parts.machine_clock.now().date(),
        )  # fmt: skip

    def watch(self, observer: Observer) -> None:
        """Tell this observer, too, what happens in this process; it must not raise."""
        self._parts.observer.add(observer)

    def unwatch(self, observer: Observer) -> None:
        """Tell it no more."""
        self._parts.observer.remove(observer)

    async def users(self, after: str | None = None, limit: int = 100) -> list[str]:
        """Return the ids of users in order, those after `after`: for whoever runs dualgate."""
        if after is not None:
            require_id("after", after)
        intake.require_limit(limit, _PAGE_LIMIT)
        return await self._parts.store.users(after, limit)

    # --- the person's verbs [F6]

    async def correct(self, user_id: str, item_id: str, content: str) -> MemoryItem:
        """Reword an item; it keeps its id, place and counts, the old version is kept."""
        _ids(user_id, item_id)
        safe = self._parts.redactor.redact(clean_text("content", content))
        return await curate.correct(user_id, item_id, safe, self._curate)

    async def like(self, user_id: str, item_id: str) -> MemoryItem:
        """Count one explicit confirmation, once a day."""
        _ids(user_id, item_id)
        return await curate.like(user_id, item_id, self._curate)

    async def dislike(self, user_id: str, item_id: str) -> MemoryItem:
        """Take one confirmation off; a frozen item thaws."""
        _ids(user_id, item_id)
        return await curate.dislike(user_id, item_id, self._curate)

    async def pin(self, user_id: str, item_id: str) -> MemoryItem:
        """Protect an item: it freezes as soon as there is a place, and never weathers."""
        _ids(user_id, item_id)
        return await curate.pin(user_id, item_id, self._curate)

    async def unpin(self, user_id: str, item_id: str) -> MemoryItem:
        """Take the protection back."""
        _ids(user_id, item_id)
        return await curate.unpin(user_id, item_id, self._curate)

    async def forget(self, user_id: str, item_id: str, confirm: bool = False) -> MemoryItem:
        """Remove an item, undoably for 30 days. Raises ConfirmationRequiredError if frozen."""
        _ids(user_id, item_id)
        return await curate.forget(user_id, item_id, self._curate, confirmed=confirm is True)

    async def restore(self, user_id: str, item_id: str) -> MemoryItem:
        """Take a forget back, or bring an archived item back."""
        _ids(user_id, item_id)
        return await curate.restore(user_id, item_id, self._curate)

    async def pending(self, user_id: str) -> list[Pending]:
        """Return the open pending overrides, oldest first [F3]."""
        require_id("user_id", user_id)
        return await self._parts.store.pendings(user_id)

    async def settle(
        self, user_id: str, pending_id: str, accept: bool, keep_old: bool = False
    ) -> MemoryItem:
        """Accept or reject a pending override; return the item that stands now.

        keep_old: accept it beside the frozen item, which stands as well.
        """
        require_id("user_id", user_id)
        require_id("pending_id", pending_id)
        return await curate.settle(
            user_id, pending_id, self._curate, accept=accept, keep_old=keep_old
        )

    async def choose(self, user_id: str, item_id: str) -> MemoryItem:
        """Settle a contest for this item: what contradicts it is superseded [C2]."""
        _ids(user_id, item_id)
        return await curate.choose(user_id, item_id, self._curate)

    async def keep_both(self, user_id: str, item_id: str) -> MemoryItem:
        """End a contest without a loser: this item and what contradicts it hold [C2]."""
        _ids(user_id, item_id)
        return await curate.keep_both(user_id, item_id, self._curate)

    async def pause(self, user_id: str, capture: bool = True, recall: bool = False) -> None:
        """Stop writing, or reading, for a user until `resume` [P2]."""
        require_id("user_id", user_id)
        for name, value in (("capture", capture), ("recall", recall)):
            intake.require_flag(name, value)
        async with self._parts.store.begin(user_id) as tx:
            await tx.set_user(capture_paused=capture, recall_paused=recall)

    async def resume(self, user_id: str) -> None:
        """Write and read again."""
        await self.pause(user_id, capture=False, recall=False)

    async def set_user_class(self, user_id: str, name: str) -> None:
        """Give a user another profile of the gates [F7]; upkeep fits the pools to it at once."""
        require_id("user_id", user_id)
        require_id("name", name)
        if name != "default" and name not in self._parts.user_classes:
            known = ", ".join(("default", *self._parts.user_classes))
            raise InvalidInputError("name", f"must be a user class of the settings: {known}", name)
        async with self._parts.store.begin(user_id) as tx:
            await tx.set_user(user_class=name)
        await keep.keep_user(user_id, self._keep)

    # --- for ever [P3]

    async def erase(
        self, user_id: str, item_id: str | None = None, *, session_id: str | None = None
    ) -> ErasureReport:
        """Erase an item with all its versions, or a session: for ever, everywhere [P3].

        Give one of both. Returns what was removed where. What was erased does not come back out of
        old text; said anew, it is new. Raises NotFoundError, InvalidInputError.
        """
        require_id("user_id", user_id)
        if (item_id is None) == (session_id is None):
            raise InvalidInputError("item_id", "give an item_id or a session_id, one of both")
        await self._uses.flush()
        if session_id is not None:
            require_id("session_id", session_id)
            return await erasing.erase(ErasureKind.SESSION, user_id, session_id, self._erase)
        found = require_id("item_id", item_id)
        return await erasing.erase(ErasureKind.ITEM, user_id, found, self._erase)

    async def erase_user(self, user_id: str) -> ErasureReport:
        """Erase all that is kept of a user; nothing but keyed hashes stays [P3]."""
        require_id("user_id", user_id)
        await self._uses.flush()
        return await erasing.erase(ErasureKind.USER, user_id, "", self._erase)

    async def scrub(self) -> bool:
        """Finish erasures and rewrite the file, however large; return whether it worked [P3].

        For files over `scrub_limit_mb`, which `erase` does not rewrite by the way.
        """
        await erasing.resume(self._erase)
        return await self._parts.store.scrub(None)

    async def export(self, user_id: str, path: str | Path) -> ExportReport:
        """Write all that is kept of a user to a new folder, or .zip file [P3].

        JSON Lines, a page of Markdown, and a manifest with checksums. Raises InvalidInputError.
        """
        require_id("user_id", user_id)
        place = intake.require_path("path", path)
        await self._uses.flush()
        return await exporting.export(user_id, place, self._export, asyncio.to_thread)

    async def import_(self, user_id: str, path: str | Path) -> ImportReport:
        """Read an export back without loss, all of it or nothing; twice changes nothing [P3].

        What is known stays as it is; what was erased one by one stays erased. Raises
        InvalidInputError for an archive that was changed or damaged.
        """
        require_id("user_id", user_id)
        place = intake.require_path("path", path)
        await self._uses.flush()
        report = await exporting.import_(user_id, place, self._export, asyncio.to_thread)
        await index_missing(self._transcript(user_id), self._parts.clock)
        self._worker.wake()
        return report

    # --- working memory and upkeep

    async def working(self, user_id: str, session_id: str, task_id: str) -> WorkingMemory:
        """Return the notes of a task: gone at task or session end, never long-term [L2]."""
        for name, value in (("user_id", user_id), ("session_id", session_id),
                            ("task_id", task_id)):  # fmt: skip
            require_id(name, value)
        snapshot = await self._parts.store.snapshot(user_id)
        hours = self._parts.policy_of(snapshot.user_class).working.ttl_hours
        return WorkingMemory(
            self._parts.store, self._parts.clock, self._parts.redactor,
            (user_id, session_id, task_id), hours,
        )  # fmt: skip

    async def compact(
        self, messages: Sequence[HostMessage], budget: int | None = None
    ) -> Compacted:
        """Return the same conversation, shorter: its oldest turns become a summary [L1].

        messages: list of Message, or of mappings as OpenAI and Anthropic take them; they need no
        user, and nothing is stored. budget: tokens at most. Raises InvalidInputError.
        """
        parts = self._parts
        ports = CompactPorts(
            summarizer=parts.summarizer, redactor=parts.redactor, tokens=parts.tokens,
            policy=parts.compaction, reference=parts.reference,
        )  # fmt: skip
        return await compacting.compact(messages, ports, budget)

    async def maintain(self, user_id: str | None = None) -> list[Move]:
        """Do the upkeep that is due: weathering, decay, expiry, capacity; return what moved."""
        await self._uses.flush()
        await self._take_up_again(None if user_id is None else require_id("user_id", user_id))
        if user_id is None:
            return await keep.keep_all(self._keep)
        return await keep.keep_user(require_id("user_id", user_id), self._keep)

    # --- audit

    async def audit(self, user_id: str) -> list[Finding]:
        """Look through the frozen pool now; return what is wrong and not settled yet [U2].

        The rules always look, the model too where one is configured. No item is changed.
        """
        return await auditing.audit(require_id("user_id", user_id), self._audit)

    async def findings(self, user_id: str) -> list[Finding]:
        """Return what audits found and nobody has settled, oldest first [U2]."""
        return await self._parts.store.findings(require_id("user_id", user_id))

    async def settle_finding(self, user_id: str, finding_id: str) -> Finding:
        """Say that a finding may stand; it comes back if its item changes.

        Raises NotFoundError for a finding that is not open.
        """
        require_id("user_id", user_id)
        require_id("finding_id", finding_id)
        now = self._parts.clock.now()
        return await auditing.settle(user_id, finding_id, self._parts.store, now)

    # --- inside

    async def _resume_erasures(self) -> None:
        """Finish erasures that a killed process left undone. Called by `open`."""
        await erasing.resume(self._erase)

    def _transcript(self, user_id: str) -> Transcript:
        return Transcript(self._parts.store, self._parts.embedder, self._parts.lexer, user_id)

    async def _reindex(self, user_id: str, turn_ids: Sequence[str]) -> None:
        await index_again(self._transcript(user_id), turn_ids, self._parts.clock)

    def _job(
        self, user_id: str, session_id: str, kind: str, payload: dict[str, Any], key: str | None
    ) -> Job:
        return Job(
            id=self._parts.ids.new(), user_id=user_id, session_id=session_id, kind=kind,
            payload=payload, enqueued_at=self._parts.machine_clock.now(), idempotency_key=key,
        )  # fmt: skip

    async def _queue_up(self, job: Job, *, wait: bool) -> Receipt:
        job_id = await self._parts.queue.enqueue(job)
        self._worker.wake()
        if not wait:
            return Receipt(job_id=job_id)
        with self._worker.hurried():
            decisions = await self._waiting.for_job(job.user_id, job_id, self._helper())
        return Receipt(job_id=job_id, decisions=tuple(decisions))

    def _helper(self) -> Callable[[], Awaitable[bool]] | None:
        return None if self._parts.run_worker else self._worker.run_once

    async def _run_job(self, job: Job, lease: Lease) -> list[Decision]:
        await self._reembedding.bring_up(job.user_id)
        ahead = await self._ahead.of(lease)
        decisions = await write.remember(job, lease, self._write, ahead)
        self._waiting.done(job.id)
        return decisions

    async def _after_user(self, user_id: str) -> None:
        await keep.keep_if_due(user_id, self._keep)
        await auditing.audit_if_due(user_id, self._audit)
        reader = self._parts.reader
        if reader is not None and reader.has_recovered():
            await self._take_up_again(None)

    async def _take_up_again(self, user_id: str | None) -> None:
        """Let the model read what a stand-in has read [W5]."""
        if self._parts.reader is not None:
            now = self._parts.machine_clock.now()
            if await take_up_again(self._parts.queue, user_id, now):
                self._worker.wake()

    async def _live(self, user_id: str, items: Sequence[MemoryItem]) -> tuple[MemoryItem, ...]:
        snapshot = await self._parts.store.snapshot(user_id)
        policy = self._parts.policy_of(snapshot.user_class)
        return looking.live(items, self._parts.clock.now(), policy)


def _ids(user_id: str, item_id: str) -> None:
    require_id("user_id", user_id)
    require_id("item_id", item_id)

