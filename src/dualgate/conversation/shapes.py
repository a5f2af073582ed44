"""How hosts write messages: ours, OpenAI's and Anthropic's, told apart by their fields.

Rule: nothing is decided here. A message is only looked at, or copied with shorter blocks; what is
not understood is handed back as it came.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from dualgate.domain.items import Message, clean_text
from dualgate.domain.types import Role
from dualgate.errors import InvalidInputError

HostMessage: TypeAlias = Message | Mapping[str, Any]

_ROLES: Mapping[str, Role] = {
    **{str(role): role for role in Role},
    "developer": Role.SYSTEM,
    "function": Role.TOOL,
}
_RESULTS = ("tool_result", "mcp_tool_result", "web_search_tool_result")
_USES = ("tool_use", "server_tool_use", "mcp_tool_use")
_CHINESE = re.compile(r"[\u3400-\u9fff]")
_FENCED = re.compile(r"(```|~~~).*?(?:\1|\Z)", re.DOTALL)


def checked(messages: object) -> list[HostMessage]:
    """Return the messages, or name the first that is none and the rule it breaks."""
    if isinstance(messages, Message | Mapping | str | bytes) or not isinstance(messages, Sequence):
        raise InvalidInputError("messages", "must be a list of messages", messages)
    for index, message in enumerate(messages):
        if isinstance(message, Message):
            continue
        place = f"messages[{index}]"
        if not isinstance(message, Mapping) or "role" not in message:
            rule = "must be a Message, or a mapping with role and content"
            raise InvalidInputError(place, rule, message)
        if not isinstance(message["role"], str) or message["role"] not in _ROLES:
            rule = f"must be one of {' | '.join(_ROLES)}"
            raise InvalidInputError(f"{place}.role", rule, message["role"])
        _check_content(f"{place}.content", message.get("content"))
    return list(messages)


def role_of(message: HostMessage) -> Role:
    """Return who speaks."""
    return message.role if isinstance(message, Message) else _ROLES[message["role"]]


def text_of(message: HostMessage) -> str:
    """Return the words of a message, without what tools were asked or answered."""
    if role_of(message) is Role.TOOL:
        return ""
    content = _content(message)
    if isinstance(content, str):
        return content
    return "\n".join(filter(None, (_words(block) for block in content)))


def counted_text(message: HostMessage) -> str:
    """Return all text that a model reads of a message: words, calls and results; no media."""
    if isinstance(message, Message):
        return message.content
    content = message.get("content")
    parts = [content] if isinstance(content, str) else [*_texts(content)]
    rest = {k: v for k, v in message.items() if k not in ("role", "content", "id", "at")}
    return "\n".join([*parts, *_texts(rest)])


def calls_of(message: HostMessage) -> dict[str, str]:
    """Return the ids of the tool calls that a message makes, with the tools' names."""
    if isinstance(message, Message):
        return {}
    calls = {}
    for call in _mappings(message.get("tool_calls")):
        function = call.get("function")
        name = function.get("name") if isinstance(function, Mapping) else call.get("name")
        calls[str(call.get("id"))] = str(name or "tool")
    for block in _blocks(message):
        if block.get("type") in _USES:
            calls[str(block.get("id"))] = str(block.get("name") or "tool")
    return calls


def answers_of(message: HostMessage) -> list[tuple[str | None, str]]:
    """Return what tools answered: the call's id (None if it has none) and the text."""
    if role_of(message) is Role.TOOL:
        call = None if isinstance(message, Message) else message.get("tool_call_id")
        content = _content(message)
        if isinstance(content, str):
            return [(call, content)]
        results = _results(message)
        return results or [(call, "\n".join(_texts(content)))]
    return _results(message)


def with_short_blocks(message: HostMessage, limit: int) -> HostMessage:
    """Return the message with tool answers and pasted blocks of at most `limit` characters.

    A fenced block, and a text beyond four times the limit, counts as pasted. Calls stay whole.
    """
    if isinstance(message, Message):
        text = _short(message.content, limit, of_tool=message.role is Role.TOOL)
        return message if text == message.content else replace(message, content=text)
    content = message.get("content")
    of_tool = role_of(message) is Role.TOOL
    if isinstance(content, str):
        shorter: Any = _short(content, limit, of_tool=of_tool)
    elif content is None:
        return message
    else:
        shorter = [_short_block(block, limit, of_tool=of_tool) for block in content]
    return message if shorter == content else {**message, "content": shorter}


