"""The reference pages name everything there is, and nothing that is not."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import re
import runpy
from collections.abc import Mapping
from pathlib import Path

import pytest

import dualgate.errors
from dualgate import Memory, Settings
from dualgate.domain.plan import Outcome
from dualgate.pipeline.recipes import RECIPES

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
SOURCE = ROOT / "src" / "dualgate"
# Where reasons of decisions are written.
DECIDING = ("domain/case.py", "domain/decision.py", "domain/challenge.py", "domain/override.py",
            "domain/admission.py", "pipeline/write.py", "pipeline/hearing.py",
            "pipeline/gravekeeping.py")  # fmt: skip
# Documented once, under `gates`.
AGAIN = ("read.score", "read.archive")


def page(name):
    return (DOCS / name).read_text(encoding="utf-8")


def rows(name):
    """Yield the cells of every table row whose first cell is code."""
    for line in page(name).splitlines():
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        if line.startswith("| `") and len(cells) > 1:
            yield [cells[0].strip("`"), *cells[1:]]


# --- settings


def shown(value):
    if value is None:
        return "none"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, frozenset):
        return ", ".join(sorted(str(word) for word in value)) or "none"
    if isinstance(value, Mapping):
        numbers = [f"{k} {v}" for k, v in sorted(value.items()) if isinstance(v, float)]
        return ", ".join(numbers or sorted(value)) or "none"
    return str(value)


def settings(tree, prefix=""):
    for field in dataclasses.fields(tree):
        value, name = getattr(tree, field.name), prefix + field.name
        if name in AGAIN:
            yield name, "as above"
        elif dataclasses.is_dataclass(value):
            yield from settings(value, f"{name}.")
        else:
            yield name, shown(value)


def test_every_setting_is_documented_with_its_default_and_no_other():
    documented = {row[0]: row[1] for row in rows("reference/settings.md")}

    assert documented == dict(settings(Settings()))


def test_every_setting_says_what_it_means():
    assert [row[0] for row in rows("reference/settings.md") if len(row[2]) < len("a number")] == []


def test_the_settings_documented_as_a_repetition_have_the_same_defaults():
    defaults = Settings()

    assert defaults.read.score == defaults.gates.score
    assert defaults.read.archive == defaults.gates.archive


def test_every_recipe_is_documented():
    documented = {row[0] for row in rows("reference/recipes.md")}

    assert set(RECIPES) <= documented


# --- decisions


def literals(node):
    return {n.value for n in ast.walk(node) if isinstance(n, ast.Constant)
            and isinstance(n.value, str)}  # fmt: skip


def name_of(call):
    return getattr(call.func, "attr", getattr(call.func, "id", ""))


def reasons_in(tree):
    """Return every reason that the code of a module can give to a decision."""
    place = {"end": 1, "_replace": 2, "Refuse": 0}
    found = set()
    for node in ast.walk(tree):
        match node:
            case ast.Call() if name_of(node) in place and len(node.args) > place[name_of(node)]:
                found |= literals(node.args[place[name_of(node)]])
            case ast.keyword(arg="reason"):
                found |= literals(node.value)
            case ast.Assign(targets=[ast.Name(id="reason")]):
                found |= literals(node.value)
            case ast.Return(value=ast.Tuple(elts=[ast.Attribute(value=verdict), why])):
                found |= literals(why) if verdict.id == "Stand" else set()
            case ast.AsyncFunctionDef(name="_flaw" | "_flaw_of_model"):
                for each in ast.walk(node):
                    if isinstance(each, ast.Return) and each.value is not None:
                        found |= literals(each.value)
    return found


def reasons():
    return {
        reason
        for name in DECIDING
        for reason in reasons_in(ast.parse((SOURCE / name).read_text(encoding="utf-8")))
    }


def test_every_reason_and_outcome_of_a_decision_is_documented_and_no_other():
    documented = [row[0] for row in rows("reference/decisions.md")]

    assert sorted(documented) == sorted([*reasons(), *Outcome])


def test_reasons_are_written_only_where_this_test_looks_for_them():
    elsewhere = [
        str(path.relative_to(SOURCE))
        for path in SOURCE.rglob("*.py")
        if str(path.relative_to(SOURCE)) not in DECIDING
        and re.search(r"(?<!class )\bDecision\(", path.read_text(encoding="utf-8"))
    ]

    # These two read a stored decision back; they give no reason of their own.
    assert [e for e in elsewhere if not e.startswith(("adapters/", "testing/"))] == []


def test_the_outcome_documented_for_a_reason_is_one_that_exists():
    outcomes = {row[0]: row[1] for row in rows("reference/decisions.md") if row[0] in reasons()}

    assert set(outcomes.values()) <= set(Outcome)


# --- the Python API and its errors


def methods():
    return {
        name: method
        for name, method in inspect.getmembers(Memory, inspect.isroutine)
        if not name.startswith("_")
    }


def headings():
    found = re.findall(r"^### `(?:Memory\.)?(\w+)\((.*)\)`$", page("reference/python-api.md"),
                       re.MULTILINE)  # fmt: skip
    return dict(found)


def test_every_method_of_memory_has_a_section_and_every_section_a_method():
    assert set(headings()) == set(methods())


@pytest.mark.parametrize("name", sorted(headings()))
def test_the_section_of_a_method_shows_its_arguments(name):
    parameters = [p for p in inspect.signature(methods()[name]).parameters.values()
                  if p.name != "self"]  # fmt: skip
    bare = [p.replace(annotation=inspect.Parameter.empty) for p in parameters]
    expected = str(inspect.Signature(bare)).replace("'", '"')

    assert f"({headings()[name]})" == expected


def test_every_error_is_documented_and_no_other():
    errors = {
        name
        for name, kind in inspect.getmembers(dualgate.errors, inspect.isclass)
        if issubclass(kind, dualgate.errors.DualgateError)
    }

    assert {row[0] for row in rows("reference/errors.md")} == errors


# --- the state machine


def test_the_drawing_of_the_state_machine_is_current():
    draw = runpy.run_path(str(DOCS / "draw_states.py"))

    assert page("explanation/states.md") == draw["page"]()


# --- REST


def test_every_route_of_the_server_is_documented_as_it_is():
    draw = runpy.run_path(str(DOCS / "draw_rest.py"))

    assert page("reference/rest.md") == draw["page"]()


def test_every_route_says_what_it_does():
    sections = re.split(r"^### `", page("reference/rest.md"), flags=re.MULTILINE)[1:]

    assert len(sections) > 50
    short = [s.splitlines()[0] for s in sections if len(s.splitlines()[2]) < len("A sentence.")]
    assert short == []
