"""ChatGPT's data export: conversations.json, or the zip it comes in.

A conversation is a tree of nodes; only the path to `current_node` was kept by the person, so only
that path is read. Hidden nodes, system texts and the model's own thoughts are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from dualgate.adapters.logs.source import LogFile, derived_id, message, text_of, when
from dualgate.domain.items import Message
from dualgate.domain.types import Role
from dualgate.pipeline.ingest import LogSession

FORMAT = "chatgpt"
MEMBER = re.compile(r"conversations(-\d+)?\.json")
_ROLES = {"user": Role.USER, "assistant": Role.ASSISTANT, "tool": Role.TOOL}
_SPOKEN = frozenset({"text", "multimodal_text", "code", "execution_output"})


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
    session_id = text_of(conversation, "conversation_id", "id")
    mapping = conversation["mapping"]
    if session_id is None or not isinstance(mapping, dict):
        raise ValueError("no id or no mapping")
    at = began = when(conversation.get("create_time"), file.zone)
    messages: list[Message] = []
    for index, (node_id, body) in enumerate(_path(conversation, mapping)):
        try:
            # A message without a time was said right after the one before it.
            at = when(body.get("create_time"), file.zone) or at
        except ValueError as exc:
            file.bad(f"conversation {session_id}, message {node_id}: {exc}")
            continue
        text = _text(body)
        own_id = text_of(body, "id") or node_id
        own_id = own_id or derived_id(FORMAT, session_id, index, text)
        turn = message(_role(body), text, at, own_id)
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


def _path(
    conversation: Mapping[str, Any], mapping: Mapping[str, Any]
) -> list[tuple[str, Mapping[str, Any]]]:
    node_id = conversation.get("current_node")
    if node_id not in mapping:
        node_id = _newest_leaf(mapping)
    path: list[tuple[str, Mapping[str, Any]]] = []
    visited: set[str] = set()
    while isinstance(node_id, str) and node_id in mapping and node_id not in visited:
        visited.add(node_id)
        node = mapping[node_id]
        body = node.get("message")
        if isinstance(body, Mapping) and _shown(body):
            path.append((node_id, body))
        node_id = node.get("parent")
    return path[::-1]


def _newest_leaf(mapping: Mapping[str, Any]) -> str | None:
    # The order of the file decides between leaves of the same time, or of none.
    leaves = [
        (i, key) for i, (key, node) in enumerate(mapping.items()) if not node.get("children")
    ]

    def said_at(leaf: tuple[int, str]) -> tuple[float, int]:
        time = (mapping[leaf[1]].get("message") or {}).get("create_time")
        return (float(time) if isinstance(time, int | float) else 0.0, leaf[0])

    return max(leaves, key=said_at)[1] if leaves else None


def _shown(body: Mapping[str, Any]) -> bool:
    author, content = body.get("author") or {}, body.get("content") or {}
    hidden = (body.get("metadata") or {}).get("is_visually_hidden_from_conversation")
    return (
        not hidden
        and author.get("role") in _ROLES
        and content.get("content_type", "text") in _SPOKEN
    )


def _role(body: Mapping[str, Any]) -> Role:
    role = _ROLES[body["author"]["role"]]
    # An assistant turn that is not addressed to everybody is a call of a tool.
    called = role is Role.ASSISTANT and body.get("recipient", "all") not in {"all", None}
    return Role.TOOL if called else role


def _text(body: Mapping[str, Any]) -> str:
    content = body.get("content") or {}
    parts = content.get("parts")
    if not isinstance(parts, list):
        return str(content.get("text") or "")
    spoken = (
        part
        if isinstance(part, str)
        # Speech is a part of its own; pictures and files say nothing.
        else str(part.get("text") or "")
        if isinstance(part, Mapping) and part.get("content_type") == "audio_transcription"
        else ""
        for part in parts
    )
    return "\n".join(text for text in spoken if text)
