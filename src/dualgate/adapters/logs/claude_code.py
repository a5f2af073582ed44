"""Claude Code's transcripts: ~/.claude/projects/<folder>/<session>.jsonl.

The lines form a graph by parentUuid. Left out: subagents (isSidechain), what the host itself wrote
(isMeta, summaries, reminders), and prompts the person took back by rewinding. A resumed or forked
file repeats lines of another: their uuids are the message ids, so nothing counts twice [F2].
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from dualgate.adapters.logs.source import (
    LogFile,
    message,
    plain_text,
    text_of,
    when,
    without_blocks,
)
from dualgate.domain.items import Message
from dualgate.domain.types import Role
from dualgate.pipeline.ingest import LogSession

FORMAT = "claude-code"
# Blocks that the host, not the person, puts into a user turn.
HOST_TAGS = (
    "system-reminder",
    "command-name",
    "command-message",
    "local-command-caveat",
    "local-command-stdout",
    "local-command-stderr",
    "bash-input",
    "bash-stdout",
    "bash-stderr",
    "ide_opened_file",
    "ide_selection",
    "task-notification",
)
_INTERRUPTED = "[Request interrupted by user"


@dataclass(frozen=True, slots=True)
class _Line:
    number: int
    uuid: str
    parent: str | None
    record: Mapping[str, Any]

    @property
    def spoken(self) -> bool:
        """Whether a person or the assistant is the author of this line."""
        record = self.record
        written_by_host = record.get("isMeta") or record.get("isCompactSummary")
        return record.get("type") in {"user", "assistant"} and not written_by_host

    @property
    def prompt(self) -> bool:
        """Whether the person typed it; a tool's result comes as a user line, too."""
        body = self.record.get("message")
        content = body.get("content") if isinstance(body, Mapping) else None
        return self.spoken and self.record["type"] == "user" and bool(plain_text(content))


def read(file: LogFile) -> Iterator[LogSession]:
    """Yield the file's one session, if anybody speaks in it."""
    session_id = PurePath(file.name).stem
    lines = list(_lines(file))
    messages: list[Message] = []
    for line in _kept(lines):
        try:
            messages.extend(_messages(file, line))
        except (ValueError, TypeError, AttributeError) as exc:
            file.bad(str(exc), line.number)
    if not messages:
        return
    yield LogSession(
        id=session_id,
        source=FORMAT,
        parent_id=_parent(file, session_id, lines),
        started_at=messages[0].at,
        messages=tuple(messages),
    )


def _lines(file: LogFile) -> Iterator[_Line]:
    for number, record in file.records(FORMAT):
        uuid = text_of(record, "uuid")
        if record.get("isSidechain") or record.get("agentId"):
            continue
        if uuid is None:
            if record.get("type") in {"user", "assistant"}:
                file.bad("a turn without uuid", number)
            continue
        # After a compaction the line has no parent, but remembers what it continues.
        parent = text_of(record, "parentUuid", "logicalParentUuid")
        yield _Line(number, uuid, parent, record)


def _kept(lines: Sequence[_Line]) -> list[_Line]:
    """Return the spoken lines, without the branches that the person rewound.

    A branch is rewound if it leaves the path to the last line by a prompt. Side branches without
    a prompt are parallel tool calls; loose pieces come from a broken line. Both stay.
    """
    by_id = {line.uuid: line for line in lines}
    main: set[str] = set()
    step = next((line for line in reversed(lines) if line.spoken), None)
    while step is not None and step.uuid not in main:
        main.add(step.uuid)
        step = by_id.get(step.parent or "")
    joined: set[str] = set()
    rewound: set[str] = set()
    for line in by_id.values():
        if line.uuid in main:
            joined.add(line.uuid)
        elif line.parent in rewound or (line.parent in joined and line.prompt):
            rewound.add(line.uuid)
        elif line.parent in joined:
            joined.add(line.uuid)
    return [line for line in by_id.values() if line.spoken and line.uuid not in rewound]


def _parent(file: LogFile, session_id: str, lines: Sequence[_Line]) -> str | None:
    """Return the session whose lines this file repeats at its beginning, if any [F2]."""
    parent: str | None = None
    for line in lines:
        forked = line.record.get("forkedFrom")
        told = text_of(forked, "sessionId") if isinstance(forked, Mapping) else None
        own = text_of(line.record, "sessionId")
        owner = told or file.sessions_of.get(line.uuid) or own or session_id
        if owner != session_id:
            parent = parent or owner
        file.sessions_of.setdefault(line.uuid, session_id)
    return parent


def _messages(file: LogFile, line: _Line) -> Iterator[Message]:
    at = when(line.record.get("timestamp"), file.zone)
    body = line.record.get("message")
    if not isinstance(body, Mapping):
        raise ValueError("a turn without message")  # noqa: TRY004
    role = Role.USER if line.record["type"] == "user" else Role.ASSISTANT
    said = without_blocks(plain_text(body.get("content")), HOST_TAGS)
    said = said.replace("<command-args>", "").replace("</command-args>", "")
    if not said.lstrip().startswith(_INTERRUPTED):
        turn = message(role, said, at, line.uuid)
        if turn is not None:
            yield turn
    content = body.get("content")
    for index, block in enumerate(content if isinstance(content, list) else ()):
        text = _tool_text(block) if isinstance(block, Mapping) else ""
        turn = message(Role.TOOL, text, at, f"{line.uuid}#{index}")
        if turn is not None:
            yield turn


def _tool_text(block: Mapping[str, Any]) -> str:
    if block.get("type") == "tool_use":
        return f"{block.get('name')}: {block.get('input')}"
    return plain_text(block.get("content")) if block.get("type") == "tool_result" else ""
