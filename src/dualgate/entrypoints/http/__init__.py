"""The server: REST under /v1, live events, health; the panel is mounted here, too.

A thin face of Memory: requests become calls, answers become JSON, errors become problems.
"""

from __future__ import annotations

from dualgate.entrypoints.http.app import create_app

__all__ = ["create_app"]
