"""MemoryCode as a stream through the whole engine: what is stored, replaced, and kept out.

    python bench/memorycode.py [--data FOLDER] [--limit N] [--show N] [--write]

Each dialogue is a user, each of its sessions a session, two weeks apart; the mentor's lines are
the user's turns, the mentee's the assistant's. Metrics are those of the data set's notes: a stored
text *covers* a topic when it has every quoted literal of it and at least 70 % of its stemmed
content words. A text *states* one value of a chain when it covers it, and has the words and the
polarity that tell this value from the chain's others (else "use Emacs as preferred IDE" would
count as Vim).
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
from collections.abc import Iterable, Sequence  # noqa: E402
from dataclasses import dataclass, field  # noqa: E402
from datetime import UTC, datetime, timedelta  # noqa: E402
from functools import lru_cache  # noqa: E402
from pathlib import Path  # noqa: E402
from typing import Any  # noqa: E402

from dualgate import Memory, MemoryItem, Message  # noqa: E402
from dualgate.domain.plan import Decision, Outcome  # noqa: E402
from dualgate.testing import ManualClock  # noqa: E402

START = datetime(2025, 1, 6, 9, tzinfo=UTC)
APART = timedelta(days=14)
DATA = Path("../shared/data/memorycode")
RESULTS = Path(__file__).parents[1] / "docs" / "results" / "memorycode.md"
SHARE = 0.7
ENTERED = (Outcome.ADMITTED, Outcome.SUPERSEDED, Outcome.CONTESTED)
KINDS = {
    "instruction-add": "coding add",
    "instruction-update": "coding update",
    "filler-instruction-add": "preference add",
    "filler-instruction-update": "preference update",
}
_STOP = frozenset(
    "a an the of in on at to for with as by and or but if is are be been it its this that these "
    "those you your i we our they their do does not never always all any when from into than "
    "instead don't".split()
)
_NEGATIVE = re.compile(
    r"\b(?:never|not|no longer|don't|doesn't|avoid\w*|stop\w*|without|refrain\w*|instead of|"
    r"rather than|no need|anymore)\b"
)


# --- the check of the data set's notes


@lru_cache(maxsize=200_000)
def stem(word: str) -> str:
    """Strip endings: enough for 'starting' and 'start', 'classes' and 'class'."""
    for ending in ("ing", "ies", "ied", "es", "ed", "s", "e"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            word = word[: -len(ending)]
            break
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "ls":
        word = word[:-1]
    return word.removesuffix("i").removesuffix("y") if len(word) > 3 else word


@lru_cache(maxsize=50_000)
def words(text: str) -> frozenset[str]:
    """Return the stemmed content words, quoted literals included as their own words."""
    plain = text.lower().replace("’", "'")
    return frozenset(stem(w) for w in re.findall(r"[a-z0-9_]+(?:'t)?", plain) if w not in _STOP)


@lru_cache(maxsize=10_000)
def literals(topic: str) -> tuple[str, ...]:
    """Return what stands in quotes: it must be kept letter by letter."""
    return tuple(re.findall(r"'([^']+)'", topic))


@lru_cache(maxsize=10_000)
def asked(topic: str) -> frozenset[str]:
    """Return the content words of a topic without its literals."""
    return words(re.sub(r"'[^']+'", " ", topic))


def covers(text: str, topic: str) -> bool:
    """Whether a text says what the topic says, by the notes' definition."""
    lowered = text.lower()
    if any(each.lower() not in lowered for each in literals(topic)):
        return False
    wanted = asked(topic)
    return not wanted or len(wanted & words(text)) >= SHARE * len(wanted)


def negative(text: str) -> bool:
    """Whether a text forbids rather than asks."""
    return bool(_NEGATIVE.search(text.lower().replace("’", "'")))


def states(text: str, polarity: str, values: Sequence[str], index: int) -> bool:
    """Whether a text states this one value of a chain and none of the others."""
    topic = values[index]
    others = [v for i, v in enumerate(values) if i != index]
    named = (rf"(?<!\w){re.escape(each.lower())}(?!\w)" for each in literals(topic))
    if not covers(text, topic) or not all(re.search(each, text.lower()) for each in named):
        return False  # a literal must stand alone here: 't_' is not 'at_'
    own = asked(topic) - frozenset().union(*(asked(v) for v in others))
    if not own <= words(text):
        return False
    if any(covers(text, v) and _extra(v, topic) & words(text) for v in others):
        return False  # it names the other value as well or instead
    if len({negative(v) for v in values}) > 1 and not (literals(topic) or own):
        return (negative(text) or polarity == "-") == negative(topic)
    return True


