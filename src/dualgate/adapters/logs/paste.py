"""The paste format of other assistants' memory: one "[date saved] - memory" a line.

These are memories, not turns: each becomes a user statement of its date, and one paste is one
session, so that it counts as one confirmation. A line pasted again next month keeps its id.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime

from dualgate.adapters.logs.source import LogFile, derived_id, digest, message, when
from dualgate.domain.items import Message
from dualgate.domain.types import Role
from dualgate.pipeline.ingest import LogSession

FORMAT = "paste"
# Brackets and dashes as English and Chinese keyboards give them.
_OPEN, _CLOSE, _DASH = r"[\[\uff3b\u3010]", r"[\]\uff3d\u3011]", r"[-\u2013\u2014:\uff1a]+"
ENTRY = re.compile(
    rf"(?:[-*\u2022]\s*)?{_OPEN}([^\]\uff3d\u3011]{{0,60}}){_CLOSE}\s*{_DASH}\s*(\S.*)"
)
_DECORATION = re.compile(r"(```.*|#.*|-{3,}|={3,})")
# "unknown" and its like say that there is no date; digits that are no date are a bad line.
_HAS_DIGIT = re.compile(r"\d")


def read(file: LogFile) -> Iterator[LogSession]:
    """Yield the paste as one session."""
    messages: list[Message] = []
    for number, line in file.lines(FORMAT):
        entry = ENTRY.fullmatch(line)
        if entry is None:
            if not _DECORATION.fullmatch(line):
                file.bad('not of the form "[date] - memory"', number)
            continue
        saved, text = entry.groups()
        try:
            at = _date(file, saved)
        except ValueError as exc:
            file.bad(str(exc), number)
            continue
        turn = message(Role.USER, text, at, derived_id(FORMAT, saved.strip(), 0, text.strip()))
        if turn is not None:
            messages.append(turn)
    if not messages:
        raise file.unreadable(FORMAT, 'no line of the form "[date] - memory"')
    yield LogSession(
        id=f"import:paste:{digest(chr(10).join(m.id or '' for m in messages))}",
        source=FORMAT,
        started_at=min((m.at for m in messages if m.at), default=None),
        messages=tuple(sorted(messages, key=lambda m: (m.at is None, m.at or 0))),
    )


def dated(line: str) -> bool:
    """Whether the line is a memory with a date: "[INFO] - started" is none."""
    entry = ENTRY.fullmatch(line)
    return entry is not None and _HAS_DIGIT.search(entry[1]) is not None


def _date(file: LogFile, saved: str) -> datetime | None:
    return when(saved, file.zone) if _HAS_DIGIT.search(saved) else None
