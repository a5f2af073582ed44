"""The model as judge of partial overlaps [C1]: several pairs in one question."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from dualgate.adapters.llm.prompting import asking
from dualgate.domain.conflict import Relation
from dualgate.domain.items import Candidate, MemoryItem
from dualgate.pipeline.ports import AnswerForm, ModelTask
from dualgate.pipeline.spending import Purse

_RELATIONS: Mapping[str, Relation] = {
    "same": Relation.DUPLICATE,
    "conflict": Relation.EXCLUSIVE,
    "different": Relation.OVERLAP,
}


class LlmReferee:
    """Asks a model how statements stand to each other; implements hearing.Referee."""

    def __init__(self, purse: Purse, repairs: int = 2) -> None:
        self._purse = purse
        self._repairs = repairs
        self.name = purse.name_for(ModelTask.JUDGE)

    async def settle(
        self, user_id: str, pairs: Sequence[tuple[Candidate, MemoryItem]]
    ) -> list[Relation]:
        """Return DUPLICATE, EXCLUSIVE, or OVERLAP where it stays open; one a pair."""
        shown = {
            "pairs": [
                {"pair": number, "first": _shown(item), "second": _shown(candidate)}
                for number, (candidate, item) in enumerate(pairs, 1)
            ]
        }
        texts = [text for c, i in pairs for text in (c.content, i.content)]
        answer = await self._purse.ask(
            user_id, asking(ModelTask.JUDGE, shown, texts), _form(len(pairs)),
            task=ModelTask.JUDGE, repairs=self._repairs,
        )  # fmt: skip
        return answer.value


def _shown(statement: Candidate | MemoryItem) -> dict[str, Any]:
    return {"statement": statement.content, "conditions": list(statement.qualifiers)}


def _form(count: int) -> AnswerForm[list[Relation]]:
    def read(tree: object) -> list[Relation]:
        rows = tree.get("pairs") if isinstance(tree, Mapping) else None
        if not isinstance(rows, list):
            raise ValueError('"pairs" must be a list')  # noqa: TRY004 - as AnswerForm.read says
        found: dict[int, Relation] = {}
        for row in rows:
            number = row.get("pair") if isinstance(row, Mapping) else None
            relation = _RELATIONS.get(str(row.get("relation"))) if number is not None else None
            if not isinstance(number, int) or not 1 <= number <= count or relation is None:
                raise ValueError(f"not understood: {json.dumps(row, ensure_ascii=False)[:200]}")
            # Said twice and differently, it is not sure: in doubt both stay.
            known = found.setdefault(number, relation)
            found[number] = relation if known is relation else Relation.OVERLAP
        lacking = sorted(set(range(1, count + 1)) - found.keys())
        if lacking:
            raise ValueError(f"pairs {lacking} are missing")
        return [found[number] for number in range(1, count + 1)]

    return AnswerForm(name="pairs", schema=_SCHEMA, read=read)


_ROW = {
    "pair": {"type": "integer"},
    "relation": {"type": "string", "enum": list(_RELATIONS)},
}
_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "pairs": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": _ROW,
                "required": list(_ROW),
                "additionalProperties": False,
            },
        }
    },
    "required": ["pairs"],
    "additionalProperties": False,
}
