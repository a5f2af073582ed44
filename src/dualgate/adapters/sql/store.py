"""The Store on SQLite: opens units, reads the last committed state, keeps warm users warm."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import date, datetime
from typing import TypeVar

from dualgate.adapters.sql import (
    accounts,
    erasing,
    history,
    jobs,
    reading,
    transcripts,
    warm,
    writing,
)
from dualgate.adapters.sql import dossier as dossiers
from dualgate.adapters.sql.cache import Entry, UserCache
from dualgate.adapters.sql.dialects import Sql
from dualgate.adapters.sql.engine import Database
from dualgate.adapters.sql.reading import UserRow
from dualgate.adapters.sql.transaction import SqlTransaction
from dualgate.adapters.sql.vectors import checked
from dualgate.domain.audit import Finding
from dualgate.domain.erasure import ErasureKind
from dualgate.domain.items import MemoryItem
from dualgate.domain.plan import Decision, Move, Pending
from dualgate.domain.signals import Signal
from dualgate.domain.view import OwnTime, Snapshot
from dualgate.errors import InvalidInputError
from dualgate.pipeline.dossier import AskedErasure, Dossier
from dualgate.pipeline.ports import (
    ItemFilter,
    ItemPage,
    Lease,
    PlacedTurn,
    Session,
    StoreStats,
    Transaction,
    UsageLine,
    Use,
    Vector,
    WordedTurns,
)

T = TypeVar("T")


def require_user(user_id: object) -> str:
    """Return the user id; a missing or blank one is an error, never "all users" [P4]."""
    if not isinstance(user_id, str) or not user_id.strip():
        raise InvalidInputError("user_id", "must be a non-blank string", user_id)
    return user_id


class SqlStore:
    """Keeps everything about every user."""

    def __init__(self, database: Database, cache: UserCache, profile: warm.Profile) -> None:
        self._database = database
        self._cache = cache
        self._profile = profile
        self._talk = transcripts.TalkCache()

    async def close(self) -> None:
        """Release the file."""
        await self._database.close()

    def begin(
        self, user_id: str, lease: Lease | None = None
    ) -> AbstractAsyncContextManager[Transaction]:
        """Open a unit for one user."""
        return self._begin(user_id, lease)

    @asynccontextmanager
    async def _begin(
        self, user_id: str, lease: Lease | None = None
    ) -> AsyncIterator[SqlTransaction]:
        require_user(user_id)
        if lease is not None and lease.user_id != user_id:
            raise InvalidInputError("lease", "must be of the unit's user", lease.user_id)

        def first(sql: Sql) -> UserRow:
            # Nobody can take the user over before the unit ends: it holds the write lock.
            if lease is not None:
                jobs.require_held(sql, lease)
            return reading.user_row(sql, user_id)

        async with self._database.unit(first) as (unit, user):
            transaction = SqlTransaction(unit, user, self._cache, self._profile)
            yield transaction
            await transaction.commit()

    async def snapshot(self, user_id: str) -> Snapshot:
        """Return the user's pools."""
        return (await self._warm(user_id)).snapshot

    async def nearest(
        self, user_id: str, vector: Vector, *, limit: int, gate: float
    ) -> list[tuple[str, float]]:
        """Return (item id, cosine) of live items with cosine ≥ gate, best first."""
        require_user(user_id)
        query = checked("vector", vector)
        if limit < 1:
            return []
        pool = (await self._warm(user_id, query.size)).pool
        return [] if pool is None else pool.nearest(query, limit=limit, gate=gate)

    async def by_words(self, user_id: str, words: str, *, limit: int) -> list[tuple[str, float]]:
        """Return (item id, BM25 relevance) of live items, best first."""
        return await self._read(user_id, lambda sql: sql.match_words(user_id, words, limit))

    async def items(self, user_id: str, item_ids: Iterable[str]) -> dict[str, MemoryItem]:
        """Return these items, whatever their status."""
        wanted = list(dict.fromkeys(item_ids))
        return await self._read(user_id, lambda sql: reading.items(sql, user_id, wanted))

    async def unembedded(self, user_id: str, *, dim: int, limit: int) -> list[MemoryItem]:
        """Return live items that have no vector of the current model [T3]."""
        model = self._profile.model
        return await self._read(
            user_id, lambda sql: reading.unembedded(sql, user_id, (model, dim), limit)
        )

    async def turns_by_words(
        self, user_id: str, words: Sequence[str], *, limit: int
    ) -> WordedTurns:
        """Return the turns that hold the rarest of these words [R6]."""
        asked = list(words)
        return await self._read(
            user_id, lambda sql: transcripts.by_words(sql, user_id, asked, limit)
        )

    async def turns_near(
        self, user_id: str, vector: Vector, *, made_by: str, limit: int, gate: float
    ) -> list[tuple[str, float]]:
        """Return (turn id, cosine) of indexed turns, best first: exact."""
        query = checked("vector", vector)
        kept = self._talk.get(require_user(user_id))

        def work(sql: Sql) -> tuple[transcripts.Talk, list[tuple[str, float]]]:
            talk = transcripts.talk_for(sql, user_id, made_by, query.size, kept)
            return talk, talk.rows.nearest(query, limit=limit, gate=gate)

        talk, found = await self._read(user_id, work)
        self._talk.put(user_id, talk)
        return found

    async def placed_turns(
        self, user_id: str, turn_ids: Iterable[str], *, before: int, after: int
    ) -> dict[str, PlacedTurn]:
        """Return these turns with their neighbours."""
        wanted = list(turn_ids)
        return await self._read(
            user_id, lambda sql: transcripts.placed(sql, user_id, wanted, before, after)
        )

    async def resting_on(
        self, user_id: str, turn_ids: Iterable[str]
    ) -> dict[str, list[MemoryItem]]:
        """Return the items that have a signal from each of these turns."""
        wanted = list(turn_ids)
        return await self._read(user_id, lambda sql: transcripts.resting_on(sql, user_id, wanted))

    async def page(
        self, user_id: str, wanted: ItemFilter, *, limit: int, cursor: str | None
    ) -> ItemPage:
        """List items, newest first."""
        return await self._read(
            user_id, lambda sql: history.page(sql, user_id, wanted, limit=limit, cursor=cursor)
        )

    async def believed_at(self, user_id: str, when: datetime) -> list[MemoryItem]:
        """Return the items that were active at `when`."""
        return await self._read(user_id, lambda sql: history.believed_at(sql, user_id, when))

    async def moves(self, user_id: str, item_id: str | None = None) -> list[Move]:
        """Return the log, oldest first."""
        return await self._read(user_id, lambda sql: history.moves(sql, user_id, item_id))

    async def signals(self, user_id: str, item_id: str) -> list[Signal]:
        """Return an item's signals, oldest first."""
        found = await self._read(user_id, lambda sql: reading.signals(sql, user_id, [item_id]))
        return found[item_id]

    async def signals_of(
        self, user_id: str, item_ids: Sequence[str]
    ) -> dict[str, list[Signal]]:
        """Return the signals of each of these items, oldest first."""
        wanted = list(item_ids)
        return await self._read(user_id, lambda sql: reading.signals(sql, user_id, wanted))

    async def versions(self, user_id: str, item_id: str) -> list[MemoryItem]:
        """Return the lineage the item belongs to."""
        return await self._read(user_id, lambda sql: history.versions(sql, user_id, item_id))

    async def uses(self, user_id: str, item_id: str, limit: int = 50) -> list[Use]:
        """Return when the item was handed out, newest first."""
        return await self._read(user_id, lambda sql: history.uses(sql, user_id, item_id, limit))

    async def decisions(
        self,
        user_id: str,
        *,
        text: str | None = None,
        job_id: str | None = None,
        limit: int = 100,
        before: tuple[datetime, str] | None = None,
    ) -> list[Decision]:
        """Return recorded decisions, newest first."""
        return await self._read(
            user_id,
            lambda sql: history.decisions(
                sql, user_id, text=text, job_id=job_id, limit=limit, before=before
            ),
        )

    async def pendings(self, user_id: str, *, open_only: bool = True) -> list[Pending]:
        """Return pending overrides, oldest first."""
        return await self._read(
            user_id, lambda sql: reading.pendings(sql, user_id, open_only=open_only)
        )

    async def record_uses(self, user_id: str, uses: Sequence[Use], own_time: OwnTime) -> None:
        """Count accesses and relevance hits."""
        async with self._begin(user_id) as unit:
            before = await unit.items(use.item_id for use in uses)
            known = [use for use in uses if use.item_id in before]
            used = dict(before)
            for use in known:
                used[use.item_id] = _used(used[use.item_id], use, own_time.days)
            if known:
                await unit.count_uses(list(used.values()), before, known)
            if _is_later(own_time, unit.own_time):
                await unit.touch(own_time)

    async def session(self, user_id: str, session_id: str) -> Session | None:
        """Return a session, None if unknown."""
        return await self._read(user_id, lambda sql: reading.session(sql, user_id, session_id))

    async def keep_core(self, session: Session) -> Session:
        """Keep the session's core unless one is kept already."""
        require_user(session.user_id)
        return await self._write_for(session.user_id, lambda sql: writing.keep_core(sql, session))

    async def note(
        self,
        user_id: str,
        session_id: str,
        task_id: str,
        key: str,
        value: str | None,
        now: datetime,
        expires_at: datetime,
    ) -> None:
        """Set a working-memory note, or remove it [L2]."""
        place = (user_id, session_id, task_id, key)
        await self._write_for(
            user_id, lambda sql: history.put_note(sql, place, value, now, expires_at)
        )

    async def notes(
        self, user_id: str, session_id: str, task_id: str, now: datetime
    ) -> dict[str, str]:
        """Return the notes of a task that have not run out."""
        return await self._read(
            user_id, lambda sql: history.notes(sql, user_id, session_id, task_id, now)
        )

    async def clear_notes(self, user_id: str, session_id: str, task_id: str) -> None:
        """Remove all notes of a task."""
        await self._write_for(
            user_id, lambda sql: history.clear_notes(sql, user_id, session_id, task_id)
        )

    async def add_usage(self, lines: Sequence[UsageLine]) -> None:
        """Add to what is recorded of the same user, day, task and model."""
        for line in lines:
            require_user(line.user_id)
        await self._database.write(lambda sql: accounts.add_usage(sql, lines))

    async def usage(self, user_id: str | None, since: date) -> list[UsageLine]:
        """Return what models cost from that day on, of one user or of all."""
        if user_id is not None:
            require_user(user_id)
        return await self._database.read(lambda sql: accounts.usage(sql, user_id, since))

    async def keep_findings(
        self, user_id: str, findings: Sequence[Finding], audited_at: datetime | None = None
    ) -> None:
        """Write findings whole [U2]."""
        require_user(user_id)
        if any(finding.user_id != user_id for finding in findings):
            raise InvalidInputError("findings", "must be of this user")

        def work(sql: Sql) -> None:
            accounts.keep_findings(sql, findings)
            if audited_at is not None:
                accounts.mark_audited(sql, user_id, audited_at)

        await self._write_for(user_id, work)

    async def audited_at(self, user_id: str) -> datetime | None:
        """Return when the user's frozen pool was last looked through [U2]."""
        return await self._read(user_id, lambda sql: accounts.audited_at(sql, user_id))

    async def findings(self, user_id: str, *, open_only: bool = True) -> list[Finding]:
        """Return what audits found, oldest first [U2]."""
        return await self._read(
            user_id, lambda sql: accounts.findings(sql, user_id, open_only=open_only)
        )

    async def dossier(self, user_id: str) -> Dossier:
        """Return all that is kept of the user [P3]."""
        return await self._read(
            user_id, lambda sql: dossiers.dossier(sql, reading.user_row(sql, user_id))
        )

    async def erased(
        self, user_id: str, marks: Iterable[str]
    ) -> dict[str, tuple[ErasureKind, datetime]]:
        """Return which of these marks have a tombstone [P3]."""
        wanted = list(marks)
        return await self._read(user_id, lambda sql: erasing.erased(sql, user_id, wanted))

    async def ask_erasure(self, asked: AskedErasure) -> None:
        """Keep, durably, that this erasure was asked for."""
        require_user(asked.user_id)
        await self._database.write(lambda sql: erasing.ask(sql, asked))

    async def asked_erasures(self) -> list[AskedErasure]:
        """Return the erasures whose bytes are not gone yet."""
        return await self._database.read(erasing.asked)

    async def scrub(self, limit_bytes: int | None = None) -> bool:
        """Rewrite the file, so that nothing of what was erased can be read in it [P3]."""
        done = [one for one in await self.asked_erasures() if one.done_at is not None]
        if not await self._database.scrub(limit_bytes):
            return False
        await self._database.write(lambda sql: erasing.are_gone(sql, done))
        return True

    async def users(self, after: str | None, limit: int) -> list[str]:
        """Return user ids in order."""
        return await self._database.read(lambda sql: history.user_ids(sql, after, limit))

    async def stats(self, user_id: str | None = None) -> StoreStats:
        """Return counts, of one user or of all."""
        if user_id is not None:
            require_user(user_id)
        return await self._database.read(lambda sql: history.stats(sql, user_id))

    async def _read(self, user_id: str, work: Callable[[Sql], T]) -> T:
        require_user(user_id)
        return await self._database.read(work)

    async def _write_for(self, user_id: str, work: Callable[[Sql], T]) -> T:
        """Write something that no Snapshot shows, outside a unit."""
        require_user(user_id)

        def whole(sql: Sql) -> T:
            writing.make_user(sql, user_id)
            return work(sql)

        return await self._database.write(whole)

    async def _warm(self, user_id: str, dim: int | None = None) -> Entry:
        require_user(user_id)
        kept = self._cache.get(user_id)

        def work(sql: Sql) -> Entry:
            entry = warm.entry_for(sql, reading.user_row(sql, user_id), kept, self._profile)
            return entry if dim is None else warm.with_pool(sql, entry, self._profile, dim)

        entry = await self._database.read(work)
        if entry is not kept and entry.snapshot.version:
            self._cache.put(user_id, entry)
        return entry


def _used(item: MemoryItem, use: Use, own_day: float) -> MemoryItem:
    return item.with_(
        access_count=item.access_count + 1,
        last_accessed_at=_later(item.last_accessed_at, use.at),
        last_hit_at=_later(item.last_hit_at, use.at) if use.hit else item.last_hit_at,
        accessed_day=max(item.accessed_day, own_day),
    )


def _later(kept: datetime | None, at: datetime) -> datetime:
    return at if kept is None else max(kept, at)


def _is_later(own_time: OwnTime, kept: OwnTime) -> bool:
    if own_time.active_at is None:
        return False
    return kept.active_at is None or own_time.active_at > kept.active_at
