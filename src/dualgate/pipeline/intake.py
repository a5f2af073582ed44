"""What happens to messages before they are queued: cleaned, redacted, named [W1, W3, P1]."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from dualgate.domain.items import Candidate, Message, clean_text, require_aware
from dualgate.domain.plan import Decision
from dualgate.errors import InvalidInputError
from dualgate.pipeline.ports import Redactor
from dualgate.pipeline.render import strip_injected

# What the user fences off is not stored; hosts know this mark from other memory layers.
_FENCE = re.compile(r"<(/?)private\b[^<>]*>", re.IGNORECASE)
# Far beyond any conversation turn; what is longer is cut into several turns, none is dropped.
TURN_LIMIT = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """What `observe` and `propose` answer [W1].

    job_id: None if nothing was queued (private, paused, or nothing left to store). decisions: with
    wait=True, one for every candidate; empty otherwise. erased: how many messages were left out
    because they repeat erased text [P3].
    """

    job_id: str | None
    decisions: tuple[Decision, ...] = ()
    erased: int = 0


def require_id(argument: str, value: object) -> str:
    """Return a user, session or item id, or refuse a missing or blank one [P4]."""
    if not isinstance(value, str) or not value.strip():
        rule = "must be a non-blank string; it is never 'all' [P4]"
        raise InvalidInputError(argument, rule, value)
    if len(value) > 512:  # noqa: PLR2004
        raise InvalidInputError(argument, "at most 512 characters", value)
    if "\x00" in value or any("\ud800" <= c <= "\udfff" for c in value):
        raise InvalidInputError(argument, "must be valid text without NUL", value)
    return value


def require_path(argument: str, value: object) -> str:
    """Return a path of the file system as text, or refuse what can be none."""
    if not isinstance(value, str | Path) or not str(value).strip():
        raise InvalidInputError(argument, "must be a path, as text or Path", value)
    text = str(value)
    if "\x00" in text or any("\ud800" <= c < "\udc80" or "\udcff" < c <= "\udfff" for c in text):
        raise InvalidInputError(argument, "must be valid text without NUL", value)
    return text


def require_flag(argument: str, value: object) -> bool:
    """Return True or False; "no" is neither."""
    if not isinstance(value, bool):
        raise InvalidInputError(argument, "must be True or False", value)
    return value


def require_limit(value: object, highest: int) -> int:
    """Return a page's or an answer's length."""
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= highest:
        raise InvalidInputError("limit", f"must be between 1 and {highest}", value)
    return value


def text_or_none(argument: str, value: object) -> str | None:
    """Return a text to look for, None for any."""
    return None if value is None else clean_text(argument, value)


def as_messages(messages: object) -> list[Message]:
    """Return messages as given, or made from mappings with role and content."""
    if isinstance(messages, Message | Mapping | str) or not isinstance(messages, Sequence):
        raise InvalidInputError("messages", "must be a list of Message", messages)
    return [_as_message(index, given) for index, given in enumerate(messages)]


def cleaned(
    messages: Sequence[Message], session_id: str, now: datetime, redactor: Redactor
) -> list[Message]:
    """Return the messages as they may be queued: redacted, without our own text, each with an id.

    A message without an id gets one from its session, time and words, so that the same timed
    payload sent twice is stored once. An id that comes twice in one payload is one message.
    """
    kept = []
    names: set[str] = set()
    for index, message in enumerate(messages):
        text = without_private(strip_injected(message.content))
        text = redactor.redact(text).strip()
        if not text:
            continue
        at = message.at or now
        if at > now:
            at = now.astimezone(at.tzinfo)  # a clock that runs ahead cannot age the future
        name = message.id or _derived_id(session_id, message, f"{now.isoformat()}#{index}")
        if name in names:
            continue
        names.add(name)
        for part, piece in enumerate(_pieces(text)):
            kept.append(
                replace(message, content=piece, at=at, id=name if part == 0 else f"{name}#{part}")
            )
    return kept


def without_private(text: str) -> str:
    """Return text without what its writer fenced off; a fence never closed hides the rest.

    >>> without_private("a <private>b <private>c</private> d</private> e")
    'a  e'
    """
    kept, depth, start = [], 0, 0
    for fence in _FENCE.finditer(text):
        if not fence[1]:
            if depth == 0:
                kept.append(text[start : fence.start()])
            depth += 1
        elif depth:
            depth -= 1
            start = fence.end()
    return "".join([*kept, text[start:]]) if depth == 0 else "".join(kept)


def redacted(candidate: Candidate, redactor: Redactor) -> Candidate:
    """Return the candidate without secrets, whoever proposed it [P1].

    A password is one by the words before it. So a value is read behind its attribute as well, and
    what was taken out of the sentences is taken out of the fields: there, it is left out whole.
    """
    changes: dict[str, Any] = {
        name: redactor.redact(text)
        for name in ("content", "subject", "attribute", "value", "quote")
        if (text := getattr(candidate, name)) is not None
    }
    given = [text for text in (candidate.content, candidate.quote) if text is not None]
    kept = [changes[name] for name in ("content", "quote") if name in changes]
    if candidate.attribute and candidate.value:
        slot = f"{candidate.attribute.replace('_', ' ')}: {candidate.value}"
        given.append(slot)
        kept.append(redactor.redact(slot))

    def taken_out(word: str) -> bool:
        pairs = zip(given, kept, strict=True)
        return any(word in before and word not in after for before, after in pairs)

    if candidate.value and taken_out(candidate.value):
        changes["value"] = None
    for name in ("qualifiers", "entities", "tags"):
        words = (word for word in getattr(candidate, name) if not taken_out(word))
        changes[name] = tuple(redactor.redact(word) for word in words)
    return replace(candidate, **changes)


def to_payload(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """Return messages as plain JSON for the queue."""
    return [
        {
            "id": m.id,
            "role": str(m.role),
            "content": m.content,
            "at": m.at.isoformat() if m.at else None,
        }
        for m in messages
    ]


def from_payload(rows: Sequence[Mapping[str, Any]]) -> list[Message]:
    """Return the messages of a queued job."""
    return [
        Message(row["role"], row["content"], datetime.fromisoformat(row["at"]), row["id"])
        for row in rows
    ]


def candidate_to_payload(candidate: Candidate) -> dict[str, Any]:
    """Return a candidate as plain JSON for the queue."""
    row: dict[str, Any] = {}
    for name in candidate.__dataclass_fields__:
        value = getattr(candidate, name)
        if isinstance(value, datetime):
            value = value.isoformat()
        row[name] = list(value) if isinstance(value, tuple) else value
    return row


def candidate_from_payload(row: Mapping[str, Any]) -> Candidate:
    """Return the candidate of a queued job."""
    fields = dict(row)
    for name in ("event_at", "expires_at"):
        if fields.get(name):
            fields[name] = require_aware(name, datetime.fromisoformat(fields[name]))
    return Candidate(fields.pop("item_type"), fields.pop("content"), **fields)


def _as_message(index: int, given: object) -> Message:
    if isinstance(given, Message):
        return given
    if not isinstance(given, Mapping) or not {"role", "content"} <= set(given):
        raise InvalidInputError(
            f"messages[{index}]", "must be a Message, or a mapping with role and content", given
        )
    at = given.get("at")
    if isinstance(at, str):
        try:
            at = datetime.fromisoformat(at)
        except ValueError:
            raise InvalidInputError(f"messages[{index}].at", "must be ISO 8601", at) from None
    return Message(given["role"], given["content"], at, given.get("id"))


def _derived_id(session_id: str, message: Message, otherwise: str) -> str:
    # Without a time, the moment and the place in the payload tell equal turns apart: what is said
    # again later is another turn, and dropping it would lose an accepted one [W1].
    place = message.at.isoformat() if message.at else otherwise
    parts = f"{session_id}\x1f{message.role}\x1f{place}\x1f{message.content}"
    return "sha:" + hashlib.sha256(parts.encode("utf-8", "replace")).hexdigest()[:32]


def _pieces(text: str) -> list[str]:
    return [text[i : i + TURN_LIMIT] for i in range(0, len(text), TURN_LIMIT)]
