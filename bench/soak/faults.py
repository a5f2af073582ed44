"""What the conductor does to the workers: kills, locks, a full disk, jumps of the clock.

The parent process neither opens the database nor has a thread when it forks: SQLite's locks do
not survive a fork.
"""

from __future__ import annotations

import contextlib
import heapq
import os
import random
import resource
import shutil
import signal
import sqlite3
import subprocess
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from soak import worker
from soak.world import JOURNAL_BYTES, SharedClock

ROOM_BYTES = 2 * 1024**3
LONGER_SECONDS = 2.0  # than anybody waits for the lock
HOUR, DAY = 3600.0, 86_400.0
STOP_SECONDS = 60.0


class SmallDisk:
    """A tmpfs in a name space of our own: full means ENOSPC, at every process, at any write."""

    name = "a tmpfs that is shrunk to what it holds (ENOSPC)"

    def __init__(self, disk: Path) -> None:
        self._disk = disk

    def fill(self, _pids: list[int]) -> None:
        """Leave hardly any room."""
        found = os.statvfs(self._disk)
        used = (found.f_blocks - found.f_bfree) * found.f_frsize
        self._resize(used + 32_768)

    def free(self, _pids: list[int]) -> None:
        """Give the room back."""
        self._resize(ROOM_BYTES)

    def _resize(self, size: int) -> None:
        # Refused if the files grew meanwhile; the next event comes.
        mount = shutil.which("mount") or "mount"
        subprocess.run([mount, "-o", f"remount,size={size}", str(self._disk)],
                       check=False, capture_output=True)  # fmt: skip


class FileLimit:
    """Where no name space is to be had: RLIMIT_FSIZE, put on running processes (EFBIG)."""

    name = "a limit on the size of files, put on the running processes (EFBIG)"

    def __init__(self, _disk: Path) -> None: ...

    def fill(self, pids: list[int]) -> None:
        """Let no file of these processes be larger than a journal's; the log (WAL) has to be."""
        self._limit(pids, 2 * JOURNAL_BYTES)

    def free(self, pids: list[int]) -> None:
        """Lift the limit."""
        self._limit(pids, resource.RLIM_INFINITY)

    def _limit(self, pids: list[int], size: int) -> None:
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                resource.prlimit(pid, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))


class Conductor:
    """Starts the workers and makes their life hard, as the seed says."""

    def __init__(self, folder: Path, options: Any, disk: SmallDisk | FileLimit) -> None:
        self._folder, self._options, self._disk = folder, options, disk
        self._chance = random.Random(options.seed)
        self._clock = SharedClock(folder / "clock")
        self._playing: dict[int, int] = {}  # slot → pid
        self._runs: Counter[int] = Counter()
        self._helpers: list[int] = []
        self._plan: list[tuple[float, int, Callable[[], None]]] = []
        self._spare_until = 0.0
        self.did: Counter[str] = Counter()

    def run(self) -> list[str]:
        """Return which workers did not stop when told to."""
        worker.warm()
        os.waitpid(self._forked(lambda: worker.make(self._folder)), 0)
        for slot in range(self._options.processes):
            self._start(slot)
        seconds = self._options.minutes * 60
        end = time.monotonic() + seconds
        self._arrange(seconds)
        try:
            while (now := time.monotonic()) < end:
                self._revive()
                while self._plan and self._plan[0][0] <= now:
                    heapq.heappop(self._plan)[2]()
                time.sleep(0.05)
        finally:
            self._disk.free(list(self._playing.values()))
            (self._folder / "stop").touch()
            late = self._wait()
        return late

    # --- what happens when

    def _arrange(self, seconds: float) -> None:
        begun, chance = time.monotonic(), self._chance
        mean = max(1.5, min(4.0, seconds / 20))
        at = min(3.0, seconds / 5)
        while at < seconds - 1:
            self._at(begun + at, self._kill)
            at += chance.expovariate(1 / mean)
        times = max(1, round(self._options.minutes / 4))
        full = max(2.0, min(8.0, seconds / 10))
        kinds: list[Callable[[], None]] = []
        for _ in range(times):
            kinds += [self._lock, lambda: self._fill(full), lambda: self._jump(40 * DAY),
                      lambda: self._jump(-HOUR)]  # fmt: skip
        # Each in a part of the time of its own, the lock where it has room; the order varies.
        part = seconds * 0.9 / len(kinds)
        for number, kind in enumerate(kinds):
            self._at(begun + part * (number + 0.2 * chance.random()) + 0.5, kind)
        # The last thing: whoever waits for the time that was is never served.
        self._at(begun + seconds * 0.96, lambda: self._jump(-HOUR))

    def _at(self, moment: float, act: Callable[[], None]) -> None:
        heapq.heappush(self._plan, (moment, len(self._plan) + self._chance.getrandbits(40), act))

    # --- processes

    def _start(self, slot: int) -> None:
        run = self._runs[slot]
        self._runs[slot] += 1
        self._playing[slot] = self._forked(
            lambda: worker.main(self._folder, slot, run, self._options)
        )

    def _forked(self, play: Callable[[], None]) -> int:
        pid = os.fork()
        if pid == 0:
            try:
                play()
            finally:
                os._exit(0)
        return pid

    def _kill(self) -> None:
        # One worker lives long enough to be told that the lock is not to be had.
        spared = 0 if time.monotonic() < self._spare_until else -1
        slot = self._chance.choice([slot for slot in self._playing if slot != spared])
        pid = self._playing.pop(slot)
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        self.did["kill -9"] += 1
        self._start(slot)

    def _revive(self) -> None:
        """Start again whoever ended by himself: his journal says why, and the checks read it."""
        for slot, pid in list(self._playing.items()):
            if os.waitpid(pid, os.WNOHANG)[0]:
                self._start(slot)
        self._helpers = [pid for pid in self._helpers if not os.waitpid(pid, os.WNOHANG)[0]]

    def _wait(self) -> list[str]:
        for pid in self._helpers:
            os.waitpid(pid, 0)
        until = time.monotonic() + STOP_SECONDS
        left = dict(self._playing)
        while left and time.monotonic() < until:
            left = {s: pid for s, pid in left.items() if not os.waitpid(pid, os.WNOHANG)[0]}
            time.sleep(0.05)
        for pid in left.values():
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
        return [f"worker {slot} did not stop in {STOP_SECONDS:g} s" for slot in left]

    # --- faults

    def _lock(self) -> None:
        path = self._folder / "disk" / "memory.db"
        held = self._options.busy + LONGER_SECONDS

        def hold() -> None:
            raw = sqlite3.connect(path, timeout=60, isolation_level=None)
            raw.execute("BEGIN IMMEDIATE")
            time.sleep(held)
            raw.execute("ROLLBACK")
            raw.close()

        self._helpers.append(self._forked(hold))
        self._spare_until = time.monotonic() + held + 1
        self.did["database locked"] += 1

    def _fill(self, seconds: float) -> None:
        self._disk.fill(list(self._playing.values()))
        self.did["disk full"] += 1
        free = lambda: self._disk.free(list(self._playing.values()))  # noqa: E731
        self._at(time.monotonic() + seconds, free)
        self._spare_until = max(self._spare_until, time.monotonic() + seconds + 1)

    def _jump(self, seconds: float) -> None:
        self._clock.jump(seconds)
        self.did["clock forward 40 days" if seconds > 0 else "clock back an hour"] += 1
