"""Any sequence of events, over every store: the bounds and the laws hold [A8, S1].

The pools are made small, so that every step is a step at the limit. The stores live through the
same events with the same ids and must agree.
"""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import Callable, Coroutine
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from dualgate import Candidate, Memory, MemoryItem, Settings
from dualgate.bootstrap import open_backend, wire
from dualgate.domain.admission import AdmissionPolicy
from dualgate.domain.archiving import ArchivePolicy
from dualgate.domain.freezing import FreezePolicy
from dualgate.domain.policy import GatePolicy
from dualgate.domain.status import ACTIVE, HOT, Status, replay
from dualgate.errors import DualgateError
from dualgate.pipeline.reading import ExtractionPolicy, HostTrust
from dualgate.testing import CountingIds, HashEmbedder, ManualClock

USER = "somebody"
TRUST = ExtractionPolicy(host_trust=HostTrust.FULL)  # a host's hint alone would freeze nothing
POLICY = GatePolicy(
    admission=AdmissionPolicy(capacity=5, floor_places=2),
    freeze=FreezePolicy(capacity=2, min_confirmations=2, confirm_at=1.5),
    archive=ArchivePolicy(capacity=4),
)
# Causes by which a frozen item may change its status or leave [F1-F6].
FROM_FROZEN = {"weathered", "thawed", "superseded", "disliked", "forgot", "expired"}

T = TypeVar("T")

CANDIDATES = st.builds(
    lambda kind, slot, value, polarity, **fields: Candidate(
        kind,
        f"{slot} is {'' if polarity == '+' else 'not '}{value}",
        attribute=slot,
        value=value,
        polarity=polarity,
        **fields,
    ),
    kind=st.sampled_from(["preference", "identity", "constraint", "fact", "project"]),
    slot=st.sampled_from(["tone", "city", "hobby", "stack"]),
    value=st.sampled_from(["one", "two", "three", "four"]),
    polarity=st.sampled_from(["+", "+", "+", "-"]),
    confidence=st.sampled_from([0.5, 0.65, 0.75, 0.85, 0.95]),
    evidence=st.sampled_from(["explicit", "explicit", "implied", "emotional"]),
    importance=st.sampled_from([None, 0.2, 0.6, 1.0]),
    correction=st.sampled_from([False, False, False, True]),
    scope=st.sampled_from(["lasting", "lasting", "lasting", "task"]),
    sensitivity=st.sampled_from(["normal", "normal", "sensitive"]),
    qualifiers=st.sampled_from([(), (), ("short",)]),
)
SESSIONS = st.sampled_from(["s1", "s2", "s3", "s4", "s5", "s6", "s7"])
VERBS = st.sampled_from(["like", "dislike", "pin", "unpin", "restore", "forget", "correct"])


