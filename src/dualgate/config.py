"""Settings: one frozen tree. The only reader of TOML and of the environment.

A setting is named by its path: `gates.admission.capacity`. In TOML that is a key of the table
`[gates.admission]`; in the environment it is `DUALGATE_GATES__ADMISSION__CAPACITY`. Importing
dualgate reads neither: `Settings()` is the defaults, `Settings.load()` reads both.
"""

from __future__ import annotations

import json
import math
import os
import tomllib
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from dualgate.domain.audit import AuditPolicy
from dualgate.domain.compaction import CompactionPolicy
from dualgate.domain.policy import GatePolicy
from dualgate.domain.transcript import TranscriptPolicy
from dualgate.errors import SettingsError
from dualgate.pipeline.endpoints import EmbeddingSettings, ModelSettings, Secret
from dualgate.pipeline.reading import ExtractionPolicy
from dualgate.pipeline.recipes import ReadPolicy
from dualgate.pipeline.spending import BudgetPolicy
from dualgate.pipeline.worker import QueuePolicy

PREFIX = "DUALGATE_"


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerSettings:
    """How `dualgate serve` listens, and what it lets in."""

    host: str = "127.0.0.1"
    port: int = 7734
    # On loopback, requests without a key are the local tenant's. Everyone on this machine can
    # then read and change every local user's memory.
    keyless: bool = False
    panel: bool = True  # serve the panel, too
    # Names by which the server may be called, besides loopback's: what else a Host header says is
    # refused, so that no web page can reach it by a name of its own.
    hosts: frozenset[str] = frozenset()
    # Origins of web pages that may send changing requests, besides the server's own.
    origins: frozenset[str] = frozenset()
    body_bytes: int = 4_000_000
    requests_per_minute: int = 6_000  # of one key, or one address, in one process
    wait_seconds: float = 30.0  # how long `wait` waits at most
    replay_hours: float = 24.0  # how long an idempotency key is known
    traces: bool = False  # OpenTelemetry; needs the extra `otel`

    def problems(self) -> list[str]:
        """Return what is wrong with these settings."""
        found = []
        if not 0 <= self.port <= 65_535:  # noqa: PLR2004
            found.append("server.port must be between 0 and 65535")
        if self.body_bytes < 1 or self.requests_per_minute < 1:
            found.append("server.body_bytes and requests_per_minute must be at least 1")
        if self.wait_seconds <= 0 or self.replay_hours <= 0:
            found.append("server.wait_seconds and replay_hours must be positive")
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Every number and choice of dualgate. Raises SettingsError with all problems at once."""

    url: str | None = None  # None: a file in the user's data directory
    gates: GatePolicy = field(default_factory=GatePolicy)
    # [F7] Named profiles of the gates, assignable per user; "default" is `gates`.
    user_classes: Mapping[str, GatePolicy] = field(default_factory=dict)
    read: ReadPolicy = field(default_factory=ReadPolicy)
    transcripts: TranscriptPolicy = field(default_factory=TranscriptPolicy)
    compaction: CompactionPolicy = field(default_factory=CompactionPolicy)
    queue: QueuePolicy = field(default_factory=QueuePolicy)
    model: ModelSettings = field(default_factory=ModelSettings)
    extraction: ExtractionPolicy = field(default_factory=ExtractionPolicy)
    budget: BudgetPolicy = field(default_factory=BudgetPolicy)
    audit: AuditPolicy = field(default_factory=AuditPolicy)
    embedding: EmbeddingSettings = field(default_factory=EmbeddingSettings)
    server: ServerSettings = field(default_factory=ServerSettings)
    timezone: str = "UTC"  # of messages that come without a time
    token_family: str = "o200k"  # noqa: S105 - of the model that reads the context
    history_turns: int = 4  # turns before a message that the extractor may look at
    upkeep_hours: float = 24.0  # a user's upkeep rides along with his writes, this often
    run_worker: bool = True  # work the queue off in this process
    flush_seconds: float = 0.25  # how long uses are gathered before they are written
    scrub_limit_mb: float = 512.0  # erasing rewrites a file up to this size by the way [P3]

    def __post_init__(self) -> None:
        problems = [
            *self.gates.problems(),
            *self.read.problems(),
            *self.compaction.problems(),
            *self.transcripts.problems(),
            *self.queue.problems(),
            *self.model.problems(),
            *self.extraction.problems(),
            *self.budget.problems(),
            *self.audit.problems(),
            *self.embedding.problems(),
            *self.server.problems(),
            *(
                f"user_classes.{name}: {problem}"
                for name, policy in self.user_classes.items()
                for problem in policy.problems()
            ),
        ]
        if "default" in self.user_classes:
            problems.append("user_classes must not name 'default': that is `gates`")
        if self.history_turns < 0:
            problems.append("history_turns must not be negative")
        if self.scrub_limit_mb < 0:
            problems.append("scrub_limit_mb must not be negative")
        if self.upkeep_hours <= 0 or self.flush_seconds < 0:
            problems.append("upkeep_hours must be positive, flush_seconds not negative")
        try:
            ZoneInfo(self.timezone)
        except (ZoneInfoNotFoundError, ValueError):
            problems.append(f"timezone {self.timezone!r} is not in the time zone database")
        if problems:
            raise SettingsError(problems)

    def policy_of(self, user_class: str) -> GatePolicy:
        """Return the gates of a user class; an unknown class has the default's."""
        return self.user_classes.get(user_class, self.gates)

    def smallest_archive(self) -> int:
        """Return the smallest archive capacity of any class."""
        policies = (self.gates, *self.user_classes.values())
        return min(policy.archive.capacity for policy in policies)

    @classmethod
    def load(
        cls, path: str | Path | None = None, environ: Mapping[str, str] | None = None
    ) -> Settings:
        """Read settings from a TOML file, then from the environment, which wins.

        path: None reads the file named by DUALGATE_SETTINGS, if any. environ: None reads the
        process's.
        """
        environ = os.environ if environ is None else environ
        path = path or environ.get(PREFIX + "SETTINGS")
        tree: dict[str, Any] = {}
        if path is not None:
            try:
                tree = tomllib.loads(Path(path).read_text(encoding="utf-8"))
            except (OSError, ValueError) as error:
                raise SettingsError([f"cannot read {path}: {error}"]) from error
        problems = [
            f"{table}.key must come from the environment, never from a file"
            for table in _WITH_KEYS
            if isinstance(tree.get(table), dict) and "key" in tree[table]
        ]
        for name, text in environ.items():
            if name.startswith(PREFIX) and name not in _OTHER_VARIABLES:
                _plant(tree, name.removeprefix(PREFIX).lower().split("__"), text, problems)
        _fetch_keys(tree, environ)
        settings = _build(cls, tree, "", problems)
        if problems:
            raise SettingsError(problems)
        return typing.cast("Settings", settings)


