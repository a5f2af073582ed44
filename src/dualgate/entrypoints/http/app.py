"""The app factory.

What it offers to the panel (src/dualgate/entrypoints/panel/):
- the package defines `router: APIRouter`, included under /panel (its routes are "/", "/items/…"),
  and holds a folder `static/`, served under /panel/static; templates are its own affair.
- `request.app.state.memory` is the Memory, `.settings` the Settings, `.events` the live events
  (events.stream yields a user's), `.access` who may call.
- access.PanelUser: whose memory is looked at (?user=…, else cookie dualgate_user, else the only
  user); .stored_id goes to Memory, .user_id is shown. access.Scope and Caller.require for rights.
- csrf.csrf_token(request), csrf.set_csrf(request, response), dependencies=[csrf.CsrfChecked].
- every answer carries a strict Content-Security-Policy: no inline script or style, no foreign
  host.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib import import_module, metadata
from importlib.resources import files
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from fastapi.staticfiles import StaticFiles
from starlette.middleware import Middleware
from starlette.middleware.body_limit import RequestBodyLimitMiddleware

from dualgate import Memory, Settings
from dualgate.entrypoints.http import entering, health, problems
from dualgate.entrypoints.http.answers import Problem
from dualgate.entrypoints.http.events import Events
from dualgate.entrypoints.http.guard import Guard
from dualgate.entrypoints.http.keys import Access
from dualgate.entrypoints.http.routes import curation, operating, privacy, reading, writing
from dualgate.entrypoints.http.routes.parts import PROBLEMS
from dualgate.entrypoints.http.traces import telemetry
from dualgate.entrypoints.http.watching import Watching

PANEL = "/panel"
API = "/v1"
_SUMMARY = "A long-term memory for assistants: bounded, stable, with a reason for everything."


def create_app(memory: Memory, settings: Settings, *, own_key: str | None = None) -> FastAPI:
    """Return the server for an open memory; whoever opened the memory closes it.

    own_key: lets its bearer in as the local tenant's admin, as long as this app lives.
    """
    server = settings.server
    watching = Watching(memory)
    events = Events()

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        memory.watch(events)
        memory.watch(watching)
        try:
            yield
        finally:
            memory.unwatch(events)
            memory.unwatch(watching)
            events.close()

    guard = Middleware(
        Guard, hosts=server.hosts | _own_names(server.host), origins=server.origins,
        body_bytes=server.body_bytes, new_id=memory.keys.new_id, served=watching.served,
    )  # fmt: skip
    # Inside the guard, so that a body that is too long is answered with a problem as well.
    body_limit = Middleware(RequestBodyLimitMiddleware, max_body_size=server.body_bytes)
    app = FastAPI(
        title="dualgate", summary=_SUMMARY, version=metadata.version("dualgate"),
        docs_url=None, redoc_url=None, lifespan=lifespan, middleware=[guard, body_limit],
        telemetry=telemetry(traces=server.traces),
        separate_input_output_schemas=False,
    )  # fmt: skip
    app.state.memory = memory
    app.state.settings = settings
    app.state.events = events
    app.state.watching = watching
    app.state.access = Access(memory, server, own_key)
    problems.install(app)
    app.include_router(health.router, responses=PROBLEMS)
    for routes in (writing, reading, curation, privacy, operating):
        app.include_router(routes.router, prefix=API, responses=PROBLEMS)
    app.include_router(entering.router)
    if server.panel:
        _mount_panel(app)
    app.openapi = lambda: _described(app)  # type: ignore[method-assign]
    return app


def _own_names(host: str) -> frozenset[str]:
    return frozenset({f"[{host}]" if ":" in host else host})


def _mount_panel(app: FastAPI) -> None:
    panel = import_module("dualgate.entrypoints.panel")
    app.include_router(panel.router, prefix=PANEL, include_in_schema=False)
    static = Path(str(files(panel) / "static"))
    app.mount(f"{PANEL}/static", StaticFiles(directory=static), name="panel-static")


def _described(app: FastAPI) -> dict[str, Any]:
    """Return the OpenAPI document: FastAPI's, with the problem and the key described."""
    if app.openapi_schema is not None:
        return app.openapi_schema
    found = get_openapi(
        title=app.title, version=app.version, summary=app.summary, routes=app.routes
    )
    parts = found.setdefault("components", {})
    described = Problem.model_json_schema(ref_template="#/components/schemas/{model}")
    schemas = parts.setdefault("schemas", {})
    schemas.update(described.pop("$defs", {}))
    schemas[Problem.__name__] = described
    parts["securitySchemes"] = {"key": {"type": "http", "scheme": "bearer"}}
    found["security"] = [{"key": []}, {}]
    app.openapi_schema = found
    return found
