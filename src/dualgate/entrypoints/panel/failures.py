"""Errors as pages: what a person can do about it, in his language. REST keeps its problem+json."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from http import HTTPStatus
from typing import Any

from fastapi import Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException

from dualgate import errors
from dualgate.entrypoints.http.problems import STATUS
from dualgate.entrypoints.panel import page


class PanelRoute(APIRoute):
    """A route whose errors become pages."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return the handler, with errors told as pages."""
        handle = super().get_route_handler()

        async def told(request: Request) -> Response:
            try:
                return await handle(request)
            except errors.DualgateError as error:
                status = next(code for kind, code in STATUS if isinstance(error, kind))
                return await _page(request, status, error)
            except HTTPException as error:
                if error.status_code == HTTPStatus.UNAUTHORIZED:
                    return page.go(request, "/sign-in")
                return await _page(request, HTTPStatus(error.status_code), None)
            except RequestValidationError:
                return await _page(request, HTTPStatus.UNPROCESSABLE_ENTITY, None)

        return told


async def _page(
    request: Request, status: HTTPStatus, error: errors.DualgateError | None
) -> Response:
    say = page.words_for(request)
    if isinstance(error, errors.InvalidInputError):
        text = say("error.invalid", rule=error.rule, argument=error.argument)
    else:
        name = {
            HTTPStatus.NOT_FOUND: "not_found",
            HTTPStatus.FORBIDDEN: "forbidden",
            HTTPStatus.TOO_MANY_REQUESTS: "busy",
            HTTPStatus.SERVICE_UNAVAILABLE: "busy",
        }.get(status, "other")
        text = say(f"error.{name}")
    return await page.render(request, "error.html", None, status=status, text=text)
