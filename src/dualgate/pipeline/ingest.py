"""Old conversations into memory, in the order in which they were said (issue 2, [F2]).

No file is opened here: readers (adapters/logs) turn files into LogSessions. Message ids are
stable, so the same log twice, a resumed or a forked session, counts once.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import groupby
from typing import Any, Protocol

from dualgate.domain.items import Message
from dualgate.domain.plan import Decision
from dualgate.domain.types import Role
from dualgate.errors import JobFailedError, QueueFullError

BATCH_LIMIT = 40  # turns a job: small enough that a progress bar moves and a retry costs little
UNDATED = datetime.max.replace(tzinfo=UTC)  # sorts last: what has no date is taken as said now


@dataclass(frozen=True, slots=True, kw_only=True)
class LogSession:
    """One conversation as a log tells it.

    source: the format. person: whose log it is, where a file holds several people's. messages
    keep their original times; a message without one is taken as said now.
    """

    id: str
    source: str
    messages: tuple[Message, ...]
    parent_id: str | None = None
    started_at: datetime | None = None
    person: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BadEntry:
    """A line, an entry or a whole file that could not be read, and why."""

    path: str
    line: int | None
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedBatch:
    """Turns whose job was parked as dead, with the real error; they can be revived [W1]."""

    session_id: str
    messages: int
    error: str


@dataclass(slots=True)
class ReadReport:
    """What a reading met besides sessions; readers add to it as they go."""

    files: int = 0
    bad: list[BadEntry] = field(default_factory=list)
    ignored: list[str] = field(default_factory=list)  # files of a folder that are no log


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestSummary:
    """What an ingest did, or would do: a dry run fills the counts and the time span only."""

    user_id: str
    dry_run: bool
    sessions: int
    messages: int
    user_messages: int
    new_messages: int | None
    unstored_messages: int = 0  # capture is paused, or nothing is left without what is private
    first_at: datetime | None
    last_at: datetime | None
    candidates: Mapping[str, int] = field(default_factory=dict)
    items: Mapping[str, int] = field(default_factory=dict)
    files: int = 0
    ignored: int = 0
    bad: tuple[BadEntry, ...] = ()
    failed: tuple[FailedBatch, ...] = ()
    seconds: float = 0.0


class _Receipt(Protocol):
    @property
    def job_id(self) -> str | None: ...
    @property
    def decisions(self) -> Sequence[Decision]: ...


class _Stats(Protocol):
    @property
    def turns(self) -> int: ...
    @property
    def items(self) -> Mapping[Any, int]: ...


class MemoryLike(Protocol):
    """The part of Memory that an ingest calls."""

    async def observe(
        self,
        user_id: str,
        session_id: str,
        messages: Sequence[Message],
        *,
        wait: bool = False,
        parent_session_id: str | None = None,
    ) -> _Receipt: ...

    async def drain(self) -> None: ...

    async def stats(self, user_id: str | None = None) -> _Stats: ...


@dataclass(frozen=True, slots=True)
class Batch:
    """Turns of one session that nothing from another session comes between."""

    session: LogSession
    messages: tuple[Message, ...]


Progress = Callable[[int, int], None]


async def ingest(
    memory: MemoryLike,
    user_id: str,
    sessions: Iterable[LogSession],
    *,
    report: ReadReport | None = None,
    dry_run: bool = False,
    progress: Progress | None = None,
) -> IngestSummary:
    """Observe every session's turns, oldest first, and wait until they are decided.

    progress(done, total) counts turns. Running it again changes nothing.
    """
    summary = counted(user_id, logs := list(sessions), report)
    if dry_run:
        return summary
    loop = asyncio.get_running_loop()
    began = loop.time()
    outcomes: Counter[str] = Counter()
    before = await memory.stats(user_id)
    failed: list[FailedBatch] = []
    done = unstored = 0
    for batch in in_time_order(logs):
        try:
            receipt = await _observed(memory, user_id, batch)
        except JobFailedError as error:
            # Parked with its error; years of other turns must not wait for it.
            failed.append(
                FailedBatch(
                    session_id=batch.session.id, messages=len(batch.messages), error=str(error)
                )
            )
        else:
            outcomes.update(str(decision.outcome) for decision in receipt.decisions)
            unstored += len(batch.messages) if receipt.job_id is None else 0
        done += len(batch.messages)
        if progress is not None:
            progress(done, summary.messages)
    after = await memory.stats(user_id)
    return replace(
        summary,
        dry_run=False,
        new_messages=after.turns - before.turns,
        unstored_messages=unstored,
        candidates=dict(outcomes),
        failed=tuple(failed),
        items={str(status): count for status, count in after.items.items()},
        seconds=loop.time() - began,
    )


def counted(
    user_id: str, sessions: Iterable[LogSession], report: ReadReport | None = None
) -> IngestSummary:
    """Return what an ingest of these sessions would send, without sending it."""
    logs = list(sessions)
    messages = [message for batch in in_time_order(logs) for message in batch.messages]
    times = [message.at for message in messages if message.at is not None]
    report = ReadReport() if report is None else report
    return IngestSummary(
        user_id=user_id,
        dry_run=True,
        sessions=len(logs),
        messages=len(messages),
        user_messages=sum(message.role is Role.USER for message in messages),
        new_messages=None,
        first_at=min(times, default=None),
        last_at=max(times, default=None),
        files=report.files,
        ignored=len(report.ignored),
        bad=tuple(report.bad),
    )


def in_time_order(sessions: Sequence[LogSession]) -> Iterator[Batch]:
    """Cut sessions into batches and order them as they were said.

    A conversation taken up again weeks later must not overtake what was said meanwhile in
    another: the gates judge each statement as of its moment. A session's own order is kept even
    where its times jump back, and a message that several sessions share is sent once.
    """
    said: list[tuple[datetime, int, int, Message]] = []
    seen: set[str] = set()
    for number, session in enumerate(_eldest_first(sessions)):
        latest = datetime.min.replace(tzinfo=UTC)
        for index, message in enumerate(session.messages):
            if message.id is not None and message.id in seen:
                continue
            if message.id is not None:
                seen.add(message.id)
            latest = max(latest, message.at or session.started_at or UNDATED)
            said.append((latest, number, index, message))
    said.sort(key=lambda entry: entry[:3])
    ordered = _eldest_first(sessions)
    for number, run in groupby(said, key=lambda entry: entry[1]):
        messages = [entry[3] for entry in run]
        for start in range(0, len(messages), BATCH_LIMIT):
            yield Batch(ordered[number], tuple(messages[start : start + BATCH_LIMIT]))


def _eldest_first(sessions: Sequence[LogSession]) -> list[LogSession]:
    # A parent before its forks, so that the lineage is known when the fork arrives [F2].
    parents = {session.id: session.parent_id for session in sessions}

    def depth(session_id: str) -> int:
        lineage: set[str] = set()
        above: str | None = session_id
        while above in parents and above not in lineage:
            lineage.add(above)
            above = parents[above]
        return len(lineage)

    return sorted(sessions, key=lambda s: (s.started_at or UNDATED, depth(s.id), s.id))


async def _observed(memory: MemoryLike, user_id: str, batch: Batch) -> _Receipt:
    while True:
        try:
            return await memory.observe(
                user_id,
                batch.session.id,
                batch.messages,
                wait=True,
                parent_session_id=batch.session.parent_id,
            )
        except QueueFullError:
            # Backpressure: let the queue empty, then hand the same batch in again [W1].
            await memory.drain()
