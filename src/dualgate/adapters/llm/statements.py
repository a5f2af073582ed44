"""The shape of what a model says about turns: JSON in, candidates out, or a complaint.

Rule: what is missing but harmless gets the careful default: an unknown type is a fact, what is no
number becomes a confidence below what can freeze. What cannot be understood is said, never
skipped: a list with a hole in it is no answer [W5].
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, TypeVar

from dualgate.domain.grounding import is_quoted
from dualgate.domain.items import CONTENT_LIMIT, Candidate, folded
from dualgate.domain.types import Evidence, ItemType, Polarity, Role, Scope, Sensitivity
from dualgate.errors import InvalidInputError
from dualgate.pipeline.ports import AnswerForm, Turn

DOUBTFUL = 0.7  # the confidence of a model that gave none: it may enter, it cannot freeze [F1]
_WORD_LIMIT = 16  # qualifiers or entities of one statement
_PERCENT = 100.0
_PARROTED = 6  # characters from which words of the prompt are no coincidence

_Word = TypeVar("_Word", bound=StrEnum)


@dataclass(frozen=True, slots=True)
class Stated:
    """A candidate and the place, from 1, of the turn it was read in."""

    place: int
    candidate: Candidate


def form_for(turns: Sequence[Turn], prompts: Sequence[str] = ()) -> AnswerForm[list[Stated]]:
    """Return the form of an answer about these turns, numbered from 1.

    prompts: what the model was told; a statement that only repeats it was read in no turn.
    """
    told = "".join("".join(folded(text).split()) for text in prompts)

    def read(tree: object) -> list[Stated]:
        found = [_stated(place, entry, turns) for place, entry in enumerate(_entries(tree))]
        for place, stated in enumerate(found):
            content = "".join(folded(stated.candidate.content).split())
            if len(content) >= _PARROTED and content in told:
                raise ValueError(f"statements[{place}].content repeats the instructions")
        return found

    return AnswerForm(name="statements", schema=_SCHEMA, read=read)


def _entries(tree: object) -> Sequence[Any]:
    found = tree.get("statements") if isinstance(tree, Mapping) else tree
    if isinstance(found, str) or not isinstance(found, Sequence):
        raise ValueError(  # noqa: TRY004 - as AnswerForm.read promises
            '"statements" must be a list, empty if there is nothing to write down'
        )
    return found


def _stated(number: int, entry: object, turns: Sequence[Turn]) -> Stated:
    where = f"statements[{number}]"
    if not isinstance(entry, Mapping):
        raise ValueError(f"{where} must be an object")  # noqa: TRY004 - likewise
    content = _text(entry.get("content"))
    if content is None:
        raise ValueError(f"{where}.content must be a sentence")
    place = _place(entry, turns, where)
    turn = turns[place - 1]
    attribute, value = _text(entry.get("attribute")), _text(entry.get("value"))
    try:
        made = Candidate(
            _word(ItemType, entry.get("type"), ItemType.FACT),
            content[:CONTENT_LIMIT],
            subject=_text(entry.get("subject")) or _speaker(turn),
            attribute=attribute if value else None,
            value=value if attribute else None,
            qualifiers=_words(entry.get("qualifiers")),
            polarity=_word(Polarity, entry.get("polarity"), Polarity.POSITIVE),
            confidence=_confidence(entry.get("confidence")),
            evidence=_word(Evidence, entry.get("evidence"), Evidence.EXPLICIT),
            correction=entry.get("correction") is True,
            scope=_word(Scope, entry.get("scope"), Scope.LASTING),
            event_at=_when(entry.get("event_at"), turn.at),
            expires_at=_when(entry.get("expires_at"), turn.at),
            entities=_words(entry.get("entities")),
            tags=(attribute,) if attribute and value else (),
            sensitivity=_word(Sensitivity, entry.get("sensitivity"), Sensitivity.NORMAL),
            quote=_text(entry.get("quote")),
            message_id=turn.message.id,
        )
    except InvalidInputError as error:
        raise ValueError(f"{where}.{error}") from None
    return Stated(place, made)


def _place(entry: Mapping[Any, Any], turns: Sequence[Turn], where: str) -> int:
    """Return the place of the turn meant: as numbered, or the only one that holds the quote."""
    given = entry.get("turn")
    if len(turns) == 1:
        return 1
    if isinstance(given, int) and not isinstance(given, bool) and 1 <= given <= len(turns):
        return given
    quote = _text(entry.get("quote"))
    if quote:
        probe = Candidate(ItemType.FACT, quote[:CONTENT_LIMIT], confidence=0.0, quote=quote)
        holding = [n for n, t in enumerate(turns, 1) if is_quoted(probe, t.message.content)]
        if len(holding) == 1:
            return holding[0]
    raise ValueError(f"{where}.turn must be a number from 1 to {len(turns)}")


def _speaker(turn: Turn) -> str:
    return "assistant" if turn.message.role is Role.ASSISTANT else "user"


def _text(given: object) -> str | None:
    if isinstance(given, bool) or given is None:
        return None
    if isinstance(given, int | float):
        return str(given)
    return (given.strip() or None) if isinstance(given, str) else None


def _words(given: object) -> tuple[str, ...]:
    if isinstance(given, str):
        given = [given]
    if not isinstance(given, Sequence):
        return ()
    return tuple(word for each in given[:_WORD_LIMIT] if (word := _text(each)) is not None)


def _word(kind: type[_Word], given: object, otherwise: _Word) -> _Word:
    try:
        return kind(given.strip().lower()) if isinstance(given, str) else otherwise
    except ValueError:
        return otherwise


def _confidence(given: object) -> float:
    try:
        found = float(given) if isinstance(given, int | float | str) else math.nan
    except ValueError:
        return DOUBTFUL
    if isinstance(given, bool) or not math.isfinite(found):
        return DOUBTFUL
    if 1.0 < found <= _PERCENT:  # meant as a percentage, or as a mark out of ten: nobody knows
        return DOUBTFUL
    return found if 0.0 <= found <= 1.0 else DOUBTFUL


def _when(given: object, said_at: datetime) -> datetime | None:
    """Return a date as an instant in the speaker's zone; what is no date is none."""
    text = _text(given)
    if text is None:
        return None
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return found if found.tzinfo is not None else found.replace(tzinfo=said_at.tzinfo)


def _one_of(kind: type[StrEnum]) -> dict[str, Any]:
    return {"type": "string", "enum": [str(word) for word in kind]}


_OPTIONAL = {"type": ["string", "null"]}
_LIST = {"type": "array", "items": {"type": "string"}}
_PROPERTIES: dict[str, Any] = {
    "turn": {"type": "integer"},
    "quote": {"type": "string"},
    "content": {"type": "string"},
    "type": _one_of(ItemType),
    "subject": {"type": "string"},
    "attribute": _OPTIONAL,
    "value": _OPTIONAL,
    "qualifiers": _LIST,
    "polarity": _one_of(Polarity),
    "confidence": {"type": "number"},
    "evidence": _one_of(Evidence),
    "correction": {"type": "boolean"},
    "scope": _one_of(Scope),
    "event_at": _OPTIONAL,
    "expires_at": _OPTIONAL,
    "entities": _LIST,
    "sensitivity": _one_of(Sensitivity),
}
_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "statements": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": _PROPERTIES,
                "required": list(_PROPERTIES),
                "additionalProperties": False,
            },
        }
    },
    "required": ["statements"],
    "additionalProperties": False,
}
