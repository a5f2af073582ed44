"""Measure a user's own model on the hand-written cases, beside the local extractor.

    python bench/llm_extraction.py GOLD.jsonl [--record RUN.jsonl] [--limit N]
    python bench/llm_extraction.py GOLD.jsonl --replay RUN.jsonl

The endpoint is that of the settings (DUALGATE_MODEL__BASE_URL, …__NAME, …__KEY; docs/howto/
use-your-own-model.md). --record saves questions and answers, without the key; stopped, the same
command goes on where it was. --replay needs no endpoint and gives the same table. One turn a
question, no pre-filter, so that what is measured is the model. Also printed: calls, tokens and
seconds, and what a thousand turns cost.
"""

from __future__ import annotations

import os

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[_name] = "1"  # before numpy is loaded

import argparse  # noqa: E402
import asyncio  # noqa: E402
import statistics  # noqa: E402
import sys  # noqa: E402
from collections import Counter  # noqa: E402
from dataclasses import dataclass, field  # noqa: E402
from pathlib import Path  # noqa: E402
from types import ModuleType  # noqa: E402
from typing import Any  # noqa: E402

sys.path.insert(0, str(Path(__file__).parent))
from extraction import as_line, load_scorer, predict, turn_of  # noqa: E402

from dualgate import Settings  # noqa: E402
from dualgate.adapters.llm import EndpointModel  # noqa: E402
from dualgate.adapters.llm.extractor import LlmExtractor  # noqa: E402
from dualgate.adapters.llm.recording import RecordingModel, ReplayModel  # noqa: E402
from dualgate.adapters.memory import open_memory  # noqa: E402
from dualgate.adapters.system import SystemClock  # noqa: E402
from dualgate.adapters.tokens import counter_for  # noqa: E402
from dualgate.errors import DualgateError, ModelRejectedError  # noqa: E402
from dualgate.pipeline.ports import ChatModel, ModelUsage  # noqa: E402
from dualgate.pipeline.reading import ExtractionPolicy  # noqa: E402
from dualgate.pipeline.spending import BudgetPolicy, Purse  # noqa: E402


@dataclass
class Run:
    """What a model answered, what it cost, and what it could not answer."""

    predicted: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    failed: Counter[str] = field(default_factory=Counter)
    usage: ModelUsage = field(default_factory=ModelUsage)
    seconds: list[float] = field(default_factory=list)


class Metered:
    """A model whose every answer is counted."""

    def __init__(self, model: ChatModel, run: Run) -> None:
        self._model = model
        self._run = run
        self.name_for = model.name_for

    async def complete(self, *args: Any, **options: Any) -> Any:
        try:
            answer = await self._model.complete(*args, **options)
        except DualgateError as error:
            spent = getattr(error, "usage", None)
            if isinstance(spent, ModelUsage):
                self._run.usage += spent
            raise
        self._run.usage += answer.usage
        self._run.seconds.append(answer.seconds)
        return answer


async def ask(model: ChatModel, cases: list[dict[str, Any]], run: Run) -> None:
    purse = Purse(Metered(model, run), open_memory().store, SystemClock(), BudgetPolicy())
    extractor = LlmExtractor(purse, ExtractionPolicy())
    for case in cases:
        try:
            found = await extractor.extract(turn_of(case))
        except ModelRejectedError as error:
            raise SystemExit(f"{case['id']}: {error}") from error
        except DualgateError as error:
            # It counts as nothing extracted, and is told apart.
            run.failed[type(error).__name__] += 1
            found = ()
        run.predicted[case["id"]] = [as_line(each) for each in found]


async def measured(options: argparse.Namespace, cases: list[dict[str, Any]]) -> Run:
    run = Run()
    if options.replay:
        await ask(ReplayModel(options.replay), cases, run)
        return run
    settings = Settings.load().model
    if not settings.configured:
        raise SystemExit("no endpoint: set DUALGATE_MODEL__BASE_URL, or give --replay")
    model = EndpointModel(settings, count=counter_for(settings.name or "").count)
    try:
        known = known_answers(options.record)
        asked: ChatModel = RecordingModel(model, options.record) if options.record else model
        await ask(Continued(asked, known) if known else asked, cases, run)
    finally:
        await model.close()
    return run


def known_answers(path: Path | None) -> ReplayModel | None:
    return ReplayModel(path) if path and path.exists() and path.stat().st_size else None


class Continued:
    """Answers from what was recorded already, and asks for the rest."""

    def __init__(self, model: ChatModel, known: ReplayModel) -> None:
        self._model = model
        self._known = known
        self.name_for = model.name_for

    async def complete(self, *args: Any, **options: Any) -> Any:
        try:
            return await self._known.complete(*args, **options)
        except ModelRejectedError:
            return await self._model.complete(*args, **options)


def table(
    scorer: ModuleType, cases: list[dict[str, Any]], predicted: dict[str, Any], name: str
) -> None:
    for lang in ("zh", "en"):
        own = [case for case in cases if case["lang"] == lang]
        if not own:
            continue
        print(f"=== {lang}, {name}")
        counts: Counter[Any] = Counter()
        examples: list[str] = []
        for case in own:
            lasting = [c for c in predicted[case["id"]] if scorer.is_long_term(c)]
            scorer.score(case, lasting, counts, examples)
        scorer.report(counts, examples, 0)


def costs(run: Run, cases: int) -> None:
    usage = run.usage
    told = "estimated" if usage.estimated else "as the endpoint counts"
    print(
        f"{usage.calls} calls, {usage.input_tokens} tokens in, {usage.output_tokens} out ({told})"
    )
    print(
        f"a thousand turns, one a question: {1000 * usage.calls / cases:,.0f} calls, "
        f"{1000 * usage.input_tokens / cases:,.0f} tokens in, "
        f"{1000 * usage.output_tokens / cases:,.0f} out"
    )
    if run.seconds:
        print(f"seconds an answer: median {statistics.median(run.seconds):.2f}, "
              f"longest {max(run.seconds):.2f}")  # fmt: skip
    print("failed for good:", dict(run.failed) or "none")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("gold", type=Path)
    parser.add_argument("--scorer", type=Path, help="score_extraction.py (default: beside GOLD)")
    parser.add_argument("--record", type=Path, help="save questions and answers here")
    parser.add_argument("--replay", type=Path, help="answer from this recording")
    parser.add_argument("--limit", type=int, help="only so many cases of each language")
    options = parser.parse_args()
    scorer = load_scorer(options.scorer or options.gold.with_name("score_extraction.py"))
    every = scorer.read_lines(options.gold)
    cases = [
        case
        for lang in ("zh", "en")
        for case in [c for c in every if c["lang"] == lang][: options.limit]
    ]
    run = asyncio.run(measured(options, cases))
    table(scorer, cases, run.predicted, "the model")
    costs(run, len(cases))
    local, _ = asyncio.run(predict(cases))
    table(scorer, cases, local, "the local extractor")


if __name__ == "__main__":
    main()
