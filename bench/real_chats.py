"""Months of public chats through Memory, and a sample of what became of them for a person to read.

    python bench/real_chats.py [DATA] [--show] [--unread] [--seed TEXT]

DATA holds `memorybank/` (15 people a language, ten days each; MIT) and `evermemos-demo-chats/` (a
team and one person with an assistant, half a year; Apache-2.0). Every person of every file is a
user; sessions come oldest first with their own times, through the real extractor, embedder, judge
and gates, into the in-memory store.

The sample: 50 stored and 50 refused, zh and en. *Refused* is, a third each, a candidate that was
turned away for another reason than being unsure, a candidate of confidence .3 to .6, and a user's
turn without any candidate. A case has the digest of its message and quote as its id, and the 50
lowest digests are the sample: a change of the extractor changes few of them.

What was judged, by eye, stands in bench/data/real-chats.jsonl: id, digest of the wording, verdict
and kind, no text. The command counts it over the sample as it is now; --show prints all cases and
--unread those without a verdict, with the turn and the one before, for your eyes only.
"""

from __future__ import annotations

import os

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[_name] = "1"  # before numpy is loaded

import argparse  # noqa: E402
import asyncio  # noqa: E402
import hashlib  # noqa: E402
import json  # noqa: E402
import math  # noqa: E402
import sys  # noqa: E402
from collections import Counter  # noqa: E402
from collections.abc import Iterable, Iterator, Sequence  # noqa: E402
from dataclasses import dataclass  # noqa: E402
from datetime import UTC, datetime, timedelta  # noqa: E402
from pathlib import Path  # noqa: E402

from dualgate import Memory  # noqa: E402
from dualgate.adapters.logs import read  # noqa: E402
from dualgate.domain.plan import Decision, Outcome  # noqa: E402
from dualgate.domain.types import Role  # noqa: E402
from dualgate.pipeline.ingest import LogSession, in_time_order  # noqa: E402
from dualgate.testing import ManualClock  # noqa: E402

DATA = Path(os.environ.get("DUALGATE_SHARED_DATA", "../shared/data"))
VERDICTS = Path(__file__).parent / "data" / "real-chats.jsonl"
FILES = (
    ("zh", "memorybank/eval_data/cn/memory_bank_cn.json"),
    ("en", "memorybank/eval_data/en/memory_bank_en.json"),
    ("zh", "evermemos-demo-chats/solo_chat_zh.json"),
    ("en", "evermemos-demo-chats/solo_chat_en.json"),
    ("zh", "evermemos-demo-chats/team_chat_zh.json"),
    ("en", "evermemos-demo-chats/team_chat_en.json"),
)
ENTERED = (Outcome.ADMITTED, Outcome.SUPERSEDED, Outcome.CONTESTED)
UNSURE = (0.3, 0.6)
# How many of each the sample holds, a language.
SHARES = {"stored": 50, "turned away": 17, "unsure": 17, "silent": 16}
REFUSED = ("turned away", "unsure", "silent")
Z = 1.96
SHOWN = 1_200  # characters of a turn


@dataclass(frozen=True, slots=True)
class Case:
    """One thing to judge: what was made of a turn, or that nothing was."""

    id: str
    lang: str
    group: str
    source: str
    turn: str
    before: str
    made: str  # type, content, and what decided; empty where nothing was made

    @property
    def said(self) -> str:
        """The digest of the wording: what is stored is judged with its words."""
        return digest(self.made if self.group == "stored" else "")


@dataclass(frozen=True, slots=True)
class Verdict:
    """right: the user would have it so. kind names what is wrong, or why it is right."""

    id: str
    said: str
    lang: str
    group: str
    source: str
    right: bool
    kind: str
    read: int


def digest(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:10]


async def cases(data: Path, seed: str) -> list[Case]:
    """Live through every chat; return everything there is to judge."""
    found: list[Case] = []
    clock = ManualClock(datetime(2020, 1, 1, tzinfo=UTC))
    async with Memory.open("memory://", clock=clock) as memory:
        for lang, name in FILES:
            path = data / name
            if not path.is_file():
                raise SystemExit(f"no {path}: see bench/real_chats.py for what DATA holds")
            people: dict[str, list[LogSession]] = {}
            for session in read(path):
                people.setdefault(session.person or "", []).append(session)
            for place, sessions in enumerate(people.values()):
                user = f"{path.stem}-{place}"
                decisions = await _live(memory, clock, user, sessions)
                found += _judged(lang, path.stem, sessions, decisions, seed)
    return found


async def _live(
    memory: Memory, clock: ManualClock, user: str, sessions: Sequence[LogSession]
) -> list[Decision]:
    decisions: list[Decision] = []
    for batch in in_time_order(sessions):
        times = [message.at for message in batch.messages if message.at is not None]
        clock.set(max(times) + timedelta(seconds=1))
        receipt = await memory.observe(user, batch.session.id, batch.messages, wait=True)
        decisions += receipt.decisions
    await memory.maintain(user)
    return decisions


