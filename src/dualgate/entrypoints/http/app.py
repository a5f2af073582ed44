"""The app factory.

What it offers to the panel (src/dualgate/entrypoints/panel/):
- the package defines `router: APIRouter`, included under /panel (its routes are "/", "/items/…"),
  and holds a folder `static/`, served under /panel/static; templates are its own affair.
- `request.app.state.memory` is the Memory, `.settings` the Settings, `.events` the live events.
- access.PanelUser: whose memory is looked at (?user=…, else cookie dualgate_user, else the only
  user); .stored_id goes to Memory, .user_id is shown. access.Scope and Caller.require for rights.
- csrf.csrf_token(request), csrf.set_csrf(request, response), dependencies=[csrf.CsrfChecked].
- every answer carries a strict Content-Security-Policy: no inline script or style, no foreign
  host.
"""

from __future__ import annotations

from importlib import import_module
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path

from fastapi import FastAPI
from fastapi.staticfiles import StaticFiles

from dualgate import Memory, Settings
from dualgate.entrypoints.http import problems
from dualgate.entrypoints.http.keys import Access

PANEL = "/panel"


def create_app(memory: Memory, settings: Settings) -> FastAPI:
    """Return the server for an open memory; whoever opened the memory closes it."""
    app = FastAPI(title="dualgate", docs_url=None, redoc_url=None, openapi_url="/openapi.json")
    app.state.memory = memory
    app.state.settings = settings
    app.state.access = Access(memory, keyless=settings.server.keyless)
    problems.install(app)
    _mount_panel(app)
    return app


def _mount_panel(app: FastAPI) -> None:
    if find_spec("dualgate.entrypoints.panel") is None:
        return
    panel = import_module("dualgate.entrypoints.panel")
    app.include_router(panel.router, prefix=PANEL, include_in_schema=False)
    static = Path(str(files(panel) / "static"))
    app.mount(f"{PANEL}/static", StaticFiles(directory=static), name="panel-static")
