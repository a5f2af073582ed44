"""What answers carry: the values of Memory, with user ids as the tenant knows them [P4]."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime
from typing import Annotated, Any, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationInfo

from dualgate.domain.audit import FindingKind, FindingState
from dualgate.domain.plan import Actor, Outcome, PendingState
from dualgate.domain.status import Cause, Status
from dualgate.domain.types import (
    Evidence,
    ItemType,
    Polarity,
    Role,
    Scope,
    Sensitivity,
    Source,
)
from dualgate.pipeline.ports import ModelTask

Shown = Callable[[str], str]


def _as_shown(stored: str, info: ValidationInfo) -> str:
    shown: Shown | None = info.context
    return stored if shown is None else shown(stored)


UserIdOut = Annotated[str, AfterValidator(_as_shown), Field(examples=["ann"])]
NumbersOut = dict[str, float | str | bool]


class Answer(BaseModel):
    """Made from a value of Memory."""

    model_config = ConfigDict(from_attributes=True)

    @classmethod
    def of(cls, value: Any, shown: Shown) -> Self:
        """Return the value as the caller may see it."""
        return cls.model_validate(value, context=shown)


class CandidateOut(Answer):
    """What extraction proposed [W4]."""

    item_type: ItemType
    content: str
    subject: str
    attribute: str | None
    value: str | None
    qualifiers: list[str]
    polarity: Polarity
    confidence: float
    evidence: Evidence
    importance: float | None
    correction: bool
    scope: Scope
    event_at: datetime | None
    expires_at: datetime | None
    entities: list[str]
    tags: list[str]
    sensitivity: Sensitivity
    quote: str | None
    message_id: str | None


class ItemOut(Answer):
    """One structured statement about one user."""

    id: str = Field(examples=["019356c0-1111-7000-8000-000000000001"])
    user_id: UserIdOut
    item_type: ItemType
    subject: str
    attribute: str | None
    value: str | None
    polarity: Polarity
    qualifiers: list[str]
    content: str = Field(examples=["Prefers short answers."])
    status: Status
    score: float = Field(description="Its standing without a query, as of now [A1].")
    importance: float
    confidence: float
    support: float
    confirm_count: float
    evidence: Evidence
    sensitivity: Sensitivity
    contested: bool
    contested_with: list[str]
    pinned: bool
    tags: list[str]
    entities: list[str]
    event_at: datetime | None
    expires_at: datetime | None
    created_at: datetime
    updated_at: datetime
    last_seen_at: datetime
    last_accessed_at: datetime | None
    access_count: int
    frozen_at: datetime | None
    liked_at: datetime | None
    source_session_id: str
    override_of: str | None
    superseded_by: str | None
    version: int


class DecisionOut(Answer):
    """How a candidate ended, and the numbers that decided it [W2]."""

    id: str
    user_id: UserIdOut
    session_id: str
    at: datetime
    outcome: Outcome
    reason: str = Field(examples=["new"], description="docs/reference/decisions.md explains each.")
    candidate: CandidateOut
    item_id: str | None
    pending_id: str | None
    job_id: str | None
    numbers: NumbersOut


class MoveOut(Answer):
    """An item changed its status: why, when, by whom [S1]."""

    user_id: UserIdOut
    item_id: str
    before: Status | None
    after: Status
    cause: Cause
    at: datetime
    actor: Actor
    numbers: NumbersOut


class SignalOut(Answer):
    """What was said for or against an item, with its quote."""

    id: str
    item_id: str
    session_id: str
    at: datetime
    confidence: float
    evidence: Evidence
    agrees: bool
    quote: str | None
    message_id: str | None
    source: Source


class UseOut(Answer):
    """When an item was handed out, and whether it answered a query."""

    at: datetime
    hit: bool
    query_relevance: float
    session_id: str | None


class HistoryOut(Answer):
    """How an item came to stand where it stands."""

    moves: list[MoveOut]
    signals: list[SignalOut]
    versions: list[ItemOut]
    recalls: list[UseOut]


class ChallengeOut(Answer):
    """One session's word for a pending override."""

    session_id: str
    at: datetime
    confidence: float


class PendingOut(Answer):
    """A serious but insufficient challenge to a frozen item, parked [F3]."""

    id: str
    user_id: UserIdOut
    item_id: str
    candidate: CandidateOut
    challenges: list[ChallengeOut]
    opened_at: datetime
    last_at: datetime
    state: PendingState


class ReceiptOut(Answer):
    """What became of what was handed in."""

    job_id: str | None = Field(
        description="None if nothing was queued: private, paused, or nothing left to store."
    )
    state: str = Field(examples=["done"], description="waiting, done, dead, or nothing queued.")
    decisions: list[DecisionOut] = []
    error: str | None = None


class JobOut(Answer):
    """How a job stands."""

    job_id: str
    state: str = Field(examples=["done"])
    decisions: list[DecisionOut]
    error: str | None


class ContextOut(Answer):
    """What to put before the conversation [R1]."""

    text: str
    tokens: int
    core: list[ItemOut]
    active: list[ItemOut]
    recalled: list[ItemOut]
    core_tokens: int
    active_tokens: int
    recalled_tokens: int
    left_out: int


class HitOut(Answer):
    """An item that fits, its relevance, and its fit on every path."""

    item: ItemOut
    relevance: float
    paths: dict[str, float]


class TurnOut(Answer):
    """A raw turn."""

    id: str
    role: Role
    content: str
    at: datetime