class Histories(RuleBasedStateMachine):
    """One user's life, lived in every store at once."""

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.folder = tempfile.TemporaryDirectory(prefix="dualgate-")
        self.clock = ManualClock(datetime(2026, 1, 1, tzinfo=UTC))
        self.memories: list[Memory] = []
        self.before: dict[str, MemoryItem] = {}

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return self.runner.run(work)

    @initialize()
    def open(self) -> None:
        self.memories = self.run(self._open())

    async def _open(self) -> list[Memory]:
        chosen = Settings(gates=POLICY, flush_seconds=0, extraction=TRUST)
        memories = []
        for url in ("memory://", f"sqlite:///{Path(self.folder.name) / 'memory.db'}"):
            backend = await open_backend(url, chosen)
            parts = wire(backend, chosen, self.clock, embedder=HashEmbedder())
            memory = Memory(replace(parts, ids=CountingIds()))
            memory.start()
            memories.append(memory)
        return memories

    def teardown(self) -> None:
        for memory in self.memories:
            self.run(memory.close())
        self.runner.close()
        self.folder.cleanup()

    # --- what may happen

    @rule(candidate=CANDIDATES, session=SESSIONS)
    def say(self, candidate: Candidate, session: str) -> None:
        self.each(lambda m: m.propose(USER, session, [candidate], wait=True))

    @rule(verb=VERBS, pick=st.integers(0, 30), value=st.sampled_from(["one", "five"]))
    def use_a_verb(self, verb: str, pick: int, value: str) -> None:
        items = sorted(self.before.values(), key=lambda item: item.id)
        if not items:
            return
        item_id = items[pick % len(items)].id
        more = {"forget": (True,), "correct": (f"tone is {value} indeed",)}.get(verb, ())
        self.each(lambda m: getattr(m, verb)(USER, item_id, *more))

    @rule(accept=st.booleans())
    def settle(self, accept: bool) -> None:
        pendings = self.run(self.memories[0].pending(USER))
        if pendings:
            self.each(lambda m: m.settle(USER, pendings[0].id, accept))

    @rule(days=st.sampled_from([0.01, 1, 8, 40, 61, -3]))
    def time_passes(self, days: float) -> None:
        self.clock.set(self.clock.now() + timedelta(days=days))

    @rule()
    def maintain(self) -> None:
        self.each(lambda m: m.maintain(USER))

    @rule(query=st.sampled_from(["tone is one", "what about the city", "zzz"]))
    def recall(self, query: str) -> None:
        self.each(lambda m: m.recall(USER, query))
        self.each(lambda m: m.context(USER, "s1", query))

    def each(self, act: Callable[[Memory], Coroutine[Any, Any, Any]]) -> None:
        """Do the same in every store; they must fail alike, too."""
        answers = [self.run(self._attempt(act, memory)) for memory in self.memories]
        assert answers[0] == answers[1]

    async def _attempt(
        self, act: Callable[[Memory], Coroutine[Any, Any, Any]], memory: Memory
    ) -> str:
        try:
            await act(memory)
            await memory.drain()  # upkeep that rides along, and uses, are written too
        except DualgateError as error:
            return f"{type(error).__name__}: {error}"
        return "done"

    # --- what must hold after every step

    async def _all(self, memory: Memory) -> dict[str, MemoryItem]:
        page = await memory.items(USER, status=tuple(Status), limit=1000)
        return {item.id: item for item in page.items}

    @invariant()
    def every_law_holds(self) -> None:
        if not self.memories:
            return
        states = [self.run(self._all(memory)) for memory in self.memories]
        assert states[0] == states[1], "both stores agree"
        items = states[0]
        self.bounds_hold(items)
        log = self.run(self.memories[0]._parts.store.moves(USER))  # noqa: SLF001
        self.log_explains(items, log)
        self.frozen_changes_only_by_the_listed_ways(items, log)
        self.before = items

    def bounds_hold(self, items: dict[str, MemoryItem]) -> None:
        """[A8]"""
        statuses = [item.status for item in items.values()]
        assert sum(s in HOT for s in statuses) <= POLICY.admission.capacity
        assert statuses.count(Status.FROZEN) <= POLICY.freeze.capacity
        assert statuses.count(Status.ARCHIVED) <= POLICY.archive.capacity
        for item in items.values():
            assert 0 <= item.support <= 1
            assert item.confirm_count >= 0
            assert not (item.status is Status.FROZEN and item.contested)

    def log_explains(self, items: dict[str, MemoryItem], log: list[Any]) -> None:
        """[S1]; a purged item is gone from both."""
        rebuilt = replay((m.item_id, m.cause, m.after) for m in log)
        assert {i: s for i, s in rebuilt.items() if i in items} == {
            i: item.status for i, item in items.items()
        }
        for item_id, item in self.before.items():
            if item.status in ACTIVE and item.was_confirmed:
                assert item_id in items, "no confirmed fact vanishes without a logged move"

    def frozen_changes_only_by_the_listed_ways(
        self, items: dict[str, MemoryItem], log: list[Any]
    ) -> None:
        for old in self.before.values():
            if old.status is not Status.FROZEN:
                continue
            new = items[old.id]
            if new.status is not Status.FROZEN:
                causes = [m.cause for m in log if m.item_id == old.id and m.before == "frozen"]
                assert causes[-1] in FROM_FROZEN
            elif new.content != old.content:
                assert new.version == old.version + 1, "reworded by its user"
                assert new.override_of in items


# DUALGATE_EXAMPLES deepens the search; the default fits into a test run.
Histories.TestCase.settings = settings(
    max_examples=int(os.environ.get("DUALGATE_EXAMPLES", "12")),
    stateful_step_count=30,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
TestBoundsHold = Histories.TestCase
