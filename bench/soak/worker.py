"""One process of a soak run: an application that talks for random users, and works the queue.

It uses the public interface alone. What it began and what was acknowledged stands in its journal.
"""

from __future__ import annotations

import asyncio
import os
import random
import time
import traceback
from functools import partial
from pathlib import Path
from typing import Any

from dualgate import Memory, bootstrap
from dualgate.adapters import sql
from dualgate.errors import DualgateError, StoreError
from dualgate.testing import HashEmbedder
from soak.world import Journal, SharedClock, SoakExtractor, sentence, settings, unfinished, word_of

RETRIES = 3
ASKED = ("usual topic", "note", "what other topic", "weight 5")
SHARES = {
    "observe": 0.56, "recall": 0.14, "context": 0.10, "correct": 0.05, "forget": 0.05,
    "stats": 0.05, "like": 0.03, "pin": 0.01, "erase": 0.01,
}  # fmt: skip


class Noted:
    """An observer that writes down what the background does."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal

    def decided(self, decision: Any) -> None:
        self._journal.note("decided", durably=False, token=decision.candidate.message_id)

    def moved(self, moves: Any) -> None: ...

    def failed(self, job: Any, error: str, *, dead: bool) -> None:
        self._journal.note("failed", durably=False, error=error, dead=dead, job=job.id)

    def stumbled(self, error: str) -> None:
        self._journal.note("stumbled", durably=False, error=error)


class Worker:
    """A client and its memory."""

    def __init__(self, folder: Path, slot: int, run: int, options: Any) -> None:
        self._folder, self._slot, self._run = folder, slot, run
        self._pause = options.processes / options.rate
        self._users = options.users
        self._busy = options.busy
        self._chance = random.Random(f"{options.seed}-{slot}-{run}")
        self._left = unfinished(folder, f"worker-{slot}")
        self._journal = Journal(folder, f"worker-{slot}")
        self._clock = SharedClock(folder / "clock")
        self._number = 0
        self._parent = os.getppid()

    async def live(self) -> None:
        """Talk until told to stop, then close."""
        # When the clock of a machine is moved, the queue's own time moves, too; `Memory.open`
        # takes the clock of the memory alone.
        bootstrap.SystemClock = lambda: self._clock  # type: ignore[assignment, misc]
        # Nor does it take how long to wait for a lock; a short run has no time for ten seconds.
        sql.open_sqlite = partial(sql.open_sqlite, busy_seconds=self._busy)
        asyncio.get_running_loop().set_exception_handler(self._in_loop)
        self._journal.note("start", run=self._run)
        memory = await self._opened()
        if memory is None:
            return
        # An application may ask again after a crash, or never come back to it.
        if self._left is not None and self._chance.random() < 0.5:
            await self._observe(memory, self._left["user"], self._left["messages"],
                                self._left["session"], self._left["key"])  # fmt: skip
        while not self._told_to_stop():
            await asyncio.sleep(self._chance.expovariate(1 / self._pause))
            await self._act(memory)
        try:
            await memory.close()
        except DualgateError as error:
            self._wrong("close", error)
        self._journal.note("stop")

    async def _opened(self) -> Memory | None:
        while not self._told_to_stop():
            try:
                return await Memory.open(
                    f"sqlite:///{self._folder / 'disk' / 'memory.db'}", settings=settings(),
                    clock=self._clock, extractor=SoakExtractor(), embedder=HashEmbedder(),
                    observer=Noted(self._journal),
                )  # fmt: skip
            except DualgateError as error:
                self._wrong("open", error)
                await asyncio.sleep(0.3)
        return None

    def _told_to_stop(self) -> bool:
        # A conductor that is gone cannot say so.
        return (self._folder / "stop").exists() or os.getppid() != self._parent

    async def _act(self, memory: Memory) -> None:
        # Some users talk far more than others, so that processes meet on them.
        user = f"user-{int(self._users * self._chance.random() ** 2)}"
        op = self._chance.choices(list(SHARES), list(SHARES.values()))[0]
        try:
            if op == "observe":
                await self._say(memory, user)
            else:
                await getattr(self, f"_{op}")(memory, user)
        except DualgateError as error:
            self._wrong(op, error)

    # --- writing

    async def _say(self, memory: Memory, user: str) -> None:
        chance = self._chance
        poison = chance.random() < 0.004
        messages = []
        for _ in range(1 if poison else chance.choice((1, 1, 2, 3))):
            self._number += 1
            mark = "badturn" if poison else "turn"
            token = f"{mark}-{self._slot}r{self._run}x{self._number:06d}"
            said = sentence(word_of(token), chance)
            messages.append({"role": "user", "content": said, "id": token})
        session = f"s{chance.randrange(12)}"
        # Without a key, the ids of the messages alone make a repeated call harmless.
        key = messages[0]["id"] if poison or chance.random() < 0.5 else None
        again = chance.random() < 0.5
        await self._observe(memory, user, messages, session, key, RETRIES if again else 1)

    async def _observe(
        self, memory: Memory, user: str, messages: list[dict[str, str]], session: str,
        key: str | None, tries: int = RETRIES,
    ) -> None:  # fmt: skip
        tokens = [message["id"] for message in messages]
        for _ in range(tries):
            self._journal.note("begin", op="observe", user=user, tokens=tokens, session=session,
                               key=key, messages=messages)  # fmt: skip
            try:
                receipt = await memory.observe(user, session, messages, idempotency_key=key)
            except StoreError as error:
                self._wrong("observe", error, tokens=tokens, user=user)
                await asyncio.sleep(0.1)
                continue
            self._journal.note("ack", op="observe", user=user, tokens=tokens,
                               job=receipt.job_id)  # fmt: skip
            return

    async def _fact(self, memory: Memory, user: str) -> Any:
        page = await memory.items(user, item_type="fact", limit=20, status=[
            "candidate", "confirmed", "frozen", "archived",
        ])  # fmt: skip
        return self._chance.choice(page.items) if page.items else None

    async def _correct(self, memory: Memory, user: str) -> None:
        item = await self._fact(memory, user)
        if item is None:
            return
        self._number += 1
        word = f"c{self._slot}r{self._run}x{self._number:06d}"
        await self._noted("correct", memory.correct(user, item.id, f"note {word}"),
                          user=user, item=item.id, word=word)  # fmt: skip

    async def _forget(self, memory: Memory, user: str) -> None:
        item = await self._fact(memory, user)
        if item is not None:
            await self._noted("forget", memory.forget(user, item.id, confirm=True),
                              user=user, item=item.id)  # fmt: skip

    async def _erase(self, memory: Memory, user: str) -> None:
        item = await self._fact(memory, user)
        if item is not None:
            versions = (await memory.history(user, item.id)).versions
            words = sorted({version.content.split()[-1] for version in versions})
            await self._noted("erase", memory.erase(user, item.id),
                              user=user, item=item.id, words=words)  # fmt: skip

    async def _like(self, memory: Memory, user: str) -> None:
        item = await self._fact(memory, user)
        if item is not None:
            await self._noted("like", memory.like(user, item.id), user=user, item=item.id)

    async def _pin(self, memory: Memory, user: str) -> None:
        item = await self._fact(memory, user)
        if item is not None:
            await self._noted("pin", memory.pin(user, item.id), user=user, item=item.id)

    async def _noted(self, op: str, call: Any, **fields: Any) -> None:
        self._journal.note("begin", op=op, **fields)
        try:
            found = await call
        except DualgateError as error:
            self._wrong(op, error, **fields)
            return
        content = getattr(found, "content", None)
        self._journal.note("ack", op=op, content=content, **fields)

    # --- reading

    async def _recall(self, memory: Memory, user: str) -> None:
        transcripts = self._chance.random() < 0.3
        began = time.monotonic()
        await memory.recall(user, self._chance.choice(ASKED), transcripts=transcripts)
        self._read("recall", began)

    async def _context(self, memory: Memory, user: str) -> None:
        began = time.monotonic()
        await memory.context(user, f"s{self._chance.randrange(12)}", self._chance.choice(ASKED))
        self._read("context", began)

    async def _stats(self, memory: Memory, user: str) -> None:
        pools = (await memory.stats(user)).pools
        self._journal.note("pools", durably=False, user=user, sizes=[
            (pools.hot, pools.hot_capacity), (pools.frozen, pools.frozen_capacity),
            (pools.archive, pools.archive_capacity),
        ])  # fmt: skip

    def _read(self, op: str, began: float) -> None:
        self._journal.note("read", durably=False, op=op, took=time.monotonic() - began)

    # --- what goes wrong

    def _wrong(self, op: str, error: DualgateError, **fields: Any) -> None:
        self._journal.note("error", op=op, type=type(error).__name__, text=str(error),
                           advice=getattr(error, "advice", None), **fields)  # fmt: skip

    def _in_loop(self, _loop: Any, told: dict[str, Any]) -> None:
        error = told.get("exception")
        self._journal.note("unexpected", where="event loop", text=(
            told["message"] + "\n" + "".join(traceback.format_exception(error)) if error
            else told["message"]
        ))  # fmt: skip


async def _made(folder: Path) -> None:
    url = f"sqlite:///{folder / 'disk' / 'memory.db'}"
    await (await Memory.open(url, settings=settings(), embedder=HashEmbedder())).close()


async def _warmed() -> None:
    async with Memory.open(
        "memory://", settings=settings(), extractor=SoakExtractor(), embedder=HashEmbedder()
    ) as memory:
        said = {"role": "user", "content": sentence("n0", random.Random(0))}
        await memory.observe("warm", "s", [said], wait=True)
        page = await memory.items("warm", item_type="fact")
        await memory.correct("warm", page.items[0].id, "note n1")
        await memory.recall("warm", "note", transcripts=True)
        await memory.context("warm", "t", "note")


def warm() -> None:
    """Load in this process what those forked from it would load, each for itself."""
    asyncio.run(_warmed())


def make(folder: Path) -> None:
    """Make the database."""
    asyncio.run(_made(folder))


def main(folder: Path, slot: int, run: int, options: Any) -> None:
    """Play the worker; whatever it does not expect goes into its journal."""
    try:
        asyncio.run(Worker(folder, slot, run, options).live())
    except BaseException:  # noqa: BLE001 - the checks have to see it, whatever it is
        Journal(folder, f"worker-{slot}").note(
            "unexpected", where="worker", text=traceback.format_exc()
        )
