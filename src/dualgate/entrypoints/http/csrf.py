"""Cross-site request forgery: a form or htmx request proves that a page of ours sent it.

The cookie holds a nonce, the page holds its keyed digest. Besides, guard.py compares Origin. Pages
write `csrf_token(request)` into a hidden field `csrf_token` or into hx-headers as X-CSRF-Token,
and set the cookie by `set_csrf(request, response)`; changing routes depend on `CsrfChecked`.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from typing import Annotated

from fastapi import Depends, Request, Response

from dualgate.entrypoints.http.problems import ForbiddenError

COOKIE = "dualgate_csrf"
HEADER = "x-csrf-token"
FIELD = "csrf_token"


def csrf_token(request: Request) -> str:
    """Return the token for forms of this browser; the nonce is made at the first call."""
    return _token(_nonce(request))


def set_csrf(request: Request, response: Response) -> None:
    """Let the browser keep the nonce that `csrf_token` spoke of."""
    response.set_cookie(
        COOKIE, _nonce(request), path="/", httponly=True, samesite="strict",
        secure=request.url.scheme == "https",
    )  # fmt: skip


async def require_csrf(request: Request) -> None:
    """Refuse a request that no page of ours sent."""
    nonce = request.cookies.get(COOKIE, "")
    given = request.headers.get(HEADER)
    if given is None and "form" in request.headers.get("content-type", ""):
        given = str((await request.form()).get(FIELD, ""))
    if not nonce or not hmac.compare_digest(_token(nonce).encode(), (given or "").encode()):
        raise ForbiddenError("the form is stale or of another site: load the page again")


CsrfChecked = Depends(require_csrf)
CsrfToken = Annotated[str, Depends(csrf_token)]


def _nonce(request: Request) -> str:
    known = request.cookies.get(COOKIE) or getattr(request.state, "csrf_nonce", None)
    if not known:
        known = request.state.csrf_nonce = secrets.token_urlsafe(32)
    return str(known)


def _token(nonce: str) -> str:
    return hmac.new(nonce.encode(), b"dualgate panel", hashlib.sha256).hexdigest()
