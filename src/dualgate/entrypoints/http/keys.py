"""What the server knows about callers: which keys there are, which users a tenant has."""

from __future__ import annotations

import hmac
from http import HTTPStatus

from limits import RateLimitItemPerMinute
from limits.aio.storage import MemoryStorage
from limits.aio.strategies import FixedWindowRateLimiter
from starlette.exceptions import HTTPException

from dualgate import Memory
from dualgate.config import ServerSettings
from dualgate.entrypoints.http import tenants
from dualgate.entrypoints.http.access import Caller


class Access:
    """Answers for one app who a key belongs to, and how often it may call.

    own_key: a key for the local tenant that lives as long as this process; `dualgate serve`
    prints it.
    """

    def __init__(
        self, memory: Memory, settings: ServerSettings, own_key: str | None = None
    ) -> None:
        self._memory = memory
        self._own_key = own_key
        self._limit = RateLimitItemPerMinute(settings.requests_per_minute)
        self._limiter = FixedWindowRateLimiter(MemoryStorage())
        self.keyless = settings.keyless

    async def caller_for(self, key: str) -> Caller | None:
        """Return whose key it is, None if it is none of ours."""
        if self._own_key and hmac.compare_digest(key.encode(), self._own_key.encode()):
            return Caller(tenants.LOCAL, key_id="serve")
        found = await self._memory.keys.check(key)
        if found is None:
            return None
        return Caller(found.tenant, found.scope, found.id)

    async def count(self, who: str) -> None:
        """Count a request of a key or an address; refuse it if there were too many."""
        if await self._limiter.hit(self._limit, who):
            return
        resets, _ = await self._limiter.get_window_stats(self._limit, who)
        wait = max(1, round(resets - self._memory.keys.now().timestamp()))
        raise HTTPException(
            HTTPStatus.TOO_MANY_REQUESTS,
            f"at most {self._limit.amount} requests a minute (server.requests_per_minute)",
            {"Retry-After": str(wait)},
        )

    async def users(
        self, caller: Caller, *, after: str | None = None, limit: int = 100
    ) -> list[str]:
        """Return the tenant's users in order, as it knows them."""
        return (await self.user_page(caller, after=after, limit=limit))[0]

    async def user_page(
        self, caller: Caller, *, after: str | None = None, limit: int = 100
    ) -> tuple[list[str], str | None]:
        """Return what `users` returns, and where the next page starts (None: it was the last)."""
        found: list[str] = []
        place = tenants.first_after(caller.tenant, after)
        while True:
            stored = await self._memory.users(after=place, limit=limit)
            for user in stored:
                shown = tenants.shown_id(caller.tenant, user)
                if shown is None and caller.tenant != tenants.LOCAL:
                    return found, None  # past the last of this tenant
                if shown is not None:
                    found.append(shown)
                if len(found) == limit:
                    return found, shown
            if len(stored) < limit:
                return found, None
            place = stored[-1]