class PassageOut(Answer):
    """A raw turn that fits, quoted [R6]."""

    turn_id: str
    session_id: str
    role: Role
    at: datetime
    content: str
    relevance: float
    paths: dict[str, float]
    before: list[TurnOut]
    after: list[TurnOut]


class FoundOut(Answer):
    """The few items that fit, best first; nothing where nothing fits [R3]."""

    hits: list[HitOut]
    passages: list[PassageOut]
    on_topic: bool
    text: str
    degraded: str  # why memories were found by their words only; "" if they were not


class ErasureOut(Answer):
    """What an erasure removed, and where; no word of it [P3]."""

    id: str
    user_id: UserIdOut
    kind: str = Field(examples=["item"])
    target: str
    at: datetime
    removed: dict[str, int]
    changed: dict[str, int]
    kept_items: list[str]
    mentioned_in: list[str]
    bytes_gone: bool = Field(
        description="Whether the file was rewritten; if not, the next start or `scrub` does it."
    )


class ScrubOut(BaseModel):
    """Whether the file was rewritten."""

    bytes_gone: bool


class ImportOut(Answer):
    """What an import brought; what was known stays as it is."""

    added: dict[str, int]
    known: dict[str, int]
    erased: int


class FindingOut(Answer):
    """One thing that an audit found [U2]."""

    id: str
    user_id: UserIdOut
    kind: FindingKind
    item_id: str
    other_id: str | None
    said: str
    by: str = Field(examples=["rules"])
    found_at: datetime
    state: FindingState
    settled_at: datetime | None


class FindingPageOut(BaseModel):
    """A page of findings, oldest first."""

    findings: list[FindingOut]
    cursor: str | None


class SpentOut(Answer):
    """Calls and tokens."""

    calls: int
    input_tokens: int
    output_tokens: int
    estimated: bool


class UsageOut(Answer):
    """What one model cost for one task on one day (UTC)."""

    day: date
    task: ModelTask
    model: str
    usage: SpentOut
    turns: int
    skipped: int
    fell_back: int


class QueueOut(Answer):
    """How much waits, and since when; of all users."""

    waiting: int
    dead: int
    oldest_enqueued_at: datetime | None


class PoolsOut(Answer):
    """One user's pools against their capacities."""

    hot: int
    hot_capacity: int
    frozen: int
    frozen_capacity: int
    archive: int
    archive_capacity: int
    waiting_to_freeze: int
    threshold: float
    user_class: str
    capture_paused: bool
    recall_paused: bool


class StatsOut(Answer):
    """Numbers of one user."""

    items: dict[Status, int]
    decisions: dict[str, int]
    turns: int
    pendings: int
    pools: PoolsOut
    models: list[UsageOut]


class AllStatsOut(Answer):
    """Numbers of everybody, for the operator."""

    users: int
    items: dict[Status, int]
    decisions: dict[str, int]
    turns: int
    pendings: int
    queue: QueueOut
    bytes: int | None
    models: list[UsageOut]


class DeadJobOut(BaseModel):
    """A job that was parked after its last attempt, with the real error."""

    job_id: str
    user_id: str
    session_id: str
    kind: str
    attempts: int
    enqueued_at: datetime
    died_at: datetime
    error: str


class CompactedOut(BaseModel):
    """The conversation, shorter."""

    messages: list[dict[str, Any]]
    report: dict[str, Any]


class NotesOut(BaseModel):
    """The notes of a task."""

    notes: dict[str, str]


class KeyOut(Answer):
    """An API key, without its secret."""

    id: str
    tenant: str
    name: str
    scope: str
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None
    last_used_at: datetime | None


class NewKeyOut(BaseModel):
    """A key that was just made; its secret is never shown again."""

    key: KeyOut
    secret: str = Field(examples=["dg_…"])


class ItemPageOut(BaseModel):
    """A page of items, newest first."""

    items: list[ItemOut]
    cursor: str | None = Field(description="Where the next page starts; null: this was the last.")


class DecisionPageOut(BaseModel):
    """A page of decisions, newest first."""

    decisions: list[DecisionOut]
    cursor: str | None


class PendingPageOut(BaseModel):
    """A page of pending overrides, oldest first."""

    pending: list[PendingOut]
    cursor: str | None


class MovePageOut(BaseModel):
    """A page of what moved, newest first."""

    moves: list[MoveOut]
    cursor: str | None


class UserPageOut(BaseModel):
    """A page of users, in order of their ids."""

    users: list[str]
    cursor: str | None


class DeadPageOut(BaseModel):
    """A page of parked jobs, newest first."""

    dead: list[DeadJobOut]
    cursor: str | None


class KeyPageOut(BaseModel):
    """A page of keys, oldest first."""

    keys: list[KeyOut]
    cursor: str | None


class MovesOut(BaseModel):
    """What upkeep moved."""

    moves: list[MoveOut]


class ProblemArgument(BaseModel):
    """An argument and the rule it breaks."""

    argument: str = Field(examples=["user_id"])
    rule: str = Field(examples=["must be a non-blank string"])


class Problem(BaseModel):
    """An error (RFC 9457)."""

    type: str = Field(examples=["urn:dualgate:error:InvalidInputError"])
    title: str = Field(examples=["Unprocessable Entity"])
    status: int = Field(examples=[422])
    detail: str = Field(examples=["user_id: must be a non-blank string"])
    errors: list[ProblemArgument] = []
