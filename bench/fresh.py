"""What a fresh process costs: importing, opening a file, the first context, memory.

Used by speed.py. Run by itself (`python bench/fresh.py FILE USER QUERY NOW`), it is that process:
it prints one `name number` a line.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time
from datetime import datetime
from pathlib import Path


def first_context(path: Path, user_id: str, query: str, now: datetime) -> dict[str, float]:
    """Return milliseconds until open and until the first context, and peak megabytes."""
    command = [sys.executable, __file__, str(path), user_id, query, now.isoformat()]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return {k: float(v) for k, v in (line.split() for line in done.stdout.splitlines())}


def importing(statement: str, runs: int = 5) -> float:
    """Return the CPU milliseconds of a fresh process that runs only this statement, at best."""
    code = f"import time; s = time.process_time(); {statement}; print(time.process_time() - s)"
    command = [sys.executable, "-c", code]
    found = [
        subprocess.run(command, check=True, capture_output=True, text=True)
        for _ in range(runs)
    ]
    return min(float(run.stdout) for run in found) * 1e3


def main() -> None:
    """Be the fresh process."""
    path, user_id, query, now = sys.argv[1:]
    # Not at the top: what the import costs is measured apart.
    from dualgate import Memory, Settings
    from dualgate.testing import ManualClock

    settings = Settings(run_worker=False, flush_seconds=3_600.0)
    clock = ManualClock(datetime.fromisoformat(now))

    async def first() -> None:
        cpu, wall = time.process_time(), time.perf_counter()

        def say(name: str) -> None:
            print(f"{name}_cpu", (time.process_time() - cpu) * 1e3)
            print(f"{name}_wall", (time.perf_counter() - wall) * 1e3)

        async with Memory.open(f"sqlite:///{path}", settings=settings, clock=clock) as memory:
            say("open")
            await memory.context(user_id, f"cold-{os.getpid()}", query)
            say("context")
            print("megabytes", _peak_megabytes())

    asyncio.run(first())


def _peak_megabytes() -> float:
    # Not getrusage: its ru_maxrss begins with that of the process we were forked from.
    status = Path("/proc/self/status").read_text("ascii")
    return next(float(x.split()[1]) / 1024 for x in status.splitlines() if x.startswith("VmHWM"))


if __name__ == "__main__":
    main()
