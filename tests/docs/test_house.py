"""What stands around the code holds together: locks, commands, license."""

from __future__ import annotations

import os
import re
import subprocess
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LOCKS = ("requirements.lock", "requirements-dev.lock")
NAME = re.compile(r"^([a-z0-9._-]+)", re.IGNORECASE)
TARGET = re.compile(r"(?:`|^step |^)make ([a-z-]+)", re.MULTILINE)
PIN = re.compile(r"^([a-z0-9._-]+)==(\S+)", re.MULTILINE)


def text(name):
    return (ROOT / name).read_text(encoding="utf-8")


def tracked():
    done = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True,
                          encoding="utf-8")  # fmt: skip
    return [name for name in done.stdout.split("\0") if name]


def wanted(*groups):
    project = tomllib.loads(text("pyproject.toml"))
    listed = [*project["project"]["dependencies"], *project["build-system"]["requires"]]
    listed += [each for group in groups for each in project["dependency-groups"][group]]
    return {NAME.match(each)[1] for each in listed}


@pytest.mark.parametrize(("lock", "groups"), [(LOCKS[0], ["build"]), (LOCKS[1], ["build", "dev"])])
def test_a_lock_pins_everything_that_is_asked_for(lock, groups):
    assert wanted(*groups) <= {name for name, _ in PIN.findall(text(lock))}


def test_both_locks_pin_the_same_versions():
    base, dev = (set(PIN.findall(text(lock))) for lock in LOCKS)

    assert base < dev


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_has_hashes_for_every_package_and_names_no_host(lock):
    packages = re.split(r"^(?=\S+==)", text(lock), flags=re.MULTILINE)[1:]

    assert [p.split()[0] for p in packages if "--hash=sha256:" not in p] == []
    assert "://" not in text(lock)
    assert "--index-url" not in text(lock)


@pytest.mark.parametrize("name", ["Makefile", ".ci/run", "pyproject.toml"])
def test_no_build_file_names_an_index_or_a_path_of_some_machine(name):
    assert re.findall(r"(?<!no-emit-)index-url|https?://|/(?:home|root|work)/", text(name)) == []


def test_the_command_that_the_readme_names_for_tests_is_what_ci_runs():
    command = re.search(r"Tests: `(.+?)`", text("README.md"))[1]

    assert f"step {command}" in text(".ci/run")


def test_every_target_that_a_page_names_exists():
    targets = set(re.findall(r"^([a-z-]+):", text("Makefile"), re.MULTILINE))
    pages = [name for name in tracked() if name.endswith((".md", ".ci/run"))]
    named = {word for page in pages for word in TARGET.findall(text(page))}

    assert named >= {"install", "test", "demo", "lint"}
    assert named <= targets


def test_the_ci_script_can_be_run_and_stops_at_the_first_failure():
    assert os.access(ROOT / ".ci" / "run", os.X_OK)
    assert "set -euo pipefail" in text(".ci/run")


def test_the_license_is_the_one_that_the_package_names():
    project = tomllib.loads(text("pyproject.toml"))["project"]

    assert project["license"] == "Apache-2.0"
    assert "Apache License\n                           Version 2.0" in text("LICENSE")


def test_every_fragment_of_the_changelog_has_a_kind_and_says_something():
    names = [path for path in (ROOT / "changes").iterdir() if path.name != "README.md"]
    shape = re.compile(r"\d+\.(added|changed|fixed|removed)(\.\d+)?\.md")

    assert [path.name for path in names if not shape.fullmatch(path.name)] == []
    assert [path.name for path in names if len(path.read_text(encoding="utf-8").split()) < 5] == []
