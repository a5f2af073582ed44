"""The schema's history: Alembic revisions, run forward when a database is opened [T4].

Rule: a released revision is never changed; a new one is added to `versions` and to REVISIONS.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path

from dualgate.errors import NewerSchemaError, StoreError

REVISIONS = ("0001", "0002", "0003", "0004", "0005")
HEAD = REVISIONS[-1]


def found_revision(raw: sqlite3.Connection) -> str | None:
    """Return the database's revision; None for a new, empty file."""
    names = {row[0] for row in raw.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if not names:
        return None
    if "alembic_version" not in names:
        raise StoreError(
            "the SQLite file belongs to another program",
            "dualgate needs a file of its own. Open another path",
        )
    row = raw.execute("SELECT version_num FROM alembic_version").fetchone()
    return None if row is None else str(row[0])


def require_known(revision: str | None) -> None:
    """Refuse a database that a newer dualgate has written."""
    if revision is not None and revision not in REVISIONS:
        raise NewerSchemaError(revision, HEAD)


def upgrade(raw: sqlite3.Connection) -> None:
    """Bring the database to HEAD, all of it or nothing."""
    # Imported when there is something to do: Alembic takes a third of a second to load.
    from alembic import command
    from alembic.config import Config
    from sqlalchemy import create_engine
    from sqlalchemy.pool import StaticPool

    config = Config()
    config.set_main_option("path_separator", "os")
    config.set_main_option("script_location", str(Path(__file__).parent).replace("%", "%%"))
    engine = create_engine("sqlite://", creator=lambda: raw, poolclass=StaticPool)
    with engine.begin() as connection:
        connection.exec_driver_sql("BEGIN IMMEDIATE")
        # Another process may have done it while this one waited for the lock.
        revision = found_revision(raw)
        require_known(revision)
        if revision != HEAD:
            config.attributes["connection"] = connection
            command.upgrade(config, "head")
