"""How fast is it? Every number of issue "The engine, end to end", section Speed, in one table.

Run: python bench/speed.py [--write] [--users 5000] [--keep]

One core, one BLAS thread. The model is left out (its vectors are looked up) except where a row
says otherwise. CPU time is that of all threads of the process; wall time includes the disk and
whatever else the machine does meanwhile. --write puts the table into docs/results/speed.md.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import gc
import os
import platform
import shutil
import sqlite3
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[_name] = "1"  # before numpy is loaded

import numpy as np  # noqa: E402
from fresh import first_context, importing  # noqa: E402
from population import (  # noqa: E402
    ARCHIVE,
    FROZEN,
    HOT,
    ITEMS_EACH,
    MAIN,
    NOW,
    Dictionary,
    Statement,
    add_others,
    dictionary,
    full_pools,
    make_file,
    statements,
    to_say,
)  # fmt: skip
from talk import OTHERS, TALK, TALK_OF_OTHERS, add_talk  # noqa: E402

from dualgate import Memory, Settings  # noqa: E402
from dualgate.adapters.local.embedder import UseEmbedder  # noqa: E402
from dualgate.adapters.sql import SqlBackend, open_sqlite  # noqa: E402
from dualgate.bootstrap import wire  # noqa: E402
from dualgate.domain.items import Candidate, Proposal  # noqa: E402
from dualgate.domain.plan import Decision  # noqa: E402
from dualgate.domain.query import first_sentence, read_query  # noqa: E402
from dualgate.domain.types import Source  # noqa: E402
from dualgate.memory import Parts  # noqa: E402
from dualgate.pipeline import write  # noqa: E402
from dualgate.pipeline.ports import Embedder  # noqa: E402
from dualgate.pipeline.retrievers import BARE_SUBJECT  # noqa: E402
from dualgate.testing import ManualClock  # noqa: E402

OUT = Path(__file__).parent / "out"
RESULTS = Path(__file__).parents[1] / "docs" / "results" / "speed.md"
SETTINGS = Settings(run_worker=False, flush_seconds=3_600.0, upkeep_hours=1e6)
BATCH = 4  # candidates of one unit, as many as a long turn gives
QUERIES = (
    "Which database does the Raven project use?",
    "Falcon 项目的缓存用的是什么？",
    "What do I like in the morning?",
    "我答应过把合同发给谁？",
    "Who is in charge of testing for Opal?",
    "我在上海和谁谈过 Lotus？",
    "How long may the slides for Cinder be?",
    "Kestrel 的文档归谁管？",
    "Let us continue with Harbor. What is open?",
    "帮我看看 Velvet 的预算",
    "Why is the sky blue?",
    "推荐几本科幻小说",
)
TURNS = (
    "From now on please answer in short paragraphs, project {p} needs it.",
    "我对花生过敏，{p} 团建订餐的时候注意一下。",
    "We moved the {p} database from MySQL to PostgreSQL last week.",
    "我下周三要去{p}那边出差，三天。",
    "My sister is vegan but I eat everything, {p} style.",
    "我决定 {p} 项目改用 Kotlin 写后端。",
    "Can you explain how the {p} cache works?",
    "今天好累啊，{p} 的会开了一整天。",
)  # fmt: skip

# A fixed piece of work before every measured call: a core that is shared does it slower.
YARDSTICK = range(5_000)
YARDS: list[float] = []


@dataclass(slots=True)
class Times:
    """CPU and wall times of one thing, in milliseconds."""

    cpu: list[float] = field(default_factory=list)
    wall: list[float] = field(default_factory=list)

    @contextlib.contextmanager
    def one(self) -> Iterator[None]:
        """Measure one run."""
        cpu = time.process_time()
        sum(number * number for number in YARDSTICK)
        YARDS.append((time.process_time() - cpu) * 1e3)
        wall, cpu = time.perf_counter(), time.process_time()
        yield
        self.cpu.append((time.process_time() - cpu) * 1e3)
        self.wall.append((time.perf_counter() - wall) * 1e3)

    def of(self, kind: str, share: float) -> float:
        """Return a quantile of cpu or wall."""
        return float(np.quantile(getattr(self, kind), share))


class World:
    """The statements, the vectors and the files."""

    def __init__(self, known: list[Statement], vectors: Dictionary, one: Path) -> None:
        self.known = known
        self.vectors = vectors
        self.one = one


async def make_world() -> World:
    """Return the full user's world, written to bench/out."""
    OUT.mkdir(exist_ok=True)
    known = statements()
    texts = [t for s in known for t in (s.candidate.content, s.again)]
    texts += [s.other.content for s in known if s.other]
    texts += [read_query(q).statement for q in QUERIES]
    texts += [read_query(first_sentence(q)).statement for q in QUERIES]
    texts += [read_query(q).text for q in QUERIES]
    vectors = dictionary([*texts, *BARE_SUBJECT], OUT)
    one = OUT / "one.db"
    _remove(one)
    await make_file(one, full_pools(known[: HOT + FROZEN + ARCHIVE]), vectors)
    return World(known, vectors, one)


