"""Questions and answers of a real endpoint in a file, to be answered from again by anyone.

A recording is JSON Lines. The first line is `{"recording": 1, "models": {task: name}}`, each other
one a question with what came of it:

    {"question": sha256, "task", "model", "messages": [{"role", "content"}], "form",
     "answer": {"raw", "model", "seconds", "usage"} or "error": {"kind", "problem", "raw"}}

Rule: a recording holds no key and no address, but all that was said: it is as private as a
transcript. A question that has changed in one character is another question.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar

from dualgate.adapters.llm.reading import parse
from dualgate.errors import (
    InvalidInputError,
    ModelError,
    ModelRefusedError,
    ModelRejectedError,
    ModelUnavailableError,
    UnreadableAnswerError,
)
from dualgate.pipeline.ports import (
    AnswerForm,
    ChatAnswer,
    ChatModel,
    ModelTask,
    ModelUsage,
    Said,
)

T = TypeVar("T")

VERSION = 1
_KINDS = (ModelRefusedError, ModelRejectedError, ModelUnavailableError)


class RecordingModel:
    """Asks another model, and writes down what was asked and what came of it.

    path: a new file, or a recording of the same models, which is continued.
    """

    def __init__(self, model: ChatModel, path: Path) -> None:
        self._model = model
        self._path = path
        names = {task.value: model.name_for(task) for task in ModelTask}
        if path.exists() and path.stat().st_size:
            known = _head(path)
            if known != names:
                raise InvalidInputError("path", f"holds a recording of other models: {known}")
        else:
            self._write({"recording": VERSION, "models": names})

    def name_for(self, task: ModelTask) -> str:
        """Return the name of the model that works on this task."""
        return self._model.name_for(task)

    async def complete(
        self,
        messages: Sequence[Said],
        form: AnswerForm[T],
        *,
        task: ModelTask,
        output_tokens: int | None = None,
    ) -> ChatAnswer[T]:
        """Return the other model's answer; what it raises is written down and raised."""
        name = self.name_for(task)
        line: dict[str, Any] = {
            "question": question_id(name, task, messages, form), "task": task.value,
            "model": name, "form": form.name,
            "messages": [{"role": s.role.value, "content": s.content} for s in messages],
        }  # fmt: skip
        try:
            answer = await self._model.complete(
                messages, form, task=task, output_tokens=output_tokens
            )
        except ModelError as error:
            raw = getattr(error, "raw", "")
            told = {"kind": _kind(error), "problem": error.problem, "raw": raw}
            self._write(line | {"error": told})
            raise
        self._write(line | {"answer": {
            "raw": answer.raw, "model": answer.model, "seconds": round(answer.seconds, 3),
            "usage": dataclasses.asdict(answer.usage),
        }})  # fmt: skip
        return answer

    def _write(self, line: dict[str, Any]) -> None:
        with self._path.open("a", encoding="utf-8") as out:
            out.write(json.dumps(line, ensure_ascii=False) + "\n")


class ReplayModel:
    """Answers from a recording: the same question gets the same answers, in their order.

    Once they are used up, the last one comes again. A question that is not recorded raises
    ModelRejectedError. Raises InvalidInputError for a file that is no recording; a last line that
    was cut off is left out.
    """

    def __init__(self, path: Path) -> None:
        self._names = _head(path)
        self._lines: dict[str, list[dict[str, Any]]] = {}
        for line in _lines(path)[1:]:
            self._lines.setdefault(line["question"], []).append(line)

    def __len__(self) -> int:
        return sum(len(lines) for lines in self._lines.values())

    def name_for(self, task: ModelTask) -> str:
        """Return the name of the model that worked on this task."""
        return self._names.get(task.value, "")

    async def complete(
        self,
        messages: Sequence[Said],
        form: AnswerForm[T],
        *,
        task: ModelTask,
        output_tokens: int | None = None,  # noqa: ARG002 - as the port has it
    ) -> ChatAnswer[T]:
        """Return the recorded answer, read anew; raise what was recorded as an error."""
        left = self._lines.get(question_id(self.name_for(task), task, messages, form))
        if not left:
            raise ModelRejectedError(
                "the recording holds no answer to this question",
                "Prompts or turns have changed since; record again",
            )
        line = left.pop(0) if len(left) > 1 else left[0]
        if "error" in line:
            raise _recorded(line["error"])
        told = line["answer"]
        usage = ModelUsage(**told["usage"])
        try:
            value = form.read(parse(told["raw"]))
        except ValueError as error:
            raise UnreadableAnswerError(str(error), told["raw"], usage=usage) from None
        return ChatAnswer(
            value=value, raw=told["raw"], usage=usage, model=told["model"],
            seconds=told["seconds"],
        )  # fmt: skip


def question_id(
    name: str, task: ModelTask, messages: Sequence[Said], form: AnswerForm[Any]
) -> str:
    """Return what a question is found by: who is asked, for what, in which words and form."""
    said = [(s.role.value, s.content) for s in messages]
    whole = json.dumps([name, task.value, said, form.name, form.schema], sort_keys=True)
    return hashlib.sha256(whole.encode()).hexdigest()


def _lines(path: Path) -> list[dict[str, Any]]:
    texts = path.read_text(encoding="utf-8").split("\n")
    if texts and texts[-1]:
        texts.pop()  # whoever wrote it was stopped in the middle of a line
    try:
        return [json.loads(text) for text in texts if text]
    except ValueError as error:
        raise InvalidInputError("path", f"is no recording: {error}", str(path)) from error


def _head(path: Path) -> dict[str, str]:
    lines = _lines(path)
    if not lines or lines[0].get("recording") != VERSION:
        raise InvalidInputError("path", f"is no recording of version {VERSION}", str(path))
    return dict(lines[0]["models"])


def _kind(error: ModelError) -> str:
    if isinstance(error, UnreadableAnswerError):
        return UnreadableAnswerError.__name__
    return next((kind.__name__ for kind in _KINDS if isinstance(error, kind)), "ModelError")


def _recorded(told: dict[str, str]) -> ModelError:
    if told["kind"] == UnreadableAnswerError.__name__:
        return UnreadableAnswerError(told["problem"], told["raw"])
    kinds = {kind.__name__: kind for kind in _KINDS}
    return kinds.get(told["kind"], ModelError)(told["problem"])
