"""From a pydantic model to the form an answer must have.

Rule: the schema that is sent is the strict kind: every object closed, every property required, no
limits on numbers, lengths or patterns, which strict endpoints refuse. Limits go into the
description, and are checked when the answer comes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from dualgate.pipeline.ports import AnswerForm

M = TypeVar("M", bound=BaseModel)

_LIMITS = (
    "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength",
    "maxLength", "pattern", "format", "minItems", "maxItems", "uniqueItems",
)  # fmt: skip
_MOST_PROBLEMS = 5  # told at once


def form_of(model: type[M], name: str) -> AnswerForm[M]:
    """Return the form of answers that are this pydantic model.

    name: letters, digits, - and _; what endpoints call the schema. A reader is strict: "3" is no
    number. Every property must be given; write `X | None` for what may be missing.
    """

    def read(tree: object) -> M:
        try:
            return model.model_validate_json(json.dumps(tree), strict=True)
        except ValidationError as error:
            raise ValueError(_told(error)) from None

    return AnswerForm(name=name, schema=strict_schema(model.model_json_schema()), read=read)


def strict_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return a JSON Schema as strict endpoints take it."""
    closed = {
        key: _inside(key, value)
        for key, value in schema.items()
        if key not in _LIMITS and key not in ("title", "default")
    }
    limits = [f"{key}: {schema[key]}" for key in _LIMITS if key in schema]
    if limits:
        said = [closed["description"]] if "description" in closed else []
        closed["description"] = " ".join([*said, f"({', '.join(limits)})"])
    if closed.get("type") == "object" and "properties" in closed:
        closed["additionalProperties"] = False
        closed["required"] = list(closed["properties"])
    return closed


def _inside(key: str, value: Any) -> Any:
    if key in ("properties", "$defs"):
        return {name: strict_schema(inner) for name, inner in value.items()}
    if isinstance(value, Mapping):
        return strict_schema(value)
    if isinstance(value, list):
        return [strict_schema(one) if isinstance(one, Mapping) else one for one in value]
    return value


def _told(error: ValidationError) -> str:
    """Return what is wrong and where, without the values: they are somebody's words."""
    problems = error.errors(include_url=False, include_context=False, include_input=False)
    told = [
        f"{'.'.join(str(step) for step in one['loc']) or 'the answer'}: {one['msg']}"
        for one in problems[:_MOST_PROBLEMS]
    ]
    more = len(problems) - len(told)
    return "; ".join([*told, *([f"and {more} more"] if more else [])])