def _extra(value: str, topic: str) -> frozenset[str]:
    return asked(value) - asked(topic)


# --- the dialogues


@dataclass(frozen=True, slots=True)
class Part:
    """One session: its turns, and what it teaches."""

    turns: tuple[tuple[str, str], ...]
    topics: tuple[tuple[str, str], ...]  # kind, text
    chains: tuple[tuple[int, int], ...]  # chain id, index of the value

    @property
    def is_filler(self) -> bool:
        """Whether it holds no instruction at all."""
        return not self.topics


def parts_of(dialogue: dict[str, Any]) -> list[Part]:
    """Return the sessions of a dialogue."""
    context = dialogue["context"]
    parts = []
    for session, chains in zip(dialogue["sessions"], dialogue["instructions"], strict=True):
        topics = [
            (KINDS[kind], topic)
            for kind, topic in zip(session["type"], session["topic"], strict=True)
            if kind in KINDS
        ]
        parts.append(
            Part(
                turns=tuple(turns_of(session["text"], context["mentor"], context["mentee"])),
                topics=tuple(topics),
                chains=tuple((c[0], c[1]) for c in chains if isinstance(c, list)),
            )
        )
    return parts


def turns_of(text: str, mentor: str, mentee: str) -> list[tuple[str, str]]:
    """Return (role, line) for every line; a line without a name goes on with the last speaker.

    Where no line is headed by the mentor's name, all of it is taken as the user's.
    """
    heads = {mentor: "user", "Mentor": "user", mentee: "assistant", "Mentee": "assistant"}
    head = re.compile(rf"^\W*({'|'.join(map(re.escape, heads))})\b[^\w:]*:\W*?(?=[\w\"'“]|$)")
    turns: list[tuple[str, str]] = []
    for line in text.splitlines():
        found = head.match(line)
        said = (line[found.end() :] if found else line).strip().strip('"“”*').strip()
        role = heads[found[1]] if found else (turns[-1][0] if turns else "")
        if not said or not role:
            continue
        if found or not turns:
            turns.append((role, said))
        else:
            turns[-1] = (role, f"{turns[-1][1]}\n{said}")
    if not any(role == "user" for role, _ in turns):
        return [("user", line.strip()) for line in text.splitlines() if line.strip()]
    return turns


def sentences(parts: Iterable[str]) -> list[str]:
    """Return the sentences of turns: what 'store everything' would store."""
    return [s for text in parts for s in re.split(r"(?<=[.!?])[\s\"”]+|\n", text) if s.strip()]


# --- the run


@dataclass(slots=True)
class Tally:
    """What is counted over all dialogues."""

    counts: Counter[str] = field(default_factory=Counter)
    missed: list[str] = field(default_factory=list)
    noise: list[str] = field(default_factory=list)
    stale: list[str] = field(default_factory=list)

    def share(self, part: str, whole: str) -> str:
        """Return a percentage, or n/a where there is nothing to count."""
        total = self.counts[whole]
        return f"{100 * self.counts[part] / total:.1f} % ({total:,})" if total else "n/a"


async def run_dialogue(
    memory: Memory, clock: ManualClock, user: str, parts: Sequence[Part], tally: Tally,
    chains: dict[int, list[str]],
) -> None:
    """Let one user live through a dialogue, and count."""
    for number, part in enumerate(parts):
        clock.set(START + number * APART)
        messages = [Message(role, content) for role, content in part.turns]  # type: ignore[arg-type]
        # A host asks for the context first; what it shows is in use, and does not decay [R1, D1].
        await memory.context(user, f"{user}-{number}", part.turns[0][1])
        receipt = await memory.observe(user, f"{user}-{number}", messages, wait=True)
        await count_session(memory, user, part, receipt.decisions, tally)
    await count_chains(memory, user, parts, tally, chains)


