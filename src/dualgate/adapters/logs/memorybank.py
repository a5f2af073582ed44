"""MemoryBank's evaluation data: person → history → day → [{query, response}].

One day of one person is one session. Only the day is known; turns are set a minute apart from
noon, so that their order and their date hold in any zone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta

from dualgate.adapters.logs.source import LogFile, derived_id, message, when
from dualgate.domain.items import Message
from dualgate.domain.types import Role
from dualgate.pipeline.ingest import LogSession

FORMAT = "memorybank"
_NEVER = re.compile(r"(?!)")
_SPEAKERS = (("query", Role.USER), ("response", Role.ASSISTANT))


def read(file: LogFile) -> Iterator[LogSession]:
    """Yield one session a person and day."""
    for document in file.documents(FORMAT, _NEVER):
        if not isinstance(document, Mapping):
            raise file.unreadable(FORMAT, "not an object of people")
        for person, record in document.items():
            history = record.get("history") if isinstance(record, Mapping) else None
            if not isinstance(history, Mapping):
                file.bad(f"{person}: no history")
                continue
            for day, turns in history.items():
                session = _session(file, person.strip(), day, turns)
                if session is not None:
                    yield session


def _session(file: LogFile, person: str, day: str, turns: object) -> LogSession | None:
    try:
        date = when(day, file.zone)
    except ValueError as exc:
        file.bad(f"{person}, {day}: {exc}")
        return None
    if date is None or not isinstance(turns, list):
        file.bad(f"{person}, {day}: no turns")
        return None
    session_id = f"{FORMAT}:{person}:{day}"
    noon = date.replace(hour=12)
    messages = tuple(_messages(file, session_id, noon, turns))
    if not messages:
        return None
    return LogSession(
        id=session_id, source=FORMAT, started_at=noon, messages=messages, person=person
    )


def _messages(
    file: LogFile, session_id: str, noon: datetime, turns: list[object]
) -> Iterator[Message]:
    index = 0
    for number, turn in enumerate(turns, start=1):
        if not isinstance(turn, Mapping):
            file.bad(f"{session_id}, turn {number}: not an object")
            continue
        for name, role in _SPEAKERS:
            text = turn.get(name)
            if not isinstance(text, str):
                file.bad(f"{session_id}, turn {number}: no {name}")
                continue
            at = noon + timedelta(minutes=index)
            said = message(role, text, at, derived_id(FORMAT, session_id, index, text))
            index += 1
            if said is not None:
                yield said
