"""The list of reported faults is whole, and each has tests that exist and name it."""

from __future__ import annotations

import ast
import json
import re
import runpy
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

HERE = Path(__file__).parent
DOCS = HERE.parents[1] / "docs"
# Where the reports themselves lie beside the project; they are not part of it.
REPORTS = HERE.parents[2] / "shared" / "facts" / "fault-scenarios.jsonl"
DRAW = runpy.run_path(str(DOCS / "draw_faults.py"))
LISTED = DRAW["read"]()
HELD = {
    report: named for kind in LISTED["kind"] for report, named in kind["tests"].items()
}  # fmt: skip
REPORT = re.compile(r"\bS[0-9]{3}\b")


@cache
def sources_of(file: str) -> dict[str, str]:
    """Return the tests of a file with their source, decorators included."""
    text = (HERE / file).read_text(encoding="utf-8")
    lines = text.splitlines()
    found = {}
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
            found[node.name] = "\n".join(lines[first - 1 : node.end_lineno])
    return found


def pairs() -> Iterator[tuple[str, str]]:
    yield from ((report, test) for report, named in HELD.items() for test in named)


def test_every_report_has_a_test() -> None:
    assert [report for report, named in HELD.items() if not named] == []
    assert len(HELD) == sum(len(kind["tests"]) for kind in LISTED["kind"])  # none is of two kinds


@pytest.mark.parametrize(("report", "test"), list(pairs()))
def test_the_test_of_a_report_exists_and_names_it(report: str, test: str) -> None:
    file, name = test.split("::")

    assert name in sources_of(file), f"{file} has no {name}: mend data/fault_kinds.toml"
    assert report in REPORT.findall(sources_of(file)[name])


def test_a_test_that_names_a_report_stands_in_the_list() -> None:
    listed = set(pairs())
    named = {
        (report, f"{path.name}::{name}")
        for path in HERE.glob("test_faults_*.py")
        if path.name != Path(__file__).name
        for name, source in sources_of(path.name).items()
        for report in REPORT.findall(source)
    }

    assert {(r, t) for r, t in named if "::test_" in t} - listed == set()


def test_what_is_told_beside_the_list_is_about_reports_of_it() -> None:
    assert {*LISTED["instead"], *LISTED["open"]} <= HELD.keys()


def test_the_page_is_made_of_the_list() -> None:
    page = DRAW["PAGE"].read_text(encoding="utf-8")

    assert page == DRAW["page"](LISTED), "run python docs/draw_faults.py"


def test_the_list_has_every_report_with_its_kind() -> None:
    if not REPORTS.exists():
        pytest.skip("the reports (shared/facts/fault-scenarios.jsonl) do not lie beside this tree")
    lines = REPORTS.read_text(encoding="utf-8").splitlines()
    told = Counter((r["id"], r["kind"]) for r in map(json.loads, lines))
    listed = Counter((report, k["name"]) for k in LISTED["kind"] for report in k["tests"])

    assert listed == told