async def count_session(
    memory: Memory, user: str, part: Part, decisions: Sequence[Decision], tally: Tally
) -> None:
    """Count extraction recall, noise and precision of one session."""
    counts = tally.counts
    entered = [d for d in decisions if d.outcome in ENTERED]
    texts = [d.candidate.content for d in entered]
    confirmed = {str(d.item_id) for d in decisions if d.outcome is Outcome.MERGED}
    texts += [(await memory.item(user, item_id)).content for item_id in confirmed]
    counts["sessions"] += 1
    if part.is_filler:
        counts["filler sessions"] += 1
        counts["filler items"] += len(entered)
        counts["filler promises"] += sum(d.candidate.subject == "assistant" for d in entered)
        tally.noise += [d.candidate.content for d in entered]
        return
    said = sentences(content for role, content in part.turns if role == "user")
    for kind, topic in part.topics:
        near = next((each for each in said if covers(each, topic)), None)
        stored = any(covers(text, topic) for text in texts)
        counts[kind] += 1
        counts[f"{kind} stored"] += stored
        counts[f"{kind} sayable"] += near is not None
        if not stored:
            tally.missed.append(f"{kind}: {topic} <- {near or '(in no single sentence)'}")
    counts["instruction items"] += len(entered)
    counts["instruction items right"] += sum(
        any(covers(d.candidate.content, topic) for _, topic in part.topics) for d in entered
    )


async def count_chains(
    memory: Memory, user: str, parts: Sequence[Part], tally: Tally, chains: dict[int, list[str]]
) -> None:
    """Count, at the end of the dialogue, which value of each chain stands."""
    items: list[MemoryItem] = []
    cursor: str | None = None
    while True:
        page = await memory.items(user, limit=500, cursor=cursor)
        items += page.items
        cursor = page.cursor
        if cursor is None:
            break
    told: dict[int, list[int]] = {}
    for chain, index in (each for part in parts for each in part.chains):
        told.setdefault(chain, []).append(index)
    for chain, indexes in told.items():
        values, last = chains[chain], indexes[-1]
        earlier = {i for i in indexes if i != last}

        def stating(index: int, values: list[str] = values) -> list[MemoryItem]:
            return [i for i in items if states(i.content, i.polarity, values, index)]

        known = stating(last)
        standing = any(is_active(i) for i in known)
        if not earlier:
            tally.counts["stable chains"] += 1
            tally.counts["stable chains stored"] += bool(known)
            tally.counts["stable chains kept"] += standing
            archived = any(i.status == "archived" for i in known)
            tally.counts["stable chains archived"] += archived and not standing
            continue
        count_update(tally, values, last, [i for e in earlier for i in stating(e)], standing)


def count_update(
    tally: Tally, values: list[str], last: int, old: Sequence[MemoryItem], standing: bool
) -> None:
    """Count one chain that was updated."""
    counts = tally.counts
    stale = [i for i in old if is_active(i)]
    counts["updated chains"] += 1
    counts["last active"] += standing
    counts["no earlier active"] += not stale
    counts["superseded"] += standing and not stale
    if old:
        counts["old stored"] += 1
        counts["old stored, gone"] += not stale
        counts["old stored, replaced"] += any(i.status == "superseded" for i in old) and not stale
    tally.stale += [f"{values[last]} | still: {i.content}" for i in stale[:1]]


def is_active(item: MemoryItem) -> bool:
    """Whether an item is among the live ones that may be recalled first."""
    return item.status in ("candidate", "confirmed", "frozen")


def baseline(parts: Sequence[Part], counts: Counter[str]) -> None:
    """Count what storing every sentence of the mentor would score, by the same check."""
    for part in parts:
        said = sentences(content for role, content in part.turns if role == "user")
        if part.is_filler:
            counts["base filler items"] += len(said)
        else:
            counts["base items"] += len(said)
            counts["base items right"] += sum(
                any(covers(each, topic) for _, topic in part.topics) for each in said
            )


