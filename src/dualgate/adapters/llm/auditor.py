"""The model as auditor of the frozen pool [U2]: it names items by number, and gives a reason."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from dualgate.adapters.llm.prompting import asking
from dualgate.domain.audit import Finding, FindingKind, finding_id
from dualgate.domain.items import MemoryItem
from dualgate.pipeline.ports import AnswerForm, ModelTask
from dualgate.pipeline.spending import Purse

_OF_TWO = frozenset({FindingKind.CONTRADICTION, FindingKind.REPETITION})
_REASON_LIMIT = 200  # characters


class LlmAuditor:
    """Asks a model what is wrong with frozen items; implements auditing.Auditor."""

    def __init__(self, purse: Purse, repairs: int = 2) -> None:
        self._purse = purse
        self._repairs = repairs

    async def audit(
        self, user_id: str, items: Sequence[MemoryItem], now: datetime
    ) -> list[Finding]:
        """Return what the model finds. Raises ModelError."""
        shown = {
            "statements": [
                {"item": number, "type": str(item.item_type), "statement": item.content}
                for number, item in enumerate(items, 1)
            ]
        }
        answer = await self._purse.ask(
            user_id,
            asking(ModelTask.AUDIT, shown, (item.content for item in items)),
            _form(len(items)),
            task=ModelTask.AUDIT,
            repairs=self._repairs,
        )
        name = self._purse.name_for(ModelTask.AUDIT)
        return [
            _finding(
                user_id, kind, items[first - 1], None if other is None else items[other - 1],
                said, name, now,
            )
            for kind, first, other, said in answer.value
        ]


_Row = tuple[FindingKind, int, int | None, str]


def _finding(
    user_id: str,
    kind: FindingKind,
    item: MemoryItem,
    other: MemoryItem | None,
    said: str,
    name: str,
    now: datetime,
) -> Finding:
    other_id = None if other is None else other.id
    return Finding(
        id=finding_id(kind, item.id, other_id), user_id=user_id, kind=kind, item_id=item.id,
        other_id=other_id, said=said, by=name, found_at=now,
    )  # fmt: skip


def _form(count: int) -> AnswerForm[list[_Row]]:
    def read(tree: object) -> list[_Row]:
        rows = tree.get("findings") if isinstance(tree, Mapping) else None
        if not isinstance(rows, list):
            raise ValueError('"findings" must be a list')  # noqa: TRY004 - AnswerForm.read says
        return [_row(place, row, count) for place, row in enumerate(rows)]

    return AnswerForm(name="findings", schema=_SCHEMA, read=read)


def _row(place: int, row: object, count: int) -> _Row:
    where = f"findings[{place}]"
    if not isinstance(row, Mapping):
        raise ValueError(f"{where} must be an object")  # noqa: TRY004 - likewise
    try:
        kind = FindingKind(str(row.get("kind")))
    except ValueError:
        raise ValueError(f"{where}.kind must be one of {' | '.join(FindingKind)}") from None
    first = _number(row.get("item"), f"{where}.item", count)
    other = _number(row.get("other"), f"{where}.other", count) if kind in _OF_TWO else None
    if first == other:
        raise ValueError(f"{where}.other must be another statement than item")
    reason = row.get("reason")
    said = " ".join(reason.split()) if isinstance(reason, str) else ""
    return kind, first, other, said[:_REASON_LIMIT] or str(kind)


def _number(given: object, where: str, count: int) -> int:
    if isinstance(given, bool) or not isinstance(given, int) or not 1 <= given <= count:
        raise ValueError(f"{where} must be a number from 1 to {count}")
    return given


_ROW_FORM = {
    "kind": {"type": "string", "enum": [str(kind) for kind in FindingKind]},
    "item": {"type": "integer"},
    "other": {"type": ["integer", "null"]},
    "reason": {"type": "string"},
}
_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "findings": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": _ROW_FORM,
                "required": list(_ROW_FORM),
                "additionalProperties": False,
            },
        }
    },
    "required": ["findings"],
    "additionalProperties": False,
}
