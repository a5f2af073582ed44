"""The outermost layer: who may call from where, what every answer says, and the error page.

- Host must be a name the server goes by: no web page reaches it by a name of its own (DNS
  rebinding).
- A browser says where a request comes from: Origin on changing requests must be ours or a
  configured one; a request of another site (Sec-Fetch-Site) may only open a page.
- Every answer carries the security headers and a request id.
- One of the three broad handlers is here: what nobody foresaw becomes a 500 problem with the
  request's id; the log has the place of the error, but no text of it, which may quote a user.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass
from http import HTTPStatus

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dualgate.entrypoints.http.problems import problem

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "font-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}
LOOPBACK = frozenset({"localhost", "127.0.0.1", "[::1]"})
IMPORT_BYTES = 1_000_000_000  # of an archive, which goes to a file piece by piece
CLIENT_LEFT = 499  # as other servers log it: the client left before the answer
ENTER = "/enter"
_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
_HOST = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[^:\[\]/@\s]+)(?::\d{1,5})?")
_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """One request that was answered; what is logged and counted of it."""

    request_id: str
    method: str
    route: str
    status: int
    seconds: float
    fault: BaseException | None = None
    key_id: str | None = None


class Guard:
    """Wraps the whole app."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        hosts: Collection[str],
        origins: Collection[str],
        body_bytes: int,
        new_id: Callable[[], str],
        served: Callable[[Served], None],
    ) -> None:
        self._app = app
        self._hosts = LOOPBACK | {host.lower() for host in hosts}
        self._origins = {origin.rstrip("/").lower() for origin in origins}
        self._body_bytes = body_bytes
        self._new_id = new_id
        self._served = served

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        given = headers.get("x-request-id", "")
        request_id = given if _REQUEST_ID.fullmatch(given) else self._new_id()
        began = time.perf_counter()
        status: int | None = None
        fault: BaseException | None = None

        async def sending(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                answered = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    answered.setdefault(name, value)
                answered["x-request-id"] = request_id
                if not scope["path"].startswith("/panel/static/"):
                    answered.setdefault("cache-control", "no-store")
            await send(message)

        try:
            refusal = self._refusal(scope, headers)
            if refusal is not None:
                await problem(*refusal)(scope, receive, sending)
            else:
                await self._app(scope, receive, sending)
        except Exception as error:  # noqa: BLE001 - the error page; reported below
            fault = error
            if status is None:
                detail = f"dualgate failed; its log names the place, under {request_id}"
                answer = problem(HTTPStatus.INTERNAL_SERVER_ERROR, detail)
                await answer(scope, receive, sending)
        finally:
            caller = scope.get("state", {}).get("caller")
            self._served(
                Served(
                    request_id=request_id,
                    method=scope["method"],
                    route=_route_of(scope),
                    status=int(status or CLIENT_LEFT),
                    seconds=time.perf_counter() - began,
                    fault=fault,
                    key_id=getattr(caller, "key_id", None),
                )
            )

    def _refusal(self, scope: Scope, headers: Headers) -> tuple[int, str] | None:
        host = headers.get("host", "")
        named = _HOST.fullmatch(host)
        if named is None or named[1].lower() not in self._hosts:
            return (
                HTTPStatus.MISDIRECTED_REQUEST,
                "Host: must be a name this server goes by (setting server.hosts)",
            )
        origin = headers.get("origin")
        own = f"{scope.get('scheme', 'http')}://{host}".lower()
        if origin is not None and origin.lower() not in {own, *self._origins}:
            return (
                HTTPStatus.FORBIDDEN,
                "Origin: must be this server's own, or in the setting server.origins",
            )
        site = headers.get("sec-fetch-site", "none")
        opened = scope["method"] in _SAFE and headers.get("sec-fetch-mode") == "navigate"
        # A link elsewhere may open a page, but not sign this browser in under a key of its own.
        opened = opened and not scope["path"].endswith(ENTER)
        if origin is None and site not in {"none", "same-origin"} and not opened:
            return HTTPStatus.FORBIDDEN, "Sec-Fetch-Site: another site may not call this server"
        length = headers.get("content-length", "0")
        most = IMPORT_BYTES if scope["path"] == "/v1/import" else self._body_bytes
        if length.isdecimal() and int(length) > most:
            return (
                HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
                f"body: at most {most} bytes (setting server.body_bytes)",
            )
        return None


def _route_of(scope: Scope) -> str:
    """Return the template of the route, never the path: what stands there may be private."""
    template: str | None = getattr(scope.get("route"), "path", None)
    if template is None:
        return "unknown"
    start = next((p for p in ("/v1", "/panel") if scope["path"].startswith(f"{p}/")), "")
    return template if template.startswith(start) else start + template


def client_address(request: Request) -> str:
    """Return the address a request comes from."""
    return request.client.host if request.client else "unknown"
