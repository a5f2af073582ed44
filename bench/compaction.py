"""Compaction on long chats: how many tokens it saves, and what it keeps of what is asked later.

    python bench/compaction.py [--locomo PATH/locomo10.json] [--memorybank FOLDER] [--write]

Every chat of LoCoMo (ten, of some 600 turns each) and of MemoryBank (fifteen people, zh and en) is
compacted as one conversation, one speaker as the user, the other as the assistant. *Saved* is the
share of tokens that went. *Numbers and names kept*: of the numbers and names in the turns that
LoCoMo's questions name as their evidence, the share that still stands somewhere in the result;
*turns kept*: the share of those turns of which at least one sentence still stands there word for
word. A name is a word that the chat writes with a capital and nowhere without, other than the two
speakers'. The same is measured for two lists of as many tokens: the latest turns alone, and
sentences drawn at random beside the latest twenty turns.

LoCoMo is CC BY-NC 4.0: it is read where it lies, and nothing here prints a sentence of it.
"""

from __future__ import annotations

import os

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[_name] = "1"  # before numpy is loaded

import argparse  # noqa: E402
import asyncio  # noqa: E402
import json  # noqa: E402
import random  # noqa: E402
import re  # noqa: E402
import time  # noqa: E402
from collections import Counter  # noqa: E402
from collections.abc import Iterator, Sequence  # noqa: E402
from dataclasses import dataclass, field, replace  # noqa: E402
from pathlib import Path  # noqa: E402

from dualgate import Message  # noqa: E402
from dualgate.adapters.local.extraction import LocalExtractor  # noqa: E402
from dualgate.adapters.local.redact import SecretRedactor  # noqa: E402
from dualgate.adapters.local.summarizer import LocalSummarizer, sentences_in  # noqa: E402
from dualgate.adapters.tokens import counter_for  # noqa: E402
from dualgate.conversation.compacting import Compacted, compact  # noqa: E402
from dualgate.conversation.folding import CompactPorts  # noqa: E402
from dualgate.domain.compaction import CompactionPolicy, Digest, details  # noqa: E402
from dualgate.domain.items import folded  # noqa: E402
from dualgate.pipeline.ports import Summarizer  # noqa: E402
from dualgate.pipeline.render import quoted  # noqa: E402

SHARED = Path("../shared/data")
RESULTS = Path(__file__).parents[1] / "docs" / "results" / "compaction.md"
MARKS = ("<!-- tables -->\n", "<!-- end of tables -->\n")
SIZES = (400, 800, 1_600, 3_200, 6_400)
HEAD = (
    "| LoCoMo, summary of at most … tokens | saved | numbers and names kept | turns kept "
    "| both, latest turns alone | both, random sentences |"
)
TOKENS = counter_for("gpt-4o")
POLICY = CompactionPolicy()
_TURN_ID = re.compile(r"D:?(\d+):(\d+)")
_LOWER = re.compile(r"\b[a-z][\w'-]*")


@dataclass(frozen=True)
class Chat:
    """A conversation, and the places of the turns that are asked about."""

    messages: list[Message]
    asked: tuple[int, ...] = ()
    speakers: frozenset[str] = frozenset()

    def names(self) -> frozenset[str]:
        """Return what stands without a capital somewhere, or is a speaker: these are no names."""
        return self.speakers.union(*(_LOWER.findall(m.content) for m in self.messages))


class Remembered:
    """A summarizer that reads the same turns once, however often it is asked."""

    input_tokens = None

    def __init__(self, summarizer: Summarizer) -> None:
        self._summarizer = summarizer
        self._known: dict[tuple[Message, ...], Digest] = {}
        self.seconds = 0.0
        self.turns = 0

    async def summarize(self, turns: Sequence[Message]) -> Digest:
        """Return the digest of the turns."""
        key = tuple(turns)
        if key not in self._known:
            start = time.perf_counter()
            self._known[key] = await self._summarizer.summarize(turns)
            self.seconds += time.perf_counter() - start
            self.turns += len(turns)
        return self._known[key]

    def per_turn(self) -> float:
        """Return how many milliseconds a turn took."""
        return 1_000 * self.seconds / self.turns


@dataclass
class Tally:
    """Sums over chats."""

    counts: Counter[str] = field(default_factory=Counter)

    def share(self, part: str, whole: str) -> str:
        """Return a share in percent."""
        return f"{100 * self.counts[part] / self.counts[whole]:.1f} %"

    def add(self, chat: Chat, result: Sequence[Message]) -> None:
        """Count what a result saves and keeps."""
        before, after = tokens(chat.messages), tokens(result)
        self.counts.update(before=before, after=after, saved=before - after)
        text = "\n".join(m.content for m in result)
        plain, found = folded(text), details(text)
        none = chat.names()
        for place in chat.asked:
            said = chat.messages[place].content
            wanted = {d for d in details(said) if d not in none}
            self.counts.update(details=len(wanted), kept=len(wanted & found))
            whole = any(folded(quoted(each)) in plain for each in sentences_in(said))
            self.counts.update(turns=1, standing=int(whole))


def tokens(messages: Sequence[Message]) -> int:
    """Return the tokens of all messages."""
    return sum(TOKENS.count(m.content) for m in messages)


# --- the chats


