"""What waits for the person's word: parked challenges, contradictions, findings of the audit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dualgate import Memory
from dualgate.domain.audit import Finding
from dualgate.domain.items import MemoryItem
from dualgate.domain.plan import Pending
from dualgate.domain.status import HOT
from dualgate.errors import NotFoundError

_PAGE = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """pairs: items that contradict each other, each pair once, the older first."""

    pendings: Sequence[Pending] = ()
    pairs: Sequence[tuple[MemoryItem, MemoryItem]] = ()
    findings: Sequence[Finding] = ()

    @property
    def count(self) -> int:
        """How many decisions are asked for."""
        return len(self.pendings) + len(self.pairs) + len(self.findings)


async def waiting_for(memory: Memory, user_id: str) -> Waiting:
    """Return what waits for this user's word."""
    hot = (await memory.items(user_id, status=HOT, limit=_PAGE)).items
    return Waiting(
        pendings=await memory.pending(user_id),
        pairs=_pairs(hot),
        findings=await memory.findings(user_id),
    )


def _pairs(items: Sequence[MemoryItem]) -> list[tuple[MemoryItem, MemoryItem]]:
    known = {item.id: item for item in items}
    pairs = {
        tuple(sorted((item.id, rival)))
        for item in items
        for rival in item.contested_with
        if rival in known
    }
    found = [
        sorted((known[one], known[other]), key=lambda item: (item.created_at, item.id))
        for one, other in pairs
    ]
    return sorted(((a, b) for a, b in found), key=lambda pair: (pair[0].created_at, pair[0].id))


async def items_by_id(
    memory: Memory, user_id: str, ids: Sequence[str]
) -> Mapping[str, MemoryItem]:
    """Return these items, whatever their status; those that are erased are left out."""
    found = {}
    for item_id in dict.fromkeys(ids):
        try:
            found[item_id] = await memory.item(user_id, item_id)
        except NotFoundError:
            continue  # erased: the caller says so
    return found
