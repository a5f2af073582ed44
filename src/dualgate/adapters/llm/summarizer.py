"""The model as summarizer [L1]: lines that outlive their turns, without numbers of its own.

Rule: a line with a number or a name that was not said is left out; what the model forgot, the
local summarizer restores (conversation/folding.py).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dualgate.adapters.llm.prompting import asking
from dualgate.domain.compaction import Digest, Keep, Line, details
from dualgate.domain.items import Message, folded
from dualgate.domain.types import Role
from dualgate.pipeline.ports import AnswerForm, ModelTask
from dualgate.pipeline.spending import Purse

INPUT_TOKENS = 6_000
_KEPT = frozenset(Keep) - {Keep.POINT, Keep.TRACE}  # those are written by dualgate itself
_LINE_LIMIT = 400  # characters


class LlmSummarizer:
    """Asks a model what to keep; implements ports.Summarizer. Raises ModelError."""

    input_tokens: int | None = INPUT_TOKENS

    def __init__(self, purse: Purse, repairs: int = 2) -> None:
        self._purse = purse
        self._repairs = repairs

    async def summarize(self, turns: Sequence[Message]) -> Digest:
        """Return the lines to keep, in the order of the turns they stand in."""
        if not turns:
            return Digest()
        shown = {
            "turns": [
                {"turn": number, "role": str(turn.role), "text": turn.content}
                for number, turn in enumerate(turns, 1)
            ]
        }
        messages = asking(ModelTask.SUMMARIZE, shown, (turn.content for turn in turns))
        # A conversation of nobody known: it counts towards the total budget alone.
        answer = await self._purse.ask(
            None, messages, _form(turns), task=ModelTask.SUMMARIZE, repairs=self._repairs
        )
        said = "\n".join(turn.content for turn in turns)
        return Digest(lines=tuple(line for line in answer.value if _is_said(line.text, said)))


def _is_said(text: str, said: str) -> bool:
    """Whether all numbers and names of a line were said; its first word has its own capital."""
    plain = folded(said)
    begins = next(iter(folded(text).split()), "").strip(",.:;'\"")
    return all(detail in plain for detail in details(text) - {begins})


def _form(turns: Sequence[Message]) -> AnswerForm[list[Line]]:
    def read(tree: object) -> list[Line]:
        rows = tree.get("lines") if isinstance(tree, Mapping) else None
        if not isinstance(rows, list):
            raise ValueError('"lines" must be a list')  # noqa: TRY004 - as AnswerForm.read says
        found = [_line(place, row, turns) for place, row in enumerate(rows)]
        return [line for _, line in sorted(found, key=lambda pair: pair[0])]

    return AnswerForm(name="summary", schema=_SCHEMA, read=read)


def _line(place: int, row: object, turns: Sequence[Message]) -> tuple[int, Line]:
    where = f"lines[{place}]"
    if not isinstance(row, Mapping) or not isinstance(row.get("text"), str):
        problem = f"{where} must be an object with turn, keep and text"
        raise ValueError(problem)  # noqa: TRY004 - likewise
    text = " ".join(row["text"].split())
    if not text:
        raise ValueError(f"{where}.text must not be empty")
    number = row.get("turn")
    if not isinstance(number, int) or not 1 <= number <= len(turns):
        raise ValueError(f"{where}.turn must be a number from 1 to {len(turns)}")
    kept = str(row.get("keep"))
    keep = Keep(kept) if kept in _KEPT else Keep.FACT
    role = turns[number - 1].role
    return number, Line(keep, text[:_LINE_LIMIT], Role.USER if role is Role.SYSTEM else role)


_ROW = {
    "turn": {"type": "integer"},
    "keep": {"type": "string", "enum": sorted(_KEPT)},
    "text": {"type": "string"},
}
_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "lines": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": _ROW,
                "required": list(_ROW),
                "additionalProperties": False,
            },
        }
    },
    "required": ["lines"],
    "additionalProperties": False,
}