def locomo(path: Path) -> Iterator[Chat]:
    """Yield LoCoMo's conversations with the turns that their questions rest on."""
    for each in json.loads(path.read_text("utf-8")):
        talk = each["conversation"]
        place: dict[tuple[str, str], int] = {}
        messages: list[Message] = []
        for number in range(1, 100):
            for turn in talk.get(f"session_{number}", ()):
                role = "user" if turn["speaker"] == talk["speaker_a"] else "assistant"
                if match := _TURN_ID.search(turn["dia_id"]):
                    place[match.groups()] = len(messages)
                messages.append(Message(role, turn["text"]))
        named = {
            found
            for question in each["qa"]
            for evidence in question["evidence"]
            for found in _TURN_ID.findall(str(evidence))
        }
        speakers = {talk["speaker_a"].casefold(), talk["speaker_b"].casefold()}
        asked = sorted(place[turn] for turn in named if turn in place)
        yield Chat(messages, tuple(asked), frozenset(speakers))


def memorybank(path: Path) -> Iterator[Chat]:
    """Yield one chat a person."""
    for person in json.loads(path.read_text("utf-8")).values():
        messages = []
        for turn in (turn for day in person["history"].values() for turn in day):
            messages.append(Message("user", turn["query"]))
            messages.append(Message("assistant", turn["response"]))
        yield Chat(messages)


# --- what it is compared with


def latest(chat: Chat, room: int) -> list[Message]:
    """Return the latest turns of so many tokens."""
    kept: list[Message] = []
    for message in reversed(chat.messages):
        room -= TOKENS.count(message.content)
        if room < 0:
            break
        kept.append(message)
    return kept[::-1]


def drawn(chat: Chat, room: int, seed: int = 0) -> list[Message]:
    """Return the latest twenty turns and random sentences of the others, of so many tokens."""
    stay = chat.messages[-POLICY.after_turns :]
    room -= tokens(stay)
    sentences = [s for m in chat.messages[: -POLICY.after_turns] for s in sentences_in(m.content)]
    random.Random(seed).shuffle(sentences)
    kept: list[Message] = []
    for sentence in sentences:
        room -= TOKENS.count(sentence)
        if room < 0:
            break
        kept.append(Message("user", sentence))
    return [*kept, *stay]


# --- running


async def shorter(chat: Chat, summarizer: Summarizer, size: int) -> Compacted:
    """Return the chat compacted with a summary of so many tokens."""
    ports = CompactPorts(
        summarizer=summarizer, redactor=SecretRedactor(), tokens=TOKENS,
        policy=replace(POLICY, summary_tokens=size),
    )  # fmt: skip
    done = await compact(chat.messages, ports)
    if await compact(done, ports) != done or tokens(done) > tokens(chat.messages):
        raise AssertionError("compaction is not idempotent, or longer")
    return done


async def run(locomo_path: Path, bank: Path) -> str:
    """Return the tables."""
    reading = Remembered(LocalSummarizer(LocalExtractor()))
    forms = Remembered(LocalSummarizer())
    chats = list(locomo(locomo_path))
    lines = [HEAD, "|---|--:|--:|--:|--:|--:|"]
    lines += [await row(f"{size:,}", chats, reading, size) for size in SIZES]
    lines.append(await row("1,600, forms only", chats, forms, 1_600))
    lines += ["", "| MemoryBank, whole lives | chats | turns | tokens before | after | saved |",
              "|---|--:|--:|--:|--:|--:|"]  # fmt: skip
    for lang in ("cn", "en"):
        people = list(memorybank(bank / "eval_data" / lang / f"memory_bank_{lang}.json"))
        tally = Tally()
        for chat in people:
            tally.add(chat, await shorter(chat, reading, POLICY.summary_tokens))
        turns = sum(len(chat.messages) for chat in people)
        lines.append(
            f"| {'zh' if lang == 'cn' else lang} | {len(people)} | {turns:,} "
            f"| {tally.counts['before']:,} | {tally.counts['after']:,} "
            f"| {tally.share('saved', 'before')} |"
        )
    asked = sum(len(chat.asked) for chat in chats)
    turns = sum(len(chat.messages) for chat in chats)
    lines += ["", f"{asked:,} evidence turns in ten chats of {turns:,} turns. Reading took "]
    lines[-1] += f"{reading.per_turn():.0f} ms a folded turn, {forms.per_turn():.1f} ms by forms."
    return "\n".join(lines) + "\n"


async def row(label: str, chats: Sequence[Chat], summarizer: Summarizer, size: int) -> str:
    """Return the row of one size; beside ours, what lists of the same size keep."""
    ours, tail, chance = Tally(), Tally(), Tally()
    for chat in chats:
        done = await shorter(chat, summarizer, size)
        ours.add(chat, done)
        tail.add(chat, latest(chat, tokens(done)))
        chance.add(chat, drawn(chat, tokens(done)))

    def kept(tally: Tally) -> str:
        return f"{tally.share('kept', 'details')} / {tally.share('standing', 'turns')}"

    return (
        f"| {label} | {ours.share('saved', 'before')} | {ours.share('kept', 'details')} "
        f"| {ours.share('standing', 'turns')} | {kept(tail)} | {kept(chance)} |"
    )


def write(found: str) -> None:
    """Put the tables between the marks of the results page; the words around them stay."""
    before, rest = RESULTS.read_text("utf-8").split(MARKS[0])
    after = rest.split(MARKS[1])[1]
    RESULTS.write_text(f"{before}{MARKS[0]}\n{found}\n{MARKS[1]}{after}", "utf-8")


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--locomo", type=Path, default=SHARED / "locomo" / "locomo10.json")
    parser.add_argument("--memorybank", type=Path, default=SHARED / "memorybank")
    parser.add_argument("--write", action="store_true", help=f"renew the tables in {RESULTS.name}")
    options = parser.parse_args()
    found = asyncio.run(run(options.locomo, options.memorybank))
    print(found)
    if options.write:
        write(found)


if __name__ == "__main__":
    main()
