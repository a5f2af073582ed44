"""Who is calling: a key's tenant and scopes, or this machine without a key.

Routes take `Reading`, `Writing` or `Governing` as an argument, and get a Caller. A Caller turns
user ids into stored ones (`caller.user(id)`); nothing else in a request says whose memory it is.

The panel takes `PanelUser` (see `panel_user`): the caller, and the user that is looked at.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated, Protocol

from fastapi import Depends, Request

from dualgate.entrypoints.http import tenants
from dualgate.entrypoints.http.problems import ForbiddenError, UnauthorizedError

SESSION_COOKIE = "dualgate_key"
USER_COOKIE = "dualgate_user"


class Scope(StrEnum):
    """What a key may do; admin includes write, write includes read."""

    READ = "read"
    WRITE = "write"
    ADMIN = "admin"


IMPLIED = {
    Scope.READ: frozenset({Scope.READ}),
    Scope.WRITE: frozenset({Scope.READ, Scope.WRITE}),
    Scope.ADMIN: frozenset(Scope),
}


@dataclass(frozen=True, slots=True)
class Caller:
    """Who calls. key_id is None for this machine without a key."""

    tenant: str
    scopes: frozenset[Scope] = field(default_factory=lambda: IMPLIED[Scope.ADMIN])
    key_id: str | None = None

    def user(self, user_id: object) -> str:
        """Return the stored id of one of this tenant's users [P4]."""
        return tenants.stored_id(self.tenant, user_id)

    def require(self, scope: Scope) -> None:
        """Refuse what the key may not do."""
        if scope not in self.scopes:
            raise ForbiddenError(f"this key lacks the scope {scope!s}")


class CallerBook(Protocol):
    """Knows keys and users; keys.Access is one."""

    keyless: bool

    async def caller_for(self, key: str) -> Caller | None:
        """Return whose key it is, None if it is none of ours."""
        ...


@dataclass(frozen=True, slots=True)
class Looking:
    """Who looks at the panel, and at whose memory; user_id is None until one is chosen."""

    caller: Caller
    user_id: str | None  # as the tenant knows it; what pages show

    @property
    def stored_id(self) -> str:
        """The id for Memory. Raises InvalidInputError if no user is chosen."""
        return self.caller.user(self.user_id)


async def caller_of(request: Request) -> Caller:
    """Return who calls. Raises UnauthorizedError."""
    key = _bearer(request) or request.cookies.get(SESSION_COOKIE)
    access: CallerBook = request.app.state.access
    if key:
        found = await access.caller_for(key)
        if found is None:
            raise UnauthorizedError("the API key is unknown, expired or revoked")
        return found
    if access.keyless and _from_this_machine(request):
        return Caller(tenants.LOCAL)
    raise UnauthorizedError("an API key is needed: Authorization: Bearer …")


def _bearer(request: Request) -> str | None:
    scheme, _, key = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer" and key.strip():
        return key.strip()
    return request.headers.get("x-api-key") or None


def _from_this_machine(request: Request) -> bool:
    # What a proxy passes on comes from elsewhere, whatever address the connection has.
    if "forwarded" in request.headers or "x-forwarded-for" in request.headers:
        return False
    host = request.client.host if request.client else ""
    return host == "::1" or host.startswith("127.") or host in {"testclient", "::ffff:127.0.0.1"}


async def _reading(caller: Annotated[Caller, Depends(caller_of)]) -> Caller:
    caller.require(Scope.READ)
    return caller


async def _writing(caller: Annotated[Caller, Depends(caller_of)]) -> Caller:
    caller.require(Scope.WRITE)
    return caller


async def _governing(caller: Annotated[Caller, Depends(caller_of)]) -> Caller:
    caller.require(Scope.ADMIN)
    return caller


Reading = Annotated[Caller, Depends(_reading)]
Writing = Annotated[Caller, Depends(_writing)]
Governing = Annotated[Caller, Depends(_governing)]


async def panel_user(request: Request, caller: Reading) -> Looking:
    """Return whose memory the panel shows: ?user=…, else the cookie, else the only user."""
    chosen = request.query_params.get("user") or request.cookies.get(USER_COOKIE)
    if not chosen:
        users = await request.app.state.access.users(caller, limit=2)
        chosen = users[0] if len(users) == 1 else None
    return Looking(caller, chosen)


PanelUser = Annotated[Looking, Depends(panel_user)]
