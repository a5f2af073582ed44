"""Settings in, a wired Memory out: the only place that knows the adapter behind each port."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Generator, Iterator
from dataclasses import replace
from datetime import UTC, tzinfo
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol, Self

import platformdirs

from dualgate.adapters.archives import DiskArchives
from dualgate.adapters.local.embedder import UseEmbedder
from dualgate.adapters.local.extraction import LocalExtractor
from dualgate.adapters.local.judge import StatementJudge
from dualgate.adapters.local.lexer import SnowballLexer
from dualgate.adapters.local.prefilter import LocalPrefilter
from dualgate.adapters.local.redact import SecretRedactor
from dualgate.adapters.local.slots import SlotReader
from dualgate.adapters.local.structure import LexiconStructurer
from dualgate.adapters.local.summarizer import LocalSummarizer
from dualgate.adapters.system import SystemClock, Uuid7Source, fresh_secret
from dualgate.adapters.tokens import counter_for
from dualgate.config import Settings
from dualgate.conversation.steady import SteadySummarizer
from dualgate.domain.policy import GatePolicy
from dualgate.errors import InvalidInputError, SettingsError, StoreError
from dualgate.memory import MemoryVerbs, Parts
from dualgate.pipeline.ingest import LogSession, ReadReport
from dualgate.pipeline.observer import FanOut, Observer
from dualgate.pipeline.ports import (
    ChatModel,
    Clock,
    Embedder,
    Extractor,
    ModelTask,
    Queue,
    Store,
    TokenCounter,
)
from dualgate.pipeline.reading import ModelReader
from dualgate.pipeline.serving import Keyring, ServingStore
from dualgate.pipeline.spending import Purse

if TYPE_CHECKING:
    from dualgate.adapters.llm.chat import EndpointModel


class Backend(Protocol):
    """A store and a queue that share one database."""

    @property
    def store(self) -> Store:
        """Return the store."""
        ...

    @property
    def queue(self) -> Queue:
        """Return the queue."""
        ...

    @property
    def serving(self) -> ServingStore:
        """Return what a server keeps."""
        ...

    async def close(self) -> None:
        """Release files and connections."""
        ...


class Opening:
    """What `Memory.open` returns: await it, or use it as `async with`."""

    def __init__(self, opened: Callable[[], Awaitable[Memory]]) -> None:
        self._opened = opened
        self._memory: Memory | None = None

    def __await__(self) -> Generator[Any, None, Memory]:
        return self._opened().__await__()

    async def __aenter__(self) -> Memory:
        self._memory = await self._opened()
        return self._memory

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._memory is not None:
            await self._memory.close()


class Memory(MemoryVerbs):
    """Long-term memory for conversational assistants; see MemoryVerbs for what it does."""

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
    ) -> Opening:
        """Open a memory: `await Memory.open(…)` or `async with Memory.open(…) as memory`.

        url: None is the settings' url, or a file in the user's data directory;
        "sqlite:///path/to/memory.db"; "memory://" (in process, gone at close). clock, extractor,
        embedder: your own instead of the built-in ones. model: instead of the one that the
        settings name. Raises StoreError, InvalidInputError.
        """

        async def opened() -> Memory:
            chosen = settings or Settings()
            finding = embedder or embedder_for(chosen)
            backend = await open_backend(url or chosen.url, chosen, finding.model)
            parts = wire(backend, chosen, clock, extractor, finding, observer, model)
            if embedder is None:
                parts = replace(parts, close=_closing(finding, parts.close))
            memory = cls(parts)
            try:
                await memory._resume_erasures()
            except BaseException:  # who tries again must not pile up connections
                await parts.close()
                raise
            memory.start()
            return memory

        return Opening(opened)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


def default_url() -> str:
    """Return the url of the file in the user's data directory."""
    folder = Path(platformdirs.user_data_dir("dualgate", appauthor=False))
    return f"sqlite:///{folder / 'memory.db'}"


