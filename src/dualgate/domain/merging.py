"""What a signal does to the item it agrees or disagrees with [A2, C2, F2]."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from dualgate.domain.archiving import expiry_of, is_expired
from dualgate.domain.draft import Draft
from dualgate.domain.items import Candidate, MemoryItem, Proposal, to_utc
from dualgate.domain.score import importance_of
from dualgate.domain.signals import (
    Signal,
    added_support,
    belief,
    counted,
    counted_in_session,
    strongest_in_session,
)
from dualgate.domain.status import HOT, Cause, Status
from dualgate.domain.types import Evidence, Sensitivity, Source

_EVIDENCE_RANK = {Evidence.EMOTIONAL: 0, Evidence.IMPLIED: 1, Evidence.EXPLICIT: 2}
_CARE_RANK = {Sensitivity.NORMAL: 0, Sensitivity.PERSONAL: 1, Sensitivity.SENSITIVE: 2}


def signal_of(proposal: Proposal, item_id: str, *, agrees: bool) -> Signal:
    """Return the signal that a proposal is for or against an item."""
    candidate = proposal.candidate
    return Signal(
        # One proposal may speak about several items; each gets a signal of its own.
        id=proposal.id if agrees else f"{proposal.id}:{item_id}",
        user_id=proposal.user_id,
        item_id=item_id,
        session_id=proposal.session_id,
        at=proposal.at,
        confidence=candidate.confidence,
        evidence=candidate.evidence,
        agrees=agrees,
        quote=candidate.quote,
        message_id=candidate.message_id,
        source=proposal.source,
    )


def new_item(draft: Draft, proposal: Proposal, **lineage: Any) -> MemoryItem:
    """Return the item a proposal would become; it has no status in any pool yet."""
    candidate, policy = proposal.candidate, draft.policy
    emotional = policy.score.emotional_weight
    said = belief(candidate.confidence, candidate.evidence, emotional, proposal.source)
    calm = candidate.confidence if _is_calm(proposal) else 0.0
    return MemoryItem(
        id=proposal.id,
        user_id=proposal.user_id,
        item_type=candidate.item_type,
        content=candidate.content,
        subject=candidate.subject,
        attribute=candidate.attribute,
        value=candidate.value,
        polarity=candidate.polarity,
        qualifiers=candidate.qualifiers,
        status=Status.CANDIDATE,
        importance=importance_of(candidate, policy.score),
        confidence=candidate.confidence,
        calm_confidence=calm,
        support=said,
        confirm_count=counted(candidate.evidence, emotional, proposal.source),
        spaced_count=1,
        evidence=candidate.evidence,
        sensitivity=candidate.sensitivity,
        tags=candidate.tags,
        entities=candidate.entities,
        event_at=_utc(candidate.event_at),
        expires_at=_utc(
            expiry_of(candidate.expires_at, candidate.sensitivity, proposal.at, policy.archive)
        ),
        created_at=proposal.at,
        updated_at=draft.now,
        last_seen_at=proposal.at,
        accessed_day=draft.own_day(),
        source_session_id=proposal.session_id,
        **lineage,
    )


def confirm(
    draft: Draft, item: MemoryItem, proposal: Proposal, heard: Sequence[Signal]
) -> MemoryItem:
    """Merge an agreeing signal into an item; `heard` is what its session said before [F2]."""
    candidate, emotional = proposal.candidate, draft.policy.score.emotional_weight
    before = strongest_in_session(heard, emotional)
    now = belief(candidate.confidence, candidate.evidence, emotional, proposal.source)
    counts = counted(candidate.evidence, emotional, proposal.source)
    gain = max(0.0, counts - counted_in_session(heard, emotional))
    is_new_day = gain > 0 and proposal.at.date() != item.last_seen_at.date()
    merged = _worded(item, candidate).with_(
        support=added_support(item.support, before, now),
        confirm_count=item.confirm_count + gain,
        spaced_count=item.spaced_count + is_new_day,
        confidence=max(item.confidence, candidate.confidence),
        last_seen_at=max(item.last_seen_at, proposal.at),
        importance=max(item.importance, candidate.importance or 0.0),
        sensitivity=max(item.sensitivity, candidate.sensitivity, key=_CARE_RANK.__getitem__),
        tags=tuple(dict.fromkeys((*item.tags, *candidate.tags))),
        entities=tuple(dict.fromkeys((*item.entities, *candidate.entities))),
        event_at=item.event_at or _utc(candidate.event_at),
        expires_at=_utc(_renewed(draft, item, proposal)),
        # Being spoken of is a use [D1], else the next upkeep would archive what was just said.
        accessed_day=max(item.accessed_day, draft.own_day()),
    )
    if _is_calm(proposal):
        merged = merged.with_(calm_confidence=max(merged.calm_confidence, candidate.confidence))
    draft.hear(signal_of(proposal, item.id, agrees=True))
    if proposal.source is not Source.HINT:
        stand_by(draft, item, proposal.at)
    return settle(draft, raise_status(draft, draft.put(merged)))


def _utc(when: datetime | None) -> datetime | None:
    """An item's times are UTC in every store; a candidate's have the speaker's offset."""
    return None if when is None else to_utc(when)


