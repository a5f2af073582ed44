"""Candidates and items: one structured statement about one user (spec §1)."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from enum import StrEnum
from functools import lru_cache
from operator import attrgetter
from typing import Any, TypeVar

from dualgate.domain.status import Status
from dualgate.domain.types import Evidence, ItemType, Polarity, Role, Scope, Sensitivity, Source
from dualgate.errors import InvalidInputError

CONTENT_LIMIT = 2_000  # characters; an item is one plain sentence, not a document
QUOTE_LIMIT = 2_000

_Choice = TypeVar("_Choice", bound=StrEnum)


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a conversation.

    role: user, assistant, tool or system. at: aware datetime; None means now. Its offset is taken
    as the speaker's time zone. id: the host's id; the same id twice is stored once.
    """

    role: Role
    content: str
    at: datetime | None = None
    id: str | None = None

    def __post_init__(self) -> None:
        _set(self, "role", choice("role", Role, self.role))
        _set(self, "content", clean_text("content", self.content))
        if self.at is not None:
            require_aware("at", self.at)
        if self.id is not None and (not isinstance(self.id, str) or not self.id.strip()):
            raise InvalidInputError("id", "must be a non-blank string or None", self.id)


@dataclass(frozen=True, slots=True)
class Candidate:
    """What extraction proposes; it has no id yet [W4].

    confidence and importance are 0-1. event_at and expires_at are aware datetimes. polarity is "+"
    or "-". qualifiers are modifiers split out of the value ("short" in "short code examples").
    Raises InvalidInputError that names the argument and the rule.
    """

    item_type: ItemType
    content: str
    subject: str = field(default="user", kw_only=True)
    attribute: str | None = field(default=None, kw_only=True)
    value: str | None = field(default=None, kw_only=True)
    qualifiers: tuple[str, ...] = field(default=(), kw_only=True)
    polarity: Polarity = field(default=Polarity.POSITIVE, kw_only=True)
    confidence: float = field(kw_only=True)
    evidence: Evidence = field(default=Evidence.EXPLICIT, kw_only=True)
    importance: float | None = field(default=None, kw_only=True)
    correction: bool = field(default=False, kw_only=True)
    scope: Scope = field(default=Scope.LASTING, kw_only=True)
    event_at: datetime | None = field(default=None, kw_only=True)
    expires_at: datetime | None = field(default=None, kw_only=True)
    entities: tuple[str, ...] = field(default=(), kw_only=True)
    tags: tuple[str, ...] = field(default=(), kw_only=True)
    sensitivity: Sensitivity = field(default=Sensitivity.NORMAL, kw_only=True)
    quote: str | None = field(default=None, kw_only=True)
    message_id: str | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        for name, kind in _CHOICES.items():
            _set(self, name, choice(name, kind, getattr(self, name)))
        _set(self, "content", _sentence("content", self.content))
        _set(self, "subject", clean_text("subject", self.subject).strip() or "user")
        for name in ("attribute", "value", "quote", "message_id"):
            given = getattr(self, name)
            _set(self, name, None if given is None else clean_text(name, given).strip() or None)
        if self.quote is not None:
            _set(self, "quote", self.quote[:QUOTE_LIMIT])
        for name in ("qualifiers", "entities", "tags"):
            _set(self, name, _words(name, getattr(self, name)))
        _set(self, "confidence", unit_interval("confidence", self.confidence))
        if self.importance is not None:
            _set(self, "importance", unit_interval("importance", self.importance))
        if not isinstance(self.correction, bool):
            raise InvalidInputError("correction", "must be True or False", self.correction)
        for name in ("event_at", "expires_at"):
            when = getattr(self, name)
            if when is not None:
                _set(self, name, require_aware(name, when))


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """A candidate in its setting: who said it, where and when.

    id names the decision, and the new item or pending override should one arise. at is the moment
    of the utterance; the gates judge as of that moment, so that imported history is weighed as it
    would have been. session_id is the root of the session's lineage [F2].
    """

    id: str
    user_id: str
    session_id: str
    candidate: Candidate
    at: datetime
    source: Source = Source.LOCAL
    job_id: str | None = None
    task_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryItem:
    """One structured statement about one user, as remembered. All times are aware UTC.

    score, importance, confidence and support are 0-1; confirm_count counts sessions after
    discounts and setbacks [F2], so it may be fractional.
    """

    id: str
    user_id: str
    item_type: ItemType
    content: str
    subject: str = "user"
    attribute: str | None = None
    value: str | None = None
    polarity: Polarity = Polarity.POSITIVE
    qualifiers: tuple[str, ...] = ()
    status: Status
    score: float = 0.0
    importance: float
    confidence: float
    # Highest agreeing confidence said calmly (not emotional); 0 where there is none [F1].
    calm_confidence: float = 0.0
    support: float
    confirm_count: float = 0.0
    # Distinct days with a confirmation; the smooth weathering curve grows with them [F5].
    spaced_count: int = 0
    evidence: Evidence = Evidence.EXPLICIT
    sensitivity: Sensitivity = Sensitivity.NORMAL
    contested_with: tuple[str, ...] = ()
    pinned: bool = False
    # Has it ever been confirmed? In the archive the status no longer tells [A7].
    was_confirmed: bool = False
    tags: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    event_at: datetime | None = None
    expires_at: datetime | None = None
    created_at: datetime
    updated_at: datetime
    last_seen_at: datetime
    last_accessed_at: datetime | None = None
    last_hit_at: datetime | None = None
    frozen_at: datetime | None = None
    # When it last weathered or thawed: only a later confirmation lets it freeze again [F5].
    thawed_at: datetime | None = None
    # When the user last liked it: a like counts once a day [F6].
    liked_at: datetime | None = None
    # Reading of the user's own clock at the last access [D1].
    accessed_day: float = 0.0
    access_count: int = 0
    source_session_id: str
    override_of: str | None = None
    superseded_by: str | None = None
    version: int = 1

    @property
    def contested(self) -> bool:
        """Whether another live item says otherwise [C1]."""
        return bool(self.contested_with)

    def with_(self, **changes: Any) -> MemoryItem:
        """Return a copy with these fields changed."""
        # What dataclasses.replace does, in two thirds of the time: a decision copies ten items.
        values = dict(zip(_ITEM_FIELDS, _item_values(self), strict=True))
        return MemoryItem(**{**values, **changes})


