"""What time does to memory: weathering, lapsing, fading, expiry, capacity [F3-F5, A7, D1, P1, P3].

Pure and idempotent: run twice at the same moment, the second run changes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from dualgate.domain.archiving import is_expired
from dualgate.domain.draft import Draft
from dualgate.domain.items import MemoryItem
from dualgate.domain.override import has_lapsed
from dualgate.domain.plan import Actor, PendingState, Plan
from dualgate.domain.policy import GatePolicy
from dualgate.domain.score import live_score
from dualgate.domain.status import Cause, Status
from dualgate.domain.types import Sensitivity
from dualgate.domain.view import Snapshot
from dualgate.domain.weathering import weathers


def maintain(
    snapshot: Snapshot,
    policy: GatePolicy,
    now: datetime,
    expired: Sequence[MemoryItem] = (),
    forgotten: Sequence[MemoryItem] = (),
) -> Plan:
    """Return all that is due at `now`.

    expired: items whose time limit has run out. forgotten: items forgotten before the undo
    window; their bytes go.
    """
    draft = Draft(snapshot, policy, now, Actor.SYSTEM)
    for pending in list(draft.pendings.values()):
        if has_lapsed(pending, now, policy.override):
            draft.end_challenge(pending, PendingState.LAPSED)
    _expire(draft, expired)
    for item in list(draft.frozen.values()):
        if weathers(item, now, policy.weathering):
            draft.weather(item)
    _fit_frozen(draft)
    _fade(draft)
    _fit_hot(draft)
    return draft.plan(purged=tuple(item.id for item in forgotten))


def fitted(snapshot: Snapshot, policy: GatePolicy, now: datetime) -> Plan:
    """Return what has to leave where pools hold more than they may, and nothing else [A8].

    An archive that is far too full leaves in several rounds: call it until nothing moves.
    """
    draft = Draft(snapshot, policy, now, Actor.SYSTEM)
    draft.fit_archive()
    if draft.archive_count <= policy.archive.capacity:
        _fit_frozen(draft)
        _fit_hot(draft)
    return draft.plan(freeze=False)  # making room is no reason to freeze [F2]


def _expire(draft: Draft, expired: Sequence[MemoryItem]) -> None:
    for given in expired:
        item = draft.current(given)
        if not is_expired(item, draft.now):
            continue
        numbers = {"expires_at": str(item.expires_at)}
        if item.sensitivity is Sensitivity.SENSITIVE:
            draft.shift(item, Cause.EXPIRED, Status.FORGOTTEN, numbers)
        elif item.status is not Status.ARCHIVED:
            draft.archive(item, Cause.EXPIRED, numbers)


def _fade(draft: Draft) -> None:
    """Hot items that are hardly worth keeping go to the archive; protected ones stay [D1]."""
    protected = draft.protected()
    for item in list(draft.hot.values()):
        kept = draft.kept(item)
        if kept < draft.policy.archive.fade_below and item.id not in protected:
            draft.archive(item, Cause.FADED, {"retention": kept})


def _fit_frozen(draft: Draft) -> None:
    """A smaller capacity than before: the lowest-scored thaw, pinned ones last."""
    surplus = len(draft.frozen) - draft.policy.freeze.capacity
    if surplus > 0:
        ranked = sorted(
            draft.frozen.values(),
            key=lambda item: (item.pinned, live_score(item, draft.now, draft.policy.score)),
        )
        for item in ranked[:surplus]:
            draft.thaw(item, Cause.THAWED, {"capacity": draft.policy.freeze.capacity})


def _fit_hot(draft: Draft) -> None:
    """A smaller capacity than before: the lowest-scored leave."""
    surplus = len(draft.hot) - draft.policy.admission.capacity
    if surplus > 0:
        protected, scores = draft.protected(), draft.scores()
        ranked = sorted(
            draft.hot.values(), key=lambda item: (item.id in protected, scores[item.id])
        )
        for item in ranked[:surplus]:
            draft.archive(item, Cause.EVICTED, {"capacity": draft.policy.admission.capacity})
