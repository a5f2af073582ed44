"""What an endpoint's refusal means, and what to do about it: pure.

Rule: one place decides what may pass (and is tried again), what will not (and is told), and what
is no fault at all but a filter. Keys are cut out of whatever an endpoint says.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import Any

from dualgate.errors import (
    ModelError,
    ModelRefusedError,
    ModelRejectedError,
    ModelUnavailableError,
)
from dualgate.pipeline.endpoints import Secret

_LONGEST = 240  # characters of what an endpoint says about a fault
_KEY_LIKE = re.compile(r"\b(?:sk|pk|key|Bearer)[-_ ][\w*.-]{6,}", re.IGNORECASE)
# As OpenAI, Azure, Alibaba, Zhipu and Moonshot name it.
_FILTERED = (
    "content_filter", "content_policy", "content management policy", "data_inspection_failed",
    "datainspectionfailed", "敏感", "responsibleaipolicy", "content_moderation",
)  # fmt: skip
_FILTER_CODES = frozenset({"1301"})
_SPENT = ("insufficient_quota", "insufficient balance", "billing", "credit balance", "arrearage")
_TOO_LONG = (
    "context_length", "context length", "maximum context", "prompt is too long", "too many tokens",
    "context window", "input length", "too large to process",
)  # fmt: skip
_STATUS_OF = {
    "overloaded_error": 529, "api_error": 500, "rate_limit_error": 429,
    "authentication_error": 401, "permission_error": 403, "invalid_request_error": 400,
    "not_found_error": 404,
}  # fmt: skip
_PASSING = frozenset({408, 409, 425, 429})
_LOWEST_FAILURE = 500
_NOT_IMPLEMENTED = 501


def fault_of(
    status: int, headers: Mapping[str, str], body: str, *, key: Secret | None, key_name: str
) -> ModelError:
    """Return the error for an answer that is none. key_name: where the key is set."""
    said = what_is_said(body, key)
    told = f"the endpoint answers {status}" + (f": {said}" if said else "")
    codes = list(_codes(body))
    words = " ".join((said, *codes)).lower()
    if any(word in words for word in _SPENT) or status == 402:  # noqa: PLR2004
        return ModelRejectedError(told, "The quota or the balance is used up", status=status)
    if status in _PASSING or (status >= _LOWEST_FAILURE and status != _NOT_IMPLEMENTED):
        return ModelUnavailableError(
            told, "It is tried again later", retry_after=retry_after(headers), status=status
        )
    if any(word in words for word in _FILTERED) or _FILTER_CODES.intersection(codes):
        return ModelRefusedError(told, "Its content filter does not let this text through")
    return ModelRejectedError(told, _advice(status, words, key, key_name), status=status)


def status_in(tree: Mapping[str, Any]) -> int:
    """Return the status that a fault in an answer with a good status means.

    >>> status_in({"error": {"type": "overloaded_error"}}), status_in({"error": {"code": 429}})
    (529, 429)
    """
    fault = tree.get("error")
    parts = fault if isinstance(fault, Mapping) else {}
    code = parts.get("code")
    if isinstance(code, int) and 400 <= code < 600:  # noqa: PLR2004
        return code
    return _STATUS_OF.get(str(parts.get("type")), 502)


def what_is_said(body: str, key: Secret | None) -> str:
    """Return the message of a refusal, short, on one line, without keys."""
    found = next(iter(_messages(body)), "")
    if not found and not body.lstrip().startswith(("<", "{")):
        found = body
    found = " ".join(found.split())
    if key is not None and key.reveal():
        found = found.replace(key.reveal(), "***")
    found = _KEY_LIKE.sub("***", found)
    return found if len(found) <= _LONGEST else found[: _LONGEST - 1] + "…"


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds an endpoint asks to wait, None if it does not say.

    A date is read against the answer's own `Date`, so that a wrong clock here does no harm.

    >>> retry_after({"retry-after": "2"}), retry_after({"retry-after-ms": "250"})
    (2.0, 0.25)
    """
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    given = headers.get("retry-after")
    seconds = _number(given)
    if seconds is not None or given is None or "date" not in headers:
        return seconds
    try:
        when, now = (parsedate_to_datetime(text) for text in (given, headers["date"]))
        return max(0.0, (when.astimezone(UTC) - now.astimezone(UTC)).total_seconds())
    except (ValueError, TypeError, OverflowError):
        return None


def _number(text: str | None) -> float | None:
    try:
        found = float(text or "")
    except ValueError:
        return None
    return max(0.0, found) if math.isfinite(found) else None


def _advice(status: int, words: str, key: Secret | None, key_name: str) -> str:
    if status in (401, 403):
        return f"Set the key in {key_name}" if key is None else f"Check the key in {key_name}"
    if any(word in words for word in _TOO_LONG) or status == 413:  # noqa: PLR2004
        return "The text is too long for this model"
    if status == 404:  # noqa: PLR2004
        return "Check base_url (most end in /v1) and the model's name"
    if 300 <= status < 400:  # noqa: PLR2004
        return "base_url points to a page that has moved; give the new address"
    return "Check the settings; `dualgate doctor` tries them one by one"


def _tree(body: str) -> Any:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


def _parts(body: str) -> Iterator[Mapping[str, Any]]:
    tree = _tree(body)
    if isinstance(tree, list) and tree:  # as Google's endpoint does
        tree = tree[0]
    if isinstance(tree, Mapping):
        if isinstance(tree.get("error"), Mapping):
            yield tree["error"]
        yield tree


def _messages(body: str) -> Iterator[str]:
    for part in _parts(body):
        for name in ("message", "error", "detail", "msg"):
            if isinstance(part.get(name), str) and part[name].strip():
                yield part[name]


def _codes(body: str) -> Iterator[str]:
    for part in _parts(body):
        for name in ("code", "type", "status"):
            if isinstance(part.get(name), str | int):
                yield str(part[name])
        inner = part.get("innererror")
        if isinstance(inner, Mapping):
            yield str(inner.get("code", ""))
