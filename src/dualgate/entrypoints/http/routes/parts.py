"""What routes share: the memory, pages of short lists, and how the API describes its errors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Any, TypeVar

from fastapi import Depends, Query, Request

from dualgate import Memory
from dualgate.config import ServerSettings
from dualgate.entrypoints.http.answers import Problem
from dualgate.entrypoints.http.events import Events
from dualgate.entrypoints.http.problems import MEDIA_TYPE
from dualgate.errors import InvalidInputError

T = TypeVar("T")

PROBLEMS: dict[int | str, dict[str, Any]] = {
    "default": {
        "description": "A problem: which argument breaks which rule.",
        "content": {MEDIA_TYPE: {"schema": {"$ref": f"#/components/schemas/{Problem.__name__}"}}},
    }
}


def _memory(request: Request) -> Memory:
    memory: Memory = request.app.state.memory
    return memory


def _server(request: Request) -> ServerSettings:
    server: ServerSettings = request.app.state.settings.server
    return server


def _events(request: Request) -> Events:
    events: Events = request.app.state.events
    return events


Memories = Annotated[Memory, Depends(_memory)]
Server = Annotated[ServerSettings, Depends(_server)]
LiveEvents = Annotated[Events, Depends(_events)]
UserId = Annotated[
    str, Query(min_length=1, max_length=512, examples=["ann"], description="Your own id.")
]
Limit = Annotated[int, Query(ge=1, le=1_000)]
Cursor = Annotated[
    str | None, Query(max_length=2_000, description="The `cursor` of the page before.")
]


def paged(
    values: Sequence[T], name: Callable[[T], str], limit: int, cursor: str | None
) -> tuple[list[T], str | None]:
    """Return a page of a short list, and the name of its last one if there is more."""
    start = 0
    if cursor is not None:
        names = [name(value) for value in values]
        if cursor not in names:
            raise InvalidInputError("cursor", "must be one that a page gave", cursor)
        start = names.index(cursor) + 1
    page = list(values[start : start + limit])
    more = start + limit < len(values)
    return page, name(page[-1]) if more and page else None
