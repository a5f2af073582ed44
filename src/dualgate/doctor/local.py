"""What this machine must have: SQLite with full text, a place for the file, weights that load."""

from __future__ import annotations

import asyncio
import os
import shutil
import sqlite3
import stat
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from zipfile import BadZipFile

from dualgate.adapters.local.embedder import UseEmbedder
from dualgate.adapters.local.extraction import LocalExtractor
from dualgate.adapters.local.structure import LexiconStructurer
from dualgate.bootstrap import default_url, open_backend
from dualgate.config import Settings
from dualgate.doctor.finding import Finding, Verdict
from dualgate.domain.items import Message
from dualgate.domain.types import Role
from dualgate.errors import DualgateError
from dualgate.pipeline.ports import Turn

SENTENCES = {
    "zh": "我对花生过敏，以后别给我推荐含花生的菜。",
    "en": "I am allergic to peanuts, so never suggest dishes with peanuts.",
}
_LITTLE_BYTES = 200_000_000  # one user's year of turns takes some 20 MB
_NO_BYTES = 20_000_000


def check_machine() -> list[Finding]:
    """Check Python and its SQLite."""
    numbers = {"python": sys.version.split()[0], "sqlite": sqlite3.sqlite_version}
    try:
        with closing(sqlite3.connect(":memory:")) as database:
            database.execute("CREATE VIRTUAL TABLE t USING fts5(x)")
    except sqlite3.OperationalError as error:
        return [Finding(
            check="sqlite", verdict=Verdict.WRONG, numbers=numbers,
            said=f"this Python's SQLite has no full-text search ({error})",
            advice="Use a Python whose sqlite3 is built with FTS5, such as python.org's",
        )]  # fmt: skip
    said = f"Python {numbers['python']}, SQLite {numbers['sqlite']} with full-text search"
    return [Finding(check="sqlite", verdict=Verdict.OK, said=said, numbers=numbers)]


async def check_database(url: str | None, settings: Settings) -> list[Finding]:
    """Check where the memories are: folder, disk, permissions, and whether it opens."""
    url = url or default_url()
    if url == "memory://":
        said = "memories live in this process and are gone with it"
        return [Finding(check="database", verdict=Verdict.OK, said=said)]
    if not url.startswith("sqlite:///"):
        return await _opens(url, settings)
    found, there = await asyncio.to_thread(_looked_at, url.removeprefix("sqlite:///"))
    if there and all(one.verdict is not Verdict.WRONG for one in found):
        found += await _opens(url, settings)
    return found


def _looked_at(name: str) -> tuple[list[Finding], bool]:
    path = Path(name).expanduser().absolute()
    return [*_place(path), *_file(path)], path.exists()


# What reading weights raises that are missing, cut off or of another release.
_UNREADABLE = (OSError, ImportError, ValueError, EOFError, KeyError, BadZipFile, DualgateError)


async def check_models() -> list[Finding]:
    """Check that the built-in weights load and understand a sentence of each language."""
    began = time.monotonic()
    try:
        embedder = UseEmbedder()
        await embedder.embed(list(SENTENCES.values()))
        extractor = LocalExtractor(structurer=LexiconStructurer())
        read = {
            lang: await extractor.extract(_turn(sentence)) for lang, sentence in SENTENCES.items()
        }
    except _UNREADABLE as error:
        return [Finding(
            check="weights", verdict=Verdict.WRONG,
            said=f"the built-in models do not load ({error})",
            advice="Install dualgate again; its wheels carry the weights",
        )]  # fmt: skip
    seconds = round(time.monotonic() - began, 2)
    deaf = [lang for lang, candidates in read.items() if not candidates]
    if deaf:
        return [Finding(
            check="weights", verdict=Verdict.WRONG,
            said=f"the local extractor reads nothing in a plain sentence ({', '.join(deaf)})",
            advice="Install dualgate again; its weights may be damaged",
        )]  # fmt: skip
    return [Finding(
        check="weights", verdict=Verdict.OK, numbers={"seconds": seconds},
        said=f"the built-in models load and read zh and en ({seconds:g} s)",
    )]  # fmt: skip