def _judged(
    lang: str,
    source: str,
    sessions: Sequence[LogSession],
    decisions: Iterable[Decision],
    seed: str,
) -> Iterator[Case]:
    told: dict[str, tuple[str, str]] = {}
    own: list[str] = []
    for session in sessions:
        before = ""
        for message in session.messages:
            told[message.id or ""] = (message.content, before)
            before = message.content
            if message.role is Role.USER:
                own.append(message.id or "")
    answered = set()
    for decision in decisions:
        made = decision.candidate
        answered.add(made.message_id)
        group = _group(decision)
        if group is None:
            continue
        turn, before = told.get(made.message_id or "", ("", ""))
        text = f"{made.item_type}{made.polarity} {made.content}"
        yield Case(
            digest(seed, made.message_id or "", made.quote or "", group),
            lang, group, source, turn, before,
            text if group == "stored" else f"{text} [{decision.reason} {made.confidence:.2f}]",
        )  # fmt: skip
    for name in own:
        if name not in answered:
            turn, before = told[name]
            yield Case(digest(seed, name, "", "silent"), lang, "silent", source, turn, before, "")


def _group(decision: Decision) -> str | None:
    if decision.outcome in ENTERED:
        return "stored"
    if decision.outcome is Outcome.MERGED:
        return None  # a signal of an item that is judged where it entered
    unsure = UNSURE[0] <= decision.candidate.confidence < UNSURE[1]
    return "unsure" if unsure and decision.reason == "low_confidence" else "turned away"


def sample(found: Iterable[Case]) -> list[Case]:
    """Return the lowest digests of each language and group."""
    chosen: list[Case] = []
    pool = sorted({each.id: each for each in found}.values(), key=lambda each: each.id)
    for lang in ("zh", "en"):
        for group, share in SHARES.items():
            chosen += [e for e in pool if e.lang == lang and e.group == group][:share]
    return chosen


def verdicts(path: Path) -> list[Verdict]:
    if not path.is_file():
        return []
    return [Verdict(**json.loads(line)) for line in path.read_text("utf-8").splitlines()]


def interval(right: int, count: int) -> tuple[float, float]:
    """Return Wilson's 95 % interval of a share."""
    share = right / count
    middle = share + Z * Z / (2 * count)
    wide = Z * math.sqrt(share * (1 - share) / count + Z * Z / (4 * count * count))
    return (middle - wide) / (1 + Z * Z / count), (middle + wide) / (1 + Z * Z / count)


def table(judged: Sequence[Verdict]) -> str:
    """Return shares judged otherwise, and kinds, as Markdown."""
    lines = ["| | read | judged otherwise | 95 % |", "|---|--:|--:|--:|"]
    for lang in ("zh", "en"):
        for name, groups in (
            ("stored", ("stored",)), ("refused", REFUSED), *((f"· {g}", (g,)) for g in REFUSED)
        ):  # fmt: skip
            of = [each for each in judged if each.lang == lang and each.group in groups]
            if of:
                wrong = sum(not each.right for each in of)
                low, high = interval(wrong, len(of))
                lines.append(
                    f"| {lang} {name} | {len(of)} | {wrong} ({100 * wrong / len(of):.0f} %) "
                    f"| {100 * low:.0f}–{100 * high:.0f} % |"
                )
    lines += ["", "| stored, by source | read | judged otherwise |", "|---|--:|--:|"]
    stored = [each for each in judged if each.group == "stored"]
    for source, count in sorted(Counter(each.source for each in stored).items()):
        wrong = sum(not each.right for each in stored if each.source == source)
        lines.append(f"| {source} | {count} | {wrong} ({100 * wrong / count:.0f} %) |")
    lines += ["", "| kind | where | zh | en |", "|---|---|--:|--:|"]
    kinds = Counter(
        (each.kind, "stored" if each.group == "stored" else "refused", each.lang)
        for each in judged
        if not each.right
    )
    rows = Counter((kind, where) for kind, where, _ in kinds.elements())
    for (kind, where), _ in rows.most_common():
        zh, en = (kinds[kind, where, lang] for lang in ("zh", "en"))
        lines.append(f"| {kind} | {where} | {zh} | {en} |")
    return "\n".join(lines)


def shown(case: Case) -> str:
    """Return one case for a reader."""
    before = case.before.replace("\n", " ⏎ ")
    before = before if len(before) <= SHOWN // 4 else f"…{before[-SHOWN // 4 :]}"
    turn = case.turn.replace("\n", " ⏎ ")[:SHOWN]
    head = f"{case.id} {case.said} {case.lang} {case.group} | {case.source}"
    return f"{head}\n  < {before}\n  > {turn}\n  = {case.made or '(nothing)'}\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("data", type=Path, nargs="?", default=DATA)
    parser.add_argument("--seed", default="real-chats", help="another seed is another sample")
    parser.add_argument("--show", action="store_true", help="print every case of the sample")
    parser.add_argument("--unread", action="store_true", help="print those without a verdict")
    options = parser.parse_args()

    found = asyncio.run(cases(options.data, options.seed))
    chosen, known = sample(found), verdicts(VERDICTS)
    of = {(each.id, each.said): each for each in known}
    for case in chosen:
        if options.show or (options.unread and (case.id, case.said) not in of):
            print(shown(case))
    counts = Counter((each.lang, each.group) for each in {e.id: e for e in found}.values())
    for (lang, group), count in sorted(counts.items()):
        print(f"{lang} {group}: {count} cases")
    first = [each for each in known if each.read == 1]
    now = [of[e.id, e.said] for e in chosen if (e.id, e.said) in of]
    print(f"\n## First reading\n\n{table(first)}")
    print(f"\n## The sample as it is now ({len(now)} of {len(chosen)} read)\n\n{table(now)}")


if __name__ == "__main__":
    sys.exit(main())
