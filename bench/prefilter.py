"""What the pre-filter spares a model, and what it loses [W5].

    python bench/prefilter.py [--limit N] [--write]

A turn whose promise (the highest probability, as the local extractor sees it, that a clause states
anything) is under the bar never reaches the model. *Spared*: the share of turns, and so of
questions at one turn a question, that are not asked. *Facts lost*: the gold facts of
extraction-dev that stand in such a turn. *Evidence lost*: the turns that LoCoMo's questions name
as their evidence.

The data is read where it lies, never copied; nothing here prints it.
"""

from __future__ import annotations

import os

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[_name] = "1"  # before numpy is loaded

import argparse  # noqa: E402
import asyncio  # noqa: E402
import json  # noqa: E402
import re  # noqa: E402
import time  # noqa: E402
from collections.abc import Iterator, Sequence  # noqa: E402
from dataclasses import dataclass  # noqa: E402
from datetime import UTC, datetime  # noqa: E402
from pathlib import Path  # noqa: E402

from dualgate import Message  # noqa: E402
from dualgate.adapters.local.prefilter import LocalPrefilter  # noqa: E402
from dualgate.bootstrap import read_logs  # noqa: E402
from dualgate.domain.types import Role  # noqa: E402
from dualgate.pipeline.ingest import ReadReport  # noqa: E402
from dualgate.pipeline.ports import Turn  # noqa: E402
from dualgate.pipeline.reading import ExtractionPolicy  # noqa: E402

SHARED = Path(os.environ.get("DUALGATE_SHARED_DATA", "../shared/data"))
RESULTS = Path(__file__).parents[1] / "docs" / "results" / "prefilter.md"
BARS = (0.003, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3)
AT = datetime(2026, 3, 2, 9, tzinfo=UTC)
HISTORY = 4
_TURN_ID = re.compile(r"D:?(\d+):(\d+)")


@dataclass(frozen=True, slots=True)
class Seen:
    """One turn of a data set: its promise, and how much would be lost with it."""

    promise: float
    worth: int


def turn_of(said: Sequence[Message], place: int, at: datetime = AT) -> Turn:
    history = tuple(said[max(0, place - HISTORY) : place])
    return Turn(user_id="bench", session_id="s", message=said[place], at=at, history=history)


def dev_turns() -> Iterator[tuple[Turn, int, str]]:
    for line in (SHARED / "extraction-dev.jsonl").read_text("utf-8").splitlines():
        case = json.loads(line)
        said = [Message(Role(m["role"]), m["content"]) for m in case["history"]]
        said.append(Message(Role.USER, case["turn"]))
        at = datetime.fromisoformat(case["at"])
        yield turn_of(said, len(said) - 1, at), len(case["facts"]), case["lang"]


def locomo_turns() -> Iterator[tuple[Turn, int]]:
    """Yield each conversation once per speaker: he is the user, the other the assistant."""
    for talk in json.loads((SHARED / "locomo" / "locomo10.json").read_text("utf-8")):
        evidence = {
            (int(s), int(n))
            for question in talk["qa"]
            for text in question.get("evidence", [])
            for s, n in _TURN_ID.findall(str(text))
        }
        lines = talk["conversation"]
        for speaker in (lines["speaker_a"], lines["speaker_b"]):
            for number in range(1, 100):
                session = lines.get(f"session_{number}")
                if not session:
                    continue
                said = [
                    Message(Role.USER if t["speaker"] == speaker else Role.ASSISTANT, t["text"])
                    for t in session
                ]
                for place, message in enumerate(said):
                    if message.role is Role.USER and message.content.strip():
                        yield turn_of(said, place), int((number, place + 1) in evidence)


def memorybank_turns() -> Iterator[tuple[Turn, str]]:
    for lang, folder in (("zh", "cn"), ("en", "en")):
        report = ReadReport()
        path = str(SHARED / "memorybank" / "eval_data" / folder)
        for session in read_logs(path, "memorybank", report=report):
            said = list(session.messages)
            for place, message in enumerate(said):
                if message.role is Role.USER and message.content.strip():
                    yield turn_of(said, place), lang


def row(name: str, seen: Sequence[Seen], what: str) -> list[str]:
    total = sum(one.worth for one in seen)
    cells = []
    for bar in BARS:
        out = [one for one in seen if one.promise < bar]
        spared = f"{100 * len(out) / len(seen):.1f} %"
        lost = sum(one.worth for one in out)
        cells.append(spared if not total else f"{spared}, {lost} lost")
    held = f" ({total} {what})" if total else ""
    return [f"| {name}: {len(seen)} turns{held} | " + " | ".join(cells) + " |"]


async def measured(limit: int) -> list[str]:
    prefilter = LocalPrefilter()
    seen: dict[str, list[Seen]] = {}

    async def look(name: str, turn: Turn, worth: int) -> None:
        kept = seen.setdefault(name, [])
        if not limit or len(kept) < limit:
            kept.append(Seen(await prefilter.promise(turn), worth))

    started = time.process_time()
    for turn, facts, lang in dev_turns():
        await look(f"extraction-dev {lang}", turn, facts)
    for turn, lang in memorybank_turns():
        await look(f"MemoryBank {lang}", turn, 0)
    for turn, worth in locomo_turns():
        await look("LoCoMo", turn, worth)
    spent = (time.process_time() - started) / sum(len(each) for each in seen.values())
    lines = ["| turns | " + " | ".join(f"bar {bar:g}" for bar in BARS) + " |",
             "|---|" + "--:|" * len(BARS)]  # fmt: skip
    for name, each in seen.items():
        lines += row(name, each, "facts" if "dev" in name else "are evidence")
    bar = ExtractionPolicy().prefilter_at
    lines += ["", f"The default bar is {bar:g}. A look takes {1000 * spent:.1f} ms of one core."]
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--limit", type=int, default=0, help="turns of each set at most")
    parser.add_argument("--write", action="store_true", help="renew docs/results/prefilter.md")
    options = parser.parse_args()
    lines = asyncio.run(measured(options.limit))
    print("\n".join(lines))
    if options.write:
        head = RESULTS.read_text("utf-8").split("<!-- tables -->")[0]
        text = head + "<!-- tables -->\n\n" + "\n".join(lines) + "\n"
        RESULTS.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
