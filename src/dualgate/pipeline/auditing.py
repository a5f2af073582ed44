"""Audit of the frozen pool, on demand and weekly [U2]: rules always, a model where there is one.

Rule: an audit changes no item. Its findings stand until somebody settles them; one that is settled
comes back only if its item has changed since.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Protocol

from dualgate.domain.audit import AuditPolicy, Finding, FindingState, by_rules
from dualgate.domain.items import Candidate, MemoryItem
from dualgate.domain.policy import GatePolicy
from dualgate.domain.view import Likeness
from dualgate.errors import ModelError, NotFoundError
from dualgate.pipeline.observer import Observer
from dualgate.pipeline.ports import Clock, Embedder, Judge, Store


class Auditor(Protocol):
    """A model that looks through frozen items."""

    async def audit(
        self, user_id: str, items: Sequence[MemoryItem], now: datetime
    ) -> list[Finding]:
        """Return what it finds wrong with them. Raises ModelError."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditPorts:
    """What an audit talks to. auditor: None leaves it to the rules."""

    store: Store
    embedder: Embedder
    judge: Judge
    clock: Clock
    policy_of: Callable[[str], GatePolicy]
    observer: Observer
    auditor: Auditor | None = None
    policy: AuditPolicy = field(default_factory=AuditPolicy)


async def audit(user_id: str, on: AuditPorts) -> list[Finding]:
    """Look through a user's frozen pool; return the findings that are open now, oldest first.

    Where the model does not answer, the rules have looked alone, and the observer is told.
    """
    snapshot = await on.store.snapshot(user_id)
    items, now = sorted(snapshot.frozen.values(), key=lambda item: item.id), on.clock.now()
    limits = on.policy_of(snapshot.user_class).similarity
    compare = await _comparer(items, on)
    found = {f.id: f for f in by_rules(user_id, items, compare, limits, now)}
    if on.auditor is not None and items:
        try:
            # Where both see the same, the rules' finding stands: it is the same every time.
            found = {f.id: f for f in await on.auditor.audit(user_id, items, now)} | found
        except ModelError as error:
            on.observer.stumbled(f"the audit of {user_id} went without the model: {error}")
    known = {f.id: f for f in await on.store.findings(user_id, open_only=False)}
    changed = merged(found, known, snapshot.frozen, now)
    await on.store.keep_findings(user_id, changed, audited_at=now)
    return await on.store.findings(user_id)


async def audit_if_due(user_id: str, on: AuditPorts) -> None:
    """Audit a user's frozen pool if the last time is long enough ago; rides along with writes."""
    snapshot = await on.store.snapshot(user_id)
    if not snapshot.frozen:
        return
    last, now = await on.store.audited_at(user_id), on.clock.now()
    if last is None or abs(now - last) >= timedelta(days=on.policy.every_days):
        await audit(user_id, on)


async def settle(user_id: str, finding_id: str, store: Store, now: datetime) -> Finding:
    """Say that a finding may stand. Raises NotFoundError."""
    kept = {f.id: f for f in await store.findings(user_id)}
    if finding_id not in kept:
        raise NotFoundError("open finding", finding_id)
    settled = replace(kept[finding_id], state=FindingState.SETTLED, settled_at=now)
    await store.keep_findings(user_id, [settled])
    return settled


def merged(
    found: Mapping[str, Finding],
    known: Mapping[str, Finding],
    frozen: Mapping[str, MemoryItem],
    now: datetime,
) -> list[Finding]:
    """Return the findings to write: new ones, those that came back, those that are gone."""
    fresh = [
        finding
        for finding in found.values()
        if (old := known.get(finding.id)) is None or _comes_back(old, frozen)
    ]
    gone = [
        replace(old, state=FindingState.GONE, settled_at=now)
        for old in known.values()
        if old.state is FindingState.OPEN and old.id not in found
    ]
    return [*fresh, *gone]


def _comes_back(old: Finding, frozen: Mapping[str, MemoryItem]) -> bool:
    if old.state is FindingState.OPEN:
        return False
    if old.state is FindingState.GONE or old.settled_at is None:
        return True
    about = [frozen[i] for i in (old.item_id, old.other_id) if i is not None and i in frozen]
    return any(item.updated_at > old.settled_at for item in about)


async def _comparer(
    items: Sequence[MemoryItem], on: AuditPorts
) -> Callable[[Candidate, Sequence[MemoryItem]], Sequence[Likeness]]:
    """Return the judge with the cosines it wants; at most 30 items, so all pairs are few [F4]."""
    if not items:
        return lambda _, others: on.judge.compare(_, others, [0.0] * len(others))
    vectors = await on.embedder.embed([item.content for item in items])
    of = {item.content: vector for item, vector in zip(items, vectors, strict=True)}

    def compare(candidate: Candidate, others: Sequence[MemoryItem]) -> Sequence[Likeness]:
        cosines = [float(of[candidate.content] @ of[other.content]) for other in others]
        return on.judge.compare(candidate, others, cosines)

    return compare
