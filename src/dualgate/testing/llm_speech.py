"""What the loopback model says, right and wrong, in the words of each protocol: pure.

Rule: no sockets; llm_server.py has them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class Fault(StrEnum):
    """What an endpoint can do wrong; in brackets the options of `misbehave`."""

    RATE_LIMIT = "rate_limit"  # 429 [retry_after: seconds, text, or None for no such header]
    FAIL = "fail"  # [status: 500 by default; message]
    HANG = "hang"  # says nothing [seconds: then it answers after all]
    CUT = "cut"  # the connection ends in the middle of the answer
    FENCED = "fenced"  # the JSON in a Markdown fence
    CHATTY = "chatty"  # a friendly sentence before, prose after
    DUPLICATE_KEY = "duplicate_key"  # a key twice in one object
    WRONG_TYPES = "wrong_types"  # the right names with values of other kinds
    NOT_JSON = "not_json"  # single quotes and a trailing comma
    EMPTY = "empty"  # no content at all
    REASONING = "reasoning"  # content empty, the answer in reasoning_content
    THINKING = "thinking"  # thoughts in the content, before the answer
    HALLUCINATE = "hallucinate"  # fits the schema, and nobody said it [value]
    ECHO = "echo"  # the prompt comes back
    FILTER = "filter"  # a content filter stops it
    NO_ROOM = "no_room"  # cut by the token limit [thinking: nothing but thoughts]
    SAY = "say"  # this text instead of an answer [text]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A request as it came in: what a script decides by, and a test looks at."""

    protocol: str  # "openai", "anthropic" or "embeddings"
    body: Mapping[str, Any]
    headers: Mapping[str, str]  # names in lower case

    @property
    def system(self) -> str:
        """What the system said."""
        if self.protocol == "anthropic":
            return str(self.body.get("system", ""))
        return "\n".join(m["content"] for m in self._messages() if m["role"] == "system")

    @property
    def text(self) -> str:
        """The last message of the user."""
        said = [m["content"] for m in self._messages() if m["role"] == "user"]
        return str(said[-1]) if said else ""

    @property
    def form(self) -> str:
        """How the answer is wished for: json_schema, json_object or plain."""
        if self.protocol == "anthropic":
            return "json_schema" if "output_config" in self.body else "plain"
        return str(self.body.get("response_format", {}).get("type", "plain"))

    @property
    def schema(self) -> Mapping[str, Any] | None:
        """The schema that came as a parameter or stands in the system's words."""
        if self.form == "json_schema":
            if self.protocol == "anthropic":
                found = self.body["output_config"]["format"]["schema"]
            else:
                found = self.body["response_format"]["json_schema"]["schema"]
            return dict(found)
        at = self.system.find('{"')
        try:
            return dict(json.loads(self.system[at:])) if at >= 0 else None
        except ValueError:
            return None

    def _messages(self) -> Sequence[Mapping[str, Any]]:
        return list(self.body.get("messages", ()))


@dataclass(frozen=True, slots=True)
class Planned:
    """A fault that was ordered, with its options."""

    fault: Fault
    options: Mapping[str, Any] = field(default_factory=dict)


def sample(schema: Mapping[str, Any], *, invented: str = "") -> object:
    """Return the smallest value that fits a JSON schema.

    invented: fills texts with this, and lists with one entry.

    >>> sample({"type": "object", "properties": {"n": {"type": "integer"}}})
    {'n': 0}
    """
    return _sample(schema, schema.get("$defs", {}), invented)


def _sample(schema: Mapping[str, Any], known: Mapping[str, Any], invented: str) -> object:
    if "$ref" in schema:
        schema = known[schema["$ref"].rsplit("/", 1)[-1]]
    if "anyOf" in schema and invented:
        return _sample(schema["anyOf"][0], known, invented)
    if schema.get("type") == "object":
        named = schema.get("properties", {})
        return {name: _sample(inner, known, invented) for name, inner in named.items()}
    if schema.get("type") == "array":
        return [_sample(schema.get("items", {}), known, invented)] if invented else []
    plain: dict[object, object] = {
        "string": invented, "integer": 0, "number": 0.9 if invented else 0.0, "boolean": False,
    }  # fmt: skip
    return schema.get("const", schema.get("enum", [plain.get(schema.get("type"))])[0])


# --- what is said, as text and as bytes

_ANY_OBJECT = {"type": "object"}
_INVENTED = "a yacht named Zephyr"
_CHAT = ("Of course, I am glad to help! Here it is:", "Let me know if you need anything else.")
_THOUGHT = "Let me see what the user says… {not the answer}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Speech:
    """What the model says: its words, its thoughts, and why it stopped."""

    text: str
    thoughts: str = ""
    ending: str = "stop"


_ANTHROPIC_ENDINGS = {"stop": "end_turn", "length": "max_tokens", "content_filter": "refusal"}


def speech_of(value: object, asked: Asked, planned: Planned | None, *, obeys: bool) -> Speech:
    """Return what is said where `value` is the answer; obeys: as the schema wants it."""
    plain = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    if asked.form == "json_schema" and not obeys:
        plain = "I have noted what the user said."
    if planned is None:
        return Speech(text=plain)
    spoil = _SPOILT.get(planned.fault)
    return Speech(text=plain) if spoil is None else spoil(plain, asked, planned.options)


