"""LoCoMo through the whole engine: which turns become memory, which should not, what survives.

    python bench/locomo_extraction.py [PATH/locomo10.json] [--limit N] [--show N] [--write]

Each conversation is lived through twice, once per speaker: that speaker is the user, the other the
assistant. *Turn recall*: share of the user's turns with a reference observation from which a
memory was stored. *Noise*: share of stored memories whose turn has neither an observation nor any
question's evidence. *Evidence survival*: share of the questions' evidence turns by this user that
some live memory (hot, frozen or archived) still rests on at the end.

The data is CC BY-NC 4.0: it is read where it lies, never copied, and nothing here prints it except
--show, for your eyes.
"""

from __future__ import annotations

import os

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[_name] = "1"  # before numpy is loaded

import argparse  # noqa: E402
import asyncio  # noqa: E402
import json  # noqa: E402
import re  # noqa: E402
import sys  # noqa: E402
import time  # noqa: E402
from collections import Counter  # noqa: E402
from collections.abc import Iterator, Mapping, Sequence  # noqa: E402
from dataclasses import dataclass, field  # noqa: E402
from datetime import UTC, datetime, timedelta  # noqa: E402
from pathlib import Path  # noqa: E402
from typing import Any  # noqa: E402

from dualgate import Memory, MemoryItem, Message  # noqa: E402
from dualgate.domain.plan import Decision, Outcome  # noqa: E402
from dualgate.testing import ManualClock  # noqa: E402

DATA = Path("../shared/data/locomo/locomo10.json")
RESULTS = Path(__file__).parents[1] / "docs" / "results" / "locomo-extraction.md"
ENTERED = (Outcome.ADMITTED, Outcome.SUPERSEDED, Outcome.CONTESTED)
STORED = (*ENTERED, Outcome.MERGED)
_TURN_ID = re.compile(r"D:?(\d+):(\d+)")

# What kind of turn was missed: the first rule that fits names it.
_ANY = re.IGNORECASE | re.DOTALL
KINDS: Mapping[str, re.Pattern[str]] = {
    "a question back to the partner": re.compile(r"\?\s*$"),
    "about the partner (you, your), not the user": re.compile(
        r"^(?!.*\b(?:i|i'm|i've|i'll|my|me|we|our|us)\b).*\byou", _ANY
    ),
    "a wish, hope or plan": re.compile(
        r"\b(?:want(?:ed)? to|hop(?:e|ing)|plan(?:ning|s)?|gonna|going to|would love|dream|"
        r"looking forward|can't wait|thinking (?:of|about))\b",
        _ANY,
    ),
    "relatives, friends, pets": re.compile(
        r"\b(?:my|our) (?:\w+ )?(?:mom|mother|dad|father|sister|brother|kids?|son|daughter|family|"
        r"friends?|partner|wife|husband|girlfriend|boyfriend|dogs?|cats?|pets?|pups?|team)\b",
        _ANY,
    ),
    "a recent event (last week, yesterday, just)": re.compile(
        r"\b(?:last|yesterday|ago|just|recently|this (?:week|month|morning)|today|finally)\b", _ANY
    ),
    "a feeling or a judgement": re.compile(
        r"\b(?:feel\w*|felt|love[sd]?|happy|proud|grateful|thankful|amazing|awesome|great|helps?|"
        r"means|inspir\w+|important|fun|joy)\b",
        _ANY,
    ),
}
OTHER = "a plain statement"


@dataclass(frozen=True, slots=True)
class Line:
    """One turn of a conversation."""

    id: str
    speaker: str
    text: str
    has_image: bool


@dataclass(frozen=True, slots=True)
class Conversation:
    """Its sessions by time, the turns that carry an observation, and those that are evidence."""

    name: str
    speakers: tuple[str, str]
    sessions: tuple[tuple[datetime, tuple[Line, ...]], ...]
    observed: frozenset[str]
    evidence: frozenset[str]


def conversations(path: Path) -> list[Conversation]:
    """Read the file."""
    if not path.is_file():
        raise SystemExit(
            f"no LoCoMo at {path}: get data/locomo10.json of github.com/snap-research/LoCoMo "
            "(CC BY-NC 4.0, not for commercial use) and give its path"
        )
    return [read_one(n, each) for n, each in enumerate(json.loads(path.read_text("utf-8")))]


