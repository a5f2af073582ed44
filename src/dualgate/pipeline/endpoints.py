"""Where a user's own model is, and how to talk to it: settings, no I/O [W5].

Rule: a key is a Secret. It is shown by nothing, written by nothing, and never read from a file.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal, NoReturn
from urllib.parse import SplitResult, urlsplit

from dualgate.pipeline.ports import ModelTask

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


class Secret:
    """A key: prints as `***`, cannot be pickled.

    >>> Secret("sk-1234"), f"{Secret('sk-1234')}"
    (Secret('***'), '***')
    """

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        """Return the key, for the one header it goes into."""
        return self._value

    def __repr__(self) -> str:
        return "Secret('***')"

    def __str__(self) -> str:
        return "***"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and other.reveal() == self._value

    def __hash__(self) -> int:
        return hash(self._value)

    def __copy__(self) -> Secret:
        return self

    def __deepcopy__(self, _: object) -> Secret:
        return self

    def __reduce__(self) -> NoReturn:
        raise TypeError("a Secret is written nowhere")


class Answers(StrEnum):
    """How an endpoint is made to answer in a form; each step asks less of it than the last."""

    AUTO = "auto"  # the first of the following that the endpoint takes and keeps to
    JSON_SCHEMA = "json_schema"
    JSON_OBJECT = "json_object"
    PLAIN = "plain"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSettings:
    """A model that answers; without base_url there is none."""

    base_url: str | None = None  # up to and without /chat/completions or /v1/messages
    protocol: Literal["openai", "anthropic"] = "openai"
    name: str | None = None
    names: Mapping[ModelTask, str] = field(default_factory=dict)  # where a task has its own
    key: Secret | None = field(default=None, repr=False)
    key_env: str | None = None  # the environment variable that holds the key
    answers: Answers = Answers.AUTO
    # Reasoning counts as output: less leaves some models no room for the answer.
    output_tokens: int = 8_192
    stream: bool = False
    body: Mapping[str, Any] = field(default_factory=dict)  # what else each request says
    timeout_seconds: float = 60.0  # one request
    deadline_seconds: float = 150.0  # one answer, all retries and waits included
    attempts: int = 3
    retry_seconds: float = 0.5  # doubles with each attempt
    longest_wait_seconds: float = 20.0  # a longer Retry-After is left to the queue

    @property
    def configured(self) -> bool:
        """Whether there is a model at all."""
        return self.base_url is not None

    def name_for(self, task: ModelTask) -> str:
        """Return the name of the model that works on this task; "" if none is configured."""
        return self.names.get(task) or self.name or ""

    def problems(self) -> list[str]:
        """Return what is wrong with these settings."""
        found = [*_endpoint_problems("model", self.base_url, self.key, self.key_env)]
        found += _positive("model", self, ("output_tokens", "timeout_seconds",
                                           "deadline_seconds", "attempts",
                                           "retry_seconds", "longest_wait_seconds"))  # fmt: skip
        if self.configured and not self.name:
            found.append("model.name is needed where model.base_url is given")
        if self.deadline_seconds < self.timeout_seconds:
            found.append("model.deadline_seconds must not be under model.timeout_seconds")
        reserved = sorted({"model", "messages", "stream", "response_format"} & self.body.keys())
        found += [f"model.body must not hold {name}" for name in reserved]
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingSettings:
    """An endpoint that embeds; without base_url the built-in model does."""

    base_url: str | None = None  # up to and without /embeddings
    name: str | None = None
    dim: int | None = None  # none: as the endpoint's first answer has it
    key: Secret | None = field(default=None, repr=False)
    key_env: str | None = None
    body: Mapping[str, Any] = field(default_factory=dict)
    batch: int = 64  # texts in one request
    # As with the built-in model: a longer text's one vector is close to nothing it says.
    character_limit: int = 1_000
    timeout_seconds: float = 10.0  # recall waits for it
    attempts: int = 2
    retry_seconds: float = 0.25
    longest_wait_seconds: float = 2.0
    rest_seconds: float = 15.0  # after an outage recall asks no more for so long

    @property
    def configured(self) -> bool:
        """Whether an endpoint embeds."""
        return self.base_url is not None

    def problems(self) -> list[str]:
        """Return what is wrong with these settings."""
        found = [*_endpoint_problems("embedding", self.base_url, self.key, self.key_env)]
        found += _positive("embedding", self, ("batch", "character_limit", "timeout_seconds",
                                               "attempts", "retry_seconds",
                                               "longest_wait_seconds"))  # fmt: skip
        if self.rest_seconds < 0:
            found.append("embedding.rest_seconds must not be negative")
        if self.dim is not None and self.dim < 1:
            found.append("embedding.dim must be positive")
        if self.configured and not self.name:
            found.append("embedding.name is needed where embedding.base_url is given")
        reserved = sorted({"model", "input", "encoding_format"} & self.body.keys())
        found += [f"embedding.body must not hold {name}" for name in reserved]
        return found


def is_loopback(url: str) -> bool:
    """Whether a url is on this machine.

    >>> is_loopback("http://127.0.0.1:8080/v1"), is_loopback("https://api.example.com")
    (True, False)
    """
    return urlsplit(url).hostname in LOOPBACK


def _endpoint_problems(
    table: str, base_url: str | None, key: Secret | None, key_env: str | None
) -> list[str]:
    found = []
    if key_env is not None and key is None:
        found.append(
            f"{table}.key_env: {key_env} is not in the environment that Settings.load() read; "
            f"in Python give key=Secret(…)"
        )
    if key is not None and not (key.reveal().isascii() and key.reveal().isprintable()):
        found.append(f"{table}.key must be printable ASCII, without line ends")
    if base_url is None:
        return found
    try:
        parts = urlsplit(base_url)
        _ = parts.port
    except ValueError:
        return [*found, f"{table}.base_url is no url"]
    if parts.scheme not in ("http", "https") or not parts.hostname:
        found.append(f"{table}.base_url must begin with http:// or https:// and name a host")
    elif _says_more(parts):
        found.append(f"{table}.base_url must hold no password, query or fragment; use {table}.key")
    return found


def _says_more(parts: SplitResult) -> bool:
    return parts.username is not None or bool(parts.query or parts.fragment)


def _positive(table: str, of: object, names: tuple[str, ...]) -> list[str]:
    return [f"{table}.{name} must be positive" for name in names if getattr(of, name) <= 0]