def table(tally: Tally, dialogues: int, seconds: float) -> str:
    """Return the table as Markdown."""
    counts = tally.counts
    filler = counts["filler sessions"] or 1
    promised = counts["filler promises"] / filler
    rows = [
        (f"{kind} stored", tally.share(f"{kind} stored", kind), target,
         tally.share(f"{kind} sayable", kind))
        for kind, target in zip(KINDS.values(), ("≥ 85 %", "≥ 88 %", "", ""), strict=True)
    ]  # fmt: skip
    rows += [
        ("stored items per filler session", f"{counts['filler items'] / filler:.2f} ({filler:,})",
         "≤ 1.0", f"{counts['base filler items'] / filler:.1f}"),
        ("… of these, promises of the assistant", f"{promised:.2f}", "", ""),
        ("precision in instruction sessions",
         tally.share("instruction items right", "instruction items"), "",
         tally.share("base items right", "base items")),
        ("after an update: last value active", tally.share("last active", "updated chains"),
         "", ""),
        ("after an update: no earlier value active",
         tally.share("no earlier active", "updated chains"), "", "0"),
        ("supersession (both)", tally.share("superseded", "updated chains"), "", "0"),
        ("old value had been stored, and is not active any more",
         tally.share("old stored, gone", "old stored"), "", "0"),
        ("old value had been stored, and is superseded",
         tally.share("old stored, replaced", "old stored"), "≥ 80 %", "0"),
        ("stability: never updated, still active",
         tally.share("stable chains kept", "stable chains"), "", ""),
        ("… of those that had been stored",
         tally.share("stable chains kept", "stable chains stored"), "", ""),
        ("… and unchanged in the archive, for want of use",
         tally.share("stable chains archived", "stable chains stored"), "", ""),
    ]  # fmt: skip
    lines = ["| measure | dualgate (n) | must reach | store every sentence |", "|---|--:|--:|--:|"]
    lines += [f"| {' | '.join(row)} |" for row in rows]
    lines.append("")
    lines.append(f"{dialogues} dialogues, {counts['sessions']:,} sessions, {seconds:.0f} s.")
    return "\n".join(lines)


def load(folder: Path, limit: int) -> tuple[list[tuple[str, list[Part]]], dict[int, list[str]]]:
    """Return `limit` dialogues, spread evenly, and the chains by id."""
    files = sorted(
        folder.glob("dataset/dialogue_*.json"), key=lambda p: int(p.stem.partition("_")[2])
    )
    if not files:
        raise SystemExit(
            f"no MemoryCode in {folder}: get github.com/for-ai/MemoryCode (Apache-2.0) and give "
            "its folder as --data"
        )
    step = max(1, len(files) / limit) if limit else 1
    chosen = [files[int(i * step)] for i in range(min(limit or len(files), len(files)))]
    topics = json.loads((folder / "topics.json").read_text(encoding="utf-8"))
    chains = {c["id"]: c["text"] for c in topics["instructions"] + topics["fillers_instruction"]}
    return [
        (p.stem, parts_of(json.loads(p.read_text(encoding="utf-8")))) for p in chosen
    ], chains


async def run(folder: Path, limit: int, show: int) -> str:
    """Run the stream; return the table."""
    dialogues, chains = load(folder, limit)
    tally, clock = Tally(), ManualClock(START)
    started = time.perf_counter()
    async with Memory.open("memory://", clock=clock) as memory:
        for name, parts in dialogues:
            clock.set(START)
            await run_dialogue(memory, clock, name, parts, tally, chains)
            baseline(parts, tally.counts)
    for title, lines in (("missed", tally.missed), ("noise", tally.noise), ("stale", tally.stale)):
        if show:
            step = max(1, len(lines) // show)
            print(f"--- {title} ({len(lines)})", *lines[::step][:show], sep="\n")
    return table(tally, len(dialogues), time.perf_counter() - started)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--limit", type=int, default=60, help="dialogues; 0 for all (60)")
    parser.add_argument("--show", type=int, default=0, help="examples of each kind of fault")
    parser.add_argument("--write", action="store_true", help=f"write {RESULTS.name}")
    options = parser.parse_args()

    found = asyncio.run(run(options.data, options.limit, options.show))
    print(found)
    if options.write:
        RESULTS.parent.mkdir(parents=True, exist_ok=True)
        RESULTS.write_text(page(found, options.limit), encoding="utf-8")


def page(found: str, limit: int) -> str:
    """Return the results page."""
    return (
        "# MemoryCode\n\n"
        "Instructions, updates and talk of a mentor, as a stream through the whole engine: real "
        "extractor, embedder, judge and gates, in-memory store, one user a dialogue, two weeks "
        "between sessions, each opened with `context()`. *Store every sentence* is the yardstick, "
        "by the same check; in its column the first four rows are the ceiling of the check.\n\n"
        f"    python bench/memorycode.py --limit {limit} --write\n\n"
        f"{found}\n\n"
        "How the check works: see the head of `bench/memorycode.py`. Data: MemoryCode, Apache-2.0 "
        "(Rakotonirina et al., 2025).\n"
    )


if __name__ == "__main__":
    sys.exit(main())
