"""Errors as application/problem+json (RFC 9457): which argument is wrong, by which rule."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from dualgate import errors
from dualgate.errors import DualgateError

MEDIA_TYPE = "application/problem+json"


class UnauthorizedError(HTTPException):
    """No key, or none that is valid."""

    def __init__(self, detail: str) -> None:
        super().__init__(HTTPStatus.UNAUTHORIZED, detail, {"WWW-Authenticate": "Bearer"})


class ForbiddenError(HTTPException):
    """The caller may not do this."""

    def __init__(self, detail: str) -> None:
        super().__init__(HTTPStatus.FORBIDDEN, detail)


STATUS: Sequence[tuple[type[DualgateError], HTTPStatus]] = (
    (errors.InvalidInputError, HTTPStatus.UNPROCESSABLE_ENTITY),
    (errors.NotFoundError, HTTPStatus.NOT_FOUND),
    (errors.IllegalMoveError, HTTPStatus.CONFLICT),
    (errors.ConfirmationRequiredError, HTTPStatus.CONFLICT),
    (errors.QueueFullError, HTTPStatus.TOO_MANY_REQUESTS),
    (errors.StoreError, HTTPStatus.SERVICE_UNAVAILABLE),
    (DualgateError, HTTPStatus.INTERNAL_SERVER_ERROR),
)


def problem(
    status: int,
    detail: str,
    *,
    kind: str | None = None,
    wrong: Sequence[Mapping[str, Any]] = (),
    headers: Mapping[str, str] | None = None,
) -> JSONResponse:
    """Return a problem. kind: the error's name; wrong: the arguments with the rules they break."""
    phrase = HTTPStatus(status).phrase
    body: dict[str, Any] = {
        "type": "about:blank" if kind is None else f"urn:dualgate:error:{kind}",
        "title": phrase,
        "status": int(status),
        "detail": detail,
    }
    if wrong:
        body["errors"] = list(wrong)
    return JSONResponse(body, status, dict(headers or {}), MEDIA_TYPE)


def install(app: FastAPI) -> None:
    """Answer every error of this app with a problem."""
    app.add_exception_handler(DualgateError, _ours)
    app.add_exception_handler(RequestValidationError, _unfit)
    app.add_exception_handler(HTTPException, _plain)


async def _ours(_: Request, error: Exception) -> JSONResponse:
    status = next(code for kind, code in STATUS if isinstance(error, kind))
    wrong = []
    if isinstance(error, errors.InvalidInputError):
        wrong = [{"argument": error.argument, "rule": error.rule}]
    headers = {}
    if isinstance(error, errors.QueueFullError):
        headers["Retry-After"] = str(max(1, round(error.retry_after)))
    return problem(
        status, str(error), kind=type(error).__name__, wrong=wrong, headers=headers
    )


async def _unfit(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)  # noqa: S101
    wrong = [{"argument": _argument(each["loc"]), "rule": each["msg"]} for each in error.errors()]
    detail = "; ".join(f"{each['argument']}: {each['rule']}" for each in wrong)
    return problem(
        HTTPStatus.UNPROCESSABLE_ENTITY, detail, kind="InvalidInputError", wrong=wrong
    )


async def _plain(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)  # noqa: S101
    return problem(error.status_code, str(error.detail), headers=error.headers)


def _argument(place: Sequence[str | int]) -> str:
    """Return ("body", "messages", 0, "role") as messages[0].role."""
    named = "".join(f"[{each}]" if isinstance(each, int) else f".{each}" for each in place[1:])
    return named.lstrip(".") or str(place[0] if place else "body")
