"""What a server keeps beside the memory: API keys, and which requests it has answered already.

Rules of this file: a key's secret is shown once and kept as a hash only; a key belongs to one
tenant [P4]; what is known of an answered request holds no content, so that an erase has nothing
to look for here [P3].
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Protocol

from dualgate.domain.items import choice, clean_text
from dualgate.errors import InvalidInputError, NotFoundError
from dualgate.pipeline.ports import Clock, IdSource

KEY_PREFIX = "dg_"
NAME_LIMIT = 100
_TENANT = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?")
_KEY_LENGTH = len(KEY_PREFIX) + 43  # 32 bytes in base64url
_USE_SECONDS = 60.0  # how exact "last used" is: it shall not cost a write a request


def require_tenant(name: object) -> str:
    """Return a tenant's name: a-z, 0-9 and -, at most 40; "" is whoever works on this machine."""
    if not isinstance(name, str) or (name and not _TENANT.fullmatch(name)):
        raise InvalidInputError("tenant", "must be of a-z, 0-9 and -, at most 40", name)
    return name


class Scope(StrEnum):
    """What a key may do; each includes those before it."""

    READ = "read"
    WRITE = "write"
    ADMIN = "admin"

    def includes(self, other: Scope) -> bool:
        """Return whether whoever has this scope may do what the other allows."""
        order = list(Scope)
        return order.index(self) >= order.index(other)


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiKey:
    """A key as it is kept: without its secret. All times are aware UTC."""

    id: str
    tenant: str
    name: str
    scope: Scope
    created_at: datetime
    expires_at: datetime | None = None
    revoked_at: datetime | None = None
    last_used_at: datetime | None = None

    def valid(self, now: datetime) -> bool:
        """Return whether the key opens anything now."""
        return self.revoked_at is None and (self.expires_at is None or now < self.expires_at)


@dataclass(frozen=True, slots=True, kw_only=True)
class NewKey:
    """A key that was just made. `secret` is what callers send; it is never shown again."""

    key: ApiKey
    secret: str

    def __repr__(self) -> str:
        return f"NewKey(key={self.key!r}, secret='***')"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """A write that came with an idempotency key.

    fingerprint: a digest of the request, keyed with the idempotency key. subject: what the answer
    was about: the id of a job, an item or nothing (""). done_at is None while it runs.
    """

    user_id: str
    key: str
    fingerprint: str
    begun_at: datetime
    done_at: datetime | None = None
    subject: str = ""


class ServingStore(Protocol):
    """Keeps both. Keys are no user's; answered requests are."""

    async def put_key(self, key: ApiKey, digest: str | None = None) -> None:
        """Write a key whole. digest: of its secret, needed when the key is new."""
        ...

    async def key_by_digest(self, digest: str) -> ApiKey | None:
        """Return the key with this secret, valid or not."""
        ...

    async def keys(self) -> list[ApiKey]:
        """Return all keys, oldest first."""
        ...

    async def begin_answer(self, answered: Answered, forget_before: datetime) -> Answered | None:
        """Note that a request is being answered; return what was noted before, if anything.

        Notes of this user from before `forget_before` are dropped first.
        """
        ...

    async def end_answer(self, answered: Answered) -> None:
        """Note that the request was answered."""
        ...

    async def drop_answer(self, user_id: str, key: str) -> None:
        """Forget a request that failed: it may be sent again."""
        ...


