"""API keys and answered requests, in the tables api_keys and answered_requests."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import bindparam, delete, select, update

from dualgate.adapters.sql import tables
from dualgate.adapters.sql.dialects import Row, Sql
from dualgate.adapters.sql.engine import Database
from dualgate.adapters.sql.reading import own
from dualgate.adapters.sql.rows import from_micros, maybe_micros, maybe_time, to_micros
from dualgate.pipeline.serving import Answered, ApiKey, Scope

_keys = tables.api_keys.c
_answers = tables.answered_requests.c
_KEY_COLUMNS = (
    _keys.id, _keys.tenant, _keys.name, _keys.scope, _keys.created_at, _keys.expires_at,
    _keys.revoked_at, _keys.last_used_at,
)  # fmt: skip

_ALL_KEYS = select(*_KEY_COLUMNS).order_by(_keys.created_at, _keys.id)
_BY_DIGEST = select(*_KEY_COLUMNS).where(_keys.digest == bindparam("sought"))
_CHANGED = (
    update(tables.api_keys)
    .where(_keys.id == bindparam("key_id"))
    .values(
        expires_at=bindparam("expires"),
        revoked_at=bindparam("revoked"),
        last_used_at=bindparam("last_used"),
    )
)
_ANSWER = select(*tables.answered_requests.columns).where(
    own(_answers.user_id), _answers.key == bindparam("sought")
)
_DROP_OLD = delete(tables.answered_requests).where(
    own(_answers.user_id), _answers.begun_at < bindparam("before")
)
_DROP = delete(tables.answered_requests).where(
    own(_answers.user_id), _answers.key == bindparam("sought")
)


class SqlServing:
    """Keeps both beside the memory."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def put_key(self, key: ApiKey, digest: str | None = None) -> None:
        """Write a key whole."""
        times = {
            "expires": maybe_micros(key.expires_at),
            "revoked": maybe_micros(key.revoked_at),
            "last_used": maybe_micros(key.last_used_at),
        }
        if digest is None:
            await self._database.write(lambda sql: sql.run(_CHANGED, {"key_id": key.id, **times}))
            return
        row = {
            "digest": digest,
            "id": key.id,
            "tenant": key.tenant,
            "name": key.name,
            "scope": str(key.scope),
            "created_at": to_micros(key.created_at),
            "expires_at": times["expires"],
            "revoked_at": times["revoked"],
            "last_used_at": times["last_used"],
        }
        await self._database.write(lambda sql: sql.insert_new(tables.api_keys, [row]))

    async def key_by_digest(self, digest: str) -> ApiKey | None:
        """Return the key with this secret."""
        row = await self._database.read(lambda sql: sql.one(_BY_DIGEST, {"sought": digest}))
        return None if row is None else _key_of(row)

    async def keys(self) -> list[ApiKey]:
        """Return all keys, oldest first."""
        rows = await self._database.read(lambda sql: sql.rows(_ALL_KEYS))
        return [_key_of(row) for row in rows]

    async def begin_answer(self, answered: Answered, forget_before: datetime) -> Answered | None:
        """Note that a request is being answered; return what was noted before."""

        def work(sql: Sql) -> Answered | None:
            sql.run(_DROP_OLD, {"user_id": answered.user_id, "before": to_micros(forget_before)})
            row = sql.one(_ANSWER, {"user_id": answered.user_id, "sought": answered.key})
            if row is not None:
                return _answered_of(row)
            sql.insert_new(tables.answered_requests, [_row_of(answered)])
            return None

        return await self._database.write(work)

    async def end_answer(self, answered: Answered) -> None:
        """Note that the request was answered."""
        row = _row_of(answered)
        await self._database.write(lambda sql: sql.upsert(tables.answered_requests, [row]))

    async def drop_answer(self, user_id: str, key: str) -> None:
        """Forget a request that failed."""
        values = {"user_id": user_id, "sought": key}
        await self._database.write(lambda sql: sql.run(_DROP, values))


def _key_of(row: Row) -> ApiKey:
    key_id, tenant, name, scope, created, expires, revoked, used = row
    return ApiKey(
        id=key_id,
        tenant=tenant,
        name=name,
        scope=Scope(scope),
        created_at=from_micros(created),
        expires_at=maybe_time(expires),
        revoked_at=maybe_time(revoked),
        last_used_at=maybe_time(used),
    )


def _row_of(answered: Answered) -> dict[str, Any]:
    return {
        "user_id": answered.user_id,
        "key": answered.key,
        "fingerprint": answered.fingerprint,
        "begun_at": to_micros(answered.begun_at),
        "done_at": maybe_micros(answered.done_at),
        "subject": answered.subject,
    }


def _answered_of(row: Row) -> Answered:
    user_id, key, fingerprint, begun, done, subject = row
    return Answered(
        user_id=user_id,
        key=key,
        fingerprint=fingerprint,
        begun_at=from_micros(begun),
        done_at=maybe_time(done),
        subject=subject,
    )
