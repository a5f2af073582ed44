"""Ready-made values for tests: valid as they come, and any field can be changed by name."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from dualgate.domain.items import Candidate, MemoryItem, Proposal
from dualgate.domain.plan import Challenge, Decision, Move, Outcome, Pending, Plan
from dualgate.domain.signals import Signal
from dualgate.domain.status import HOT, Cause, Status
from dualgate.domain.types import Evidence, ItemType, Role
from dualgate.errors import InvalidInputError
from dualgate.pipeline.ports import Job, JobKind, StoredTurn

MONDAY = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)
USER = "ann"
SESSION = "s1"

_BIRTH = {
    Status.CONFIRMED: Cause.CONFIRMED,
    Status.FROZEN: Cause.FROZE,
    Status.ARCHIVED: Cause.EVICTED,
    Status.SUPERSEDED: Cause.SUPERSEDED,
    Status.FORGOTTEN: Cause.FORGOT,
}


def a_candidate(content: str = "The user prefers short answers", **fields: Any) -> Candidate:
    """Return a candidate: an explicit, lasting preference said with confidence 0.9."""
    given: dict[str, Any] = {"item_type": ItemType.PREFERENCE, "confidence": 0.9, **fields}
    return Candidate(given.pop("item_type"), content, **given)


def an_item(content: str = "The user prefers short answers", **fields: Any) -> MemoryItem:
    """Return an item: a candidate of user ann, said on a Monday in session s1."""
    at = fields.get("created_at", MONDAY)
    given: dict[str, Any] = {
        "id": "item-1",
        "user_id": USER,
        "item_type": ItemType.PREFERENCE,
        "content": content,
        "status": Status.CANDIDATE,
        "score": 0.7,
        "importance": 0.7,
        "confidence": 0.9,
        "support": 0.9,
        "created_at": at,
        "updated_at": at,
        "last_seen_at": at,
        "source_session_id": SESSION,
        **fields,
    }
    return MemoryItem(**given)


def a_signal(item_id: str = "item-1", **fields: Any) -> Signal:
    """Return a signal that agrees, explicit, confidence 0.9."""
    given: dict[str, Any] = {
        "id": "signal-1",
        "user_id": USER,
        "item_id": item_id,
        "session_id": SESSION,
        "at": MONDAY,
        "confidence": 0.9,
        "evidence": Evidence.EXPLICIT,
        "quote": "short answers, please",
        **fields,
    }
    return Signal(**given)


def a_proposal(candidate: Candidate | None = None, **fields: Any) -> Proposal:
    """Return a proposal of that candidate by user ann in session s1."""
    given: dict[str, Any] = {
        "id": "proposal-1",
        "user_id": USER,
        "session_id": SESSION,
        "candidate": candidate or a_candidate(),
        "at": MONDAY,
        **fields,
    }
    return Proposal(**given)


def a_decision(candidate: Candidate | None = None, **fields: Any) -> Decision:
    """Return a decision that admitted the candidate."""
    given: dict[str, Any] = {
        "id": "decision-1",
        "user_id": USER,
        "session_id": SESSION,
        "at": MONDAY,
        "outcome": Outcome.ADMITTED,
        "reason": "above_threshold",
        "candidate": candidate or a_candidate(),
        "numbers": {"score": 0.7, "threshold": 0.6, "median": "none", "full": False},
        **fields,
    }
    return Decision(**given)


def a_move(item_id: str = "item-1", **fields: Any) -> Move:
    """Return the first move of an item: admitted as a candidate."""
    given: dict[str, Any] = {
        "user_id": USER,
        "item_id": item_id,
        "before": None,
        "after": Status.CANDIDATE,
        "cause": Cause.ADMITTED,
        "at": MONDAY,
        "numbers": {"score": 0.7},
        **fields,
    }
    return Move(**given)


def a_pending(item_id: str = "item-1", **fields: Any) -> Pending:
    """Return an open challenge by one session."""
    at = fields.get("opened_at", MONDAY)
    given: dict[str, Any] = {
        "id": "pending-1",
        "user_id": USER,
        "item_id": item_id,
        "candidate": a_candidate("The user prefers long answers"),
        "challenges": (Challenge(session_id=SESSION, at=at, confidence=0.8),),
        "opened_at": at,
        "last_at": at,
        "counting_since": at,
        **fields,
    }
    return Pending(**given)


def a_plan(*items: MemoryItem, **fields: Any) -> Plan:
    """Return a plan that brings these items into being, with the moves that lead there."""
    given: dict[str, Any] = {
        "items": items,
        "moves": tuple(move for item in items for move in moves_to(item)),
        **fields,
    }
    return Plan(**given)


def moves_to(item: MemoryItem) -> tuple[Move, ...]:
    """Return legal moves that lead from nothing to the item's status, all at its creation.

    An item that was confirmed passes through confirmed; no move leads from there to candidate.
    """
    steps = [Status.CANDIDATE]
    if item.status is Status.CANDIDATE and item.was_confirmed:
        raise InvalidInputError("was_confirmed", "a candidate was never confirmed", item.id)
    confirmed_on_the_way = item.status is not Status.ARCHIVED and item.status not in HOT
    if confirmed_on_the_way or item.was_confirmed:
        steps.append(Status.CONFIRMED)
    if item.status not in steps:
        steps.append(item.status)
    before: Status | None = None
    moves = []
    for after in steps:
        cause = _BIRTH.get(after, Cause.ADMITTED)
        moves.append(
            Move(
                user_id=item.user_id,
                item_id=item.id,
                before=before,
                after=after,
                cause=cause,
                at=item.created_at,
            )
        )
        before = after
    return tuple(moves)


def a_turn(content: str = "Short answers, please.", **fields: Any) -> StoredTurn:
    """Return a turn of the user in session s1."""
    given: dict[str, Any] = {
        "id": "turn-1",
        "user_id": USER,
        "session_id": SESSION,
        "role": Role.USER,
        "content": content,
        "at": MONDAY,
        **fields,
    }
    return StoredTurn(**given)


def a_job(job_id: str = "job-1", **fields: Any) -> Job:
    """Return a job of user ann that carries one turn."""
    given: dict[str, Any] = {
        "id": job_id,
        "user_id": USER,
        "session_id": SESSION,
        "kind": JobKind.TURNS,
        "payload": {"turns": [{"content": "你好 👋", "role": "user"}]},
        "enqueued_at": MONDAY,
        **fields,
    }
    return Job(**given)
