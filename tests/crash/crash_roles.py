"""The processes of the crash tests, forked from one that has everything imported.

Started as `python crash_roles.py DIRECTORY`: each line on its input is a role with its name, each
line of its output the pid of the process that plays it.
"""

# ruff: noqa: S311, TID251  # real processes need real chance and time

from __future__ import annotations

import asyncio
import os
import random
import signal
import sys
import traceback
from datetime import UTC, datetime
from pathlib import Path

from dualgate.adapters.sql import open_sqlite
from dualgate.domain.status import Status
from dualgate.errors import LeaseLostError
from dualgate.testing.builders import a_decision, a_job, a_move, a_plan, a_signal, an_item

USERS = tuple(f"user-{n}" for n in range(6))
LEASE_SECONDS = 0.6
ADDITIONS = 40

# A lock error must mean a lock that is never given up, not a machine with much else to do.
PATIENCE = 120


def note(directory: Path, file: str, line: str) -> None:
    # One write to an appended file: whole or not at all, whatever kills the process next.
    with open(directory / file, "ab", buffering=0) as out:  # noqa: PTH123
        out.write(f"{line}\n".encode())


async def enqueue(directory: Path, name: str) -> None:
    """Enqueue for random users until told to stop; note what was acknowledged."""
    backend = await open_sqlite(directory / "memory.db", busy_seconds=PATIENCE)
    chance = random.Random(name)
    number = 0
    while not (directory / "stop").exists():
        number += 1
        user = chance.choice(USERS)
        job = a_job(f"{name}-{number:05d}", user_id=user, enqueued_at=datetime.now(UTC))
        await backend.queue.enqueue(job)
        note(directory, "acknowledged", f"{user} {job.id}")
        await asyncio.sleep(chance.uniform(0.005, 0.03))
    await backend.close()
    note(directory, "ended", name)


async def work(directory: Path, name: str) -> None:
    """Run jobs for ever: each adds one item and raises the user's count by one."""
    backend = await open_sqlite(directory / "memory.db", busy_seconds=PATIENCE)
    while True:
        lease = await backend.queue.claim(datetime.now(UTC), LEASE_SECONDS, 4)
        if lease is None:
            await asyncio.sleep(0.02)
            continue
        try:
            for job in lease.jobs:
                await run_job(backend, lease, job)
        except LeaseLostError:
            note(directory, "fenced", name)
        else:
            await backend.queue.release(lease)


async def run_job(backend, lease, job) -> None:
    async with backend.store.begin(job.user_id, lease) as unit:
        user = {"user_id": job.user_id}
        known = await unit.items(["count"])
        count = known.get("count") or an_item(id="count", status=Status.CONFIRMED, **user)
        count = count.with_(confirm_count=count.confirm_count + 1)
        await unit.apply(
            a_plan(
                items=(count, an_item(id=job.id, **user)),
                moves=(a_move(job.id, **user),),
                signals=(a_signal(job.id, id=job.id, **user),),
                decision=a_decision(id=job.id, job_id=job.id, item_id=job.id, **user),
            )
        )
        await asyncio.sleep(0.001)  # a unit that is open for a while is killed more often
        await unit.finish(job, [])


async def add(directory: Path, name: str) -> None:
    """Raise one shared count by reading it first, many times."""
    backend = await open_sqlite(directory / "memory.db", busy_seconds=PATIENCE)
    for _ in range(ADDITIONS):
        async with backend.store.begin("ann") as unit:
            known = await unit.items(["count"])
            count = known.get("count") or an_item(id="count")
            await unit.apply(
                a_plan(items=(count.with_(confirm_count=count.confirm_count + 1),), moves=())
            )
    await backend.close()
    note(directory, "done", name)


async def read(directory: Path, name: str) -> None:
    """Read until told to stop; a count that falls is an error."""
    backend = await open_sqlite(directory / "memory.db", busy_seconds=PATIENCE)
    last = 0.0
    while not (directory / "stop").exists():
        hot = (await backend.store.snapshot("ann")).hot
        seen = hot["count"].confirm_count if hot else 0.0
        if seen < last:
            note(directory, "errors", f"{name}: the count fell from {last} to {seen}")
        last = seen
        await backend.store.by_words("ann", "short answers", limit=5)
    await backend.close()
    note(directory, "done", name)


ROLES = {"enqueue": enqueue, "work": work, "add": add, "read": read}


def main(directory: Path) -> None:
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the killed need not be waited for
    for line in sys.stdin:
        role, name = line.split()
        pid = os.fork()
        if pid == 0:
            try:
                asyncio.run(ROLES[role](directory, name))
            except BaseException:  # noqa: BLE001  # whatever it is, the test has to see it
                note(directory, "errors", f"{name}: {traceback.format_exc()}")
            os._exit(0)
        print(pid, flush=True)  # noqa: T201


if __name__ == "__main__":
    main(Path(sys.argv[1]))
