"""Readers of conversation logs: files in, LogSessions out. They know no memory.

One module a format, each with a FORMAT and a `read(file)`; `sniff` tells which one fits.
"""

from __future__ import annotations

import json
import os
import re
import zipfile
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, tzinfo
from pathlib import Path
from types import MappingProxyType

from dualgate.adapters.logs import (
    chatgpt,
    claude,
    claude_code,
    codex,
    evermemos,
    memorybank,
    messages,
    paste,
)
from dualgate.adapters.logs.source import LogFile
from dualgate.errors import InvalidInputError
from dualgate.pipeline.ingest import LogSession, ReadReport

Reader = Callable[[LogFile], Iterator[LogSession]]

READERS: Mapping[str, Reader] = MappingProxyType(
    {
        module.FORMAT: module.read
        for module in (
            messages,
            chatgpt,
            claude,
            claude_code,
            codex,
            paste,
            memorybank,
            evermemos,
        )
    }
)
FORMATS = tuple(READERS)
SUFFIXES = frozenset({".json", ".jsonl", ".ndjson", ".txt", ".md", ".zip"})
_OPENING_BYTES = 65_536
_TIME = re.compile(rb'"(?:timestamp|create_time|created_at)"\s*:\s*"?([0-9][^",}\]\s]*)')
# Marks of whole-document formats, told apart by a key that only they have.
_DOCUMENT_MARKS = (
    (b'"mapping"', chatgpt.FORMAT),
    (b'"chat_messages"', claude.FORMAT),
    (b'"conversation_list"', evermemos.FORMAT),
    (b'"session_meta"', evermemos.FORMAT),
    (b'"query"', memorybank.FORMAT),
    (b'"history"', memorybank.FORMAT),
    (b'"role"', messages.FORMAT),
    (b'"sender"', messages.FORMAT),
)


def read(
    path: str | os.PathLike[str],
    format: str | None = None,
    *,
    zone: tzinfo = UTC,
    report: ReadReport | None = None,
) -> Iterator[LogSession]:
    """Yield the sessions of a file or of every log in a folder, one file at a time.

    format: one of FORMATS; None finds it out. zone: of times that have none. report gathers what
    could not be read. Raises InvalidInputError when nothing can be read at all.
    """
    if format is not None and format not in READERS:
        raise InvalidInputError("format", f"must be one of {' | '.join(FORMATS)}", format)
    report = ReadReport() if report is None else report
    root = Path(path)
    if not root.exists():
        raise InvalidInputError("path", "no such file or folder", str(path))
    if root.is_dir():
        yield from _read_folder(root, format, zone, report)
        return
    report.files += 1
    log_format = format or sniff(root)
    yield from READERS[log_format](LogFile(path=root, name=root.name, zone=zone, report=report))


def sniff(path: str | os.PathLike[str]) -> str:
    """Return the format of a log. Raises InvalidInputError if it is none that dualgate reads."""
    try:
        found = _sniffed(Path(path))
    except (OSError, zipfile.BadZipFile) as exc:
        raise InvalidInputError("path", f"cannot be read: {exc}", str(path)) from exc
    if found is None:
        raise InvalidInputError(
            "path", f"is no log in a format known here ({', '.join(FORMATS)})", str(path)
        )
    return found


def _read_folder(
    root: Path, log_format: str | None, zone: tzinfo, report: ReadReport
) -> Iterator[LogSession]:
    sessions_of: dict[str, str] = {}
    roots: dict[str, str] = {}
    known: list[tuple[Path, str]] = []
    for path in _walked(root):
        name = path.relative_to(root).as_posix()
        try:
            known.append((path, log_format or sniff(path)))
        except InvalidInputError:
            report.ignored.append(name)
    failed: InvalidInputError | None = None
    readable = 0
    for path, found in sorted(known, key=lambda entry: _age(entry[0])):
        file = LogFile(
            path=path,
            name=path.relative_to(root).as_posix(),
            zone=zone,
            report=report,
            sessions_of=sessions_of,
            roots=roots,
        )
        report.files += 1
        try:
            yield from READERS[found](file)
            readable += 1
        except InvalidInputError as exc:
            file.bad(exc.rule)
            failed = exc
    if failed is not None and not readable:
        raise failed
    if not known:
        raise InvalidInputError(
            "path", f"the folder holds no log ({', '.join(FORMATS)})", str(root)
        )


def _walked(root: Path) -> Iterator[Path]:
    for folder, folders, names in os.walk(root):
        folders.sort()
        for name in sorted(names):
            if Path(name).suffix.lower() in SUFFIXES:
                yield Path(folder, name)


def _age(path: Path) -> tuple[bytes, bytes, str]:
    """Order files by their first and last times, so that an origin comes before its forks."""
    with path.open("rb") as stream:
        first = _TIME.search(stream.read(_OPENING_BYTES))
        stream.seek(max(0, path.stat().st_size - _OPENING_BYTES))
        last = _TIME.findall(stream.read())
    return (first[1] if first else b"~", last[-1] if last else b"~", path.as_posix())


def _sniffed(path: Path) -> str | None:
    if zipfile.is_zipfile(path):
        return _sniffed_zip(path)
    with path.open("rb") as stream:
        opening = stream.read(_OPENING_BYTES)
    lines = [line for line in opening.lstrip(b"\xef\xbb\xbf").splitlines() if line.strip()]
    for line in lines[:50]:
        found = _sniffed_line(line)
        if found is not None:
            return found
    if lines and lines[0].lstrip()[:1] in {b"[", b"{"}:
        found = _marked(opening)
        if found is not None:
            return found
    texts = (line.decode("utf-8", "replace").strip() for line in lines)
    return paste.FORMAT if any(paste.dated(text) for text in texts) else None


def _sniffed_zip(path: Path) -> str | None:
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            if chatgpt.MEMBER.fullmatch(name.rsplit("/", 1)[-1]):
                with archive.open(name) as stream:
                    return _marked(stream.read(_OPENING_BYTES))
    return None


def _marked(opening: bytes) -> str | None:
    return next((name for mark, name in _DOCUMENT_MARKS if mark in opening), None)


def _sniffed_line(line: bytes) -> str | None:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(record, dict):
        return None
    if "payload" in record and "type" in record:
        return codex.FORMAT
    if "sessionId" in record and "type" in record and not isinstance(record.get("role"), str):
        return claude_code.FORMAT
    if isinstance(record.get("messages"), list) or (
        record.keys() & set(messages.ROLE) and record.keys() & set(messages.CONTENT)
    ):
        return messages.FORMAT
    return None
