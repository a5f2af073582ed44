"""Draw docs/results/fault-scenarios.md from the list of reported faults and their tests.

python docs/draw_faults.py          writes the page
python docs/draw_faults.py --check  fails if the page is not current
"""

from __future__ import annotations

import sys
import tomllib
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

PAGE = Path(__file__).parent / "results" / "fault-scenarios.md"
LIST = Path(__file__).parents[1] / "tests" / "scenarios" / "data" / "fault_kinds.toml"
TESTS = "../../tests/scenarios"

HEAD = """# Reported faults of memory layers, and the tests that hold them

Made by `docs/draw_faults.py` from `tests/scenarios/data/fault_kinds.toml`; do not edit it by hand.
Each report is a real fault of some memory layer, from public issues, retold as a story; S003 is a
report's number. A test holds the *kind*, not only the reported input: most have inputs of their
own, in Chinese and English; it goes through the library, REST, the panel or the command line, and
names the report. `tests/scenarios/test_faults_table.py` checks that every report has a test
that exists and names it. All of them: `pytest tests/scenarios -k faults`.

{reports} reports of {kinds} kinds; {tests} tests.
"""

INSTEAD = """
## Where the specification wants something else

The report expects the first part of each line; the tests hold what follows.

"""

OPEN = """
## What is open

What of a report does not hold yet. Most of it is plain words that the local extractor does not
read rightly: once they are understood (by the host, or a model of one's own) the tests above hold.
Those words stand as tests in `tests/scenarios/open_kinds.py`, which a plain `pytest` leaves out.

"""


def read() -> dict[str, Any]:
    """Return the list."""
    return tomllib.loads(LIST.read_text(encoding="utf-8"))


def page(listed: Mapping[str, Any]) -> str:
    """Return the page."""
    reports = {report: named for kind in listed["kind"] for report, named in kind["tests"].items()}
    tests = {test for named in reports.values() for test in named}
    lines = [
        HEAD.format(reports=len(reports), kinds=len(listed["kind"]), tests=len(tests)),
        "| kind | reports | tests |\n|---|---|---|",
    ]
    lines += [_row(kind) for kind in listed["kind"]]
    text = "\n".join(lines) + "\n" + INSTEAD
    text += "".join(f"- {report}: {what}\n" for report, what in listed["instead"].items())
    return text + OPEN + "".join(f"- {r}: {what}\n" for r, what in listed["open"].items())


def _row(kind: Mapping[str, Any]) -> str:
    files: dict[str, dict[str, None]] = defaultdict(dict)
    for named in kind["tests"].values():
        for test in named:
            file, name = test.split("::")
            files[file][name.removeprefix("test_").replace("_", " ")] = None
    told = "<br>".join(
        f"[{file.removeprefix('test_').removesuffix('.py')}]({TESTS}/{file}): {'; '.join(names)}"
        for file, names in sorted(files.items())
    )
    return f"| **{kind['name']}**: {kind['about']} | {' '.join(kind['tests'])} | {told} |"


def main() -> int:
    """Write the page, or check it."""
    text = page(read())
    if "--check" in sys.argv[1:]:
        if PAGE.read_text(encoding="utf-8") == text:
            return 0
        sys.stderr.write("docs/results/fault-scenarios.md is not current\n")
        return 1
    PAGE.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
