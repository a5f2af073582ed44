"""SQL storage: one SQLite file for embedded use [T1]; PostgreSQL shares the statements [T2]."""

from __future__ import annotations

from dualgate.adapters.sql.opening import SqlBackend, open_sqlite

__all__ = ["SqlBackend", "open_sqlite"]
