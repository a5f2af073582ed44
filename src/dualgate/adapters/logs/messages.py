"""JSON Lines of messages: {"session", "role", "content", "at", "id"}, under the usual other names.

Read alike: one JSON array of messages, and lines that hold a whole conversation under "messages".
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from dualgate.adapters.logs.source import (
    LogFile,
    derived_id,
    digest,
    message,
    plain_text,
    text_of,
    when,
)
from dualgate.domain.items import Message
from dualgate.domain.types import Role
from dualgate.pipeline.ingest import LogSession

FORMAT = "messages"
SESSION = ("session", "session_id", "sessionId", "conversation", "conversation_id", "thread_id")
PARENT = ("parent_session_id", "parent_session", "parent_id")
ROLE = ("role", "sender", "from", "speaker", "author")
CONTENT = ("content", "text", "message", "value")
AT = ("at", "timestamp", "time", "created_at", "create_time", "date", "ts")
ID = ("id", "message_id", "uuid")
ROLES = {
    "human": Role.USER,
    "ai": Role.ASSISTANT,
    "bot": Role.ASSISTANT,
    "model": Role.ASSISTANT,
    "gpt": Role.ASSISTANT,
    "function": Role.TOOL,
    "developer": Role.SYSTEM,
    **{str(role): role for role in Role},
}
UNIQUE_LENGTH = 16  # a shorter id ("1", "msg_001") is taken as unique in its session only


@dataclass(slots=True)
class _Conversation:
    parent_id: str | None = None
    messages: list[Message] = field(default_factory=list)
    count: int = 0


def read(file: LogFile) -> Iterator[LogSession]:
    """Yield the file's sessions, in the order in which they begin in it."""
    found: dict[str, _Conversation] = {}
    default = f"{FORMAT}:{file.name}"
    for line, record in _records(file):
        session_id = text_of(record, *SESSION) or default
        turns = record.get("messages")
        if not isinstance(turns, list):
            _add(file, found, session_id, line, record)
            continue
        own_id = text_of(record, *SESSION, *ID) or f"{default}#{line}"
        for turn in turns:
            if isinstance(turn, dict):
                _add(file, found, own_id, line, turn)
            else:
                file.bad("a message must be a JSON object", line)
    if not found:
        raise file.unreadable(FORMAT, "no line holds a message with a role and a content")
    for session_id, conversation in found.items():
        if conversation.messages:
            yield LogSession(
                id=session_id,
                source=FORMAT,
                parent_id=conversation.parent_id,
                started_at=next((m.at for m in conversation.messages if m.at), None),
                messages=tuple(conversation.messages),
            )


def _records(file: LogFile) -> Iterator[tuple[int, dict[str, Any]]]:
    with file.path.open("rb") as stream:
        is_array = stream.read(64).lstrip(b"\xef\xbb\xbf \t\r\n")[:1] == b"["
    if not is_array:
        yield from file.records(FORMAT)
        return
    try:
        entries = json.loads(file.path.read_bytes().decode("utf-8-sig"))
    except (ValueError, RecursionError) as exc:
        raise file.unreadable(FORMAT, str(exc)) from exc
    for number, entry in enumerate(entries, start=1):
        if isinstance(entry, dict):
            yield number, entry
        else:
            file.bad("a message must be a JSON object", number)


def _add(
    file: LogFile,
    found: dict[str, _Conversation],
    session_id: str,
    line: int,
    record: dict[str, Any],
) -> None:
    role = ROLES.get((text_of(record, *ROLE) or "").lower())
    content = next((record[name] for name in CONTENT if name in record), None)
    if role is None or content is None:
        missing = "content" if role else "role (user, assistant, tool or system)"
        file.bad(f"no {missing}", line)
        return
    try:
        at = _time(file, record)
    except ValueError as exc:
        file.bad(str(exc), line)
        return
    conversation = found.setdefault(session_id, _Conversation())
    conversation.parent_id = conversation.parent_id or text_of(record, *PARENT)
    text = plain_text(content)
    turn = message(role, text, at, _message_id(session_id, conversation.count, text, record))
    conversation.count += 1
    if turn is not None:
        conversation.messages.append(turn)


def _time(file: LogFile, record: dict[str, Any]) -> datetime | None:
    return when(next((record[name] for name in AT if record.get(name)), None), file.zone)


def _message_id(session_id: str, index: int, text: str, record: dict[str, Any]) -> str:
    own = text_of(record, *ID)
    if own is None:
        return derived_id(FORMAT, session_id, index, text)
    return own if len(own) >= UNIQUE_LENGTH else f"{session_id}:{own}:{digest(text)}"
