"""A model that follows a script: what it is asked stands in `asked`, what it says is yours."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from dualgate.adapters.llm.reading import NotReadableError, read_answer
from dualgate.errors import InvalidInputError, UnreadableAnswerError
from dualgate.pipeline.ports import AnswerForm, ChatAnswer, ModelTask, ModelUsage, Said

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Question:
    """What the model was asked; `shown` is the JSON that stands in the user's message."""

    task: ModelTask
    messages: tuple[Said, ...]

    @property
    def shown(self) -> Any:
        """Return the data of the question."""
        return json.loads(next(m.content for m in self.messages if str(m.role) == "user"))

    @property
    def characters(self) -> int:
        """Return how long the question is."""
        return sum(len(m.content) for m in self.messages)


Answer = object
Script = Callable[[Question], Answer]


class ScriptedModel:
    """Answers as scripted: text as it stands, another value as JSON; an exception is raised.

    answers: a function of the question, or a list that is used up, its last entry for ever.
    """

    def __init__(self, answers: Script | Sequence[Answer]) -> None:
        if not callable(answers) and not answers:
            raise InvalidInputError("answers", "must hold at least one answer")
        self._answers = answers
        self.asked: list[Question] = []

    def name_for(self, task: ModelTask) -> str:
        """Return "scripted", whatever the task."""
        _ = task
        return "scripted"

    async def complete(
        self,
        messages: Sequence[Said],
        form: AnswerForm[T],
        *,
        task: ModelTask,
        output_tokens: int | None = None,
    ) -> ChatAnswer[T]:
        """Return the next answer, read as one of a real endpoint is read."""
        _ = output_tokens
        question = Question(task, tuple(messages))
        self.asked.append(question)
        if callable(self._answers):
            given = self._answers(question)
        else:
            given = self._answers[min(len(self.asked), len(self._answers)) - 1]
        if isinstance(given, Exception):
            raise given
        raw = given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)
        usage = ModelUsage(
            calls=1, input_tokens=question.characters, output_tokens=len(raw), estimated=True
        )
        try:
            readable = read_answer(raw, form, [m.content for m in messages])
        except NotReadableError as error:
            raise UnreadableAnswerError(str(error), raw, usage=usage) from error
        return ChatAnswer(
            value=readable.value, raw=raw, usage=usage, model="scripted", seconds=0.0
        )
