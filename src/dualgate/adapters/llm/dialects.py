"""The two protocols of chat: what a request looks like, and where the answer stands.

Rule: no I/O, no retries; a dialect turns messages into a body and a body into a Reply.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol

from httpx2 import ServerSentEvent

from dualgate.domain.types import Role
from dualgate.errors import InvalidInputError, ModelError, ModelUnavailableError
from dualgate.pipeline.endpoints import Answers
from dualgate.pipeline.ports import AnswerForm, Said

ANTHROPIC_VERSION = "2023-06-01"  # what gateways and compatible servers know, too


class Ending(StrEnum):
    """Why a model stopped."""

    DONE = "done"
    CUT = "cut"  # no room left
    FILTERED = "filtered"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What came back. Tokens are None where the endpoint counts none."""

    text: str
    thoughts: str = ""
    ending: Ending = Ending.DONE
    model: str = ""
    input_tokens: int | None = None
    output_tokens: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What is asked of a model in one request."""

    model: str
    messages: Sequence[Said]
    form: AnswerForm[Any]
    answers: Answers
    output_tokens: int
    token_field: str = "max_tokens"  # noqa: S105 - the name of a field
    stream: bool = False


class Dialect(Protocol):
    """One protocol of chat."""

    @property
    def ladder(self) -> tuple[Answers, ...]:
        """What it can ask for, the surest first."""
        ...

    def header(self, key: str) -> Mapping[str, str]:
        """Return the header that carries the key."""
        ...

    def path(self, base_url: str) -> str:
        """Return what follows the base url."""
        ...

    def body(self, wish: Wish) -> dict[str, Any]:
        """Return the request's body."""
        ...

    def read(self, tree: Mapping[str, Any]) -> Reply | None:
        """Return the reply in an answer; None if there is none in it."""
        ...

    async def gather(self, events: AsyncIterator[ServerSentEvent]) -> Mapping[str, Any]:
        """Return a streamed answer as if it had come whole; ModelUnavailableError if cut."""
        ...


class OpenAiDialect:
    """Chat completions, as nearly every server speaks them."""

    ladder = (Answers.JSON_SCHEMA, Answers.JSON_OBJECT, Answers.PLAIN)

    def header(self, key: str) -> Mapping[str, str]:
        """Return the bearer token."""
        return {"authorization": f"Bearer {key}"}

    def path(self, base_url: str) -> str:  # noqa: ARG002
        """Return the path of chat completions."""
        return "/chat/completions"

    def body(self, wish: Wish) -> dict[str, Any]:
        """Return the request's body."""
        system, others = _parted(wish)
        messages = [{"role": "system", "content": system}] if system else []
        messages += [{"role": said.role.value, "content": said.content} for said in others]
        body: dict[str, Any] = {
            "model": wish.model,
            "messages": messages,
            wish.token_field: wish.output_tokens,
        }
        if wish.answers is Answers.JSON_SCHEMA:
            schema = {"name": wish.form.name, "schema": wish.form.schema, "strict": True}
            body["response_format"] = {"type": "json_schema", "json_schema": schema}
        elif wish.answers is Answers.JSON_OBJECT:
            body["response_format"] = {"type": "json_object"}
        if wish.stream:
            body |= {"stream": True, "stream_options": {"include_usage": True}}
        return body

    def read(self, tree: Mapping[str, Any]) -> Reply | None:
        """Return the reply in an answer; None if there is none in it."""
        choice = _first(tree.get("choices"))
        message = _map(choice.get("message"))
        if not message:
            return None
        usage = _map(tree.get("usage"))
        endings = {
            "length": Ending.CUT, "content_filter": Ending.FILTERED, "sensitive": Ending.FILTERED,
        }  # fmt: skip
        ending = endings.get(str(choice.get("finish_reason")), Ending.DONE)
        refused = _text(message.get("refusal")).strip()
        return Reply(
            text=refused or _text(message.get("content")),
            thoughts=_text(message.get("reasoning_content")) or _text(message.get("reasoning")),
            ending=Ending.FILTERED if refused else ending,
            model=_text(tree.get("model")),
            input_tokens=_count(usage.get("prompt_tokens")),
            output_tokens=_count(usage.get("completion_tokens")),
        )

    async def gather(self, events: AsyncIterator[ServerSentEvent]) -> Mapping[str, Any]:
        """Return a streamed answer as if it had come whole."""
        message: dict[str, str] = {}
        found: dict[str, Any] = {"message": message, "finish_reason": None}
        tree: dict[str, Any] = {"choices": [found]}
        ended = False
        async for event in events:
            if event.data.strip() == "[DONE]":
                ended = True
                break
            piece = _piece(event.data)
            if "error" in piece:
                return piece
            tree |= {name: piece[name] for name in ("model", "usage") if piece.get(name)}
            choice = _first(piece.get("choices"))
            for name, text in _map(choice.get("delta")).items():
                if isinstance(text, str) and name != "role":
                    message[name] = message.get(name, "") + text
            found["finish_reason"] = choice.get("finish_reason") or found["finish_reason"]
        if not (ended or found["finish_reason"]):
            raise _cut_off()
        message.setdefault("content", "")
        return tree


