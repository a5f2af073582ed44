"""Who is calling: a key's tenant and scopes, or this machine without a key.

Routes take `Reading`, `Writing`, `Governing` or `Operating` as an argument, and get a Caller. A
Caller turns user ids into stored ones (`caller.user(id)`); nothing else in a request says whose
memory it is.

The panel takes `PanelUser` (see `panel_user`): the caller, and the user that is looked at.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Protocol
from urllib.parse import unquote

from fastapi import Depends, Request

from dualgate.entrypoints.http import tenants
from dualgate.entrypoints.http.guard import client_address
from dualgate.entrypoints.http.problems import ForbiddenError, UnauthorizedError
from dualgate.pipeline.serving import Scope

__all__ = [
    "SESSION_COOKIE", "USER_COOKIE", "Caller", "Governing", "Looking", "Operating", "PanelUser",
    "Reading", "Scope", "Writing", "caller_of", "from_this_machine", "may_still", "panel_user",
]  # fmt: skip

SESSION_COOKIE = "dualgate_key"
USER_COOKIE = "dualgate_user"


@dataclass(frozen=True, slots=True)
class Caller:
    """Who calls. key_id is None for this machine without a key."""

    tenant: str
    scope: Scope = Scope.ADMIN
    key_id: str | None = None

    def user(self, user_id: object) -> str:
        """Return the stored id of one of this tenant's users [P4]."""
        return tenants.stored_id(self.tenant, user_id)

    def shown(self, stored: str) -> str:
        """Return the id by which the caller knows a stored user. It is one of the caller's."""
        shown = tenants.shown_id(self.tenant, stored)
        if shown is None:
            raise ForbiddenError("another tenant's user")
        return shown

    @property
    def scopes(self) -> frozenset[Scope]:
        """All that he may do."""
        return frozenset(scope for scope in Scope if self.scope.includes(scope))

    @property
    def operates(self) -> bool:
        """Whether he runs this server: an admin of the local tenant."""
        return self.tenant == tenants.LOCAL and self.scope is Scope.ADMIN

    def require(self, scope: Scope) -> None:
        """Refuse what the key may not do."""
        if not self.scope.includes(scope):
            raise ForbiddenError(f"this key lacks the scope {scope!s}")


class CallerBook(Protocol):
    """Knows keys and users; keys.Access is one."""

    keyless: bool

    async def caller_for(self, key: str) -> Caller | None:
        """Return whose key it is, None if it is none of ours."""
        ...

    async def count(self, who: str) -> None:
        """Count a request of a key or an address; refuse it if there were too many."""
        ...

    async def users(
        self, caller: Caller, *, after: str | None = None, limit: int = 100
    ) -> list[str]:
        """Return the tenant's users in order, as it knows them."""
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
    access: CallerBook = request.app.state.access
    caller = await _known(request, access)
    # Who is not known is counted by the address, so that keys cannot be tried in a row.
    await access.count(
        caller.key_id if caller and caller.key_id else f"address {client_address(request)}"
    )
    if caller is None:
        raise UnauthorizedError("an API key that is valid is needed: Authorization: Bearer …")
    request.state.caller = caller
    return caller


async def may_still(request: Request, caller: Caller) -> bool:
    """Return whether a long answer may go on: its key may have been revoked meanwhile."""
    return await _known(request, request.app.state.access) == caller


async def _known(request: Request, access: CallerBook) -> Caller | None:
    if key := _bearer(request):
        return await access.caller_for(key)
    signed_in = request.cookies.get(SESSION_COOKIE)
    # A cookie may have outlived its key; then the browser is like one that never signed in.
    if signed_in and (found := await access.caller_for(signed_in)) is not None:
        return found
    if access.keyless and from_this_machine(request):
        return Caller(tenants.LOCAL)
    return None


def _bearer(request: Request) -> str | None:
    scheme, _, key = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer" and key.strip():
        return key.strip()
    return request.headers.get("x-api-key") or None


def from_this_machine(request: Request) -> bool:
    """Return whether a request comes from this machine, and through no proxy."""
    # What a proxy passes on comes from elsewhere, whatever address the connection has.
    if "forwarded" in request.headers or "x-forwarded-for" in request.headers:
        return False
    host = client_address(request)
    return host in {"::1", "::ffff:127.0.0.1"} or host.startswith("127.")


async def _reading(caller: Annotated[Caller, Depends(caller_of)]) -> Caller:
    caller.require(Scope.READ)
    return caller


async def _writing(caller: Annotated[Caller, Depends(caller_of)]) -> Caller:
    caller.require(Scope.WRITE)
    return caller


async def _governing(caller: Annotated[Caller, Depends(caller_of)]) -> Caller:
    caller.require(Scope.ADMIN)
    return caller


async def _operating(caller: Annotated[Caller, Depends(caller_of)]) -> Caller:
    if not caller.operates:
        raise ForbiddenError("only an admin key of the local tenant may do this")
    return caller


Reading = Annotated[Caller, Depends(_reading)]
Writing = Annotated[Caller, Depends(_writing)]
Governing = Annotated[Caller, Depends(_governing)]
Operating = Annotated[Caller, Depends(_operating)]


async def panel_user(request: Request, caller: Reading) -> Looking:
    """Return whose memory the panel shows: ?user=…, else the cookie, else the only user."""
    kept = unquote(request.cookies.get(USER_COOKIE, ""))  # cookies hold ASCII; a name, anything
    chosen: str | None = request.query_params.get("user") or kept
    if not chosen:
        users = await request.app.state.access.users(caller, limit=2)
        chosen = users[0] if len(users) == 1 else None
    return Looking(caller, chosen)


PanelUser = Annotated[Looking, Depends(panel_user)]