def embedder_for(settings: Settings) -> Embedder:
    """Return what finds memories: the endpoint of the settings, or the built-in model.

    Raises SettingsError if there is an endpoint and the extra `llm` is not installed.
    """
    if not settings.embedding.configured:
        return UseEmbedder()
    try:
        from dualgate.adapters.llm.embedding import EndpointEmbedder
    except ImportError as error:
        problem = f"embedding.base_url needs the extra llm: pip install 'dualgate[llm]' ({error})"
        raise SettingsError([problem]) from error

    return EndpointEmbedder(settings.embedding)


def _closing(
    embedder: Embedder, close: Callable[[], Awaitable[None]]
) -> Callable[[], Awaitable[None]]:
    """Return a close that lets go of the embedder's connections, too."""

    async def both() -> None:
        await close()
        if not isinstance(embedder, UseEmbedder):
            await embedder.close()  # type: ignore[attr-defined]  # an endpoint has connections

    return both


async def open_backend(
    url: str | None, settings: Settings, vector_model: str = ""
) -> Backend:
    """Open the database behind a url. Raises StoreError, InvalidInputError.

    vector_model: the embedder's name; it goes with every stored vector [T3].
    """
    limits = (settings.queue.per_user_limit, settings.queue.total_limit)
    capacity = settings.smallest_archive()
    url = url or default_url()
    if url == "memory://":
        from dualgate.adapters.memory import open_memory

        return open_memory(archive_capacity=capacity, per_user=limits[0], total=limits[1])
    if url.startswith("sqlite:///"):
        from dualgate.adapters.sql import open_sqlite

        path = await asyncio.to_thread(Path(url.removeprefix("sqlite:///")).expanduser)
        if path.name in ("", ":memory:"):
            raise InvalidInputError("url", 'names no file; use "memory://" for none', url)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            problem = f"cannot make {path.parent}: {error}"
            raise StoreError(problem, "Choose another url") from error
        return await open_sqlite(
            path, archive_capacity=capacity, queue_limits=limits, vector_model=vector_model
        )
    raise InvalidInputError("url", 'must be "sqlite:///path/to/memory.db" or "memory://"', url)


def wire(
    backend: Backend,
    settings: Settings,
    clock: Clock | None = None,
    extractor: Extractor | None = None,
    embedder: Embedder | None = None,
    observer: Observer | None = None,
    model: ChatModel | None = None,
) -> Parts:
    """Return everything a memory is made of; what is not given is the built-in."""
    machine_clock = SystemClock()
    # The local extractor was trained on this embedder, whichever one finds the memories.
    reading_embedder = embedder if isinstance(embedder, UseEmbedder) else UseEmbedder()
    embedder = embedder or reading_embedder
    structurer = LexiconStructurer(SlotReader(reading_embedder))

    def completed(policy: GatePolicy) -> GatePolicy:
        many_valued = policy.similarity.many_valued | structurer.many_valued
        aliases = {**structurer.aliases, **policy.similarity.aliases}
        similarity = replace(policy.similarity, many_valued=many_valued, aliases=aliases)
        return replace(policy, similarity=similarity)

    gates = completed(settings.gates)
    classes = {name: completed(policy) for name, policy in settings.user_classes.items()}

    def policy_of(name: str) -> GatePolicy:
        return classes.get(name, gates)

    ids = Uuid7Source()
    reader = LocalExtractor(structurer=structurer)
    parts = Parts(
        store=backend.store,
        queue=backend.queue,
        extractor=extractor or reader,
        structurer=structurer,
        embedder=embedder,
        judge=StatementJudge(slots=structurer),
        redactor=SecretRedactor(),
        summarizer=LocalSummarizer(reader),
        compaction=settings.compaction,
        tokens=counter_for(settings.token_family),
        lexer=SnowballLexer(),
        clock=clock or machine_clock,
        machine_clock=machine_clock,
        ids=ids,
        serving=backend.serving,
        # Keys end by the machine's time, whatever time the memory lives in.
        keys=Keyring(backend.serving, machine_clock, ids, fresh_secret),
        observer=FanOut(() if observer is None else (observer,)),
        policy_of=policy_of,
        user_classes=frozenset(settings.user_classes),
        read=settings.read,
        transcripts=settings.transcripts,
        queue_policy=settings.queue,
        timezone=settings.timezone,
        history_turns=settings.history_turns,
        upkeep_hours=settings.upkeep_hours,
        run_worker=settings.run_worker,
        flush_seconds=settings.flush_seconds,
        archives=DiskArchives(),
        scrub_limit_bytes=int(settings.scrub_limit_mb * 1024 * 1024),
        close=backend.close,
        audit=settings.audit,
        host_trust=settings.extraction.host_trust,
    )
    chat = model or _endpoint_model(settings, parts.tokens)
    if chat is None:
        return parts
    filter_ = LocalPrefilter()
    return _with_model(parts, settings, chat, reader, None if extractor else filter_)