class Keyring:
    """Makes, checks and revokes API keys."""

    def __init__(
        self, store: ServingStore, clock: Clock, ids: IdSource, secret: Callable[[], str]
    ) -> None:
        """Take what it needs; secret makes 256 fresh random bits in base64url."""
        self._store = store
        self._clock = clock
        self._ids = ids
        self._secret = secret

    def now(self) -> datetime:
        """Return the instant by which keys end: the machine's, aware, UTC."""
        return self._clock.now()

    def new_id(self) -> str:
        """Return an id never returned before, for a request."""
        return self._ids.new()

    async def create(
        self,
        tenant: str,
        *,
        name: str = "",
        scope: Scope | str = Scope.WRITE,
        days: float | None = None,
    ) -> NewKey:
        """Make a key of a tenant, valid for so many days; None is until it is revoked."""
        now = self._clock.now()
        name = clean_text("name", name).strip()
        if len(name) > NAME_LIMIT:
            raise InvalidInputError("name", f"at most {NAME_LIMIT} characters", name)
        if days is not None and not 0 < days < 36_500:  # noqa: PLR2004 - a hundred years
            raise InvalidInputError("days", "must be positive, and under 36500", days)
        key = ApiKey(
            id=self._ids.new(), tenant=require_tenant(tenant), name=name,
            scope=choice("scope", Scope, scope),
            created_at=now, expires_at=None if days is None else now + timedelta(days=days),
        )  # fmt: skip
        secret = KEY_PREFIX + self._secret()
        await self._store.put_key(key, _digest(secret))
        return NewKey(key=key, secret=secret)

    async def list(self, tenant: str | None = None) -> list[ApiKey]:
        """Return the keys of a tenant, or of all, oldest first."""
        return [k for k in await self._store.keys() if tenant is None or k.tenant == tenant]

    async def rotate(
        self, key_id: str, *, tenant: str | None = None, grace_hours: float = 24.0
    ) -> NewKey:
        """Make a key with the same rights; the old one ends after the grace. NotFoundError.

        tenant: whose key it must be, None if anybody's.
        """
        if not 0 <= grace_hours <= 8_760:  # noqa: PLR2004 - a year
            raise InvalidInputError("grace_hours", "must be between 0 and 8760", grace_hours)
        old = await self._key(key_id, tenant)
        now = self._clock.now()
        if not old.valid(now):
            raise InvalidInputError("key_id", "must be of a key that is valid", key_id)
        new = replace(
            old, id=self._ids.new(), created_at=now, last_used_at=None,
            # A key for thirty days stays one for thirty days.
            expires_at=None if old.expires_at is None else now + (old.expires_at - old.created_at),
        )  # fmt: skip
        secret = KEY_PREFIX + self._secret()
        await self._store.put_key(new, _digest(secret))
        ends = now + timedelta(hours=grace_hours)
        ends = ends if old.expires_at is None else min(ends, old.expires_at)
        await self._store.put_key(replace(old, expires_at=ends))
        return NewKey(key=new, secret=secret)

    async def revoke(self, key_id: str, *, tenant: str | None = None) -> ApiKey:
        """End a key at once. Raises NotFoundError."""
        old = await self._key(key_id, tenant)
        if old.revoked_at is not None:
            return old
        ended = replace(old, revoked_at=self._clock.now())
        await self._store.put_key(ended)
        return ended

    async def check(self, secret: str) -> ApiKey | None:
        """Return the valid key with this secret, and note that it was used; None if none is."""
        if not secret.startswith(KEY_PREFIX) or len(secret) != _KEY_LENGTH:
            return None
        # Found by its hash: what the comparison's time tells is about the hash, not the secret.
        key = await self._store.key_by_digest(_digest(secret))
        now = self._clock.now()
        if key is None or not key.valid(now):
            return None
        last = key.last_used_at
        if last is None or (now - last).total_seconds() >= _USE_SECONDS:
            key = replace(key, last_used_at=now)
            await self._store.put_key(key)
        return key

    async def _key(self, key_id: str, tenant: str | None) -> ApiKey:
        for key in await self.list(tenant):
            if key.id == key_id:
                return key
        raise NotFoundError("key", key_id)


def fingerprint(key: str, parts: Collection[str]) -> str:
    """Return a digest of a request, keyed with its idempotency key: it tells nothing alone."""
    hashed = hashlib.blake2b(key=hashlib.sha256(key.encode()).digest(), digest_size=32)
    for part in parts:
        hashed.update(len(part).to_bytes(8) + part.encode("utf-8", "surrogatepass"))
    return hashed.hexdigest()


def named(key: str) -> str:
    """Return the name under which an idempotency key is kept."""
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
