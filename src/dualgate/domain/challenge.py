"""A challenge to a frozen item: ignored, parked, or strong enough [F3]."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from dualgate.domain.conflict import corrects
from dualgate.domain.draft import Draft
from dualgate.domain.items import Candidate, MemoryItem, Proposal, folded
from dualgate.domain.merging import new_item, settle, signal_of
from dualgate.domain.override import (
    Stand,
    challenged,
    counting,
    has_lapsed,
    may_thaw,
    stand,
)
from dualgate.domain.plan import Challenge, Outcome, Pending, PendingState
from dualgate.domain.status import Cause, Status
from dualgate.domain.types import Source
from dualgate.domain.view import Likeness, Partner


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What became of a challenge; outcome None means: it overrides."""

    outcome: Outcome | None
    reason: str
    pending_id: str | None = None
    numbers: Mapping[str, Any] = field(default_factory=dict)


def meet(
    draft: Draft,
    proposal: Proposal,
    frozen: Partner,
    likeness: Mapping[str, Likeness],
) -> Verdict:
    """Meet a challenge to a frozen item; `likeness` compares it with what is parked already."""
    firmness, reason = stand(proposal.candidate, draft.policy.override)
    if proposal.source is Source.HINT:
        firmness = Stand.IGNORE
        reason = "frozen_hint"
    if firmness is Stand.OVERRIDE and corrects(proposal, frozen.item):
        return Verdict(outcome=None, reason=reason)
    if firmness is Stand.OVERRIDE:
        reason = "frozen_held"  # the item's own last word is newer than this correction
    draft.hear(signal_of(proposal, frozen.item.id, agrees=False))
    if firmness is Stand.IGNORE:
        return Verdict(
            outcome=Outcome.IGNORED,
            reason=reason,
            numbers={"hold_at": draft.policy.override.hold_at},
        )
    pending = _park(draft, proposal, frozen.item, likeness)
    if pending is None:
        return Verdict(outcome=Outcome.IGNORED, reason="frozen_challenges_full")
    said = counting(pending)
    numbers = {
        "override_at": draft.policy.override.override_at,
        "sessions": len(said),
        "thaw_sessions": draft.policy.override.thaw_sessions,
        "span_days": _span_days(said),
    }
    if may_thaw(pending, draft.policy.override):
        thaw(draft, pending, proposal)
        return Verdict(outcome=Outcome.CONTESTED, reason="thawed", numbers=numbers)
    return Verdict(
        outcome=Outcome.HELD, reason=reason, pending_id=pending.id, numbers=numbers
    )


def end_all(draft: Draft, item_id: str) -> None:
    """An explicit correction ends every challenge to the item [F3]."""
    for pending in list(draft.pendings.values()):
        if pending.item_id == item_id:
            draft.end_challenge(pending, PendingState.OVERRIDDEN)


def thaw(draft: Draft, pending: Pending, proposal: Proposal) -> None:
    """Five sessions over three weeks: the item thaws and [C2] applies."""
    said = counting(pending)
    draft.end_challenge(pending, PendingState.THAWED)
    old = draft.thaw(
        draft.frozen[pending.item_id],
        Cause.THAWED,
        {"sessions": len(said), "span_days": _span_days(said)},
    )
    old = draft.put(old.with_(confirm_count=max(0.0, old.confirm_count - 1)))
    risen = risen_from(draft, pending, proposal.session_id, proposal.at)
    for number, word in enumerate(said):
        draft.hear(
            replace(
                signal_of(proposal, risen.id, agrees=True),
                id=f"{pending.id}:{number}",
                session_id=word.session_id,
                at=word.at,
                confidence=word.confidence,
                quote=pending.candidate.quote,
            )
        )
    entered = draft.enter_hot(
        risen, Cause.REPLACED_ANOTHER, Status.CONFIRMED, {"sessions": len(said)},
        is_new=True, force=True,
    )  # fmt: skip
    old = draft.current(old)
    if entered is None or old.status is not Status.CONFIRMED:
        return
    entered, old = draft.contest(entered, old)
    if entered.confirm_count > old.confirm_count:
        settle(draft, entered)
    # Else both stay, shown as a conflict: what was said before the challenge cannot undo the
    # thaw, only a new word for the old value can [C1].


def risen_from(draft: Draft, pending: Pending, session_id: str, at: datetime) -> MemoryItem:
    """Return the item that a parked challenge has become, with what its sessions said.

    session_id and at: where and when it was decided; a limit of what is sensitive runs from there.
    """
    said = counting(pending) or pending.challenges
    doubt = 1.0
    for challenge in said:
        doubt *= 1.0 - challenge.confidence
    item = new_item(
        draft,
        Proposal(
            id=pending.id, user_id=pending.user_id, session_id=session_id,
            candidate=pending.candidate, at=at,
        ),
    )  # fmt: skip
    return item.with_(
        confirm_count=float(len(said)),
        spaced_count=len({c.at.date() for c in said}),
        support=1.0 - doubt,
        confidence=max(c.confidence for c in said),
        calm_confidence=max(c.confidence for c in said),
        created_at=pending.opened_at,
        last_seen_at=pending.last_at,
    )


def _park(
    draft: Draft, proposal: Proposal, item: MemoryItem, likeness: Mapping[str, Likeness]
) -> Pending | None:
    """Add the challenge to the parked one that says the same, or park it anew."""
    word = Challenge(
        session_id=proposal.session_id,
        at=proposal.at,
        confidence=proposal.candidate.confidence,
    )
    for pending in list(draft.pendings.values()):
        if pending.item_id == item.id and has_lapsed(pending, draft.now, draft.policy.override):
            draft.end_challenge(pending, PendingState.LAPSED)
    parked = [p for p in draft.pendings.values() if p.item_id == item.id]
    for pending in parked:
        if _says_the_same(proposal.candidate, pending, likeness.get(pending.id), draft):
            grown = challenged(pending, word)
            draft.hold(grown)
            return grown
    if len(parked) >= draft.policy.override.per_item:
        weakest = min(parked, key=lambda p: (len(p.challenges), p.last_at))
        if len(weakest.challenges) > 1:
            return None
        draft.end_challenge(weakest, PendingState.DISPLACED)
    opened = Pending(
        id=proposal.id,
        user_id=proposal.user_id,
        item_id=item.id,
        candidate=proposal.candidate,
        challenges=(word,),
        opened_at=proposal.at,
        last_at=proposal.at,
        # What an old log says against the item was said before its last word.
        counting_since=max(proposal.at, item.last_seen_at),
    )
    draft.hold(opened)
    return opened


def _says_the_same(
    candidate: Candidate, pending: Pending, likeness: Likeness | None, draft: Draft
) -> bool:
    parked = pending.candidate
    if candidate.polarity is not parked.polarity:
        return False
    if folded(candidate.content) == folded(parked.content):
        return True
    same_slot = folded(candidate.attribute) == folded(parked.attribute) != ""
    if same_slot and candidate.value and folded(candidate.value) == folded(parked.value):
        return True
    return likeness is not None and likeness.same >= draft.policy.similarity.duplicate


def _span_days(said: Any) -> float:
    if not said:
        return 0.0
    return float(
        (max(c.at for c in said) - min(c.at for c in said)).total_seconds() / 86_400
    )
