"""The results page and its pictures, made from the sums that the runs left behind.

Rule: ratios of sums; nothing is measured here. An interval is 95 %: Student's t over seeds where
there are at least three, else a bootstrap over users (1,000 draws, seeded).
"""

from __future__ import annotations

import json
import random
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, stdev
from typing import Any

import picture
from words import POOLS

Sums = Mapping[str, float]
# Two-sided 95 % quantiles of Student's t for 2, 3, 4, … degrees of freedom.
_T = {2: 4.303, 3: 3.182, 4: 2.776, 5: 2.571, 6: 2.447, 7: 2.365, 8: 2.306, 9: 2.262}


@dataclass(frozen=True)
class Measure:
    """One column: a ratio of two sums. target: what dualgate is to reach, with its extractor."""

    key: str
    title: str
    over: str
    under: str
    percent: bool = True
    target: float | None = None
    target_perfect: float | None = None
    better: str = "lower"

    def of(self, sums: Sums) -> float | None:
        """Return the ratio, or None where nothing was to be counted."""
        if not sums.get(self.under):
            return None
        return sums.get(self.over, 0) / sums[self.under] * (100 if self.percent else 1)

    def word(self, number: float | None) -> str:
        """Return the number as the table shows it."""
        if number is None:
            return "—"
        return f"{number:.1f} %" if self.percent else f"{number:.1f}"


MEASURES = (
    Measure("explained", "re-explained", "explained", "needed", target=25, target_perfect=10),
    Measure("contamination", "contamination", "noise", "shown", target=3),
    Measure("drift", "drift", "drifted", "core", target=1, target_perfect=0),
    Measure("drift-days", "drift, days per user and month", "drift_days", "months", percent=False),
    Measure("false-freezes", "false freezes", "frozen_false", "frozen", target=0.5,
            target_perfect=0),
    Measure("lost-corrections", "lost corrections", "corrections_lost", "corrections", target=3),
    Measure("lag", "lag of lived changes, days", "lag_days", "lived", percent=False),
    Measure("contradictions", "contradictions per session", "contradictions", "sessions",
            percent=False),
    Measure("tokens", "tokens per session", "tokens", "sessions", percent=False),
)  # fmt: skip
_OVER_TIME = MEASURES[:3]


@dataclass(frozen=True)
class Estimate:
    """A mean and its interval."""

    mean: float
    low: float
    high: float


def load(folder: Path) -> list[dict[str, Any]]:
    """Return the results of all units in a folder, with their seed."""
    found = []
    days = int(folder.name.rsplit("-", 1)[1])
    for path in sorted(folder.glob("*.json")):
        one = json.loads(path.read_text("utf-8"))
        one["seed"], one["number"] = (int(n) for n in path.stem.split("-"))
        for each in one["designs"].values():
            each["sums"]["months"] = days / 30
        found.append(one)
    return found


def _designs(units: Sequence[Mapping[str, Any]]) -> list[str]:
    return list(dict.fromkeys(name for unit in units for name in unit["designs"]))


def added(units: Sequence[Mapping[str, Any]], design: str) -> Counter[str]:
    """Return the sums of many units."""
    total: Counter[str] = Counter()
    for unit in units:
        total.update(unit["designs"][design]["sums"])
    return total