def shortened(text: str, limit: int) -> str:
    """Return the head and the tail of a long text, and between them how much was cut.

    >>> shortened("a" * 500, 80)
    'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa[… 444 characters cut …]aaaaaaaaaaaaaaaaaaa'
    """
    if len(text) <= limit:
        return text
    mark = "[… 略去{}字 …]" if _CHINESE.search(text[:limit]) else "[… {} characters cut …]"
    room = max(0, limit - len(mark.format(len(text))))
    head = room * 2 // 3
    tail = room - head
    cut = len(text) - head - tail
    return text[:head] + mark.format(cut) + (text[-tail:] if tail else "")


# --- inside


def _check_content(argument: str, content: object) -> None:
    if content is None or isinstance(content, str):
        return
    blocks = isinstance(content, Sequence) and all(isinstance(b, Mapping | str) for b in content)
    if not blocks:
        rule = "must be text, a list of content blocks, or None beside tool calls"
        raise InvalidInputError(argument, rule, content)


def _content(message: HostMessage) -> Any:
    content = message.content if isinstance(message, Message) else message.get("content")
    return "" if content is None else content


def _blocks(message: HostMessage) -> list[Mapping[str, Any]]:
    return [] if isinstance(message, Message) else _mappings(message.get("content"))


def _mappings(value: object) -> list[Mapping[str, Any]]:
    if isinstance(value, str) or not isinstance(value, Sequence):
        return []
    return [each for each in value if isinstance(each, Mapping)]


def _results(message: HostMessage) -> list[tuple[str | None, str]]:
    return [
        (block.get("tool_use_id"), "\n".join(_texts(block.get("content"))))
        for block in _blocks(message)
        if block.get("type") in _RESULTS
    ]


def _words(block: object) -> str:
    if isinstance(block, str):
        return block
    if not isinstance(block, Mapping) or block.get("type") in (*_RESULTS, *_USES):
        return ""
    if isinstance(block.get("text"), str):
        return str(block["text"])
    # Reasoning is not said; a picture is named, since words near it may speak of it.
    kind = str(block.get("type") or "")
    return "" if "thinking" in kind or kind == "reasoning" else f"[{kind}]" if kind else ""


_MEDIA = frozenset({"source", "image_url", "input_audio", "file", "signature", "cache_control"})
_NAMES = frozenset({"type", "id", "tool_use_id", "tool_call_id", "call_id", "role"})


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            if key == "input":
                yield json.dumps(inner, ensure_ascii=False, sort_keys=True, default=str)
            elif key not in _MEDIA and key not in _NAMES:
                yield from _texts(inner)
    elif isinstance(value, Sequence) and not isinstance(value, bytes | bytearray):
        for inner in value:
            yield from _texts(inner)


def _short(text: str, limit: int, *, of_tool: bool) -> str:
    if of_tool:
        return shortened(text, limit)
    fenced = _FENCED.sub(lambda block: shortened(block.group(), limit), text)
    return shortened(fenced, 4 * limit)


def _short_block(block: Any, limit: int, *, of_tool: bool) -> Any:
    if isinstance(block, str):
        return _short(block, limit, of_tool=of_tool)
    if block.get("type") in _RESULTS:
        inner = block.get("content")
        if isinstance(inner, str):
            return {**block, "content": shortened(inner, limit)}
        if isinstance(inner, Sequence):
            short = [_short_block(each, limit, of_tool=True) for each in inner]
            return {**block, "content": short}
        return block
    if block.get("type") in _USES or not isinstance(block.get("text"), str):
        return block
    return {**block, "text": _short(block["text"], limit, of_tool=of_tool)}


def clean(text: str) -> str:
    """Return text that may stand in a Message: no NUL, no lone surrogate."""
    return clean_text("content", text)
