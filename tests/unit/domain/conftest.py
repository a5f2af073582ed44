"""A whole memory without any I/O: what one decision changes, the next one sees."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import settings

from dualgate.domain import curation, upkeep
from dualgate.domain.archiving import is_expired
from dualgate.domain.decision import decide
from dualgate.domain.items import Candidate, MemoryItem, Proposal
from dualgate.domain.plan import Decision, Move, Pending, PendingState, Plan
from dualgate.domain.policy import GatePolicy
from dualgate.domain.signals import Signal
from dualgate.domain.status import HOT, LIVE, Status, replay
from dualgate.domain.types import Source
from dualgate.domain.view import Likeness, OwnTime, Partner, Snapshot, View
from dualgate.testing.builders import MONDAY, USER, a_candidate, an_item

# What is tested is what comes out, not how busy the machine is.
settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")

NOTHING_ALIKE = Likeness(same=0.0, conflicting=0.0, cosine=0.0)


class Mind:
    """One user's memory as pure data. Structure alone relates statements unless told otherwise."""

    def __init__(self, policy: GatePolicy | None = None) -> None:
        self.policy = policy or GatePolicy()
        self.now = MONDAY
        self.items: dict[str, MemoryItem] = {}
        self.signals: list[Signal] = []
        self.pendings: dict[str, Pending] = {}
        self.moves: list[Move] = []
        self.own_time = OwnTime()
        self.last_plan = Plan()
        self._count = 0

    # --- looking

    def of(self, *statuses: Status) -> list[MemoryItem]:
        return [item for item in self.items.values() if item.status in statuses]

    def current(self, item: MemoryItem) -> MemoryItem:
        return self.items[item.id]

    @property
    def hot(self) -> list[MemoryItem]:
        return self.of(*HOT)

    @property
    def frozen(self) -> list[MemoryItem]:
        return self.of(Status.FROZEN)

    @property
    def archive(self) -> list[MemoryItem]:
        return self.of(Status.ARCHIVED)

    @property
    def challenges(self) -> list[Pending]:
        return [p for p in self.pendings.values() if p.state is PendingState.OPEN]

    def snapshot(self) -> Snapshot:
        return Snapshot(
            user_id=USER,
            hot={item.id: item for item in self.hot},
            frozen={item.id: item for item in self.frozen},
            pendings=tuple(self.challenges),
            archive_count=len(self.archive),
            archive_tail=tuple(self.archive),
            own_time=self.own_time,
        )

    # --- changing

    def days_pass(self, days: float) -> None:
        self.now += timedelta(days=days)

    def knows(self, content: str = "The user prefers short answers", **fields: Any) -> MemoryItem:
        """Put an item there as if it had always been."""
        self._count += 1
        fields = {"id": f"known-{self._count}", "score": 0.7, **fields}
        if fields.get("status", Status.CANDIDATE) in (Status.CONFIRMED, Status.FROZEN):
            fields.setdefault("was_confirmed", True)
            fields.setdefault("confirm_count", 2.0)
        fields.setdefault("calm_confidence", 0.9)
        fields.setdefault("confirm_count", 1.0)
        item = an_item(content, **fields)
        self.items[item.id] = item
        return item

    def prefers(self, value: str, *, session: str | None = None, **fields: Any) -> Decision:
        """Let the user state how long answers should be."""
        fields.setdefault("attribute", "reply_length")
        return self.says(f"The user prefers {value} answers", session=session, value=value,
                         **fields)  # fmt: skip

    def says(
        self,
        content: str,
        *,
        session: str | None = None,
        at: datetime | None = None,
        likeness: Likeness = NOTHING_ALIKE,
        **fields: Any,
    ) -> Decision:
        """Let the user state something, in a session of its own unless one is named."""
        self._count += 1
        heard = {name: fields.pop(name) for name in ("source", "parked") if name in fields}
        return self.hears(
            a_candidate(content, **fields),
            session or f"session-{self._count}",
            at,
            likeness,
            **heard,
        )

    def hears(
        self,
        candidate: Candidate,
        session: str,
        at: datetime | None = None,
        likeness: Likeness = NOTHING_ALIKE,
        source: Source = Source.LOCAL,
        parked: Mapping[str, Likeness] | None = None,
    ) -> Decision:
        """Decide on a candidate; `parked` compares it with the open challenges, by their ids."""
        self._count += 1
        proposal = Proposal(
            id=f"said-{self._count:04d}",
            user_id=USER,
            session_id=session,
            candidate=candidate,
            at=at or self.now,
            source=source,
        )
        self.own_time = self.own_time.touched(proposal.at)
        partners = tuple(
            Partner(item=item, likeness=likeness, signals_here=self._heard(item.id, session))
            for item in self.of(*LIVE)
        )
        view = View(snapshot=self.snapshot(), partners=partners, challenges=parked or {})
        plan = decide(proposal, view, self.policy, min(self.now, proposal.at))
        self.apply(plan)
        assert plan.decision is not None
        return plan.decision

    def freezes(self, value: str = "short") -> MemoryItem:
        """Let the user confirm a preference on three days."""
        for _ in range(3):
            decision = self.prefers(value)
            self.days_pass(1)
        item = self.items[str(decision.item_id)]
        assert item.status is Status.FROZEN
        return item

    def does(self, verb: str, item: MemoryItem, *more: Any, **named: Any) -> MemoryItem:
        """Use one of the user's own verbs."""
        self._count += 1
        if verb in ("like", "dislike"):
            named["signal_id"] = f"own-{self._count:04d}"
        self.apply(
            getattr(curation, verb)(
                self.current(item), *more, self.snapshot(), self.policy, self.now, **named
            )
        )
        return self.current(item)

    def settles(self, pending: Pending, *, accept: bool) -> None:
        verb = curation.accept if accept else curation.reject
        item = self.items[pending.item_id]
        self.apply(verb(pending, item, self.snapshot(), self.policy, self.now))

    def maintains(self) -> list[Move]:
        expired = [i for i in self.of(*LIVE) if is_expired(i, self.now)]
        plan = upkeep.maintain(self.snapshot(), self.policy, self.now, expired)
        self.apply(plan)
        return list(plan.moves)

    def apply(self, plan: Plan) -> None:
        self.last_plan = plan
        self.items |= {item.id: item for item in plan.items}
        self.signals += plan.signals
        self.pendings |= {pending.id: pending for pending in plan.pendings}
        self.moves += plan.moves
        self._laws_hold()

    def _heard(self, item_id: str, session: str) -> tuple[Signal, ...]:
        return tuple(
            s for s in self.signals if s.item_id == item_id and s.session_id == session
        )

    def _laws_hold(self) -> None:
        """[A8, S1, F1] after every single plan."""
        assert len(self.hot) <= self.policy.admission.capacity
        assert len(self.frozen) <= self.policy.freeze.capacity
        assert len(self.archive) <= self.policy.archive.capacity
        known = {i for i in self.items if not i.startswith("known-")}
        born = replay(
            (m.item_id, m.cause, m.after) for m in self.moves if m.item_id in known
        )
        assert born == {i: self.items[i].status for i in known}
        for item in self.items.values():
            assert not (item.status is Status.FROZEN and item.contested)
            for other in item.contested_with:
                rival = self.items.get(other)
                assert rival is None or rival.status in HOT, "contested with what is gone"


@pytest.fixture
def mind() -> Mind:
    return Mind()


@pytest.fixture
def a_mind() -> type[Mind]:
    return Mind
