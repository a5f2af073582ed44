"""The panel: what is remembered about me, why, and what I can do about it [U1].

Plain HTML forms that work without a script; htmx only saves the reload, uPlot draws, and panel.js
listens to the live events. The app factory (http/app.py) includes `router` under /panel and serves
`static/`.
"""

from __future__ import annotations

from fastapi import APIRouter

from dualgate.entrypoints.panel.deciding import router as deciding
from dualgate.entrypoints.panel.deeds import router as deeds
from dualgate.entrypoints.panel.entrance import router as entrance
from dualgate.entrypoints.panel.failures import PanelRoute
from dualgate.entrypoints.panel.happening import router as happening
from dualgate.entrypoints.panel.health import router as health
from dualgate.entrypoints.panel.preview import router as preview
from dualgate.entrypoints.panel.privacy import router as privacy
from dualgate.entrypoints.panel.reading import router as reading

__all__ = ["router"]

router = APIRouter(route_class=PanelRoute)
for part in (reading, deeds, deciding, happening, preview, privacy, health, entrance):
    router.include_router(part)
