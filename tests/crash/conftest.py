"""Starts the processes of the crash tests, and kills them."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from dualgate.adapters.sql import open_sqlite

# Programs of their own, started by the tests; they import each other from their own folder.
collect_ignore_glob = ["*_roles.py"]


SHARED_MEMORY = Path("/dev/shm")  # noqa: S108 - a fresh directory in it, for this user alone
ENOUGH_BYTES = 512 * 1024 * 1024


class Stage:
    """Starts and kills the processes of a roles script, such as crash_roles.py."""

    def __init__(self, roles: Path, directory: Path) -> None:
        self.directory = directory
        self._started = 0
        self._playing: dict[int, str] = {}
        self._forker = subprocess.Popen(
            [sys.executable, str(roles), str(directory)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def start(self, role: str) -> int:
        self._started += 1
        self._forker.stdin.write(f"{role} {role}{self._started}\n")
        self._forker.stdin.flush()
        pid = int(self._forker.stdout.readline())
        self._playing[pid] = role
        return pid

    def playing(self, role: str) -> list[int]:
        return [pid for pid, its in self._playing.items() if its == role]

    def kill(self, pid: int) -> None:
        self._playing.pop(pid)
        os.kill(pid, signal.SIGKILL)

    def lines(self, file: str) -> list[str]:
        path = self.directory / file
        return path.read_text().splitlines() if path.exists() else []

    def tell_to_stop(self) -> None:
        (self.directory / "stop").touch()

    def close(self) -> None:
        self.tell_to_stop()
        for pid in list(self._playing):
            with contextlib.suppress(ProcessLookupError):
                self.kill(pid)
        self._forker.stdin.close()
        self._forker.wait(timeout=10)
        self._forker.stdout.close()


@pytest.fixture
def directory(tmp_path):
    """Return a directory in memory where there is one, else on the disk.

    What a killed process had written stays in either; a disk that is busy with other things can
    hold a commit for minutes, and with it the lock that everybody waits for.
    """
    if not SHARED_MEMORY.is_dir() or shutil.disk_usage(SHARED_MEMORY).free < ENOUGH_BYTES:
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(dir=SHARED_MEMORY, ignore_cleanup_errors=True) as found:
        yield Path(found)


@pytest.fixture
def stage(request, tmp_path):
    """The processes of the script that the test's module names as ROLES."""
    yield from _staged(request.module.ROLES, tmp_path)


@pytest.fixture
def stage_in_memory(request, directory):
    """The same, with the file where no disk makes anybody wait."""
    yield from _staged(request.module.ROLES, directory)


def _staged(roles, directory):
    asyncio.run(_make(directory / "memory.db"))
    found = Stage(roles, directory)
    yield found
    found.close()


async def _make(path: Path) -> None:
    await (await open_sqlite(path)).close()