def read_one(number: int, raw: dict[str, Any]) -> Conversation:
    """Return one conversation."""
    told = raw["conversation"]
    sessions = []
    for key in sorted((k for k in told if re.fullmatch(r"session_\d+", k)), key=_number):
        at = datetime.strptime(f"{told[f'{key}_date_time']} +0000", "%I:%M %p on %d %B, %Y %z")
        lines = tuple(
            Line(turn_id(t["dia_id"]), t["speaker"], t.get("text", ""), "img_url" in t)
            for t in told[key]
        )
        sessions.append((at, lines))
    observed = {
        each
        for by_speaker in raw["observation"].values()
        for facts in by_speaker.values()
        for _, source in facts
        for each in turn_ids(source)
    }
    evidence = {
        each for qa in raw["qa"] for source in qa.get("evidence", ()) for each in turn_ids(source)
    }
    return Conversation(
        f"conversation-{number}", (told["speaker_a"], told["speaker_b"]), tuple(sessions),
        frozenset(observed), frozenset(evidence),
    )  # fmt: skip


def _number(key: str) -> int:
    return int(key.partition("_")[2])


def turn_id(text: str) -> str:
    """Return an id without leading zeros and stray colons."""
    return next(turn_ids(text), text)


def turn_ids(source: object) -> Iterator[str]:
    """Return the ids in a reference, however it is spelt."""
    text = source if isinstance(source, str) else json.dumps(source)
    return (f"D{int(a)}:{int(b)}" for a, b in _TURN_ID.findall(text))


@dataclass(slots=True)
class Tally:
    """What is counted over all lives."""

    counts: Counter[str] = field(default_factory=Counter)
    missed: Counter[str] = field(default_factory=Counter)
    of_kind: Counter[str] = field(default_factory=Counter)
    causes: Counter[str] = field(default_factory=Counter)
    noise: Counter[str] = field(default_factory=Counter)
    shown: list[str] = field(default_factory=list)


async def live(
    memory: Memory, clock: ManualClock, talk: Conversation, me: str, tally: Tally
) -> None:
    """Let one speaker be the user of a whole conversation, and count."""
    user = f"{talk.name}-{me}"
    of_turn: dict[str, list[Decision]] = {}
    for number, (at, lines) in enumerate(talk.sessions, start=1):
        clock.set(at)
        messages = [
            Message(
                "user" if line.speaker == me else "assistant",  # type: ignore[arg-type]
                line.text, at, line.id,
            )
            for line in lines
            if line.text.strip()
        ]  # fmt: skip
        clock.advance(hours=1)
        receipt = await memory.observe(user, f"{user}-{number}", messages, wait=True)
        for decision in receipt.decisions:
            of_turn.setdefault(decision.candidate.message_id or "", []).append(decision)
    last = talk.sessions[-1][0] + timedelta(hours=2)
    clock.set(last)
    await memory.maintain(user)
    mine = [x for _, lines in talk.sessions for x in lines if x.speaker == me]
    count_turns(talk, mine, of_turn, tally)
    await count_survival(memory, user, talk, mine, tally)


def count_turns(
    talk: Conversation, mine: Sequence[Line], of_turn: Mapping[str, list[Decision]], tally: Tally
) -> None:
    """Count recall and noise, and sort the misses by kind and by cause."""
    by_id = {line.id: line for line in mine}
    for line in mine:
        decisions = of_turn.get(line.id, [])
        tally.counts["user turns"] += 1
        stored = any(d.outcome in STORED for d in decisions)
        tally.counts["evidence turns stored"] += stored and line.id in talk.evidence
        if line.id not in talk.observed:
            continue
        kind = kind_of(line)
        tally.counts["observed turns"] += 1
        tally.of_kind[kind] += 1
        if stored:
            tally.counts["observed turns stored"] += 1
            continue
        tally.missed[kind] += 1
        tally.causes[cause_of(decisions)] += 1
        tally.shown.append(f"missed | {kind} | {line.text[:160]}")
    useful = talk.observed | talk.evidence
    for name, decisions in of_turn.items():
        for decision in (d for d in decisions if d.outcome in ENTERED):
            tally.counts["stored"] += 1
            if name not in useful:
                tally.counts["stored noise"] += 1
                owner = kind_of(by_id[name]) if name in by_id else "the assistant's promises"
                tally.noise[owner] += 1
                tally.shown.append(f"noise | {owner} | {decision.candidate.content[:160]}")


async def count_survival(
    memory: Memory, user: str, talk: Conversation, mine: Sequence[Line], tally: Tally
) -> None:
    """Count which evidence turns a live memory still rests on."""
    items: list[MemoryItem] = []
    cursor: str | None = None
    while True:
        page = await memory.items(
            user, status=("candidate", "confirmed", "frozen", "archived"), limit=500, cursor=cursor
        )
        items += page.items
        cursor = page.cursor
        if cursor is None:
            break
    rests_on = {
        signal.message_id
        for item in items
        for signal in (await memory.history(user, item.id)).signals
    }
    for item in items:
        pool = "hot" if item.status in ("candidate", "confirmed") else item.status
        tally.counts[f"at the end {pool}"] += 1
    asked = {line.id for line in mine} & talk.evidence
    tally.counts["evidence turns"] += len(asked)
    tally.counts["evidence turns reachable"] += len(asked & rests_on)


