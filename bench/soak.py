"""A soak run: many processes over one file while everything goes wrong; nothing may be lost.

    python bench/soak.py                                            8 processes, 30 minutes
    python bench/soak.py --minutes 0.5 --processes 3 --users 30     a short one
    python bench/soak.py --write                                    renew the page of results

Each process opens a memory through the public interface, talks for random users and works the
queue. Meanwhile they are killed at random, the write lock is held longer than anybody waits, the
disk fills up, and the clock jumps back an hour and forward 40 days. Every worker keeps a journal
of what it began and what was acknowledged; afterwards the file is compared with the journals, and
opened with a newer schema and cut short. The exit code is 1 if anything does not hold.

The disk is a small tmpfs in a name space of our own where that is possible (no root is needed):
shrinking it is the real thing, ENOSPC at any write of any process. Elsewhere the size of files is
limited. The journals are on the real disk.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

from soak import checks, page  # noqa: E402 - after the number of threads is set
from soak.faults import ROOM_BYTES, Conductor, FileLimit, SmallDisk  # noqa: E402

PAGE = Path(__file__).parent.parent / "docs" / "results" / "soak.md"
_MOUNT = 'mount -t tmpfs -o size="$1",mode=700 soak "$2" && shift 2 && exec "$@"'


def options_of(arguments: list[str]) -> argparse.Namespace:
    """Return the options; --folder is for the process inside the name space."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--processes", type=int, default=8)
    parser.add_argument("--users", type=int, default=1_000)
    parser.add_argument("--rate", type=float, default=60, help="calls a second, of all together")
    parser.add_argument("--busy", type=float, default=10, metavar="SECONDS",
                        help="how long a worker waits for the lock; it is held 2 s longer")
    parser.add_argument("--seed", type=int, default=20261130)
    parser.add_argument("--write", action="store_true", help="renew the page of results")
    parser.add_argument("--keep", type=Path, help="keep journals and file in this new folder")
    parser.add_argument("--look", type=Path, metavar="KEPT", help="only check such a folder again")
    parser.add_argument("--disk", choices=("tmpfs", "limit"), help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    return parser.parse_args(arguments)


def main() -> None:
    """Run it; leave with 1 if anything does not hold."""
    arguments = sys.argv[1:]
    options = options_of(arguments)
    if options.folder is not None:
        sys.exit(_inside(options))
    if options.look is not None:
        sys.exit(_again(options.look))
    with tempfile.TemporaryDirectory(prefix="dualgate-soak-") as folder:
        disk = Path(folder) / "disk"
        disk.mkdir()
        inner = [sys.executable, __file__, *arguments, "--folder", folder]
        spaced = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", _MOUNT, "sh",
                  str(ROOM_BYTES), str(disk)]  # fmt: skip
        possible = shutil.which("unshare") and not subprocess.run(
            [*spaced, "true"], check=False, capture_output=True
        ).returncode
        if options.disk == "limit" or not possible:
            sys.exit(subprocess.run([*inner, "--disk", "limit"], check=False).returncode)
        sys.exit(subprocess.run([*spaced, *inner, "--disk", "tmpfs"], check=False).returncode)


def _inside(options: argparse.Namespace) -> int:
    folder: Path = options.folder
    disk = (SmallDisk if options.disk == "tmpfs" else FileLimit)(folder / "disk")
    load, began = os.getloadavg()[0], time.monotonic()
    conductor = Conductor(folder, options, disk)
    late = conductor.run()
    lasted, began = time.monotonic() - began, time.monotonic()
    size = (folder / "disk" / "memory.db").stat().st_size
    if options.keep is not None:
        shutil.copytree(folder, options.keep)
    found, told = checks.run(folder, late)
    run = page.Run(options, disk.name, lasted, time.monotonic() - began, size, load,
                   conductor.did, found, told)  # fmt: skip
    print(page.report(run))
    if options.write:
        PAGE.write_text(page.page(run), encoding="utf-8")
    return _verdict(found)


def _again(kept: Path) -> int:
    with tempfile.TemporaryDirectory(prefix="dualgate-soak-") as folder:
        # The checks move the clock and rewrite the file.
        copy = shutil.copytree(kept, Path(folder) / "kept")
        found, _ = checks.run(copy, [])
    print("\n".join(page.table(found)))
    return _verdict(found)


def _verdict(found: list[checks.Check]) -> int:
    for check in found:
        for told in check.broken[:5]:
            print(f"BROKEN: {check.name}: {told}", file=sys.stderr)
    return 1 if any(check.broken for check in found) else 0


if __name__ == "__main__":
    main()
