"""The page of results."""

from __future__ import annotations

import argparse
import os
import platform
from collections import Counter
from dataclasses import dataclass

from soak.checks import Check, Told, delays
from soak.faults import LONGER_SECONDS


@dataclass
class Run:
    """A run that is over."""

    options: argparse.Namespace
    disk: str
    lasted: float
    checked: float
    bytes: int
    load: float
    did: Counter[str]
    checks: list[Check]
    told: Told


HEAD = """# Soak run

Made by `python bench/soak.py --minutes {minutes:g} --processes {processes} --users {users} \
--seed {seed} --write` ({cores} cores shared with other work, load {load:.1f} \
before, {machine}, Python {python}).

{processes} processes open one SQLite file through the public interface; each talks for random
users and works the queue. Meanwhile they are killed, the write lock is held longer than anybody
waits ({held:g} s against {busy:g} s), the disk is full for some seconds at a time ({disk}), and
the clock jumps for all at once. Pools are small (12, 3, 30), so that their bounds are reached.
Each worker keeps a journal, written through to the disk before and after every call that changes
something; afterwards the file is compared with the journals. What a tmpfs does not try is the
power cut: there, writing through costs nothing and does nothing.

"""


FOUND = """
## What it has found

The first half hour (8 processes, 1,000 users, seed 20261130: 22,660 calls to `observe`
acknowledged, 454 kills, 8 locks, 8 full disks, 17 jumps of the clock) lost no turn, doubled none
and kept every bound; 17 of 319,000 looks did not hold. These and what shorter runs found is
mended, each with a test:

- A user who brings back an archived item while hot pool and archive are full: the log said that
  the item was forgotten before it said that it came back (5 lines of the log).
- Texts that were forgotten for good stayed in the kept cores of old sessions (12 words).
- After the clock was put back, turns that waited, and users held by killed processes, waited for
  the time that was to come round again.
- Uses that could not be written while the file was locked ended in a traceback, and made a later
  `close` fail and leave the file open. A failed `open` left its connections open.
- A quota or a limit on file sizes was told as a broken disk; a disk nearly full parked jobs.
"""


def report(run: Run) -> str:
    """Return the results as Markdown."""
    told = run.told
    acks = ", ".join(f"{op} {count:,}" for op, count in told.acks.most_common())
    reads = sum(len(took) for took in told.reads.values())
    median, late, longest = delays(told)
    rows = ["| what happened | times |", "|---|--:|"]
    rows += [f"| {what} | {count} |" for what, count in sorted(run.did.items())]
    rows += ["", *table(run.checks)]
    kinds = Counter(_short(line["type"], line["text"]) for line in told.errors)
    kinds += Counter(
        "in the background: " + _short(*text.split(": ", 1)) for text in told.background
    )
    rows += ["", "| errors the callers and the logs were told | times |", "|---|--:|"]
    rows += [f"| {kind} | {count:,} |" for kind, count in kinds.most_common()]
    broken = sum(len(check.broken) for check in run.checks)
    lines = [
        (f"**{run.lasted / 60:.1f} minutes, {run.options.processes} processes, "
        f"{run.options.users:,} users: {broken or 'nothing'} broken.**"),
        "",
        (f"Acknowledged: {acks}; read: {reads:,}. The file had {run.bytes / 1024**2:,.0f} MiB. "
        f"From acknowledgement to decision: {median * 1000:.0f} ms (median), {late:.1f} s (95 %), "
        f"{longest:.1f} s (longest: locks, full disks and the leases of the killed are in it). "
        f"The checks took {run.checked:.0f} s."),
        "",
        *rows,
    ]
    return "\n".join(lines)


def table(checks: list[Check]) -> list[str]:
    """Return what was checked, a line each."""
    head = ["| what has to hold | looked at | broken |", "|---|--:|--:|"]
    return [*head, *(f"| {_named(c)} | {c.looked:,} | {len(c.broken)} |" for c in checks)]


def page(run: Run) -> str:
    """Return the whole page."""
    given = vars(run.options)
    head = HEAD.format(
        **{name: given[name] for name in ("minutes", "processes", "users", "seed", "busy")},
        held=run.options.busy + LONGER_SECONDS,
        cores=os.cpu_count(), machine=platform.machine(), load=run.load, disk=run.disk,
        python=platform.python_version(),
    )  # fmt: skip
    return head + report(run) + "\n" + FOUND


def _named(check: Check) -> str:
    return f"{check.name} ({check.note})" if check.note else check.name


def _short(kind: str, text: str) -> str:
    """Return an error without the names in it."""
    for what in ("no item", "an item that is", "this turn cannot be read"):
        if what in text:
            return f"{kind}: {what} …"
    return f"{kind}: {text}".replace("\n", " ").replace("|", "/")