def kind_of(line: Line) -> str:
    """Return what kind of turn this is, by the first rule that fits."""
    if len(line.text.split()) <= 6:
        return "up to six words: an answer that needs its question"
    for kind, rule in KINDS.items():
        if rule.search(line.text):
            return kind
    return "a remark on a shared picture" if line.has_image else OTHER


def cause_of(decisions: Sequence[Decision]) -> str:
    """Return where a missed turn was lost."""
    if not decisions:
        return "nothing was extracted"
    first = max(decisions, key=lambda d: d.candidate.confidence)
    return f"{first.outcome}: {first.reason}"


def table(tally: Tally, lives: int, seconds: float) -> str:
    """Return the tables as Markdown."""
    counts = tally.counts

    def share(part: str, whole: str) -> str:
        total = counts[whole]
        return f"{100 * counts[part] / total:.1f} % ({total:,})" if total else "n/a"

    at_first = share("evidence turns stored", "evidence turns")
    lines = [
        "| measure | value (n) |", "|---|--:|",
        f"| turn recall | {share('observed turns stored', 'observed turns')} |",
        f"| noise | {share('stored noise', 'stored')} |",
        f"| evidence survival | {share('evidence turns reachable', 'evidence turns')} |",
        f"| the same at the moment of storing | {at_first} |",
        f"| memories stored per user turn | {counts['stored'] / counts['user turns']:.2f} |",
        f"| items at the end, a user: hot | {counts['at the end hot'] / lives:.0f} |",
        f"| frozen | {counts['at the end frozen'] / lives:.0f} |",
        f"| archived | {counts['at the end archived'] / lives:.0f} |",
        "", f"{lives} lives, {counts['user turns']:,} user turns, {seconds:.0f} s.", "",
        "| observed turns by kind | turns | stored |", "|---|--:|--:|",
    ]  # fmt: skip
    for kind, total in tally.of_kind.most_common():
        lines.append(f"| {kind} | {total} | {100 * (1 - tally.missed[kind] / total):.0f} % |")
    lines += ["", "| where a missed turn was lost | turns |", "|---|--:|"]
    lines += [f"| {cause} | {n} |" for cause, n in tally.causes.most_common()]
    lines += ["", "| noise by kind of turn | memories |", "|---|--:|"]
    lines += [f"| {kind} | {n} |" for kind, n in tally.noise.most_common()]
    return "\n".join(lines)


async def run(path: Path, limit: int, show: int) -> str:
    """Live through the conversations; return the tables."""
    talks = conversations(path)[: limit or None]
    tally, clock = Tally(), ManualClock(datetime(2022, 1, 1, tzinfo=UTC))
    started = time.perf_counter()
    async with Memory.open("memory://", clock=clock) as memory:
        for talk in talks:
            for me in talk.speakers:
                await live(memory, clock, talk, me, tally)
    if show:
        print(*tally.shown[:: max(1, len(tally.shown) // show)][:show], sep="\n")
    return table(tally, 2 * len(talks), time.perf_counter() - started)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("data", type=Path, nargs="?", default=DATA)
    parser.add_argument("--limit", type=int, default=0, help="conversations; 0 for all ten (0)")
    parser.add_argument("--show", type=int, default=0, help="examples of misses and noise")
    parser.add_argument("--write", action="store_true", help=f"renew the tables in {RESULTS.name}")
    options = parser.parse_args()

    found = asyncio.run(run(options.data, options.limit, options.show))
    print(found)
    if options.write:
        write(found)


MARKS = ("<!-- tables -->\n", "<!-- end of tables -->\n")


def write(found: str) -> None:
    """Put the tables between the marks of the results page; the words around them stay."""
    RESULTS.parent.mkdir(parents=True, exist_ok=True)
    page = RESULTS.read_text("utf-8") if RESULTS.is_file() else "# LoCoMo\n\n" + "".join(MARKS)
    before, _, rest = page.partition(MARKS[0])
    after = rest.partition(MARKS[1])[2]
    RESULTS.write_text(f"{before}{MARKS[0]}\n{found}\n\n{MARKS[1]}{after}", "utf-8")


if __name__ == "__main__":
    sys.exit(main())
