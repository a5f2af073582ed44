"""Settings and health, for whoever runs the server: gauges, queue, dead letters, users.

Rule: a tenant's operator sees his tenant's users alone; numbers of the whole process are shown to
the local tenant only [P4].
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass
from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Form, Query, Request, Response

from dualgate.entrypoints.http import tenants
from dualgate.entrypoints.http.access import SESSION_COOKIE, Caller, PanelUser, Scope
from dualgate.entrypoints.http.csrf import CsrfChecked
from dualgate.entrypoints.panel import page
from dualgate.entrypoints.panel.failures import PanelRoute
from dualgate.pipeline.ports import DeadJob

router = APIRouter(route_class=PanelRoute)

_USERS_SHOWN = 50
_DEAD_LOOKED_AT = 1_000
# Never shown, whatever they hold: where secrets could stand.
_HIDDEN = frozenset({"url", "model", "embedding"})


@dataclass(frozen=True, slots=True)
class Letter:
    """A job that failed for good, without its content."""

    job_id: str
    user: str
    attempts: int
    error: str
    died_at: datetime


@router.get("/health")
async def health(
    request: Request, looking: PanelUser, after: Annotated[str | None, Query()] = None
) -> Response:
    """Show how the server is."""
    caller = looking.caller
    caller.require(Scope.ADMIN)
    memory, settings = page.memory_of(request), page.settings_of(request)
    users = await request.app.state.access.users(caller, after=after, limit=_USERS_SHOWN + 1)
    return await page.render(
        request, "health.html", looking,
        stats=await memory.stats() if caller.tenant == tenants.LOCAL else None,
        letters=_letters(await memory.dead(limit=_DEAD_LOOKED_AT), caller),
        users=users[:_USERS_SHOWN],
        more=users[_USERS_SHOWN - 1] if len(users) > _USERS_SHOWN else None,
        classes=["default", *sorted(settings.user_classes)],
        limits=settings.read.limits,
        signed_in=SESSION_COOKIE in request.cookies,
        settings=list(_settings(settings)),
    )  # fmt: skip


@router.post("/health/revive", dependencies=[CsrfChecked])
async def revive(
    request: Request, looking: PanelUser, user: Annotated[str, Form()],
    job_id: Annotated[str, Form()],
) -> Response:  # fmt: skip
    """Let a job run again [W1]."""
    looking.caller.require(Scope.ADMIN)
    await page.memory_of(request).revive(looking.caller.user(user), job_id)
    return page.done(request, "revive", "/health")


@router.post("/health/class", dependencies=[CsrfChecked])
async def user_class(
    request: Request, looking: PanelUser, name: Annotated[str, Form()]
) -> Response:
    """Give the user another profile of the gates [F7]."""
    looking.caller.require(Scope.ADMIN)
    await page.memory_of(request).set_user_class(looking.stored_id, name)
    return page.done(request, "user_class", "/health")


def _letters(dead: Sequence[DeadJob], caller: Caller) -> list[Letter]:
    return [
        Letter(each.job.id, user, each.job.attempts, each.error, each.died_at)
        for each in dead
        if (user := tenants.shown_id(caller.tenant, each.job.user_id)) is not None
    ]


def _settings(tree: object, prefix: str = "") -> Iterator[tuple[str, str]]:
    """Yield every setting in force as (name, value), but those that may hold a secret."""
    assert is_dataclass(tree)  # noqa: S101
    for each in fields(tree):
        if not prefix and each.name in _HIDDEN:
            continue
        value = getattr(tree, each.name)
        name = f"{prefix}{each.name}"
        if is_dataclass(value):
            yield from _settings(value, f"{name}.")
        elif isinstance(value, frozenset):
            yield name, ", ".join(sorted(map(str, value)))
        elif isinstance(value, bool | int | float | str):
            yield name, str(value)
