"""Foreign errors become ours, once, at the edge of the adapter, each with what to do."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from dualgate.errors import InvalidInputError, StoreError, StoreUnavailableError

# What passes, once there is room or the other process is done.
_PASSING = ("SQLITE_FULL", "SQLITE_BUSY", "SQLITE_LOCKED", "SQLITE_IOERR")
# By the first part of SQLite's own name for the error; the first that fits.
_ADVICE = {
    "SQLITE_FULL": (
        "the disk is full",
        "Nothing of this unit was stored. Free some space and try again",
    ),
    "SQLITE_BUSY": (
        "the database is locked by another process",
        "Nothing was stored. Try again; some program may keep the file in a long transaction",
    ),
    "SQLITE_LOCKED": ("the database is locked", "Nothing was stored. Try again"),
    "SQLITE_NOTADB": (
        "the file is not a SQLite database",
        "It may be encrypted, or another kind of file. Open another path",
    ),
    "SQLITE_CORRUPT": (
        "the database file is damaged",
        "Copy it aside, then restore a backup or save what is left by `sqlite3 FILE .recover`",
    ),
    "SQLITE_READONLY": (
        "the database is read-only",
        "Allow this user to write the file and its directory: SQLite keeps a -wal file beside it",
    ),
    "SQLITE_CANTOPEN": (
        "the database file cannot be opened",
        "The directory must exist, and this user must be allowed to write in it",
    ),
    # SQLite calls only ENOSPC a full disk; a quota or a limit on file sizes ends up here.
    "SQLITE_IOERR_WRITE": (
        "the database file cannot be written",
        "Nothing of this unit was stored. Free some space, raise the quota or file size limit",
    ),
    "SQLITE_IOERR": (
        "the database file cannot be read or written",
        "Check the disk; network file systems are not safe for SQLite",
    ),
}


@contextmanager
def translated() -> Iterator[None]:
    """Turn what the driver raises into a StoreError or an InvalidInputError."""
    try:
        yield
    except sqlite3.Error as exc:
        raise store_error(exc) from exc
    except UnicodeEncodeError as exc:
        raise InvalidInputError("text", "must not hold a lone surrogate", exc.object) from exc
    except OverflowError as exc:
        raise InvalidInputError("number", "must fit into 64 bits") from exc


def store_error(exc: sqlite3.Error) -> StoreError:
    """Return our error for the driver's."""
    name = getattr(exc, "sqlite_errorname", None) or ""
    for prefix, (problem, advice) in _ADVICE.items():
        if name.startswith(prefix):
            kind = StoreUnavailableError if name.startswith(_PASSING) else StoreError
            return kind(f"{problem} ({exc})", advice)
    problem = f"the database failed ({name or type(exc).__name__}: {exc})"
    return StoreError(problem, "Run `dualgate doctor`; if it finds nothing, report this")