@dataclass(frozen=True, slots=True)
class Running:
    """An open memory with its parts at hand."""

    memory: Memory
    backend: SqlBackend
    parts: Parts
    ports: write.WritePorts


@contextlib.asynccontextmanager
async def running(
    path: Path, vectors: Dictionary, embedder: Embedder | None = None
) -> AsyncIterator[Running]:
    """Open a file; the clock stands still. Vectors are looked up unless embedder makes them."""
    backend = await open_sqlite(path, vector_model=vectors.model)
    parts = wire(backend, SETTINGS, ManualClock(NOW), embedder=embedder or vectors)
    ports = write.WritePorts(
        store=parts.store, extractor=parts.extractor, structurer=parts.structurer,
        embedder=parts.embedder, judge=parts.judge, clock=parts.clock, ids=parts.ids,
        policy_of=parts.policy_of, observer=parts.observer, lexer=parts.lexer,
        redactor=parts.redactor,
    )  # fmt: skip
    try:
        yield Running(Memory(parts), backend, parts, ports)
    finally:
        await backend.close()  # the uses gathered meanwhile are dropped


# --- writing ------------------------------------------------------------------------------------


class RolledBackError(Exception):
    """Ends a unit whose writes are not wanted."""


async def write_units(
    at: Running, world: World, said: Sequence[Candidate], *, keep: bool
) -> tuple[Times, Times, list[Decision]]:
    """Return the times of each candidate, of each commit, and what was decided."""
    each, commits, decisions = Times(), Times(), []
    for start in range(0, len(said), BATCH):
        session = f"s-{at.parts.ids.new()}"
        with contextlib.suppress(RolledBackError):
            async with at.parts.store.begin(MAIN) as tx:
                await tx.session(session, NOW, None)
                for candidate in said[start : start + BATCH]:
                    spoken = write.Spoken(candidate=candidate, at=NOW, source=Source.LOCAL,
                                          vector=world.vectors[candidate.content])  # fmt: skip
                    proposal = Proposal(id=at.parts.ids.new(), user_id=MAIN, session_id=session,
                                        candidate=candidate, at=NOW)  # fmt: skip
                    with each.one():
                        decisions.append(await write.decide_one(tx, proposal, spoken, at.ports))
                if not keep:
                    raise RolledBackError
                wall, cpu = time.perf_counter(), time.process_time()
            commits.wall.append((time.perf_counter() - wall) * 1e3)
            commits.cpu.append((time.process_time() - cpu) * 1e3)
    return each, commits, decisions


async def observing(at: Running, count: int) -> Times:
    """Return how long observe() takes until it returns; nothing works the queue meanwhile."""
    found = Times()
    for n in range(count):
        message = {"role": "user", "content": TURNS[n % len(TURNS)].format(p=f"N{n}")}
        with found.one():
            await at.memory.observe(f"observer-{n % 5}", "s1", [message])
    return found


async def whole_turns(world: World, path: Path, count: int) -> Times:
    """Return how long a user turn takes from observe() to its decisions, real model and all."""
    settings = Settings(upkeep_hours=1e6)
    found = Times()
    async with Memory.open(f"sqlite:///{path}", settings=settings) as memory:
        for n in range(count + 8):
            text = TURNS[n % len(TURNS)].format(p=world.known[n].candidate.entities[0]
                                                if world.known[n].candidate.entities else "Fir")
            measured = found if n >= 8 else Times()  # the first load the model
            with measured.one():
                await memory.observe(MAIN, f"t-{n // 4}", [{"role": "user", "content": text}],
                                     wait=True)  # fmt: skip
    return found


# --- reading ------------------------------------------------------------------------------------


async def compared(
    runs: int, call: Callable[[Running, int], Awaitable[object]], places: Sequence[Running]
) -> list[Times]:
    """Return the times of the same calls at every place, taken in turns."""
    found = [Times() for _ in places]
    for n in range(runs + 12):
        for at, times in zip(places, found, strict=True):
            measured = times if n >= 12 else Times()  # warm first
            with measured.one():
                await call(at, n)
    return found


def new_session(at: Running, n: int) -> Awaitable[object]:
    return at.memory.context(MAIN, f"c-{at.parts.ids.new()}", QUERIES[n % len(QUERIES)])


def same_session(at: Running, n: int) -> Awaitable[object]:
    return at.memory.context(MAIN, "again", QUERIES[n % len(QUERIES)])


def recalling(at: Running, n: int) -> Awaitable[object]:
    return at.memory.recall(MAIN, QUERIES[n % len(QUERIES)])