def _no_room(plain: str, _: Asked, options: Mapping[str, Any]) -> Speech:
    if options.get("thinking"):
        return Speech(text="", thoughts=_THOUGHT, ending="length")
    return Speech(text=plain[: len(plain) // 2], ending="length")


def _invented(_: str, asked: Asked, options: Mapping[str, Any]) -> Speech:
    value = options.get("value", sample(asked.schema or _ANY_OBJECT, invented=_INVENTED))
    return Speech(text=json.dumps(value, ensure_ascii=False))


def _doubled(plain: str, _: Asked, __: Mapping[str, Any]) -> Speech:
    first = json.dumps(next(iter(json.loads(plain)), "key"), ensure_ascii=False)
    return Speech(text="{" + first + ": null, " + plain.lstrip()[1:])


def _as_text(spoil: Callable[[str], str]) -> _Spoiler:
    return lambda plain, _, __: Speech(text=spoil(plain))


def _retyped(value: object) -> object:
    if isinstance(value, dict):
        return {name: _retyped(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return {"items": value}
    return [value] if isinstance(value, str) else "high"


_Spoiler = Callable[[str, Asked, Mapping[str, Any]], Speech]
_SPOILT: Mapping[Fault, _Spoiler] = {
    Fault.EMPTY: lambda _, __, ___: Speech(text=""),
    Fault.REASONING: lambda plain, _, __: Speech(text="", thoughts=f"{_THOUGHT}\n{plain}"),
    Fault.FILTER: lambda _, __, ___: Speech(text="", ending="content_filter"),
    Fault.NO_ROOM: _no_room,
    Fault.HALLUCINATE: _invented,
    Fault.DUPLICATE_KEY: _doubled,
    Fault.ECHO: lambda _, asked, __: Speech(text=f"{asked.system}\n\n{asked.text}"),
    Fault.SAY: lambda _, __, options: Speech(text=str(options.get("text", ""))),
    Fault.FENCED: _as_text(lambda plain: f"```json\n{plain}\n```"),
    Fault.CHATTY: _as_text(lambda plain: f"{_CHAT[0]}\n\n{plain}\n\n{_CHAT[1]}"),
    Fault.WRONG_TYPES: _as_text(lambda plain: json.dumps(_retyped(json.loads(plain)))),
    Fault.NOT_JSON: _as_text(lambda plain: plain.replace('"', "'").rstrip("}") + ",}"),
    Fault.THINKING: _as_text(lambda plain: f"<think>\n{_THOUGHT}\n</think>\n{plain}"),
}


def openai_tree(asked: Asked, speech: Speech, usage: Mapping[str, int]) -> dict[str, Any]:
    """Return a chat completion."""
    message: dict[str, Any] = {"role": "assistant", "content": speech.text}
    if speech.thoughts:
        message["reasoning_content"] = speech.thoughts
    choice = {"index": 0, "message": message, "finish_reason": speech.ending}
    return {
        "object": "chat.completion", "model": asked.body.get("model"), "choices": [choice],
        "usage": usage,
    }  # fmt: skip


def openai_events(asked: Asked, speech: Speech, usage: Mapping[str, int]) -> Iterator[str]:
    """Yield a chat completion, event by event."""

    def event(choices: list[dict[str, Any]], **more: Any) -> str:
        chunk = {"object": "chat.completion.chunk", "model": asked.body.get("model")}
        return f"data: {json.dumps(chunk | {'choices': choices} | more)}\n\n"

    for name, text in (("reasoning_content", speech.thoughts), ("content", speech.text)):
        for piece in _split(text):
            yield event([{"index": 0, "delta": {name: piece}, "finish_reason": None}])
    yield event([{"index": 0, "delta": {}, "finish_reason": speech.ending}])
    yield event([], usage=usage)
    yield "data: [DONE]\n\n"


def anthropic_tree(asked: Asked, speech: Speech, usage: Mapping[str, int]) -> dict[str, Any]:
    """Return a message of Anthropic's."""
    blocks = [{"type": "thinking", "thinking": speech.thoughts}] if speech.thoughts else []
    blocks += [{"type": "text", "text": speech.text}] if speech.text else []
    return {
        "type": "message", "role": "assistant", "model": asked.body.get("model"),
        "content": blocks, "stop_reason": _ANTHROPIC_ENDINGS[speech.ending], "usage": usage,
    }  # fmt: skip


def anthropic_events(asked: Asked, speech: Speech, usage: Mapping[str, int]) -> Iterator[str]:
    """Yield a message of Anthropic's, event by event."""

    def event(kind: str, **more: Any) -> str:
        return f"event: {kind}\ndata: {json.dumps({'type': kind, **more})}\n\n"

    given = {"input_tokens": usage["input_tokens"], "output_tokens": 0} if usage else {}
    yield event("message_start", message={"model": asked.body.get("model"), "usage": given})
    place = 0
    for kind, text in (("thinking", speech.thoughts), ("text", speech.text)):
        if not text:
            continue
        yield event("content_block_start", index=place, content_block={"type": kind, kind: ""})
        for piece in _split(text):
            delta = {"type": f"{kind}_delta", kind: piece}
            yield event("content_block_delta", index=place, delta=delta)
        yield event("content_block_stop", index=place)
        place += 1
    taken = {"output_tokens": usage["output_tokens"]} if usage else {}
    ending = {"stop_reason": _ANTHROPIC_ENDINGS[speech.ending]}
    yield event("message_delta", delta=ending, usage=taken)
    yield event("message_stop")


def _split(text: str) -> Iterator[str]:
    step = max(1, len(text) // 4)
    return (text[at : at + step] for at in range(0, len(text), step))


def usage_of(asked: Asked, speech: Speech) -> dict[str, int]:
    """Return the bill of one answer as the protocol writes it."""
    given = len(asked.system + asked.text) // 4 + 1
    taken = len(speech.text + speech.thoughts) // 4 + 1
    if asked.protocol == "anthropic":
        return {"input_tokens": given, "output_tokens": taken}
    return {
        "prompt_tokens": given, "completion_tokens": taken, "total_tokens": given + taken,
    }  # fmt: skip