_ITEM_FIELDS = tuple(each.name for each in fields(MemoryItem))
_item_values = attrgetter(*_ITEM_FIELDS)

_CHOICES: dict[str, type[StrEnum]] = {
    "item_type": ItemType,
    "polarity": Polarity,
    "evidence": Evidence,
    "scope": Scope,
    "sensitivity": Sensitivity,
}


def clean_text(argument: str, text: object) -> str:
    """Return text that every store can hold: no NUL, no lone surrogate.

    >>> clean_text("content", "teal " + chr(0xD83D)) == "teal " + chr(0xFFFD)
    True
    """
    if not isinstance(text, str):
        raise InvalidInputError(argument, "must be a string", text)
    if not _is_dirty(text):
        return text
    # UTF-16 joins a surrogate pair that came in as two code points, and marks a lone one.
    joined = text.replace("\x00", "").encode("utf-16-le", "surrogatepass")
    return joined.decode("utf-16-le", "replace")


def choice(argument: str, kind: type[_Choice], given: object) -> _Choice:
    """Return `given` as a member of `kind`, or say which words are allowed."""
    try:
        return kind(given)  # type: ignore[arg-type]  # a wrong type is a wrong value, too
    except ValueError:
        allowed = " | ".join(kind)
        raise InvalidInputError(argument, f"must be one of {allowed}", given) from None


def require_aware(argument: str, when: object) -> datetime:
    """Return `when`, or refuse a naive datetime: which instant it means cannot be known.

    One before year 1 or after year 9999 in UTC is refused as well: no store could read it back.
    """
    if not isinstance(when, datetime) or when.utcoffset() is None:
        raise InvalidInputError(argument, "must be a datetime with a time zone", when)
    try:
        when.astimezone(UTC)
    except OverflowError:
        rule = "must lie between the years 1 and 9999 in UTC"
        raise InvalidInputError(argument, rule, when) from None
    return when


def unit_interval(argument: str, number: object) -> float:
    """Return `number` as a float between 0 and 1."""
    if isinstance(number, bool) or not isinstance(number, int | float):
        raise InvalidInputError(argument, "must be a number between 0 and 1", number)
    if not 0.0 <= number <= 1.0:  # False for NaN, too
        raise InvalidInputError(argument, "must be between 0 and 1", number)
    return float(number)


def to_utc(when: datetime) -> datetime:
    """Return the same instant in UTC."""
    return when.astimezone(UTC)


def folded(text: str | None) -> str:
    """Return text in the form in which two spellings of the same word are equal.

    >>> folded("  PostgreSQL　数据库。")
    'postgresql 数据库'
    """
    return "" if text is None else _folded(text)


@lru_cache(maxsize=8_192)  # one decision folds the same few words of every partner again and again
def _folded(text: str) -> str:
    plain = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(plain.split()).strip(" .,;:!?。，；：！？、")


def _sentence(argument: str, text: object) -> str:
    content = clean_text(argument, text).strip()
    if not content:
        raise InvalidInputError(argument, "must not be blank")
    if len(content) > CONTENT_LIMIT:
        raise InvalidInputError(argument, f"at most {CONTENT_LIMIT} characters", content)
    return content


def _words(argument: str, words: object) -> tuple[str, ...]:
    if isinstance(words, str) or not hasattr(words, "__iter__"):
        raise InvalidInputError(argument, "must be a sequence of strings", words)
    cleaned = (clean_text(argument, word).strip() for word in words)
    return tuple(dict.fromkeys(word for word in cleaned if word))


_DIRTY = re.compile("[\x00\ud800-\udfff]")


def _is_dirty(text: str) -> bool:
    return _DIRTY.search(text) is not None


def _set(instance: object, name: str, value: object) -> None:
    object.__setattr__(instance, name, value)
