"""Idempotency keys: a write that is sent twice with one key is done once.

Kept is that it was done and what it was about, never what was in it [P3]. A repetition answers
with how that thing stands now, and the header Idempotency-Replayed.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import timedelta
from http import HTTPStatus
from typing import Annotated, TypeVar

from fastapi import Depends, Header, Request, Response
from starlette.exceptions import HTTPException

from dualgate import Memory
from dualgate.errors import InvalidInputError
from dualgate.pipeline.serving import Answered, fingerprint, named

T = TypeVar("T")
CRASHED_AFTER = timedelta(seconds=60)  # one that has run for longer ended with its process
REPLAYED = "Idempotency-Replayed"


class Once:
    """Does the write of one request, unless it was done before."""

    def __init__(
        self, memory: Memory, key: str | None, print_: str, response: Response, hours: float
    ) -> None:
        self._store = memory.serving
        self._now = memory.keys.now
        self._given = key
        self._print = print_
        self._response = response
        self._hours = hours

    @property
    def key(self) -> str | None:
        """Return the name under which the key is kept."""
        return None if self._given is None else named(self._given)

    async def run(
        self,
        user_id: str,
        work: Callable[[], Awaitable[T]],
        again: Callable[[str], Awaitable[T]],
        subject: Callable[[T], str] = lambda _: "",
    ) -> T:
        """Return what work returns; for a repetition, what again returns for its subject."""
        if self.key is None:
            return await work()
        now = self._now()
        mine = Answered(user_id=user_id, key=self.key, fingerprint=self._print, begun_at=now)
        before = await self._store.begin_answer(mine, now - timedelta(hours=self._hours))
        if before is not None:
            if before.fingerprint != self._print:
                rule = "was sent with another request; each request has a key of its own"
                raise InvalidInputError("Idempotency-Key", rule)
            if before.done_at is not None:
                self._response.headers[REPLAYED] = "true"
                return await again(before.subject)
            if now - before.begun_at < CRASHED_AFTER:
                raise HTTPException(
                    HTTPStatus.CONFLICT, "the request with this Idempotency-Key is being done",
                    {"Retry-After": "1"},
                )  # fmt: skip
        try:
            done = await work()
        except BaseException:
            # It was not done: the client may try again with the same key.
            await self._store.drop_answer(user_id, self.key)
            raise
        ended = replace(mine, done_at=now, subject=subject(done))
        await self._store.end_answer(ended)
        return done


async def once(
    request: Request,
    response: Response,
    idempotency_key: Annotated[
        str | None,
        Header(
            min_length=1,
            max_length=255,
            description="Sent again with the same key, the request is not done again.",
        ),
    ] = None,
) -> Once:
    """Return the guard of this request."""
    memory, settings = request.app.state.memory, request.app.state.settings
    given = ""
    if idempotency_key is not None:
        body = (await request.body()).decode("utf-8", "replace")
        parts = (request.method, request.url.path, request.url.query, body)
        given = fingerprint(idempotency_key, parts)
    return Once(memory, idempotency_key, given, response, settings.server.replay_hours)


OnceOnly = Annotated[Once, Depends(once)]
