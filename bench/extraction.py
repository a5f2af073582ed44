"""Measure the local extractor on hand-written cases.

    python bench/extraction.py GOLD.jsonl [--scorer SCORE.py] [--out PREDICTIONS.jsonl] [--show N]

Writes the predictions, prints the table of the scorer per language, a reliability table with the
expected calibration error, and the time a turn takes. The cases are for measuring only.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import importlib.util
import io
import json
import statistics
import sys
import time
from collections import Counter
from datetime import datetime
from pathlib import Path
from types import ModuleType
from typing import Any

from dualgate.adapters.local.embedder import UseEmbedder
from dualgate.adapters.local.extraction import LocalExtractor
from dualgate.adapters.local.slots import SlotReader
from dualgate.adapters.local.structure import LexiconStructurer
from dualgate.domain.items import Candidate, Message
from dualgate.domain.types import Role
from dualgate.pipeline.ports import Turn

BINS = 10

Predictions = dict[str, list[dict[str, Any]]]


def turn_of(case: dict[str, Any]) -> Turn:
    at = datetime.fromisoformat(case["at"])
    history = tuple(Message(Role(each["role"]), each["content"]) for each in case["history"])
    return Turn(
        user_id="bench",
        session_id=case["id"],
        message=Message(Role.USER, case["turn"], at),
        at=at,
        history=history,
    )


def as_line(candidate: Candidate) -> dict[str, Any]:
    return {
        "item_type": candidate.item_type.value,
        "content": candidate.content,
        "polarity": candidate.polarity.value,
        "evidence": candidate.evidence.value,
        "scope": candidate.scope.value,
        "correction": candidate.correction,
        "sensitivity": candidate.sensitivity.value,
        "subject": candidate.subject,
        "event_date": candidate.event_at.date().isoformat() if candidate.event_at else None,
        "confidence": candidate.confidence,
        "quote": candidate.quote,
    }


async def predict(cases: list[dict[str, Any]]) -> tuple[Predictions, list[float]]:
    extractor = build()
    await extractor.extract(turn_of(cases[0]))
    predicted, seconds = {}, []
    for case in cases:
        started = time.process_time()
        found = await extractor.extract(turn_of(case))
        seconds.append(time.process_time() - started)
        predicted[case["id"]] = [as_line(each) for each in found]
    return predicted, seconds


def build() -> LocalExtractor:
    embedder = UseEmbedder(cache_size=0)
    return LocalExtractor(structurer=LexiconStructurer(SlotReader(embedder)))


def reliability(
    scorer: ModuleType, cases: list[dict[str, Any]], predicted: Predictions
) -> float:
    """Print how often candidates of each confidence are right; return the calibration error."""
    sure: list[tuple[float, bool]] = []
    for case in cases:
        lasting = [each for each in predicted[case["id"]] if each["scope"] == "lasting"]
        holder = set(scorer.pair_off(case["facts"], lasting).values())
        for index, each in enumerate(lasting):
            sure.append((each["confidence"], index in holder or scorer.is_excused(each, case)))
    error = 0.0
    print("confidence   n    said  right")
    for number in range(BINS):
        inside = [each for each in sure if min(int(each[0] * BINS), BINS - 1) == number]
        if inside:
            said = statistics.fmean(each[0] for each in inside)
            right = statistics.fmean(each[1] for each in inside)
            error += abs(said - right) * len(inside) / len(sure)
            span = f"{number / BINS:.1f}-{(number + 1) / BINS:.1f}"
            print(f"{span}  {len(inside):4}   {said:.2f}   {right:.2f}")
    print(f"expected calibration error {error:.3f} over {len(sure)} lasting candidates")
    return error


def load_scorer(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("score_extraction", path)
    if spec is None or spec.loader is None:
        raise SystemExit(f"no scorer at {path}")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


PAGE = Path(__file__).parents[1] / "docs/results/extraction.md"
HEAD = """# The local extractor, measured

Written by `python bench/extraction.py GOLD.jsonl --write`, as the product runs it (with the
lexicon of slots). The cases are hand-written single turns in both languages, of every kind in [W3]
and [W4]; none was trained on. P is precision, R recall of lasting facts; a case counts only if the
type is acceptable and the wording keeps every required word.

```
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("gold", type=Path)
    parser.add_argument("--scorer", type=Path, help="score_extraction.py (default: beside GOLD)")
    parser.add_argument("--out", type=Path, default=Path("predictions.jsonl"))
    parser.add_argument("--show", type=int, default=0)
    parser.add_argument("--write", action="store_true", help="write docs/results/ too")
    options = parser.parse_args()

    scorer = load_scorer(options.scorer or options.gold.with_name("score_extraction.py"))
    cases = scorer.read_lines(options.gold)
    predicted, seconds = asyncio.run(predict(cases))
    with options.out.open("w", encoding="utf-8") as file:
        for name, candidates in predicted.items():
            line = {"id": name, "candidates": candidates}
            file.write(json.dumps(line, ensure_ascii=False) + "\n")
    told = io.StringIO()
    with contextlib.redirect_stdout(told):
        tell(scorer, cases, predicted, seconds, options.show)
    print(told.getvalue(), end="")
    if options.write:
        PAGE.write_text(f"{HEAD}{told.getvalue()}```\n", encoding="utf-8")


def tell(
    scorer: ModuleType,
    cases: list[dict[str, Any]],
    predicted: Predictions,
    seconds: list[float],
    show: int,
) -> None:
    for lang in ("zh", "en"):
        print(f"=== {lang}")
        counts: Counter[Any] = Counter()
        examples: list[str] = []
        own = [case for case in cases if case["lang"] == lang]
        for case in own:
            lasting = [each for each in predicted[case["id"]] if scorer.is_long_term(each)]
            scorer.score(case, lasting, counts, examples)
        scorer.report(counts, examples, show)
        reliability(scorer, own, predicted)
    print(f"CPU per turn: median {statistics.median(seconds) * 1e3:.1f} ms, "
          f"longest {max(seconds) * 1e3:.1f} ms")


if __name__ == "__main__":
    sys.exit(main())
