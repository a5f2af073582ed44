"""The bundled conversations: who said what, and when."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from importlib.resources import files
from typing import Any

from dualgate.domain.items import Message
from dualgate.domain.types import Role

LANGUAGES = ("zh", "en")
TURN_TAKES = timedelta(seconds=90)
_SPEAKERS = {"U": Role.USER, "A": Role.ASSISTANT}


@dataclass(frozen=True, slots=True)
class Session:
    """One conversation of the user with the assistant."""

    id: str
    messages: tuple[Message, ...]

    @property
    def opening(self) -> str:
        """The user's first sentence."""
        return self.messages[0].content


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """Several weeks of one user, and the sentence that opens the session after them.

    secret stands in one of the messages and must be nowhere in the memory.
    """

    lang: str
    user: str
    secret: str
    sessions: tuple[Session, ...]
    next_at: datetime
    next_says: str

    @property
    def messages(self) -> int:
        """How many messages there are in all."""
        return sum(len(session.messages) for session in self.sessions)

    @property
    def starts_at(self) -> datetime:
        """When the first message was said."""
        return _moment(self.sessions[0].messages[0])


def conversation(lang: str) -> Conversation:
    """Return the bundled conversation in a language."""
    text = files(__package__).joinpath(f"{lang}.toml").read_text(encoding="utf-8")
    told = tomllib.loads(text)
    return Conversation(
        lang=lang,
        user=told["user"],
        secret=told["secret"],
        sessions=tuple(_session(entry) for entry in told["session"]),
        next_at=told["next"]["at"],
        next_says=told["next"]["says"],
    )


def _session(entry: Mapping[str, Any]) -> Session:
    name = f"{entry['at']:%Y-%m-%d}"
    messages = tuple(
        Message(
            _SPEAKERS[speaker],
            said,
            entry["at"] + number * TURN_TAKES,
            f"{name}/{number}",
        )
        for number, (speaker, said) in enumerate(turn.split(" ", 1) for turn in entry["turns"])
    )
    return Session(name, messages)


def _moment(message: Message) -> datetime:
    if message.at is None:  # pragma: no cover - every message of the file has its time
        raise AssertionError(message.id)
    return message.at