def estimate(
    units: Sequence[Mapping[str, Any]], design: str, measure: Measure
) -> Estimate | None:
    """Return mean and interval of a measure."""
    groups = defaultdict(list)
    units = [u for u in units if design in u["designs"]]  # mem0 is not always there
    for unit in units:
        groups[unit["seed"]].append(unit)
    whole = measure.of(added(units, design))
    if whole is None:
        return None
    if len(groups) >= 3:
        each = [m for g in groups.values() if (m := measure.of(added(g, design))) is not None]
        if len(each) < 3:
            return Estimate(whole, whole, whole)
        half = _T.get(len(each) - 1, 2.0) * stdev(each) / len(each) ** 0.5
        return Estimate(mean(each), max(0.0, mean(each) - half), mean(each) + half)
    chance, draws = random.Random(1), []
    for _ in range(1_000):
        drawn = chance.choices(units, k=len(units))
        over = sum(u["designs"][design]["sums"].get(measure.over, 0) for u in drawn)
        under = sum(u["designs"][design]["sums"].get(measure.under, 0) for u in drawn)
        if under:
            draws.append(over / under * (100 if measure.percent else 1))
    draws.sort()
    return Estimate(whole, draws[len(draws) // 40], draws[-len(draws) // 40 - 1])


def table(folder: Path, users: int | None = None, seeds: int | None = None) -> str:
    """Return the table of one run as Markdown."""
    units = [u for u in load(folder) if (users is None or u["number"] < users)
             and (seeds is None or u["seed"] <= seeds)]  # fmt: skip
    designs = _designs(units)
    measures = [m for m in MEASURES if m.key != "drift-days"]
    lines = ["| design | " + " | ".join(m.title for m in measures) + " | most tokens |",
             "|---|" + "--:|" * (len(measures) + 1)]  # fmt: skip
    for design in designs:
        cells = []
        for measure in measures:
            found = estimate(units, design, measure)
            if found is None:
                cells.append("—")
                continue
            half = (found.high - found.low) / 2
            cells.append(f"{measure.word(found.mean)} ± {half:.1f}")
        most = max(u["designs"][design]["sums"].get("tokens_max", 0) for u in units
                   if design in u["designs"])  # fmt: skip
        bold = "**" if design == "dualgate" else ""
        lines.append(f"| {bold}{design}{bold} | " + " | ".join(cells) + f" | {most:,.0f} |")
    return "\n".join(lines)


def reasons(folder: Path, design: str = "dualgate") -> str:
    """Return what a design missed and what noise it showed, largest first."""
    missed: Counter[str] = Counter()
    noise: Counter[str] = Counter()
    for unit in load(folder):
        missed.update(unit["designs"][design]["missed"])
        noise.update(unit["designs"][design]["noise"])
    def listed(counts: Counter[str]) -> str:
        return ", ".join(f"{name} {n:,}" for name, n in counts.most_common()) or "nothing"
    return f"- misses: {listed(missed)}\n- noise shown: {listed(noise)}"


def pictures(folder: Path, target: Path, prefix: str) -> list[tuple[str, str]]:
    """Draw one picture a measure, and three over time; return (title, file name)."""
    units = load(folder)
    perfect = folder.name.startswith("perfect")
    drawn = []
    target.mkdir(parents=True, exist_ok=True)
    for measure in MEASURES:
        bars = {d: e for d in _designs(units)
                if (e := estimate(units, d, measure)) is not None}  # fmt: skip
        if not bars:
            continue
        name = f"{prefix}{measure.key}.svg"
        goal = measure.target_perfect if perfect else measure.target
        rows = [(d, e.mean, e.low, e.high) for d, e in bars.items()]
        text = picture.bars(_titled(measure), rows, goal, percent=measure.percent)
        (target / name).write_text(text, "utf-8")
        drawn.append((measure.title, name))
    for measure in _OVER_TIME:
        name = f"{prefix}{measure.key}-over-time.svg"
        text = picture.lines(f"{_titled(measure)}, week by week", _weekly(units, measure))
        (target / name).write_text(text, "utf-8")
        drawn.append((f"{measure.title}, week by week", name))
    return drawn


def _titled(measure: Measure) -> str:
    return measure.title + (", %" if measure.percent else "")


def _weekly(
    units: Sequence[Mapping[str, Any]], measure: Measure
) -> dict[str, list[tuple[float, float]]]:
    found: dict[str, list[tuple[float, float]]] = {}
    for design in _designs(units):
        weeks: dict[int, Counter[str]] = defaultdict(Counter)
        for unit in units:
            for week, sums in unit["designs"].get(design, {}).get("weeks", {}).items():
                weeks[int(week)].update(sums)
        found[design] = [(w + 1, m) for w in sorted(weeks)
                         if (m := measure.of(weeks[w])) is not None]  # fmt: skip
    return found


def write(results: Path, docs: Path) -> None:
    """Renew the tables and pictures between the marks of docs/results/stability.md."""
    page = docs / "stability.md"
    text = page.read_text("utf-8")
    folders = sorted(results.iterdir(), key=lambda p: _order(p.name))
    folders = [f for f in folders if any(f.glob("*.json"))]
    # One set of pictures for each extractor: of the run with the most turns.
    largest = {f.name.split("-")[0]: f for f in sorted(folders, key=_turns)}.values()
    parts = [_section(f, docs / "stability", drawn=f in largest) for f in folders]
    begin, end = "<!-- made by bench/stability -->", "<!-- end -->"
    before, _, rest = text.partition(begin)
    _, _, after = rest.partition(end)
    page.write_text(f"{before}{begin}\n\n" + "\n\n".join(parts) + f"\n\n{end}{after}", "utf-8")


def _order(name: str) -> tuple[bool, int, int]:
    extractor, rest = name.split("-", 1)
    pool, days = rest.rsplit("-", 1)
    return extractor == "perfect", -POOLS.index(pool), int(days)  # the strictest pool first


def _turns(folder: Path) -> int:
    return sum(unit["turns"] for unit in load(folder))


def _section(folder: Path, target: Path, *, drawn: bool) -> str:
    extractor, pool = folder.name.rsplit("-", 1)[0].split("-", 1)
    days = folder.name.rsplit("-", 1)[1]
    units = load(folder)
    seeds = len({u["seed"] for u in units})
    langs = Counter(u["lang"] for u in units)
    minutes = sum(u["cpu_seconds"] for u in units) / 60
    head = (f"### {days} days, {extractor} extractor, {pool} wordings\n\n"
            f"{len(units):,} users ({langs['zh']} zh, {langs['en']} en), {seeds} seed(s), "
            f"{sum(u['turns'] for u in units):,} turns; {minutes:.1f} CPU minutes.\n\n")
    short = "\n\nWhere dualgate fell short:\n\n" + reasons(folder)
    if not drawn:
        return head + table(folder) + short
    made = pictures(folder, target, folder.name + "-")
    shown = "\n".join(f"![{title}](stability/{name})" for title, name in made)
    folded = "\n\n<details><summary>Pictures</summary>\n\n" + shown + "\n\n</details>"
    return head + table(folder) + short + folded


# --- one setting at a time ----------------------------------------------------------------------

_SWEPT = ("explained", "contamination", "drift", "false-freezes", "lost-corrections", "lag",
          "contradictions", "tokens")  # fmt: skip
_WIDEST = 80  # characters under a picture


def sweep_tables(found: Mapping[str, Mapping[str, list[dict[str, Any]]]], days: int) -> str:
    """Return a table a setting."""
    parts = []
    chosen = [m for m in MEASURES if m.key in _SWEPT]
    for path, values in found.items():
        lines = [f"### `{path}`", "",
                 "| value | " + " | ".join(m.title for m in chosen) + " |",
                 "|---|" + "--:|" * len(chosen)]  # fmt: skip
        for value, results in values.items():
            sums = _sums_of(results, days)
            lines.append(f"| {value} | " + " | ".join(m.word(m.of(sums)) for m in chosen) + " |")
        parts.append("\n".join(lines))
    return "\n\n".join(parts)


def _sums_of(results: Sequence[Mapping[str, Any]], days: int) -> Counter[str]:
    total: Counter[str] = Counter(months=len(results) * days // 30)
    for each in results:
        total.update(each["sums"])
    return total


def write_sweep(
    found: Mapping[str, Mapping[str, list[dict[str, Any]]]], days: int, head: str, page: Path
) -> None:
    """Write a page with a table and a picture a setting."""
    chosen = [m for m in MEASURES if m.key in _SWEPT and m.percent]
    folder = page.parent / "stability"
    folder.mkdir(parents=True, exist_ok=True)
    text = ("# One number of the gates at a time\n\nMade by `python bench/stability/sweep.py "
            f"--write`. {head}\n\n")  # fmt: skip
    for path, values in found.items():
        sums = {value: _sums_of(results, days) for value, results in values.items()}
        series = {m.title: [(float(n), r) for n, (value, s) in enumerate(sums.items())
                            if (r := m.of(s)) is not None] for m in chosen}  # fmt: skip
        name = f"{page.stem.removeprefix('stability-')}-{path.replace('.', '-')}.svg"
        x_title = "   ".join(f"{n}: {value}" for n, value in enumerate(sums))
        if len(x_title) > _WIDEST:
            x_title = "row of the table, from 0"
        drawn = picture.lines(f"{path}, %", {k: v for k, v in series.items() if v}, x_title)
        (folder / name).write_text(drawn, "utf-8")
        text += sweep_tables({path: values}, days) + f"\n\n![{path}](stability/{name})\n\n"
    page.write_text(text.rstrip() + "\n", "utf-8")
