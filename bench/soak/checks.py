"""Afterwards: what the journals say was acknowledged, against what the file holds."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import shutil
import sqlite3
import statistics
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dualgate import Memory, Settings, bootstrap
from dualgate.errors import DualgateError, NewerSchemaError, StoreError
from dualgate.testing import HashEmbedder
from soak.world import (
    ARCHIVE,
    FROZEN,
    HOT,
    SharedClock,
    SoakExtractor,
    parts_of,
    settings,
    word_of,
)

DRAIN_SECONDS = 90.0
SHORT_CALLS = 1_000  # a run with fewer acknowledged calls may lack some kind of event
LIVE = ("candidate", "confirmed", "frozen", "archived")
# What two callers at once may meet: the item went, or moved, between a look and a verb.
RACES = {"NotFoundError", "IllegalMoveError", "InvalidInputError", "LeaseLostError"}
EXPLAINED = re.compile(r"[.] [A-Z][^.]+.*[.]$", re.DOTALL)


@dataclass
class Check:
    """One thing that has to hold: how often it was looked at, and where it did not hold."""

    name: str
    rare: bool = False  # a short run may have nothing of it
    looked: int = 0
    note: str = ""
    broken: list[str] = field(default_factory=list)

    def __call__(self, holds: bool, told: str) -> None:
        self.looked += 1
        if not holds:
            self.broken.append(told)

    def end(self, *, short: bool) -> None:
        """A check that never looked has found nothing out."""
        if not self.looked and not (self.rare and short):
            self.broken.append("there was nothing to look at")


@dataclass
class Said:
    """A turn that was handed over: when, and what came of it."""

    user: str
    begun: float
    job_tokens: tuple[str, ...]
    acked: float | None = None
    # new, open (begun, no end seen yet), error, ack; unknown: a process died while it was open,
    # so that try may have been stored whatever the next one is told.
    last: str = "new"

    def begin(self) -> None:
        """Take note of one more try."""
        self.last = "open" if self.last in ("new", "error") else "unknown"

    def refuse(self) -> None:
        """The caller was told that it failed."""
        self.last = "error" if self.last == "open" else "unknown"

    def acknowledge(self, at: float) -> None:
        """The caller was told that it is kept."""
        self.acked, self.last = at, "ack"


@dataclass
class Told:
    """Everything the journals say."""

    said: dict[str, Said] = field(default_factory=dict)
    # Erasures that were begun; `gone` are the words of those that were acknowledged.
    erased: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    gone: list[tuple[str, str]] = field(default_factory=list)
    erased_items: set[tuple[str, str]] = field(default_factory=set)
    forgotten: list[tuple[str, str, str]] = field(default_factory=list)
    corrected: list[tuple[str, str, str]] = field(default_factory=list)
    errors: list[dict[str, Any]] = field(default_factory=list)
    unexpected: list[str] = field(default_factory=list)
    background: list[str] = field(default_factory=list)
    pools: list[dict[str, Any]] = field(default_factory=list)
    decided: dict[str, float] = field(default_factory=dict)
    reads: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    acks: Counter[str] = field(default_factory=Counter)


def told(folder: Path) -> Told:
    """Read all journals."""
    found = Told()
    for path in parts_of(folder):
        for line in path.read_text(errors="replace").splitlines():
            _take(found, json.loads(line))
    return found


def _take(found: Told, line: dict[str, Any]) -> None:
    match line["kind"]:
        case "begin":
            _begun(found, line)
        case "ack":
            found.acks[line["op"]] += 1
            _acknowledged(found, line)
        case "error":
            found.errors.append(line)
            for token in line.get("tokens", ()):
                found.said[token].refuse()
        case "unexpected":
            found.unexpected.append(f"{line['where']}: {line['text']}")
        case "stumbled" | "failed":
            found.background.append(line["error"])
        case "pools":
            found.pools.append(line)
        case "decided":
            found.decided.setdefault(line["token"], line["t"])
        case "read":
            found.reads[line["op"]].append(line["took"])


def _begun(found: Told, line: dict[str, Any]) -> None:
    if line["op"] == "erase":
        found.erased_items.add((line["user"], line["item"]))
        found.erased[line["user"]].update(line["words"])
    for token in line.get("tokens", ()):
        found.said.setdefault(token, Said(line["user"], line["t"], tuple(line["tokens"]))).begin()


def _acknowledged(found: Told, line: dict[str, Any]) -> None:
    match line["op"]:
        case "observe":
            for token in line["tokens"]:
                found.said[token].acknowledge(line["t"])
        case "forget":
            word = line["content"].split()[-1]
            found.forgotten.append((line["user"], line["item"], word))
        case "erase":
            found.gone += [(line["user"], word) for word in line["words"]]
        case "correct":
            found.corrected.append((line["user"], line["item"], line["word"]))


async def looked(folder: Path, late: list[str]) -> tuple[list[Check], Told]:
    """Return every check, and what the journals say."""
    bootstrap.SystemClock = lambda: SharedClock(folder / "clock")  # type: ignore[assignment, misc]
    found, path = told(folder), folder / "disk" / "memory.db"
    checks = [_ended(late, found), *await _settled(path, folder, found)]
    checks += [_errors(found), _sampled(found)]
    checks.append(await _forgotten(path, folder, found))
    checks.append(await _hostile(path, folder))
    for check in checks:
        check.end(short=found.acks.total() < SHORT_CALLS)
    return checks, found


def _ended(late: list[str], found: Told) -> Check:
    check = Check("no process failed in a way nobody expected, and all stopped when told")
    check.looked = found.acks.total()
    check.broken = [*late, *found.unexpected]
    return check


@contextlib.asynccontextmanager
async def _opened(path: Path, folder: Path, chosen: Settings) -> Any:
    async with Memory.open(
        f"sqlite:///{path}", settings=chosen, clock=SharedClock(folder / "clock"),
        extractor=SoakExtractor(), embedder=HashEmbedder(),
    ) as memory:  # fmt: skip
        yield memory


def _rows(path: Path, statement: str) -> Iterator[Any]:
    with contextlib.closing(sqlite3.connect(path)) as raw:
        yield from raw.execute(statement).fetchall()


async def _settled(path: Path, folder: Path, found: Told) -> list[Check]:
    drained = Check("the queue is worked off in the end")
    async with _opened(path, folder, settings()) as memory:
        try:
            await memory.drain(DRAIN_SECONDS)
            drained(holds=True, told="")
        except TimeoutError:
            waiting = (await memory.stats()).queue.waiting
            drained(holds=False, told=f"{waiting} jobs wait after {DRAIN_SECONDS:g} s")
        dead = await memory.dead(limit=1_000)
        decisions: dict[str, list[Any]] = {}
        for user in [user for (user,) in _rows(path, "SELECT user_id FROM users")]:
            decisions[user] = await memory.why(user, limit=1_000_000)
        bounds = await _bounds(memory, decisions)
        corrections = await _corrections(memory, found)
        hidden = await _hidden(memory, found)
    integrity = Check("the file is whole (PRAGMA integrity_check)")
    for (answer,) in _rows(path, "PRAGMA integrity_check"):
        integrity(answer == "ok", answer)
    once = _once(path, found, decisions)
    return [
        drained, *once, _in_order(path, found), bounds, _one_pool(path), _replayed(path),
        _dead(found, dead), corrections, hidden, integrity,
    ]  # fmt: skip


def _once(path: Path, found: Told, decisions: dict[str, list[Any]]) -> list[Check]:
    acknowledged = Check("every acknowledged turn is kept once and decided once [W1]")
    refused = Check("a turn that was refused with an error is not stored", rare=True)
    between = Check("a turn whose process died in between is stored once or not at all", rare=True)
    states = Check("every job that is not dead is done")
    kept = Counter(token for (token,) in _rows(path, "SELECT id FROM turns"))
    facts: Counter[str] = Counter()
    topics: Counter[str] = Counter()
    for all_of_user in decisions.values():
        for decision in all_of_user:
            token = decision.candidate.message_id
            (facts if decision.candidate.item_type == "fact" else topics)[token] += 1
    for token, said in found.said.items():
        if token.startswith("badturn"):
            continue
        counts = (kept[token], facts[token], topics[token])
        told_ = f"{token} of {said.user} ({said.last}): turns, facts, topics = {counts}"
        if word_of(token) in found.erased[said.user]:
            acknowledged(max(counts) <= 1, told_)
        elif said.last == "ack":
            acknowledged(counts == (1, 1, 1), told_)
        elif said.last == "error":
            refused(counts == (0, 0, 0), told_)
        else:
            between(counts in ((0, 0, 0), (1, 1, 1)), told_)
    for user, job, state in _rows(path, "SELECT user_id, id, state FROM queue_jobs"):
        states(state in ("done", "dead"), f"{job} of {user} is {state}")
    return [acknowledged, refused, between, states]


def _in_order(path: Path, found: Told) -> Check:
    """No turn is applied before one that was acknowledged before it was begun."""
    check = Check("the turns of a user are applied in the order of acceptance [W1]")
    latest: dict[str, float] = {}
    place: dict[str, int] = {}
    for user, token in _rows(path, "SELECT user_id, id FROM turns ORDER BY user_id, seq"):
        place[token] = len(place)
        said = found.said[token]
        begun = latest.get(user, float("-inf"))
        check(said.acked is None or said.acked >= begun, f"{token} of {user} came too late")
        latest[user] = max(begun, said.begun)
    for said in found.said.values():
        places = [place[token] for token in said.job_tokens if token in place]
        check(places == sorted(places), f"{said.job_tokens}: {places}")
    return check


async def _bounds(memory: Memory, users: Iterable[str]) -> Check:
    check = Check(f"hot <= {HOT}, frozen <= {FROZEN}, archive <= {ARCHIVE} at the end [A8]")
    full = {"hot": 0, "frozen": 0, "archive": 0}
    for user in users:
        pools = (await memory.stats(user)).pools
        if pools is None:
            raise AssertionError(user)
        sizes = (pools.hot, pools.frozen, pools.archive)
        check(pools.hot <= HOT and pools.frozen <= FROZEN and pools.archive <= ARCHIVE,
              f"{user}: {sizes}")  # fmt: skip
        for name, size, bound in zip(full, sizes, (HOT, FROZEN, ARCHIVE), strict=True):
            full[name] += size == bound
    check.note = "full: " + ", ".join(f"{name} of {count} users" for name, count in full.items())
    return check


def _sampled(found: Told) -> Check:
    check = Check("... and whenever a worker looked while it all went on [A8]", rare=True)
    for line in found.pools:
        check(all(size <= bound for size, bound in line["sizes"]), f"{line}")
    return check


def _one_pool(path: Path) -> Check:
    check = Check("no statement stands in two pools, or twice in one")
    for user, content, times in _rows(
        path, "SELECT user_id, content, count(*) FROM memory_items WHERE item_type = 'fact' "
        "AND status NOT IN ('superseded', 'forgotten') GROUP BY user_id, content",
    ):  # fmt: skip
        check(times == 1, f"{user}: {content} stands {times} times")
    return check


def _replayed(path: Path) -> Check:
    check = Check("replaying the log of moves gives the statuses of all items [S1]")
    last: dict[tuple[str, str], str] = {}
    for user, item, before, after in _rows(
        path, "SELECT user_id, item_id, before, after FROM memory_moves ORDER BY user_id, seq"
    ):
        was = last.get((user, item))
        check(was == before, f"{item}: {was} is not {before}")
        last[user, item] = after
    for user, item, status in _rows(path, "SELECT user_id, id, status FROM memory_items"):
        was = last.get((user, item))
        check(was == status, f"{item}: {was} is not {status}")
    return check


def _dead(found: Told, dead: list[Any]) -> Check:
    check = Check("the dead letters are what cannot be read, with the real error", rare=True)
    buried: Counter[str] = Counter()
    for letter in dead:
        named = re.search(r"ExtractionError: this turn cannot be read: (\w+)", letter.error)
        check(named is not None, f"job {letter.job.id} of {letter.job.user_id}: {letter.error}")
        if named is not None:
            buried[named[1]] += 1
    for token, said in found.said.items():
        if token.startswith("badturn") and said.last == "ack":
            times = buried[word_of(token)]
            check(times == 1, f"{token} is among the dead {times} times")
    return check


async def _corrections(memory: Memory, found: Told) -> Check:
    check = Check("each acknowledged correction stands, or is a version [F6]", rare=True)
    for user, item, word in found.corrected:
        if (user, item) in found.erased_items:
            continue
        versions = (await memory.history(user, item)).versions
        contents = [version.content for version in versions]
        check(f"note {word}" in contents, f"{word} of {user} is not in {contents}")
    return check


async def _hidden(memory: Memory, found: Told) -> Check:
    check = Check("what was forgotten is not listed, recalled, in a context [R5]", rare=True)
    by_user: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for user, item, word in found.forgotten:
        if (user, item) not in found.erased_items:
            by_user[user].append((item, word))
    for user, pairs in by_user.items():
        listed = await _listed(memory, user)
        block = await memory.context(user, "after", "note", preview=True)
        for number, (item, word) in enumerate(pairs):
            shown = listed + block.text
            if number < 2:  # a search each would take minutes; the list is complete anyway
                answer = await memory.recall(user, f"note {word}", transcripts=True,
                                             sensitive=True, private=True)  # fmt: skip
                shown += answer.text + "".join(str(p) for p in answer.passages)
            check(word not in shown, f"{word} of {user} ({item}) is shown")
    return check


async def _listed(memory: Memory, user: str) -> str:
    contents, cursor = [], None
    while True:
        page = await memory.items(user, limit=1_000, status=LIVE, cursor=cursor)
        contents += [item.content for item in page.items]
        cursor = page.cursor
        if cursor is None:
            return "\n".join(contents)


def _errors(found: Told) -> Check:
    check = Check("every error is one of ours and says what to do next", rare=True)
    for line in found.errors:
        advised = line["type"] in RACES or bool(line["advice"])
        check(advised, f"{line['op']}: {line['type']}: {line['text']}")
    for text in found.background:
        known = text.startswith("ExtractionError: this turn cannot be read")
        check(known or bool(EXPLAINED.search(text)), f"in the background: {text}")
    return check


async def _forgotten(path: Path, folder: Path, found: Told) -> Check:
    """After the time in which it can be undone, what was forgotten is gone from the file."""
    check = Check("31 days later forgotten and erased texts are gone, to the last byte [P3]")
    SharedClock(folder / "clock").jump(31 * 86_400.0)
    async with _opened(path, folder, settings(run_worker=False, undo_days=30.0)) as memory:
        await memory.maintain()
        check(await memory.scrub(), "the file could not be rewritten")
    there = _words_in(path)
    for user, _, word in found.forgotten:
        check(word not in there, f"{word} of {user} was forgotten and is in the file")
    for user, word in found.gone:
        check(word not in there, f"{word} of {user} was erased and is in the file")
    return check


def _words_in(path: Path) -> set[str]:
    """Return every word of a turn or a correction in the bytes of the file and its log."""
    found = b"".join(each.read_bytes() for each in sorted(path.parent.glob("memory.db*")))
    return {word.decode() for word in re.findall(rb"[nc]\d+r\d+x\d{6}", found)}


def _unusable(path: Path, newer: Path) -> dict[str, tuple[bytes, type[StoreError], str]]:
    """Return files that cannot be used, with the error each gives and a word of its advice."""
    whole = path.read_bytes()
    wanted: dict[str, tuple[bytes, type[StoreError], str]] = {
        "truncated to half": (whole[: len(whole) // 2 // 8192 * 8192], StoreError, "backup"),
        "truncated within a page": (whole[: len(whole) * 2 // 3 + 77], StoreError, "backup"),
        "truncated to its first page": (whole[:8192], StoreError, "backup"),
        "truncated to 60 bytes": (whole[:60], StoreError, "backup"),
        "another file": (b"# Notes\n" * 2_000, StoreError, "another path"),
    }
    shutil.copyfile(path, newer)
    with contextlib.closing(sqlite3.connect(newer)) as raw, raw:
        raw.execute("UPDATE alembic_version SET version_num = '9999'")
    wanted["newer schema"] = (newer.read_bytes(), NewerSchemaError, "Upgrade dualgate")
    return wanted


async def _hostile(path: Path, folder: Path) -> Check:
    """Files that cannot be used: each error says what to do, and leaves the file as it was."""
    check = Check("a newer schema, a truncated file, another file: refused, saying what to do")
    for name, (content, kind, advice) in _unusable(path, folder / "newer.db").items():
        copy = folder / f"{name}.db".replace(" ", "-")
        copy.write_bytes(content)
        text = await _refused(copy, folder, kind)
        check(text is not None and advice in text, f"{name}: {text}")
        check(_left(copy) == content, f"{name}: the file was changed")
    return check


def _left(copy: Path) -> bytes:
    return copy.read_bytes()


async def _refused(copy: Path, folder: Path, kind: type[StoreError]) -> str | None:
    try:
        async with _opened(copy, folder, settings(run_worker=False)) as memory:
            await memory.recall("user-0", "usual topic", transcripts=True)
    except kind as error:
        return str(error)
    except DualgateError as error:
        return f"{type(error).__name__}, not {kind.__name__}: {error}"
    return None


def delays(found: Told) -> tuple[float, float, float]:
    """Return the median, 95th and longest wait from acknowledgement to decision, in seconds."""
    waits = sorted(
        max(0.0, at - said.acked)
        for token, at in found.decided.items()
        if (said := found.said.get(token)) is not None and said.acked is not None
    )
    if len(waits) < 2:
        return 0.0, 0.0, 0.0
    return statistics.median(waits), waits[int(len(waits) * 0.95)], waits[-1]


def run(folder: Path, late: list[str]) -> tuple[list[Check], Told]:
    """Look, and wait for it."""
    return asyncio.run(looked(folder, late))
