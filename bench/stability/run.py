"""Months of simulated conversation through dualgate and through the usual designs.

    python bench/stability [--users 20] [--days 21] [--seeds 1] [--extractor local|perfect]
                           [--pool main|held-out|final] [--write]

Each (seed, user) is one unit: its results land in bench/out/stability and are not made again, so
a run that was stopped goes on where it was. `--write` renews docs/results/stability.md and its
pictures from everything that was run with the same code.
"""

from __future__ import annotations

import os

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import argparse  # noqa: E402
import asyncio  # noqa: E402
import hashlib  # noqa: E402
import json  # noqa: E402
import multiprocessing  # noqa: E402
import time  # noqa: E402
from collections.abc import Iterator  # noqa: E402
from dataclasses import dataclass  # noqa: E402
from functools import partial  # noqa: E402
from pathlib import Path  # noqa: E402
from typing import Any  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
OUT = ROOT / "bench" / "out" / "stability"
_CODE = ("domain", "pipeline", "adapters/local", "adapters/memory")


@dataclass(frozen=True)
class Unit:
    """One user of one seed, under one setting of the run."""

    seed: int
    number: int
    days: int
    extractor: str
    pool: str
    digest: str

    @property
    def path(self) -> Path:
        """Return where its results are kept."""
        run = f"{self.extractor}-{self.pool}-{self.days}"
        return OUT / self.digest / run / f"{self.seed}-{self.number}.json"


def digest() -> str:
    """Return a name for the code that makes the numbers: engine, extractor, bench."""
    files = [p for part in _CODE for p in (ROOT / "src/dualgate" / part).rglob("*")
             if p.suffix in (".py", ".npz", ".json", ".toml", ".txt")]  # fmt: skip
    here = Path(__file__).parent
    files += [*(here / n for n in ("lives.py", "reading.py", "designs.py", "gates.py",
                                   "measures.py", "words.py")), *(here / "words").iterdir()]
    mixed = hashlib.blake2b(digest_size=5)
    for path in sorted(files):
        mixed.update(path.read_bytes())
    return mixed.hexdigest()


def run(unit: Unit) -> Path:
    """Run the designs that are missing over one life; return the file of its results."""
    found = json.loads(unit.path.read_text("utf-8")) if unit.path.exists() else {"designs": {}}
    makers = {name: make for name, make in _designs().items() if name not in found["designs"]}
    if not makers:
        return unit.path
    from lives import live
    from reading import read

    started = time.process_time()
    life = live(unit.seed, unit.number, unit.days, unit.pool)
    reading = read(life, unit.extractor, OUT / "cache", unit.digest)
    for name, make in makers.items():
        found["designs"][name] = asyncio.run(through(life, reading, make(life, reading)))
    found["lang"], found["turns"] = life.lang, sum(len(s.turns) for s in life.sessions)
    found["cpu_seconds"] = found.get("cpu_seconds", 0) + time.process_time() - started
    unit.path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = unit.path.with_suffix(".part")
    unfinished.write_text(json.dumps(found), "utf-8")
    unfinished.rename(unit.path)
    return unit.path


def _designs() -> dict[str, Any]:
    """Return what makes each design of a life and its reading, in the order of the table."""
    import real_mem0
    from designs import BASELINES
    from gates import LETTER_GATES, LETTER_READ, VARIANTS, DualGate

    makers: dict[str, Any] = {name: partial(DualGate, gates=g) for name, g in VARIANTS.items()}
    makers["by the letter"] = partial(DualGate, gates=LETTER_GATES, read=LETTER_READ)
    makers |= {design.name: design for design in BASELINES}
    if real_mem0.available() is None:
        makers[real_mem0.RealMem0.name] = real_mem0.RealMem0
    return makers


async def through(life: Any, reading: Any, design: Any) -> dict[str, Any]:
    """Put one life through one design; return what was measured."""
    from measures import Tally

    tally, started = Tally(life, reading), time.process_time()
    async with design:
        for session in life.sessions:
            tally.open(session, await design.open(session))
            await design.hear(session)
    return {**tally.close(), "cpu_seconds": time.process_time() - started}


def units(asked: argparse.Namespace, name: str) -> Iterator[Unit]:
    """Yield the units of a run, seed by seed."""
    for seed in range(1, asked.seeds + 1):
        for number in range(asked.users):
            yield Unit(seed, number, asked.days, asked.extractor, asked.pool, name)


def arguments() -> argparse.Namespace:
    """Return what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--users", type=int, default=20)
    parser.add_argument("--days", type=int, default=21, help="21, 91 or 365")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--extractor", choices=("local", "perfect"), default="local")
    parser.add_argument("--pool", choices=("main", "held-out", "final"), default="main")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--write", action="store_true", help="renew docs/results/stability.md")
    return parser.parse_args()


def main() -> None:
    """Run what is missing, print the table."""
    import real_mem0
    from page import table, write

    missing = real_mem0.available()
    if missing:
        print(missing)
    asked, name = arguments(), digest()
    todo = list(units(asked, name))
    started = time.time()
    with multiprocessing.Pool(asked.workers) as pool:
        for count, _ in enumerate(pool.imap_unordered(run, todo), 1):
            print(f"\r{count} of {len(todo)} users, {time.time() - started:.0f} s", end="",
                  flush=True)  # fmt: skip
    print()
    print(table(todo[0].path.parent, asked.users, asked.seeds))
    if asked.write:
        write(OUT / name, ROOT / "docs" / "results")


if __name__ == "__main__":
    main()
