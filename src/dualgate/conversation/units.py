"""Units of a conversation: a message, or a tool call together with all that answers it.

Rule: what belongs together is folded together, so that no call loses its result and no result its
call [L1]. System messages and our own summaries are in no unit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dualgate.conversation.shapes import (
    HostMessage,
    answers_of,
    calls_of,
    clean,
    role_of,
    text_of,
)
from dualgate.conversation.summary import Summary, read
from dualgate.domain.items import Message
from dualgate.domain.types import Role
from dualgate.pipeline.render import strip_injected


@dataclass(frozen=True, slots=True)
class Unit:
    """Places of messages that stay together, and how many turns they are.

    A turn is a message that says something: tool answers belong to the turn that asked for them.
    """

    places: tuple[int, ...]
    turns: int


@dataclass(frozen=True, slots=True)
class Layout:
    """A conversation by units, oldest first; where its system messages and summaries stand."""

    units: tuple[Unit, ...]
    system: tuple[int, ...]
    summaries: tuple[tuple[int, Summary], ...]

    @property
    def turns(self) -> int:
        """How many turns there are."""
        return sum(unit.turns for unit in self.units)


def laid_out(messages: Sequence[HostMessage]) -> Layout:
    """Return the units of a conversation.

    An answer goes to the call it names; one that names none, or one that is not here, to the
    message before it.
    """
    groups: list[list[int]] = []
    system: list[int] = []
    summaries: list[tuple[int, Summary]] = []
    callers: dict[str, int] = {}  # call id → message that made it
    for place, message in enumerate(messages):
        if role_of(message) is Role.SYSTEM:
            system.append(place)
            continue
        summary = read(message)
        if summary is not None:
            summaries.append((place, summary))
            continue
        answers = answers_of(message)
        if answers and groups:
            asked = min(callers.get(str(call), groups[-1][0]) for call, _ in answers)
            together = [place]
            while groups and groups[-1][-1] >= asked:
                together = groups.pop() + together
            groups.append(together)
        else:
            groups.append([place])
        callers.update(dict.fromkeys(calls_of(message), place))
    units = tuple(
        Unit(tuple(group), max(1, sum(not _only_answers(messages[place]) for place in group)))
        for group in groups
    )
    return Layout(units, tuple(system), tuple(summaries))


def as_turns(messages: Sequence[HostMessage]) -> list[Message]:
    """Return what was said and answered, as turns to be read; what memory put in is left out."""
    names: dict[str, str] = {}
    turns = []
    for message in messages:
        names.update(calls_of(message))
        for call, answer in answers_of(message):
            name = names.get(str(call), "")
            text = f"{name}: {answer}" if name else answer
            turns.append(Message(Role.TOOL, clean(text)))
        said = strip_injected(clean(text_of(message)))
        if said.strip():
            at = message.at if isinstance(message, Message) else None
            turns.append(Message(role_of(message), said, at))
    return turns


def _only_answers(message: HostMessage) -> bool:
    return bool(answers_of(message)) and not text_of(message).strip()
