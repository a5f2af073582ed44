"""What a decision leads to: a Plan, pure data with its reasons [W2].

A Plan is applied as one unit or not at all. Its items are whole new states, so that applying is
writing them down; its moves are the log from which every status can be rebuilt [S1].
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from dualgate.domain.items import Candidate, MemoryItem
from dualgate.domain.signals import Signal
from dualgate.domain.status import Cause, Status

Numbers = Mapping[str, float | str | bool]


class Outcome(StrEnum):
    """How a candidate ended [W2]."""

    REFUSED = "refused"
    ADMITTED = "admitted"
    MERGED = "merged"
    SUPERSEDED = "superseded"
    HELD = "held"
    IGNORED = "ignored"
    CONTESTED = "contested"
    WORKING_MEMORY = "working-memory"


class Actor(StrEnum):
    """Who caused a move."""

    CONVERSATION = "conversation"
    USER = "user"
    SYSTEM = "system"
    OPERATOR = "operator"


class PendingState(StrEnum):
    """How a pending override stands or ended [F3]."""

    OPEN = "open"
    ACCEPTED = "accepted"
    REJECTED = "rejected"
    OVERRIDDEN = "overridden"  # an explicit correction decided the matter
    THAWED = "thawed"  # 5 sessions over 21 days: the item thawed
    LAPSED = "lapsed"  # 60 quiet days
    DISPLACED = "displaced"  # a stronger challenge took its place


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """How one candidate ended, and the numbers that decided it [W2].

    reason is a short code such as "below_threshold"; docs/reference/decisions.md explains each.
    """

    id: str
    user_id: str
    session_id: str
    at: datetime
    outcome: Outcome
    reason: str
    candidate: Candidate
    item_id: str | None = None
    pending_id: str | None = None
    job_id: str | None = None
    numbers: Numbers = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """One line of the log: an item changed its status, why, when, by whom [S1]."""

    user_id: str
    item_id: str
    before: Status | None
    after: Status
    cause: Cause
    at: datetime
    actor: Actor = Actor.SYSTEM
    numbers: Numbers = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Challenge:
    """One session's word for a pending override: the strongest of that session."""

    session_id: str
    at: datetime
    confidence: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Pending:
    """A serious but insufficient challenge to a frozen item, parked [F3].

    challenges hold at most one entry a session. `counting_since` moves forward whenever the old
    value is confirmed: only what came later counts towards a thaw.
    """

    id: str
    user_id: str
    item_id: str
    candidate: Candidate
    challenges: tuple[Challenge, ...]
    opened_at: datetime
    last_at: datetime
    counting_since: datetime
    state: PendingState = PendingState.OPEN
    closed_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """A statement for the task or the moment: working memory only [L2].

    Without a task it stands under the task "", without expires_at it lasts as long as its session.
    """

    user_id: str
    session_id: str
    key: str
    text: str
    at: datetime
    task_id: str = ""
    expires_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Everything that one decision, verb or upkeep run changes."""

    decision: Decision | None = None
    items: tuple[MemoryItem, ...] = ()
    signals: tuple[Signal, ...] = ()
    moves: tuple[Move, ...] = ()
    pendings: tuple[Pending, ...] = ()
    notes: tuple[Note, ...] = ()
    # Items whose bytes go for good: forgotten longer ago than the undo window [P3].
    purged: tuple[str, ...] = ()
