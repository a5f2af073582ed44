"""Codex rollouts: ~/.codex/sessions/**/rollout-*.jsonl.

A turn is written twice, as an event and as a response item; the events are what the person saw, so
they are read where there are any. A fork names its origin and repeats the origin's turns: ids are
derived from the origin, so that they are the same in both [F2].
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import PurePath
from typing import Any

from dualgate.adapters.logs.source import (
    LogFile,
    derived_id,
    message,
    plain_text,
    text_of,
    when,
    without_blocks,
)
from dualgate.domain.items import Message
from dualgate.domain.types import Role
from dualgate.pipeline.ingest import LogSession

FORMAT = "codex"
HOST_TAGS = ("user_instructions", "environment_context", "turn_aborted", "permissions")
_EVENTS = {"user_message": Role.USER, "agent_message": Role.ASSISTANT}
_ROLES = {"user": Role.USER, "assistant": Role.ASSISTANT}
_HOST_STARTS = ("# AGENTS.md instructions", "<INSTRUCTIONS>")

_Entry = tuple[int, Mapping[str, Any], Mapping[str, Any]]


def read(file: LogFile) -> Iterator[LogSession]:
    """Yield the file's one session, if anybody speaks in it."""
    entries = list(_entries(file))
    meta = next((p for _, record, p in entries if record.get("type") == "session_meta"), {})
    session_id = text_of(meta, "id", "session_id") or PurePath(file.name).stem
    parent_id = text_of(meta, "forked_from_id", "parent_session_id", "parent_thread_id")
    root = file.roots.get(parent_id or session_id, parent_id or session_id)
    file.roots[session_id] = root
    messages = tuple(_messages(file, root, entries))
    if not messages:
        return
    yield LogSession(
        id=session_id,
        source=FORMAT,
        parent_id=parent_id,
        started_at=messages[0].at,
        messages=messages,
    )


def _entries(file: LogFile) -> Iterator[_Entry]:
    for number, record in file.records(FORMAT):
        payload = record.get("payload")
        if isinstance(payload, Mapping):
            yield number, record, payload
        elif record.get("type") in {"event_msg", "response_item", "session_meta"}:
            file.bad("no payload", number)


def _messages(file: LogFile, root: str, entries: Sequence[_Entry]) -> Iterator[Message]:
    has_events = any(payload.get("type") == "user_message" for _, _, payload in entries)
    index = 0
    at: datetime | None = None
    for number, record, payload in entries:
        try:
            at = when(record.get("timestamp"), file.zone) or at
        except ValueError as exc:
            file.bad(str(exc), number)
            continue
        said = _said(payload, has_events=has_events)
        if said is None:
            continue
        role, text = said
        turn = message(role, text, at, derived_id(FORMAT, root, index, text))
        index += 1
        if turn is not None:
            yield turn


def _said(payload: Mapping[str, Any], *, has_events: bool) -> tuple[Role, str] | None:
    kind = str(payload.get("type"))
    if kind in _EVENTS:
        return _EVENTS[kind], without_blocks(plain_text(payload.get("message")), HOST_TAGS)
    if kind == "message" and not has_events:
        role = _ROLES.get(str(payload.get("role")))
        text = plain_text(payload.get("content"))
        if role is None or text.startswith(_HOST_STARTS):
            return None
        return role, without_blocks(text, HOST_TAGS)
    if kind.endswith("_call"):
        arguments = payload.get("arguments") or payload.get("input") or payload.get("action")
        return Role.TOOL, f"{payload.get('name') or kind}: {arguments or ''}"
    if kind.endswith("_call_output"):
        return Role.TOOL, plain_text(payload.get("output"))
    return None
