"""EverMemOS' chats: session_meta with user_details, and a conversation_list.

A group chat is an endless stream: a pause of six hours begins a new session. Where several people
talk, the chat is told once for each of them; what the others say is not the user's word [W3], and
is told as tool text with the speaker's name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from dualgate.adapters.logs.source import LogFile, digest, message, plain_text, text_of, when
from dualgate.domain.items import Message
from dualgate.domain.types import Role
from dualgate.pipeline.ingest import LogSession

FORMAT = "evermemos"
PAUSE = timedelta(hours=6)
_NEVER = re.compile(r"(?!)")

_Turn = tuple[datetime, Mapping[str, Any]]


def read(file: LogFile) -> Iterator[LogSession]:
    """Yield the sessions of every person in the chat."""
    for document in file.documents(FORMAT, _NEVER):
        meta = document.get("session_meta") if isinstance(document, Mapping) else None
        turns = document.get("conversation_list") if isinstance(document, Mapping) else None
        if not isinstance(meta, Mapping) or not isinstance(turns, list):
            raise file.unreadable(FORMAT, "no session_meta or no conversation_list")
        group = text_of(meta, "group_id", "name") or file.name
        details = meta.get("user_details")
        people = dict(details) if isinstance(details, Mapping) else {}
        stretches = list(_stretches(_dated(file, turns)))
        humans = [key for key, who in people.items() if _role(who) is Role.USER]
        for human in humans:
            for stretch in stretches:
                session = _session(group, stretch, human, people)
                if session is not None:
                    yield session


def _role(who: object) -> Role:
    kind = who.get("role") if isinstance(who, Mapping) else None
    return Role.ASSISTANT if kind == "assistant" else Role.USER


def _dated(file: LogFile, turns: Sequence[object]) -> Iterator[_Turn]:
    for number, turn in enumerate(turns, start=1):
        try:
            if not isinstance(turn, Mapping) or text_of(turn, "message_id", "sender") is None:
                raise ValueError("not a message")  # noqa: TRY301
            at = when(turn.get("create_time"), file.zone)
            if at is None:
                raise ValueError("no create_time")  # noqa: TRY301
        except ValueError as exc:
            file.bad(f"message {number}: {exc}")
        else:
            yield at, turn


def _stretches(turns: Iterator[_Turn]) -> Iterator[list[_Turn]]:
    stretch: list[_Turn] = []
    for turn in turns:
        if stretch and turn[0] - stretch[-1][0] >= PAUSE:
            yield stretch
            stretch = []
        stretch.append(turn)
    if stretch:
        yield stretch


def _session(
    group: str, stretch: Sequence[_Turn], human: str, people: Mapping[str, Any]
) -> LogSession | None:
    messages: list[Message] = []
    for at, turn in stretch:
        sender = str(turn.get("sender"))
        text = plain_text(turn.get("content"))
        role = _role(people.get(sender))
        if role is Role.USER and sender != human:
            role, text = Role.TOOL, f"{_name(sender, people)}: {text}"
        # Copies of a chat in several languages share their ids, so the text belongs to the id.
        own_id = f"{FORMAT}:{group}:{turn.get('message_id')}:{digest(text)}"
        said = message(role, text, at, own_id)
        if said is not None:
            messages.append(said)
    if not any(m.role is Role.USER for m in messages):
        return None
    return LogSession(
        id=f"{FORMAT}:{group}:{stretch[0][1].get('message_id')}",
        source=FORMAT,
        started_at=stretch[0][0],
        messages=tuple(messages),
        person=_name(human, people),
    )


def _name(key: str, people: Mapping[str, Any]) -> str:
    who = people.get(key)
    return (text_of(who, "full_name") if isinstance(who, Mapping) else None) or key