def _endpoint_model(settings: Settings, tokens: TokenCounter) -> EndpointModel | None:
    """Return the model that the settings name, if they do."""
    if not settings.model.configured:
        return None
    try:
        from dualgate.adapters.llm.chat import EndpointModel
    except ImportError as error:
        problem = f"model.base_url needs the extra llm: pip install 'dualgate[llm]' ({error})"
        raise SettingsError([problem]) from error

    return EndpointModel(settings.model, count=tokens.count)


def _with_model(
    parts: Parts,
    settings: Settings,
    chat: ChatModel,
    local: LocalExtractor,
    prefilter: LocalPrefilter | None,
) -> Parts:
    """Return the parts with a model wherever the settings want one [W5].

    prefilter: None where the application brings an extractor of its own, which then reads alone.
    """
    from dualgate.adapters.llm.auditor import LlmAuditor
    from dualgate.adapters.llm.extractor import LlmExtractor
    from dualgate.adapters.llm.referee import LlmReferee
    from dualgate.adapters.llm.summarizer import LlmSummarizer

    policy, tasks = settings.extraction, settings.extraction.tasks
    purse = Purse(chat, parts.store, parts.machine_clock, settings.budget)
    changes: dict[str, Any] = {}
    if ModelTask.EXTRACT in tasks and prefilter is not None:
        changes["reader"] = ModelReader(
            LlmExtractor(purse, policy), purse, parts.machine_clock, policy,
            stand_in=local if policy.fallback == "local" else None,
            prefilter=prefilter if policy.prefilter else None,
        )  # fmt: skip
        changes["debounce_seconds"] = policy.debounce_seconds
        # A question may take its time, and be asked again: the user stays leased meanwhile.
        longest = settings.model.deadline_seconds * (policy.repairs + 1) + _LEASE_MARGIN
        lease = max(parts.queue_policy.lease_seconds, longest)
        changes["queue_policy"] = replace(parts.queue_policy, lease_seconds=lease)
    if ModelTask.JUDGE in tasks:
        changes["referee"] = LlmReferee(purse, policy.repairs)
    if ModelTask.SUMMARIZE in tasks:
        changes["reference"] = parts.summarizer
        changes["summarizer"] = SteadySummarizer(
            LlmSummarizer(purse, policy.repairs), parts.summarizer, parts.observer
        )
    if ModelTask.AUDIT in tasks:
        changes["auditor"] = LlmAuditor(purse, policy.repairs)
    close = getattr(chat, "close", None)
    if close is not None:
        changes["close"] = _both(close, parts.close)
    return replace(parts, **changes)


_LEASE_MARGIN = 30.0  # seconds for everything but the model


def _both(first: Callable[[], Any], second: Callable[[], Any]) -> Callable[[], Any]:
    async def close() -> None:
        try:
            await first()
        finally:
            await second()

    return close


def read_logs(
    path: str, log_format: str | None = None, *, zone: tzinfo = UTC, report: ReadReport
) -> Iterator[LogSession]:
    """Yield the sessions of a conversation log, a file or a folder; see adapters/logs."""
    from dualgate.adapters.logs import read

    return read(path, log_format, zone=zone, report=report)
