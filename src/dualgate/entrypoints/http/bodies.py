"""What requests carry. Pydantic checks their shape; what the values may be, Memory says."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from dualgate import Candidate, Message
from dualgate.domain.items import CONTENT_LIMIT
from dualgate.domain.types import Evidence, ItemType, Polarity, Role, Scope, Sensitivity

MESSAGES_LIMIT = 1_000
Id = Annotated[str, Field(min_length=1, max_length=512)]
Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Words = Annotated[list[str], Field(max_length=100)]
Text = Annotated[str, Field(max_length=100_000)]


class Body(BaseModel):
    """A body names no field that does not exist: a misspelt one is an error, not silence."""

    model_config = ConfigDict(extra="forbid")


class OfUser(Body):
    """Whose memory it is. The tenant comes from the key, never from here [P4]."""

    user_id: Id = Field(examples=["ann"], description="Your own id of the user.")


class MessageIn(Body):
    """One turn of a conversation."""

    role: Role = Field(examples=["user"])
    content: str = Field(examples=["From now on, please keep answers short."])
    at: AwareDatetime | None = Field(
        None, examples=["2026-11-30T09:30:00+08:00"],
        description="When it was said, with an offset: that of the speaker. None: now.",
    )  # fmt: skip
    id: Id | None = Field(
        None, examples=["m-17"], description="Yours; the same id twice is stored once."
    )

    def message(self) -> Message:
        """Return it as Memory takes it."""
        return Message(self.role, self.content, self.at, self.id)


class ObserveIn(OfUser):
    """Turns to remember from [W1]."""

    session_id: Id = Field(examples=["chat-1"])
    messages: list[MessageIn] = Field(max_length=MESSAGES_LIMIT)
    wait: bool = Field(default=False, description="Answer with the decisions, once they are made.")
    private: bool = Field(default=False, description="Nothing of it is written [P2].")
    task_id: Id | None = None
    parent_session_id: Id | None = Field(
        None, description="The session that this one resumes or forks [F2]."
    )


class CandidateIn(Body):
    """A statement that your assistant's own model understood [W5]."""

    item_type: ItemType = Field(examples=["preference"])
    content: str = Field(
        min_length=1, max_length=CONTENT_LIMIT, examples=["Prefers short answers."]
    )
    subject: str = "user"
    attribute: str | None = Field(None, examples=["reply_length"])
    value: str | None = Field(None, examples=["short"])
    qualifiers: Words = []
    polarity: Polarity = Polarity.POSITIVE
    confidence: Share = Field(examples=[0.9])
    evidence: Evidence = Evidence.EXPLICIT
    importance: Share | None = None
    correction: bool = False
    scope: Scope = Scope.LASTING
    event_at: AwareDatetime | None = None
    expires_at: AwareDatetime | None = None
    entities: Words = []
    tags: Words = []
    sensitivity: Sensitivity = Sensitivity.NORMAL
    quote: str | None = Field(None, examples=["please keep answers short"])
    message_id: str | None = None

    def candidate(self) -> Candidate:
        """Return it as Memory takes it."""
        values: dict[str, Any] = {name: getattr(self, name) for name in type(self).model_fields}
        return Candidate(values.pop("item_type"), values.pop("content"), **values)


class ProposeIn(OfUser):
    """Candidates; they meet the same gates as what is extracted here [W5]."""

    session_id: Id = Field(examples=["chat-1"])
    candidates: list[CandidateIn] = Field(max_length=MESSAGES_LIMIT)
    wait: bool = False


class SessionIn(OfUser):
    """A session of a user."""

    session_id: Id = Field(examples=["chat-1"])


class ContextIn(SessionIn):
    """The start of a session [R1]."""

    query: Text = Field("", examples=["Can you help me plan the week?"])
    token_budget: int | None = Field(None, ge=0, le=10_000_000, examples=[1600])
    window_tokens: int | None = Field(None, ge=1, le=100_000_000)
    lang: str | None = Field(None, examples=["en"], pattern="^(en|zh)$")


class RecallIn(OfUser):
    """A question to the memory [R2]."""

    query: Text = Field(examples=["how long should answers be?"])
    limit: int = Field(10, ge=1, le=100)
    item_types: Annotated[list[ItemType], Field(max_length=len(ItemType))] | None = None
    archived: bool = True
    sensitive: bool = Field(default=False, description="Hand out sensitive items, too [P1].")
    transcripts: bool = Field(default=False, description="Search the raw turns, too [R6].")
    as_of: AwareDatetime | None = Field(None, description="What was believed then [R5].")
    lang: str | None = Field(None, pattern="^(en|zh)$")


class CorrectIn(OfUser):
    """A better wording."""

    content: str = Field(
        min_length=1, max_length=CONTENT_LIMIT, examples=["Prefers short answers in Chinese."]
    )


class ForgetIn(OfUser):
    """To remove an item, undoably."""

    confirm: bool = Field(
        default=False, description="Forgetting a frozen item asks once more [F6]."
    )


class EraseIn(OfUser):
    """What to erase: an item or a session, one of both [P3]."""

    item_id: Id | None = None
    session_id: Id | None = None


class SettleIn(OfUser):
    """What becomes of a pending override [F3]."""

    accept: bool
    keep_old: bool = Field(
        default=False, description="Accept it beside the frozen item, which stands."
    )


class PauseIn(OfUser):
    """What stops until `resume` [P2]."""

    capture: bool = True
    recall: bool = False


class ClassIn(OfUser):
    """A profile of the gates [F7]."""

    name: Id = Field(examples=["default"])


class TaskIn(SessionIn):
    """A task of a session."""

    task_id: Id = Field(examples=["book-a-flight"])


class NoteIn(TaskIn):
    """A note of a task [L2]."""

    key: Id = Field(examples=["tried"])
    value: Text = Field(examples=["the 9 o'clock flight is full"])


class CompactIn(Body):
    """A conversation that has grown long; nothing of it is stored [L1]."""

    messages: list[dict[str, Any]] = Field(
        max_length=100_000, examples=[[{"role": "user", "content": "Hello"}]],
        description="As OpenAI or Anthropic take them.",
    )  # fmt: skip
    budget: int | None = Field(None, ge=1, le=100_000_000)


class DrainIn(Body):
    """How long to wait until nothing is queued or running."""

    timeout: float = Field(30.0, ge=0, le=600, allow_inf_nan=False)


class KeyIn(Body):
    """An API key to make."""

    name: str = Field("", max_length=100, examples=["support chat"])
    scope: str = Field("write", pattern="^(read|write|admin)$")
    days: float | None = Field(
        None, gt=0, lt=36_500, allow_inf_nan=False, description="None: until it is revoked."
    )


class RotateIn(Body):
    """How long the old secret goes on working."""

    grace_hours: float = Field(24.0, ge=0, le=8_760, allow_inf_nan=False)