def _turn(text: str) -> Turn:
    # The date is any: the sentences name none.
    at = datetime(2026, 1, 1, tzinfo=UTC)
    message = Message(role=Role.USER, content=text, at=at, id="doctor")
    return Turn(user_id="doctor", session_id="doctor", message=message, at=at)


def _place(path: Path) -> Iterator[Finding]:
    folder = path.parent
    while not folder.exists():
        folder = folder.parent
    try:
        with tempfile.NamedTemporaryFile(dir=folder, prefix=".dualgate-doctor-"):
            pass
    except OSError as error:
        yield Finding(
            check="folder", verdict=Verdict.WRONG,
            said=f"nothing can be written in {folder} ({error.strerror or error})",
            advice="Give your user the right to write there, or choose another --db",
        )  # fmt: skip
        return
    free = shutil.disk_usage(folder).free
    numbers = {"free_bytes": free}
    little = free < _LITTLE_BYTES
    yield Finding(
        check="disk", numbers=numbers,
        verdict=Verdict.WRONG if free < _NO_BYTES else
        Verdict.WARNING if little else Verdict.OK,
        said=f"{free / 1e6:,.0f} MB are free in {folder}",
        advice="Make room: the database waits for nothing when the disk is full" if little else "",
    )  # fmt: skip


def _file(path: Path) -> Iterator[Finding]:
    if not path.exists():
        said = f"there is no database at {path} yet; the first message makes it"
        yield Finding(check="database", verdict=Verdict.OK, said=said)
        return
    if not os.access(path, os.R_OK | os.W_OK) or not path.is_file():
        yield Finding(
            check="database", verdict=Verdict.WRONG,
            said=f"{path} is no file that you may read and write",
            advice="Give your user the right to, or choose another --db",
        )  # fmt: skip
        return
    try:
        with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as database:
            told = str(database.execute("PRAGMA quick_check(1)").fetchone()[0])
    except sqlite3.Error as error:
        told = str(error)
    if told != "ok":
        yield Finding(
            check="database", verdict=Verdict.WRONG, said=f"{path} is damaged: {told}",
            advice="Restore it from a backup; `sqlite3 FILE .recover` saves what is left",
        )  # fmt: skip
        return
    mode = path.stat().st_mode
    if os.name == "posix" and mode & (stat.S_IRGRP | stat.S_IROTH):
        yield Finding(
            check="permissions", verdict=Verdict.WARNING,
            said=f"others on this machine can read {path}", advice=f"chmod 600 {path}",
        )  # fmt: skip


async def _opens(url: str, settings: Settings) -> list[Finding]:
    try:
        backend = await open_backend(url, settings)
    except DualgateError as error:
        return [Finding(
            check="database", verdict=Verdict.WRONG, said=str(error),
            advice=getattr(error, "advice", ""),
        )]  # fmt: skip
    try:
        stats, depth = await backend.store.stats(), await backend.queue.depth()
    except DualgateError as error:
        return [Finding(check="database", verdict=Verdict.WRONG, said=str(error))]
    finally:
        await backend.close()
    numbers = {
        "users": stats.users, "items": sum(stats.items.values()), "waiting": depth.waiting,
        "dead": depth.dead,
    }  # fmt: skip
    said = f"the database opens; users: {numbers['users']}, memories: {numbers['items']}"
    found = [Finding(check="database", verdict=Verdict.OK, said=said, numbers=numbers)]
    if depth.dead:
        found.append(Finding(
            check="queue", verdict=Verdict.WARNING,
            said=f"{depth.dead} jobs failed for good; their turns are kept",
            advice="Look at their errors, correct the cause, let them run again",
        ))  # fmt: skip
    return found
