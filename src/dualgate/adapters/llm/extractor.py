"""The extractor that asks a model: several turns in one question, none of them dropped [W4, W5].

    turns → parts of long ones → batches → question → statements → candidates, by turn

Rule: a batch that fails for its content is asked again one turn at a time, so that one bad turn
spoils no other; an outage ends all of it at once.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from dualgate.adapters.llm.prompting import LANGUAGES, asking, prompt
from dualgate.adapters.llm.statements import Stated, form_for
from dualgate.domain.grounding import is_quoted
from dualgate.domain.items import Candidate, Message
from dualgate.domain.types import Role, Source
from dualgate.errors import ModelError, ModelUnavailableError, UnreadableAnswerError
from dualgate.pipeline.ports import ModelTask, Turn
from dualgate.pipeline.reading import ExtractionPolicy, unreadable
from dualgate.pipeline.render import language_of
from dualgate.pipeline.spending import Purse

_BEFORE_CHARACTERS = 300  # of an earlier turn: enough to tell what "that one" is
_PROMPTS = tuple(prompt(ModelTask.EXTRACT, lang).text for lang in LANGUAGES)
_END = re.compile(r"[。！？!?；;\n]+[”』」\"')）]*|\.+(?=\s)")


class LlmExtractor:
    """Asks a model; implements both ports.Extractor and reading.ModelExtractor."""

    source = Source.LLM

    def __init__(self, purse: Purse, policy: ExtractionPolicy) -> None:
        self._purse = purse
        self._policy = policy

    @property
    def names(self) -> Mapping[str, str]:
        """Which model and which prompt, for the record."""
        versions = {prompt(ModelTask.EXTRACT, lang).label for lang in LANGUAGES}
        return {
            "read_by": self._purse.name_for(ModelTask.EXTRACT),
            "prompt": " ".join(sorted(versions)),
        }

    async def extract(self, turn: Turn) -> Sequence[Candidate]:
        """Return what one turn states. Raises ExtractionError, ModelError."""
        (answer,) = await self.extract_all([turn])
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def extract_all(self, turns: Sequence[Turn]) -> list[Sequence[Candidate] | Exception]:
        """Return, per turn, what it states, or what went wrong with it."""
        parts = [
            (place, part)
            for place, turn in enumerate(turns)
            for part in _parts(turn, self._policy.part_characters)
        ]
        found: list[list[Candidate]] = [[] for _ in turns]
        errors: dict[int, Exception] = {}
        away: ModelError | None = None
        for batch in self._batches(parts):
            if away is None:
                away = await self._read_batch(batch, found, errors)
            if away is not None:
                errors |= {place: away for place, _ in batch if place not in errors}
        return [errors.get(place, tuple(found[place])) for place in range(len(turns))]

    def _batches(self, parts: Sequence[tuple[int, Turn]]) -> Iterator[list[tuple[int, Turn]]]:
        batch: list[tuple[int, Turn]] = []
        size = 0
        for part in parts:
            length = len(part[1].message.content)
            full = len(batch) >= self._policy.batch_turns
            if batch and (full or size + length > self._policy.batch_characters):
                yield batch
                batch, size = [], 0
            batch.append(part)
            size += length
        if batch:
            yield batch

    async def _read_batch(
        self,
        batch: Sequence[tuple[int, Turn]],
        found: Sequence[list[Candidate]],
        errors: dict[int, Exception],
    ) -> ModelError | None:
        """Fill in what was found and what failed; return an outage, which ends everything."""
        try:
            stated = await self._ask([turn for _, turn in batch])
        except ModelUnavailableError as error:
            return error
        except ModelError as error:
            if len(batch) > 1:
                return await self._read_singly(batch, found, errors)
            is_form = isinstance(error, UnreadableAnswerError)
            errors[batch[0][0]] = unreadable(error) if is_form else error
            return None
        for each in stated:
            place, turn = batch[each.place - 1]
            found[place].append(_with_true_quote(each.candidate, turn))
        return None

    async def _read_singly(
        self,
        batch: Sequence[tuple[int, Turn]],
        found: Sequence[list[Candidate]],
        errors: dict[int, Exception],
    ) -> ModelError | None:
        away: ModelError | None = None
        for part in batch:
            if away is None:
                away = await self._read_batch([part], found, errors)
            if away is not None:
                errors.setdefault(part[0], away)
        return away

    async def _ask(self, turns: Sequence[Turn]) -> list[Stated]:
        messages = asking(ModelTask.EXTRACT, shown(turns), (t.message.content for t in turns))
        answer = await self._purse.ask(
            turns[0].user_id, messages, form_for(turns, _PROMPTS), task=ModelTask.EXTRACT,
            repairs=self._policy.repairs, turns=len(turns),
        )  # fmt: skip
        return answer.value


def shown(turns: Sequence[Turn]) -> dict[str, Any]:
    """Return what a model is shown of some turns.

    What stands before a turn is shown once, shortened, and without tool output: the question must
    not grow with the conversation.
    """
    given = {(turn.message.role, turn.message.content) for turn in turns}
    before: list[Message] = []
    for turn in turns:
        before += [m for m in turn.history if (m.role, m.content) not in given and m not in before]
    return {
        "before": [
            {"role": str(m.role), "text": _short(m.content)}
            for m in before
            if m.role in (Role.USER, Role.ASSISTANT)
        ],
        "turns": [
            {
                "turn": number,
                "role": str(turn.message.role),
                "time": turn.at.strftime("%A ") + turn.at.isoformat(timespec="minutes"),
                "language": language_of([turn.message.content]),
                "text": turn.message.content,
            }
            for number, turn in enumerate(turns, 1)
        ],
    }


def _parts(turn: Turn, limit: int) -> list[Turn]:
    """Return the turn, or its pieces of whole sentences; together they are all of it."""
    text = turn.message.content
    if len(text) <= limit:
        return [turn]
    ends = [match.end() for match in _END.finditer(text)] + [len(text)]
    pieces, start, end = [], 0, 0
    for sentence_end in ends:
        if sentence_end - start > limit and end > start:
            pieces.append(text[start:end])
            start = end
        while sentence_end - start > limit:  # one sentence longer than a piece
            pieces.append(text[start : start + limit])
            start += limit
        end = sentence_end
    pieces.append(text[start:])
    return [
        replace(turn, message=replace(turn.message, content=piece))
        for piece in pieces
        if piece.strip()
    ]


def _with_true_quote(candidate: Candidate, turn: Turn) -> Candidate:
    """Take away a quote that nobody said; whether the rest stands is for grounding to judge."""
    known = candidate.quote is None or is_quoted(candidate, turn.message.content)
    return candidate if known else replace(candidate, quote=None)


def _short(text: str) -> str:
    if len(text) <= _BEFORE_CHARACTERS:
        return text
    half = _BEFORE_CHARACTERS // 2
    return f"{text[:half]} … {text[-half:]}"
