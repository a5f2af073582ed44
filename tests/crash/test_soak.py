"""The soak run, short: nothing acknowledged is lost whatever happens, and its checks can fail."""

from __future__ import annotations

import contextlib
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

SOAK = Path(__file__).parents[2] / "bench" / "soak.py"
SMALL = ("--processes", "3", "--users", "8", "--rate", "90", "--busy", "1")
SHORT = ("--minutes", "0.25", *SMALL)
SHORTER = ("--minutes", "0.1", *SMALL)


def soak(*arguments):
    return subprocess.run(
        [sys.executable, str(SOAK), *map(str, arguments)],
        capture_output=True, text=True, timeout=240, check=False,
    )  # fmt: skip


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """A folder with the journals and the file of a run that went well."""
    folder = tmp_path_factory.mktemp("soak") / "kept"
    done = soak(*SHORT, "--keep", folder)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    return folder


def test_kills_locks_a_full_disk_and_jumping_clocks_lose_nothing(kept):
    """[W1, A8, S1, P3, T1, T4]"""
    journals = "".join(path.read_text() for path in kept.glob("worker-*.jsonl"))

    assert journals.count('"kind": "ack", "op": "observe"') > 20
    assert journals.count('"kind": "start"') > 3  # some were killed


def test_a_limit_on_files_is_a_full_disk_where_there_is_no_name_space():
    done = soak(*SHORTER, "--disk", "limit")

    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    assert "disk full" in done.stdout


@pytest.mark.parametrize(
    ("damage", "found"),
    [
        ("DELETE FROM turns WHERE id IN (SELECT max(id) FROM turns)", {"kept once"}),
        ("DELETE FROM memory_decisions WHERE item_id IS NOT NULL", {"decided once"}),
        ("UPDATE turns SET seq = 999999999999 - seq", {"order of acceptance"}),
        ("UPDATE memory_items SET status = 'frozen'", {"frozen <= 3", "replaying the log"}),
    ],
)
def test_the_checks_of_the_soak_run_can_fail(kept, tmp_path, damage, found):
    copy = shutil.copytree(kept, tmp_path / "kept")
    with contextlib.closing(sqlite3.connect(copy / "disk" / "memory.db")) as raw, raw:
        assert raw.execute(damage).rowcount > 0
    done = soak("--look", copy)

    assert done.returncode == 1
    assert {part for part in found if part in done.stderr} == found
