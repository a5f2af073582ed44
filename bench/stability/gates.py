"""dualgate as a host would use it, with both gates, or with one switched off."""

from __future__ import annotations

from dataclasses import replace
from typing import Self

from designs import Block, Line
from lives import Life, Session
from reading import KnownCandidates, KnownVectors, Reading

from dualgate import Memory, Message, Settings
from dualgate.domain.admission import AdmissionPolicy
from dualgate.domain.assembly import ContextLimits
from dualgate.domain.conflict import SimilarityPolicy
from dualgate.domain.freezing import FreezePolicy
from dualgate.domain.policy import GatePolicy
from dualgate.domain.relevance import GENERAL_TYPES
from dualgate.pipeline.recipes import ReadPolicy
from dualgate.testing import ManualClock

# Everything may enter, and nobody ever has to leave.
OPEN_DOOR = AdmissionPolicy(min_confidence=0.0, capacity=1_000_000, floor=0.0)
NO_FREEZING = FreezePolicy(types=frozenset())
VARIANTS = {
    "dualgate": GatePolicy(),
    "no admission gate": GatePolicy(admission=OPEN_DOOR),
    "no freeze gate": GatePolicy(freeze=NO_FREEZING),
    "neither gate": GatePolicy(admission=OPEN_DOOR, freeze=NO_FREEZING),
}
# Session start and contests by the letter of the articles, where the defaults depart from it.
LETTER_READ = replace(
    ReadPolicy(),
    limits=ContextLimits(general_types=GENERAL_TYPES, active_items=20, outbursts=True),
)
LETTER_GATES = GatePolicy(similarity=SimilarityPolicy(outbursts_contest=True))


class DualGate:
    """One user's memory, in process, on a clock of its own."""

    def __init__(self, life: Life, reading: Reading, gates: GatePolicy,
                 read: ReadPolicy | None = None) -> None:
        self._clock = ManualClock(life.sessions[0].at)
        self._user = life.user
        settings = replace(Settings(), gates=gates, read=read or ReadPolicy())
        self._opening = Memory.open(
            "memory://", settings=settings, clock=self._clock,
            extractor=KnownCandidates(reading), embedder=KnownVectors(reading),
        )  # fmt: skip
        self._memory: Memory | None = None

    @property
    def memory(self) -> Memory:
        """Return the open memory."""
        if self._memory is None:
            raise RuntimeError("open it first")
        return self._memory

    async def __aenter__(self) -> Self:
        self._memory = await self._opening
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.memory.close()

    async def open(self, session: Session) -> Block:
        """Return what the session starts with."""
        self._clock.set(session.at)
        block = await self.memory.context(self._user, session.id, session.turns[0].text)
        lines = [Line(i.content, frozen=True, contested=i.contested) for i in block.core]
        lines += [Line(i.content, contested=i.contested) for i in (*block.active, *block.recalled)]
        return Block(lines, block.tokens)

    async def hear(self, session: Session) -> None:
        """Hand over a session's turns, and wait until they are decided."""
        turns = [Message(t.role, t.text, session.at, t.id) for t in session.turns]
        receipt = await self.memory.observe(self._user, session.id, turns, wait=True)
        del receipt
        await self.memory.end_session(self._user, session.id)
