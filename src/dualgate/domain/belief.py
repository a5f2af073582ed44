"""What was believed at some moment, read out of the log of moves [R5, S1]."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime

from dualgate.domain.items import MemoryItem
from dualgate.domain.plan import Move
from dualgate.domain.status import ACTIVE, Cause, Status


def believed_at(
    items: Mapping[str, MemoryItem], moves: Iterable[Move], when: datetime
) -> list[MemoryItem]:
    """Return the items that were active at `when`, with the status and the wording of then.

    moves are in the order of the log. A corrected item keeps its id, and the row that the
    correction made keeps the old wording: until then, that row is what was believed. What is
    forgotten by now is left out [P3].
    """
    status: dict[str, Status] = {}
    worded: dict[str, str] = {}
    for move in moves:
        if move.at <= when:
            status[move.item_id] = move.after
        elif move.cause is Cause.CORRECTED and move.item_id in items:
            # The first correction after `when` took away the wording of then.
            corrected = items[move.item_id].superseded_by
            worded.setdefault(corrected or move.item_id, move.item_id)
    found = []
    for item_id, then in status.items():
        row = items.get(worded.get(item_id, item_id))
        known = items.get(item_id)
        if then not in ACTIVE or row is None or known is None:
            continue
        if Status.FORGOTTEN not in (row.status, known.status):
            found.append(row.with_(status=then))
    return found