# Read elsewhere: the settings file itself, the CLI's defaults, where tests find shared data.
_OTHER_VARIABLES = frozenset(
    PREFIX + name for name in ("SETTINGS", "DB", "USER", "LANG", "SHARED_DATA", "EXAMPLES")
)


_WITH_KEYS = ("model", "embedding")


def _fetch_keys(tree: dict[str, Any], environ: Mapping[str, str]) -> None:
    """Put the keys where `key_env` says they are; one that is missing is a problem later."""
    for table in _WITH_KEYS:
        asked = tree.get(table)
        if not isinstance(asked, dict):
            continue
        named = asked.get("key_env")
        if isinstance(named, str) and environ.get(named):
            asked.setdefault("key", environ[named])


def _plant(tree: dict[str, Any], path: list[str], text: str, problems: list[str]) -> None:
    for depth, name in enumerate(path[:-1], start=1):
        tree = tree.setdefault(name, {})
        if not isinstance(tree, dict):
            problems.append(f"{'.'.join(path[:depth])}: must be a table")
            return
    tree[path[-1]] = text


def _build(kind: Any, tree: Any, path: str, problems: list[str]) -> Any:
    """Return a dataclass filled from a tree of plain values, noting every problem."""
    if not isinstance(tree, Mapping):
        raise TypeError("must be a table")
    hints = typing.get_type_hints(kind)
    known = {f.name for f in fields(kind)}
    problems += [f"unknown setting {path}{name}" for name in tree if name not in known]
    values = {
        name: _value(hints[name], given, f"{path}{name}", problems)
        for name, given in tree.items()
        if name in known
    }
    if problems:
        return None
    return kind(**values)


def _value(hint: Any, given: Any, path: str, problems: list[str]) -> Any:
    try:
        return _coerced(hint, given, path, problems)
    except (TypeError, ValueError) as error:
        problems.append(f"{path}: {error}")
        return None


def _coerced(hint: Any, given: Any, path: str, problems: list[str]) -> Any:
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if is_dataclass(hint):
        return _build(hint, given, f"{path}.", problems)
    if origin in (typing.Union, types.UnionType):
        return _coerced(next(h for h in inner if h is not type(None)), given, path, problems)
    if origin is typing.Literal:
        if given not in inner:
            raise ValueError(f"must be one of {' | '.join(inner)}")
        return given
    if origin is frozenset:
        words = given.split(",") if isinstance(given, str) else given
        return frozenset(_coerced(inner[0], word, path, problems) for word in words)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        if not isinstance(given, Mapping):
            raise TypeError("must be a table")
        return {
            _coerced(inner[0], name, path, problems): _coerced(
                inner[1], value, f"{path}.{name}", problems
            )
            for name, value in given.items()
        }
    return _scalar(hint, given)


def _any(given: Any) -> Any:
    """Return what a file says as it stands; text from the environment is read as JSON if it is."""
    if isinstance(given, str):
        try:
            return json.loads(given)
        except ValueError:
            return given
    return given


def _scalar(hint: Any, given: Any) -> Any:
    if hint in _READERS:
        return _READERS[hint](given)
    if isinstance(hint, type) and issubclass(hint, StrEnum):
        return hint(given)
    if hint in (int, float):
        return _number(hint, given)
    if not isinstance(given, str):
        raise TypeError("must be text")
    return given


def _bool(given: Any) -> bool:
    words = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}
    if isinstance(given, bool):
        return given
    if str(given).lower() not in words:
        raise ValueError("must be true or false")
    return words[str(given).lower()]


def _secret(given: Any) -> Secret:
    return given if isinstance(given, Secret) else Secret(str(given).strip())


_READERS: Mapping[Any, Callable[[Any], Any]] = {Any: _any, Secret: _secret, bool: _bool}


def _number(hint: type[int | float], given: Any) -> float:
    if isinstance(given, bool) or not isinstance(given, int | float | str):
        raise TypeError("must be a number")
    if hint is int and isinstance(given, float):
        raise TypeError("must be a whole number")
    number = hint(given)
    if not math.isfinite(number):
        raise ValueError("must be a number that is not infinite")
    return number
