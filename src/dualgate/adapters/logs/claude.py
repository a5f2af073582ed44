"""Claude's data export: conversations.json, a list of conversations with chat_messages.

Attachments are other people's text, or pasted, and are not read [W3].
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from dualgate.adapters.logs.source import (
    LogFile,
    derived_id,
    message,
    plain_text,
    text_of,
    when,
)
from dualgate.domain.items import Message
from dualgate.domain.types import Role
from dualgate.pipeline.ingest import LogSession

FORMAT = "claude"
MEMBER = re.compile(r"conversations(-\d+)?\.json")
_ROLES = {"human": Role.USER, "user": Role.USER, "assistant": Role.ASSISTANT}


def read(file: LogFile) -> Iterator[LogSession]:
    """Yield one session a conversation."""
    for document in file.documents(FORMAT, MEMBER):
        if not isinstance(document, list):
            raise file.unreadable(FORMAT, "not a list of conversations")
        for number, conversation in enumerate(document, start=1):
            try:
                session = _session(file, conversation)
            except (ValueError, TypeError, AttributeError, KeyError) as exc:
                file.bad(f"conversation {number}: {exc!r}")
                continue
            if session is not None:
                yield session


def _session(file: LogFile, conversation: Mapping[str, Any]) -> LogSession | None:
    session_id = text_of(conversation, "uuid", "id")
    if session_id is None:
        raise ValueError("no uuid")
    at = began = when(conversation.get("created_at"), file.zone)
    messages: list[Message] = []
    for index, body in enumerate(_kept(conversation["chat_messages"], file, session_id)):
        try:
            at = when(body.get("created_at"), file.zone) or at
        except ValueError as exc:
            file.bad(f"conversation {session_id}, message {index + 1}: {exc}")
            continue
        role = _ROLES.get(str(body.get("sender")))
        if role is None:
            file.bad(f"conversation {session_id}, message {index + 1}: unknown sender")
            continue
        text = plain_text(body.get("content")) or plain_text(body.get("text"))
        own_id = text_of(body, "uuid") or derived_id(FORMAT, session_id, index, text)
        turn = message(role, text, at, own_id)
        if turn is not None:
            messages.append(turn)
    if not messages:
        return None
    return LogSession(
        id=session_id,
        source=FORMAT,
        started_at=began or messages[0].at,
        messages=tuple(messages),
    )


def _kept(turns: object, file: LogFile, session_id: str) -> list[Mapping[str, Any]]:
    """Return the path to the last message where the export tells parents, else all messages."""
    if not isinstance(turns, list):
        raise ValueError("chat_messages is not a list")  # noqa: TRY004
    whole = [turn for turn in turns if isinstance(turn, Mapping)]
    if len(whole) < len(turns):
        file.bad(f"conversation {session_id}: a message that is not an object")
    by_id = {turn.get("uuid"): turn for turn in whole}
    if not any(turn.get("parent_message_uuid") in by_id for turn in whole):
        return whole
    path: list[Mapping[str, Any]] = []
    turn: Mapping[str, Any] | None = whole[-1]
    while turn is not None and len(path) < len(whole):
        path.append(turn)
        turn = by_id.get(turn.get("parent_message_uuid"))
    return path[::-1]
