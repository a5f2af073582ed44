"""Schemas that strict endpoints take, and readers that check what these schemas leave out."""

from __future__ import annotations

from typing import Annotated, Literal

import pytest
from pydantic import BaseModel, Field

from dualgate.adapters.llm import form_of


class Fact(BaseModel):
    """One fact."""

    kind: Literal["like", "dislike"]
    confidence: Annotated[float, Field(ge=0, le=1, description="How sure.")]
    note: str | None = None


class Facts(BaseModel):
    facts: Annotated[list[Fact], Field(max_length=2)]


FORM = form_of(Facts, "facts")


def objects(schema):
    if isinstance(schema, dict):
        if schema.get("type") == "object":
            yield schema
        for inner in schema.values():
            yield from objects(inner)
    if isinstance(schema, list):
        for inner in schema:
            yield from objects(inner)


def test_every_object_is_closed_and_every_property_required():
    found = list(objects(FORM.schema))

    assert len(found) == 2
    assert all(one["additionalProperties"] is False for one in found)
    assert all(one["required"] == list(one["properties"]) for one in found)


def test_limits_stand_in_the_description_for_strict_endpoints_refuse_them():
    confidence = FORM.schema["$defs"]["Fact"]["properties"]["confidence"]

    assert confidence == {
        "type": "number", "description": "How sure. (minimum: 0, maximum: 1)",
    }  # fmt: skip
    assert "maxItems" not in FORM.schema["properties"]["facts"]


def test_a_property_named_like_a_limit_stays():
    class Odd(BaseModel):
        format: str
        title: str

    assert set(form_of(Odd, "odd").schema["properties"]) == {"format", "title"}


@pytest.mark.parametrize(
    ("fact", "problem"),
    [
        ({"kind": "like", "confidence": 2.0, "note": None}, "facts.0.confidence: .*less than"),
        ({"kind": "like", "confidence": "0.9", "note": None}, "facts.0.confidence: .*number"),
        ({"kind": "hate", "confidence": 1.0, "note": None}, "facts.0.kind"),
        ({"confidence": 1.0}, "facts.0.kind: Field required"),
    ],
)
def test_an_answer_is_checked_strictly_and_told_where_it_is_wrong(fact, problem):
    with pytest.raises(ValueError, match=problem):
        FORM.read({"facts": [fact]})


def test_what_is_told_does_not_repeat_the_values():
    with pytest.raises(ValueError) as told:  # noqa: PT011 - what it says is asserted below
        FORM.read({"facts": [{"kind": "my secret", "confidence": 1.0}] * 9})

    assert "my secret" not in str(told.value)
    assert str(told.value).endswith("more") or len(str(told.value)) < 600