def _is_calm(proposal: Proposal) -> bool:
    """Whether it is a word of the user's own, and no outburst [F1]."""
    calm = proposal.candidate.evidence is not Evidence.EMOTIONAL
    return calm and proposal.source is not Source.HINT


def raise_status(draft: Draft, item: MemoryItem) -> MemoryItem:
    """Confirm a candidate that was said often enough [F1]."""
    enough = item.confirm_count >= draft.policy.freeze.confirm_at
    if item.status is Status.CANDIDATE and enough:
        return draft.shift(
            item, Cause.CONFIRMED, numbers={"confirm_count": item.confirm_count}
        )
    return item


def reactivate(
    draft: Draft, item: MemoryItem, confidence: float, *, force: bool = False
) -> MemoryItem:
    """Bring an archived item back if the signal was strong enough and there is a place [A7].

    With force, both are taken for granted.
    """
    weak = confidence < draft.policy.archive.reactivate_at
    if item.status is not Status.ARCHIVED or (weak and not force):
        return item
    sure = item.was_confirmed or item.confirm_count >= draft.policy.freeze.confirm_at
    to = Status.CONFIRMED if sure else Status.CANDIDATE
    numbers = {"confidence": confidence}
    return draft.enter_hot(item, Cause.REACTIVATED, to, numbers, force=force) or item


def contradict(
    draft: Draft, item: MemoryItem, proposal: Proposal, heard: Sequence[Signal]
) -> MemoryItem:
    """Take one confirmation off an item that is not frozen; a session counts once [F2]."""
    draft.hear(signal_of(proposal, item.id, agrees=False))
    against = (s for s in heard if not s.agrees and s.source is not Source.HINT)
    if item.status is Status.FROZEN or any(against):
        return item
    # An outburst that contradicts counts as little as an outburst that confirms.
    emotional = draft.policy.score.emotional_weight
    loss = counted(proposal.candidate.evidence, emotional, proposal.source)
    return draft.put(item.with_(confirm_count=max(0.0, item.confirm_count - loss)))


def stand_by(draft: Draft, item: MemoryItem, at: datetime) -> None:
    """A word for the frozen value sets back every challenge to it [F3]."""
    for pending in list(draft.pendings.values()):
        if pending.item_id == item.id:
            draft.hold(replace(pending, counting_since=max(pending.counting_since, at)))


def supersede(
    draft: Draft, item: MemoryItem, successor_id: str, cause_numbers: dict[str, Any]
) -> MemoryItem:
    """Let a newer or stronger value take the item's place; nothing is deleted [C3]."""
    item = item.with_(superseded_by=successor_id)
    return draft.shift(
        item, Cause.SUPERSEDED, numbers={"successor": successor_id, **cause_numbers}
    )


def settle(draft: Draft, item: MemoryItem) -> MemoryItem:
    """Settle a contested item when one side leads by two confirmations [C2]."""
    for other_id in item.contested_with:
        other = draft.hot.get(other_id)
        if other is None or item.status not in HOT:
            continue
        lead = item.confirm_count - other.confirm_count
        if abs(lead) < draft.policy.similarity.settle_lead:
            continue
        winner, loser = (item, other) if lead > 0 else (other, item)
        supersede(draft, loser, winner.id, {"lead": abs(lead)})
        winner = draft.current(winner)
        if winner.override_of is None:
            winner = winner.with_(
                override_of=loser.id, version=max(winner.version, loser.version + 1)
            )
        draft.put(winner)
        if loser.id == item.id:
            break
    return draft.current(item)


def _worded(item: MemoryItem, candidate: Candidate) -> MemoryItem:
    """The clearest wording stays: a plain statement replaces a hint or an outburst [C1]."""
    changes: dict[str, Any] = {
        "attribute": item.attribute or candidate.attribute,
        "value": item.value or candidate.value,
    }
    clearer = _EVIDENCE_RANK[candidate.evidence] > _EVIDENCE_RANK[item.evidence]
    if clearer:
        changes["evidence"] = candidate.evidence
        if item.status is not Status.FROZEN:
            changes["content"] = candidate.content
    return item.with_(**changes)


def _renewed(draft: Draft, item: MemoryItem, proposal: Proposal) -> Any:
    """What is said again lasts again; what the user keeps has no limit [P1]."""
    candidate = proposal.candidate
    if item.pinned or (
        item.expires_at is None and item.sensitivity is Sensitivity.SENSITIVE
    ):
        return item.expires_at
    limit = expiry_of(
        candidate.expires_at,
        max(item.sensitivity, candidate.sensitivity, key=_CARE_RANK.__getitem__),
        proposal.at,
        draft.policy.archive,
    )
    if is_expired(item, proposal.at):
        return limit  # its old limit has been outlived
    if item.expires_at is None or limit is None:
        return limit if item.expires_at is None else item.expires_at
    return max(limit, item.expires_at)
