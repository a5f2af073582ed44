"""One log file as readers see it: lines, documents, times and stable ids.

Nothing here knows a format. What cannot be read is put into the report with its place and reason;
only a file of which nothing can be read is an error.
"""

from __future__ import annotations

import hashlib
import json
import re
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, tzinfo
from pathlib import Path
from typing import Any

from dualgate.domain.items import Message
from dualgate.domain.types import Role
from dualgate.errors import InvalidInputError
from dualgate.pipeline.ingest import BadEntry, ReadReport
from dualgate.pipeline.render import strip_injected

# Tool output never makes user facts [W3]; it is kept short so that years of logs fit in memory.
TOOL_LIMIT = 4_000
_MILLISECONDS_FROM = 10**11  # a unix time this large is in milliseconds (seconds: year 5138)
_DATE_FORMS = (
    "%Y-%m-%d",
    "%Y/%m/%d",
    "%Y.%m.%d",
    "%Y/%m/%d %H:%M",
    "%Y/%m/%d %H:%M:%S",
    "%Y-%m-%d %H:%M",
    "%Y-%m",  # a month alone stands for its first day
    "%B %d, %Y",
    "%b %d, %Y",
    "%d %B %Y",
    "%d %b %Y",
    "%B %Y",
)
_CHINESE_DATE = re.compile(r"(\d{4})年(\d{1,2})月(?:(\d{1,2})[日号])?\s*(.*)", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class LogFile:
    """A file (or a member of a zip) to read. name: its path within the log that was asked for.

    sessions_of maps a message id to the session that had it first: forks are seen by it [F2].
    """

    path: Path
    name: str
    zone: tzinfo
    report: ReadReport
    sessions_of: dict[str, str] = field(default_factory=dict)
    roots: dict[str, str] = field(default_factory=dict)

    def bad(self, reason: str, line: int | None = None) -> None:
        """Note what could not be read."""
        self.report.bad.append(BadEntry(path=self.name, line=line, reason=reason))

    def unreadable(self, log_format: str, reason: str) -> InvalidInputError:
        """Return the error for a file of which nothing can be read."""
        return InvalidInputError("path", f"cannot be read as {log_format}: {reason}", self.name)

    def lines(self, log_format: str) -> Iterator[tuple[int, str]]:
        """Yield (line number, text) of non-blank lines; only a newline ends a line."""
        try:
            with self.path.open("rb") as stream:
                for number, raw in enumerate(stream, start=1):
                    try:
                        text = raw.decode("utf-8-sig" if number == 1 else "utf-8").strip()
                    except UnicodeDecodeError as exc:
                        self.bad(f"not UTF-8 ({exc.reason})", number)
                        continue
                    if text:
                        yield number, text
        except OSError as exc:
            raise self.unreadable(log_format, exc.strerror or str(exc)) from exc

    def records(self, log_format: str) -> Iterator[tuple[int, dict[str, Any]]]:
        """Yield (line number, object) of a JSON Lines file."""
        for number, text in self.lines(log_format):
            try:
                record = json.loads(text)
            except (ValueError, RecursionError) as exc:
                self.bad(f"not JSON ({exc})", number)
                continue
            if isinstance(record, dict):
                yield number, record
            else:
                self.bad("not a JSON object", number)

    def documents(self, log_format: str, member: re.Pattern[str]) -> Iterator[Any]:
        """Yield the JSON document, or those in a zip whose file names match `member`."""
        try:
            if not zipfile.is_zipfile(self.path):
                yield json.loads(self.path.read_bytes().decode("utf-8-sig"))
                return
            with zipfile.ZipFile(self.path) as archive:
                names = [n for n in archive.namelist() if member.fullmatch(n.rsplit("/", 1)[-1])]
                if not names:
                    raise self.unreadable(log_format, "the zip holds no conversations.json")
                for name in sorted(names):
                    yield json.loads(archive.read(name).decode("utf-8-sig"))
        except (OSError, ValueError, RecursionError, zipfile.BadZipFile) as exc:
            raise self.unreadable(log_format, str(exc)) from exc


def when(given: object, zone: tzinfo) -> datetime | None:
    """Return the moment a log gives, None if it gives none. Raises ValueError.

    A time without a zone is taken in `zone`. UTC, which hosts write for everybody, is shown in
    `zone` too, so that "tomorrow" is the speaker's own; any other offset is kept.

    >>> when("2025-03-01 09:30", UTC).isoformat()
    '2025-03-01T09:30:00+00:00'
    """
    if given is None or given == "" or isinstance(given, bool):
        return None
    if isinstance(given, int | float):
        return _from_unix(float(given)).astimezone(zone)
    if not isinstance(given, str):
        raise ValueError("a time must be a text or a number")  # noqa: TRY004
    text = given.strip()
    if re.fullmatch(r"\d{9,}(\.\d+)?", text):
        return _from_unix(float(text)).astimezone(zone)
    chinese = _CHINESE_DATE.fullmatch(text)
    if chinese:
        year, month, day, rest = chinese.groups()
        text = f"{year}-{int(month):02}-{int(day or 1):02} {rest}".strip()
    try:
        found = _from_text(text)
    except OverflowError as exc:
        raise ValueError(f"no such time: {text[:40]}") from exc
    if found.utcoffset() is None:
        return found.replace(tzinfo=zone)
    return found.astimezone(zone) if found.utcoffset() == timedelta(0) else found


def _from_text(text: str) -> datetime:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        # Only forms that mean one day everywhere: 03/04/2025 is refused, not guessed.
        for form in _DATE_FORMS:
            try:
                return datetime.strptime(text, form)  # noqa: DTZ007  `when` adds the zone
            except ValueError:
                continue
    raise ValueError(f"not a date that can be read: {text[:40]}")


def _from_unix(seconds: float) -> datetime:
    try:
        if seconds >= _MILLISECONDS_FROM:
            seconds /= 1000
        return datetime.fromtimestamp(seconds, UTC)
    except (OverflowError, OSError) as exc:
        raise ValueError(f"no such unix time: {seconds:g}") from exc


def derived_id(source: str, session: str, index: int, text: str) -> str:
    """Return a message id for a log that has none: the same message, the same id."""
    parts = json.dumps([source, session, index, text]).encode()
    return f"{source}:{hashlib.sha256(parts).hexdigest()[:32]}"


def digest(text: str) -> str:
    """Return a short stable name for a text."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def message(role: Role, text: str, at: datetime | None, message_id: str) -> Message | None:
    """Return a message without what dualgate itself put there; None if nothing is left."""
    said = strip_injected(text).strip()
    if role is Role.TOOL and len(said) > TOOL_LIMIT:
        said = f"{said[:TOOL_LIMIT]}… [{len(said) - TOOL_LIMIT} characters left out]"
    return Message(role, said, at, message_id) if said else None


def without_blocks(text: str, tags: Iterable[str]) -> str:
    """Return text without <tag …>…</tag> blocks; an unclosed block ends with the text."""
    for tag in tags:
        opening, closing = re.compile(rf"<{re.escape(tag)}(?=[\s>])[^<>]*>"), f"</{tag}>"
        kept: list[str] = []
        start = 0
        while (found := opening.search(text, start)) is not None:
            kept.append(text[start : found.start()])
            end = text.find(closing, found.end())
            start = len(text) if end < 0 else end + len(closing)
        text = "".join((*kept, text[start:]))
    return text


def plain_text(content: object) -> str:
    """Return the text of a message body: a string, or a list of text blocks."""
    if isinstance(content, str):
        return content
    if isinstance(content, Mapping):
        return plain_text(content.get("text") or content.get("content") or "")
    if isinstance(content, list):
        kinds = {"text", "input_text", "output_text", None}
        texts = (
            block if isinstance(block, str) else plain_text(block.get("text") or "")
            for block in content
            if isinstance(block, str)
            or (isinstance(block, Mapping) and block.get("type") in kinds)
        )
        return "\n".join(text for text in texts if text)
    return ""


def text_of(record: Mapping[str, Any], *names: str) -> str | None:
    """Return the first of these fields that holds a non-blank text or a number, as text."""
    for name in names:
        value = record.get(name)
        if isinstance(value, str) and value.strip():
            return value.strip()
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
    return None
