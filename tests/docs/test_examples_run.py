"""What the pages show is true: code runs, prints what is shown, and links lead somewhere."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote

import pytest

from dualgate.bootstrap import read_logs
from dualgate.pipeline.ingest import ReadReport

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    path
    for path in (*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *ROOT.glob("changes/*.md"))
    if path.is_file()
)
BLOCK = re.compile(r"^```python\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\[[^\]\n]*\]\(([^)\s]+)\)")
DAY = re.compile(r"\b\d{4}-\d{2}-\d{2}\b")
HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


def name_of(path):
    return str(path.relative_to(ROOT))


def run(code, folder):
    environment = {**os.environ, "PYTHONWARNINGS": "error", "PYTHONUTF8": "1",
                   "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}  # fmt: skip
    return subprocess.run([sys.executable, *code], cwd=folder, env=environment, timeout=120,
                          capture_output=True, encoding="utf-8", check=False)  # fmt: skip


PAGES_WITH_CODE = [page for page in PAGES if BLOCK.search(page.read_text(encoding="utf-8"))]


@pytest.mark.parametrize("page", PAGES_WITH_CODE, ids=name_of)
def test_the_code_of_a_page_runs_and_prints_what_the_page_shows(page, tmp_path):
    # One after the other, in one folder: later blocks may build on what earlier ones stored.
    for code, shown in BLOCK.findall(page.read_text(encoding="utf-8")):
        done = run(["-c", code], tmp_path)

        assert done.returncode == 0, done.stderr
        assert done.stderr == ""
        # A page was written on some day; the memory tells of the day it runs on.
        assert DAY.sub("DAY", done.stdout.strip()) == DAY.sub("DAY", shown.strip())


def test_both_readmes_and_the_tutorial_show_code_with_its_output():
    for name in ("README.md", "README.zh.md", "docs/tutorial/first-memory.md"):
        blocks = BLOCK.findall((ROOT / name).read_text(encoding="utf-8"))
        assert any(shown for _, shown in blocks), name


def test_the_log_line_of_the_how_to_is_read_as_it_says(tmp_path):
    page = (ROOT / "docs" / "howto" / "ingest-your-logs.md").read_text(encoding="utf-8")
    log = tmp_path / "log.jsonl"
    log.write_text(re.search(r"```json\n(.*?)```", page, re.DOTALL)[1], encoding="utf-8")

    [session] = read_logs(str(log), report=ReadReport())

    assert session.id == "2026-03-02"
    assert session.messages[0].content == "I live in Chengdu."
    assert session.messages[0].at.isoformat() == "2026-03-02T09:00:00+08:00"


OPENINGS = {
    "assistant.py": "<dualgate-memory part=",
    "own_extractor.py": "admitted: The user's favourite colour is teal (new)",
    "why.py": "monday    admitted  new",
}


def test_every_example_is_known_to_this_test():
    assert [path.name for path in EXAMPLES] == sorted(OPENINGS)


@pytest.mark.parametrize("name", sorted(OPENINGS))
def test_an_example_runs_and_shows_its_point(name, tmp_path):
    done = run([str(ROOT / "examples" / name)], tmp_path)

    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert done.stdout.startswith(OPENINGS[name])


def anchors(page):
    for heading in HEADING.findall(page.read_text(encoding="utf-8")):
        yield re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_link_of_a_page_leads_to_something(page):
    for link in LINK.findall(page.read_text(encoding="utf-8")):
        place, _, anchor = unquote(link).partition("#")
        target = (page.parent / place).resolve() if place else page

        assert "://" not in link, "the documentation stands by itself"
        assert target.exists(), link
        assert not anchor or anchor in anchors(target), link


def test_every_page_can_be_reached_from_the_readme():
    seen, ahead = set(), [ROOT / "README.md"]
    while ahead:
        page = ahead.pop()
        seen.add(page)
        for link in LINK.findall(page.read_text(encoding="utf-8")):
            target = (page.parent / link.partition("#")[0]).resolve()
            if target.suffix == ".md" and target not in seen:
                ahead.append(target)

    assert {name_of(p) for p in (ROOT / "docs").rglob("*.md")} <= {name_of(p) for p in seen}