class AnthropicDialect:
    """Messages, as Anthropic speaks them. It has no "some JSON object": schema, or plain."""

    ladder = (Answers.JSON_SCHEMA, Answers.PLAIN)

    def header(self, key: str) -> Mapping[str, str]:
        """Return the key as Anthropic and its gateways take it."""
        return {"x-api-key": key}

    def path(self, base_url: str) -> str:
        """Return the path of messages; base urls are written with and without /v1."""
        return "/messages" if base_url.endswith("/v1") else "/v1/messages"

    def body(self, wish: Wish) -> dict[str, Any]:
        """Return the request's body. It names no temperature: new models refuse one."""
        system, others = _parted(wish)
        body: dict[str, Any] = {
            "model": wish.model,
            "max_tokens": wish.output_tokens,
            "messages": [{"role": said.role.value, "content": said.content} for said in others],
        }
        if system:
            body["system"] = system
        if wish.answers is Answers.JSON_SCHEMA:
            body["output_config"] = {"format": {"type": "json_schema", "schema": wish.form.schema}}
        if wish.stream:
            body["stream"] = True
        return body

    def read(self, tree: Mapping[str, Any]) -> Reply | None:
        """Return the reply in an answer; None if there is none in it."""
        blocks = tree.get("content")
        if not isinstance(blocks, list):
            return None
        usage = _map(tree.get("usage"))
        endings = {
            "max_tokens": Ending.CUT, "model_context_window_exceeded": Ending.CUT,
            "refusal": Ending.FILTERED,
        }  # fmt: skip
        fresh = _count(usage.get("input_tokens"))
        cached = sum(
            _count(usage.get(name)) or 0
            for name in ("cache_read_input_tokens", "cache_creation_input_tokens")
        )
        return Reply(
            text=_joined(blocks, "text"),
            thoughts=_joined(blocks, "thinking"),
            ending=endings.get(str(tree.get("stop_reason")), Ending.DONE),
            model=_text(tree.get("model")),
            input_tokens=None if fresh is None else fresh + cached,
            output_tokens=_count(usage.get("output_tokens")),
        )

    async def gather(self, events: AsyncIterator[ServerSentEvent]) -> Mapping[str, Any]:
        """Return a streamed answer as if it had come whole."""
        blocks: dict[int, dict[str, Any]] = {}
        usage: dict[str, Any] = {}
        tree: dict[str, Any] = {"usage": usage}
        ended = False
        async for event in events:
            piece = _piece(event.data)
            match piece.get("type"):
                case "error":
                    return piece
                case "message_start":
                    message = _map(piece.get("message"))
                    tree["model"] = message.get("model")
                    usage |= _map(message.get("usage"))
                case "content_block_start":
                    blocks[piece["index"]] = dict(_map(piece.get("content_block")))
                case "content_block_delta":
                    _append(blocks.setdefault(piece["index"], {}), _map(piece.get("delta")))
                case "message_delta":
                    tree |= _map(piece.get("delta"))
                    usage |= _map(piece.get("usage"))
                case "message_stop":
                    ended = True
                    break
        if not (ended or tree.get("stop_reason")):
            raise _cut_off()
        tree["content"] = [blocks[place] for place in sorted(blocks)]
        return tree


DIALECTS: Mapping[str, Dialect] = {"openai": OpenAiDialect(), "anthropic": AnthropicDialect()}


def schema_text(form: AnswerForm[Any]) -> str:
    """Return the schema as it is shown in a prompt."""
    return json.dumps(form.schema, ensure_ascii=False)


def _parted(wish: Wish) -> tuple[str, list[Said]]:
    """Return what the system says, in one piece, and the turns; few servers take more pieces."""
    for said in wish.messages:
        if said.role is Role.TOOL:
            raise InvalidInputError("messages", "must be of system, user and assistant", said.role)
    system = [said.content for said in wish.messages if said.role is Role.SYSTEM]
    others = [said for said in wish.messages if said.role is not Role.SYSTEM]
    if not others:
        raise InvalidInputError("messages", "must hold a user's message")
    if wish.answers is not Answers.JSON_SCHEMA:
        # The word JSON must stand in the prompt where json_object is asked for (DeepSeek, OpenAI).
        system.append(
            "Answer with one JSON object that fits this JSON Schema, and with nothing else:\n"
            + schema_text(wish.form)
        )
    return "\n\n".join(system), others


def _piece(data: str) -> Mapping[str, Any]:
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        raise _cut_off() from None
    return _map(found)


def _cut_off() -> ModelError:
    return ModelUnavailableError("the stream was cut off", "It is tried again later")


def _append(block: dict[str, Any], delta: Mapping[str, Any]) -> None:
    for name in ("text", "thinking"):
        if isinstance(delta.get(name), str):
            block[name] = block.get(name, "") + delta[name]
            block.setdefault("type", name)


def _joined(blocks: Sequence[Any], kind: str) -> str:
    found: Iterator[Mapping[str, Any]] = (_map(block) for block in blocks)
    return "".join(_text(block.get(kind)) for block in found if block.get("type") == kind)


def _first(value: Any) -> Mapping[str, Any]:
    return _map(value[0]) if isinstance(value, list) and value else {}


def _map(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _text(value: Any) -> str:
    if isinstance(value, list):  # parts, as Mistral's reasoning models send them
        return "".join(_text(_map(part).get("text")) for part in value)
    return value if isinstance(value, str) else ""


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None
