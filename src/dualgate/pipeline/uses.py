"""Accesses and relevance hits, written in batches, off the reading path [F5, D1]."""

from __future__ import annotations

import asyncio
import contextlib
from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime

from dualgate.errors import DualgateError
from dualgate.pipeline.observer import Observer, Silent
from dualgate.pipeline.ports import Store, Use

RETRY_SECONDS = 1.0  # until what could not be written is tried again


class UseBook:
    """Gathers what was handed out, and writes it down a moment later."""

    def __init__(
        self, store: Store, delay_seconds: float, observer: Observer | None = None
    ) -> None:
        self._store = store
        self._observer = observer or Silent()
        self._delay = delay_seconds
        self._uses: dict[str, list[Use]] = defaultdict(list)
        self._seen_at: dict[str, datetime] = {}
        self._task: asyncio.Task[None] | None = None
        self._lock = asyncio.Lock()
        self._closing = asyncio.Event()

    def add(self, user_id: str, uses: Sequence[Use], now: datetime) -> None:
        """Note that a user read; reading moves his own clock even if nothing was handed out."""
        self._uses[user_id].extend(uses)
        self._seen_at[user_id] = max(now, self._seen_at.get(user_id, now))
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._later(), name="dualgate-uses")

    async def flush(self) -> None:
        """Write down what is gathered; what fails for one user stays gathered for the next time.

        Raises the first failure, after all others have had their turn.
        """
        failures: list[Exception] = []
        async with self._lock:
            for user_id in list(self._seen_at):
                now, uses = self._seen_at.pop(user_id), self._uses.pop(user_id, [])
                try:
                    snapshot = await self._store.snapshot(user_id)
                    own_time = snapshot.own_time.touched(now)
                    await self._store.record_uses(user_id, uses, own_time)
                except DualgateError as error:
                    self._uses[user_id] = [*uses, *self._uses[user_id]]
                    self._seen_at[user_id] = max(now, self._seen_at.get(user_id, now))
                    failures.append(error)
        if failures:
            raise failures[0]

    async def close(self) -> None:
        """Write down what is gathered, now, and leave nothing running.

        Raises what kept it from being written.
        """
        self._closing.set()
        if self._task is not None:
            await self._task
        await self.flush()

    async def _later(self) -> None:
        """Write until nothing is left; nobody waits for it, so what fails goes to the observer."""
        wait = self._delay
        while self._seen_at:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(wait):
                    await self._closing.wait()
            try:
                await self.flush()
            except DualgateError as error:
                if self._closing.is_set():
                    return  # `close` tries once more, and raises
                self._observer.stumbled(f"uses: {type(error).__name__}: {error}")
                wait = max(self._delay, RETRY_SECONDS)
