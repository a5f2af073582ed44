"""What each number of the gates is worth: one setting moved at a time, all else as it comes.

    python bench/stability/sweep.py [--users 40] [--days 91] [--only NAME] [--write]

Only dualgate runs, on the readings that the main bench kept. `--write` renews
docs/results/stability-sweep.md (or -perfect.md) and one picture a setting.
"""

from __future__ import annotations

import os

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import argparse  # noqa: E402
import asyncio  # noqa: E402
import json  # noqa: E402
import multiprocessing  # noqa: E402
from dataclasses import fields, is_dataclass, replace  # noqa: E402
from typing import Any  # noqa: E402

import run as bench  # noqa: E402

_IDENTITY = ("identity", "preference")
_LIMITS = ("constraint", "rule")
# Values of each setting, the default among them.
SETTINGS: dict[str, tuple[Any, ...]] = {
    "gates.admission.min_confidence": (0.3, 0.4, 0.5, 0.6, 0.7, 0.8),
    "gates.admission.floor": (0.4, 0.5, 0.6, 0.65, 0.7, 0.75),
    "gates.admission.ramp": (0.0, 0.5, 1.0, 2.0),
    "gates.admission.capacity": (60, 100, 200, 400),
    "gates.score.recency_weight": (0.0, 0.1, 0.25, 0.4, 0.6),
    "gates.score.importance_weight": (0.2, 0.35, 0.5, 0.8),
    "gates.score.support_weight": (0.0, 0.1, 0.25, 0.5),
    "gates.freeze.min_confidence": (0.6, 0.7, 0.8, 0.9, 0.95),
    "gates.freeze.min_confirmations": (2.0, 3.0, 4.0, 5.0),
    "gates.freeze.capacity": (5, 10, 20, 30, 60),
    "gates.similarity.duplicate": (0.7, 0.8, 0.85, 0.9, 0.95),
    "gates.similarity.conflict": (0.7, 0.8, 0.9, 0.95),
    "gates.similarity.settle_lead": (1.0, 2.0, 3.0),
    "gates.similarity.outbursts_contest": (True, False),
    "gates.override.hold_at": (0.6, 0.7, 0.8),
    "gates.override.override_at": (0.8, 0.85, 0.9, 0.95),
    "gates.override.thaw_sessions": (2, 3, 4, 5, 7),
    "gates.override.thaw_span_days": (7.0, 14.0, 21.0, 30.0),
    "gates.weathering.days": (20.0, 40.0, 60.0, 90.0, 150.0),
    "gates.archive.fade_below": (0.02, 0.05, 0.1, 0.2),
    "read.limits.active_items": (10, 20, 30, 40, 60),
    "read.limits.recalled_items": (0, 5, 10, 20),
    "read.limits.outbursts": (False, True),
    "read.limits.general_types": (
        _IDENTITY, (*_IDENTITY, "constraint"), (*_IDENTITY, *_LIMITS),
        (*_IDENTITY, *_LIMITS, "commitment"),
    ),
}  # fmt: skip


def changed(settings: Any, path: str, value: Any) -> Any:
    """Return the tree with one number changed."""
    name, _, rest = path.partition(".")
    if rest:
        return replace(settings, **{name: changed(getattr(settings, name), rest, value)})
    if not is_dataclass(settings) or name not in {f.name for f in fields(settings)}:
        raise SystemExit(f"no setting ends in {name}")
    return replace(settings, **{name: frozenset(value) if isinstance(value, tuple) else value})


def one(job: tuple[Any, str, Any]) -> tuple[str, str, dict[str, Any]]:
    """Return the sums of one life under one setting; they are kept."""
    from gates import DualGate
    from lives import live
    from reading import read

    from dualgate import Settings

    unit, path, value = job
    name = f"{path}={_word(value)}"
    kept = unit.path.parent / "sweep" / name / unit.path.name
    if not kept.exists():
        life = live(unit.seed, unit.number, unit.days, unit.pool)
        reading = read(life, unit.extractor, bench.OUT / "cache", unit.digest)
        settings = changed(Settings(), path, value)
        design = DualGate(life, reading, settings.gates, settings.read)
        found = asyncio.run(bench.through(life, reading, design))
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text(json.dumps(found), "utf-8")
    return path, _word(value), json.loads(kept.read_text("utf-8"))


def _word(value: Any) -> str:
    if isinstance(value, tuple):
        return "+".join(value)
    return str(value).lower() if isinstance(value, bool) else f"{value:g}"


def main() -> None:
    """Run what is missing, print a table a setting."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--users", type=int, default=40)
    parser.add_argument("--days", type=int, default=91)
    parser.add_argument("--extractor", choices=("local", "perfect"), default="local")
    parser.add_argument("--pool", choices=("main", "held-out", "final"), default="main")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--only", default="", help="parts of names of settings, with commas")
    parser.add_argument("--write", action="store_true")
    asked = parser.parse_args()
    asked.seeds = 1
    units = list(bench.units(asked, bench.digest()))
    wanted = asked.only.split(",")
    chosen = {p: v for p, v in SETTINGS.items() if any(part in p for part in wanted)}
    # Life by life, so that a reading is loaded while it is warm.
    jobs = [(u, path, v) for u in units for path, values in chosen.items() for v in values]
    from page import sweep_tables, write_sweep

    found: dict[str, dict[str, list[dict[str, Any]]]] = {}
    with multiprocessing.Pool(asked.workers) as pool:
        for path, value, result in pool.imap_unordered(one, jobs, chunksize=4):
            found.setdefault(path, {}).setdefault(value, []).append(result)
    ordered = {p: {_word(v): found[p][_word(v)] for v in values} for p, values in chosen.items()}
    text = sweep_tables(ordered, asked.days)
    print(text)
    if asked.write:
        head = (f"{asked.users} users, {asked.days} days, {asked.extractor} extractor, "
                f"{asked.pool} wordings; no intervals: read the slope, not the decimals.")
        name = "stability-sweep" + ("" if asked.extractor == "local" else "-perfect")
        write_sweep(ordered, asked.days, head, bench.ROOT / "docs" / "results" / f"{name}.md")


if __name__ == "__main__":
    main()
