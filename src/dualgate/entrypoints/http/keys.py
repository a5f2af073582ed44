"""What the server knows about callers: which keys there are, which users a tenant has."""

from __future__ import annotations

from dualgate import Memory
from dualgate.entrypoints.http import tenants
from dualgate.entrypoints.http.access import Caller


class Access:
    """Answers for one app who a key belongs to."""

    def __init__(self, memory: Memory, *, keyless: bool) -> None:
        self._memory = memory
        self.keyless = keyless

    async def caller_for(self, key: str) -> Caller | None:  # noqa: ARG002
        """Return whose key it is, None if it is none of ours."""
        return None

    async def users(
        self, caller: Caller, *, after: str | None = None, limit: int = 100
    ) -> list[str]:
        """Return the tenant's users in order, as the tenant knows them."""
        found = await self._memory.users(
            after=tenants.first_after(caller.tenant, after), limit=limit
        )
        shown = (tenants.shown_id(caller.tenant, user) for user in found)
        return [user for user in shown if user is not None]