def recalling_talk(at: Running, n: int) -> Awaitable[object]:
    return at.memory.recall(MAIN, QUERIES[n % len(QUERIES)], transcripts=True)


READING = (
    ("context(), new session, with a query", new_session, "≤ 10", "≤ 8"),
    ("context(), same session, with a query", same_session, "≤ 10", "≤ 8"),
    ("recall()", recalling, "≤ 15", "≤ 12"),
)


async def embedding(world: World, path: Path, table: Table) -> None:
    """Measure reading with the real model; no question is still known when it comes again."""
    async with running(path, world.vectors, UseEmbedder(cache_size=len(QUERIES) // 2)) as at:
        for name, call, _, target in READING:
            (times,) = await compared(120, call, (at,))
            table.times(f"{name}, its embedding included", times, target)


async def talk(world: World, table: Table) -> tuple[Times, Times]:
    """Measure recall with raw turns, alone and among the turns of others."""
    found: list[Path] = []
    for name, others in (("talk", 0), ("talk-many", OTHERS)):
        path = OUT / f"{name}.db"
        _remove(path)
        shutil.copy(world.one, path)
        await add_talk(path, world.known, world.vectors, others)
        found.append(path)
    async with running(found[0], world.vectors) as one, running(found[1], world.vectors) as many:
        alone, among = await compared(60, recalling_talk, (one, many))
    table.times(f"recall(transcripts=True), {TALK:,} turns", alone, "≤ 40")
    table.times(f"… among {OTHERS * TALK_OF_OTHERS:,} turns of others", among, "≤ 40")
    for path in found:
        _remove(path)
    return alone, among


async def reload(path: Path, world: World, runs: int) -> tuple[Times, Times]:
    """Return what a cache miss costs: another process has written; the pools, then the vectors."""
    pools, both = Times(), Times()
    vector = world.vectors[world.known[0].candidate.content]
    async with running(path, world.vectors) as here, running(path, world.vectors) as there:
        for n in range(runs):
            async with there.parts.store.begin(MAIN) as tx:
                await tx.set_user(maintained_at=NOW + timedelta(seconds=n))
            measured = both if n % 2 else pools
            with measured.one():
                if n % 2:
                    await here.parts.store.nearest(MAIN, vector, limit=5, gate=0.1)
                else:
                    await here.parts.store.snapshot(MAIN)
    return pools, both


# --- the table ----------------------------------------------------------------------------------


class Table:
    """Collects rows and prints them as they come."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def say(self, line: str) -> None:
        print(line, flush=True)
        self.lines.append(line)

    def times(self, name: str, times: Times, target: str = "") -> None:
        """Add a row of quantiles."""
        numbers = [times.of("cpu", 0), times.of("cpu", 0.5), times.of("cpu", 0.95),
                   times.of("wall", 0), times.of("wall", 0.5), times.of("wall", 0.95)]  # fmt: skip
        cells = " | ".join(f"{n:.2f}" for n in numbers)
        self.say(f"| {name} | {cells} | {target} |")


async def measure(users: int, path: Path, world: World, table: Table) -> None:
    """Measure everything and fill the table."""
    scratch = OUT / "scratch.db"
    _remove(scratch)
    shutil.copy(world.one, scratch)
    said = to_say(world.known, 240)
    head = "| | CPU min | p50 | p95 | wall min | p50 | p95 | target |"
    table.say(head)
    table.say("|---|--:|--:|--:|--:|--:|--:|--:|")
    ratios: list[tuple[str, Times, Times]] = []
    async with running(scratch, world.vectors) as one, running(path, world.vectors) as many:
        gc.freeze()  # as a server that has been up for a while
        for at in (one, many):
            await at.parts.store.nearest(MAIN, world.vectors["The user"], limit=1, gate=0.0)
            await write_units(at, world, said[:40], keep=False)
        rolled = [await write_units(at, world, said, keep=False) for at in (one, many)]
        ratios.append(("decide + apply", rolled[0][0], rolled[1][0]))
        for name, call, target, _ in READING:
            alone, among = await compared(120, call, (one, many))
            table.times(name, alone, target)
            table.times(f"… among {users * ITEMS_EACH:,} items of others", among, target)
            ratios.append((name, alone, among))
        await embedding(world, scratch, table)
        ratios.append(("recall(transcripts=True)", *await talk(world, table)))
        each, commits, decisions = await write_units(one, world, said, keep=True)
        table.times("decide + apply, one candidate", each, "≤ 3")
        for outcome in sorted({d.outcome for d in decisions}):
            at = [n for n, d in enumerate(decisions) if d.outcome == outcome]
            some = Times([each.cpu[n] for n in at], [each.wall[n] for n in at])
            table.times(f"… of these {outcome} ({len(at)})", some)
        table.times(f"commit of a unit of {BATCH} candidates (fsync)", commits)
        table.times("observe() until it returns (fsync)", await observing(one, 100), "≤ 5")
    turns = await whole_turns(world, scratch, 64)
    table.times("observe(wait=True), one user turn, real extractor and model", turns, "≤ 50")
    low, middle, high = np.quantile(YARDS, (0.01, 0.5, 0.95))
    pools, both = await reload(scratch, world, 20)
    table.times("cache miss: pools read again", pools)
    table.times("cache miss: pools and 5,230 vectors read again", both)
    table.say("")
    table.say(f"A fixed piece of work before every call took {low:.2f} ms of CPU at best, "
              f"{middle:.2f} at the median, {high:.2f} at p95. It is arithmetic in a loop; what "
              "lives in memory suffers more from neighbours, so p50 lies above what a free core "
              "does.")  # fmt: skip
    _others(table, users, ratios, scratch)


def _others(
    table: Table, users: int, ratios: list[tuple[str, Times, Times]], scratch: Path
) -> None:
    table.say("")
    table.say(f"| {users * ITEMS_EACH:,} items of {users:,} others : none | CPU min | CPU p50 "
              "| wall min | wall p50 | target |")  # fmt: skip
    table.say("|---|--:|--:|--:|--:|--:|")
    for name, alone, among in ratios:
        cells = " | ".join(f"{among.of(k, q) / alone.of(k, q):.2f}"
                           for k in ("cpu", "wall") for q in (0, 0.5))  # fmt: skip
        table.say(f"| {name} | {cells} | ≤ 1.2 |")
    table.say("")
    _fresh(table, scratch)


def _fresh(table: Table, scratch: Path) -> None:
    plain, asked = (
        [first_context(scratch, MAIN, query, NOW) for _ in range(3)] for query in ("", QUERIES[0])
    )

    def row(name: str, runs: list[dict[str, float]], key: str) -> None:
        cpu, wall = (min(run[f"{key}_{kind}"] for run in runs) for kind in ("cpu", "wall"))
        table.say(f"| {name} | {cpu:.0f} | {wall:.0f} |")

    table.say("| a fresh process, best of 3 | CPU | wall |")
    table.say("|---|--:|--:|")
    for statement in ("import dualgate", "from dualgate import Memory"):
        table.say(f"| {statement} | {importing(statement):.0f} | |")
    row("Memory.open of the full user's file, imports included", plain, "open")
    row("… and the first context(), no query (loads the tokenizer)", plain, "context")
    row("… and the first context() with a query (loads the model, too)", asked, "context")
    table.say("")
    table.say(f"Largest memory (RSS): {plain[0]['megabytes']:.0f} MB without a query, "
              f"{asked[0]['megabytes']:.0f} MB with one.")  # fmt: skip


def _remove(path: Path) -> None:
    for end in ("", "-wal", "-shm"):
        path.with_name(path.name + end).unlink(missing_ok=True)


def heading(users: int, size: int, core: int) -> list[str]:
    """Return what must be known to read the table."""
    load = os.getloadavg()
    about = (
        f"Milliseconds; hot {HOT}, frozen {FROZEN}, archive {ARCHIVE:,}, all full; core {core} of "
        f"{os.cpu_count()}; Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}, "
        f"numpy {np.__version__}, {platform.machine()}; load when started {load[0]:.1f}."
    )
    how = (
        "CPU is that of all threads of the process. The machine may be shared: read CPU min and "
        "p50; wall times wait for others and for the disk. Ratios are of calls taken in turns in "
        f"the same run. The file with {users:,} other users has {size / 1e9:.2f} GB."
    )
    return [about, "", how, ""]


def main() -> None:
    """Generate, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help=f"write {RESULTS.name}, too")
    parser.add_argument("--users", type=int, default=5_000, help="other users in the large file")
    parser.add_argument("--keep", action="store_true", help="keep the large file for the next run")
    arguments = parser.parse_args()
    core = max(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {core})
    world = asyncio.run(make_world())
    path = OUT / f"many-{arguments.users}.db"
    if not path.exists():
        items = full_pools(world.known[: HOT + FROZEN + ARCHIVE])
        add_others(world.one, path, arguments.users, items, world.vectors)
    table = Table()
    for line in heading(arguments.users, path.stat().st_size, core):
        table.say(line)
    asyncio.run(measure(arguments.users, path, world, table))
    if not arguments.keep:
        for name in (path, world.one, OUT / "scratch.db"):
            _remove(name)
    if arguments.write:
        RESULTS.parent.mkdir(parents=True, exist_ok=True)
        RESULTS.write_text("# Speed\n\n" + "\n".join(table.lines) + "\n", "utf-8")


if __name__ == "__main__":
    main()
