"""Pages of recorded decisions, newest first: a cursor names the last one that was shown."""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from dualgate.domain.items import require_aware
from dualgate.domain.plan import Decision
from dualgate.errors import InvalidInputError
from dualgate.pipeline.ports import Store


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionPage:
    """A page of decisions, newest first, and where the next one starts (None: it was the last)."""

    decisions: tuple[Decision, ...]
    cursor: str | None


async def page_of(
    store: Store,
    user_id: str,
    *,
    text: str | None,
    job_id: str | None,
    limit: int,
    cursor: str | None,
) -> DecisionPage:
    """Return a page. Raises InvalidInputError for a cursor that no page gave."""
    before = None if cursor is None else _place(cursor)
    found = await store.decisions(
        user_id, text=text, job_id=job_id, limit=limit + 1, before=before
    )
    return DecisionPage(
        decisions=tuple(found[:limit]),
        cursor=_cursor(found[:limit]) if len(found) > limit else None,
    )


def _cursor(shown: Sequence[Decision]) -> str:
    text = json.dumps([shown[-1].at.isoformat(), shown[-1].id])
    return base64.urlsafe_b64encode(text.encode()).decode()


def _place(cursor: str) -> tuple[datetime, str]:
    try:
        at, decision_id = json.loads(base64.b64decode(cursor, altchars=b"-_", validate=True))
        return require_aware("cursor", datetime.fromisoformat(at)), str(decision_id)
    except (ValueError, TypeError, OverflowError, InvalidInputError):
        raise InvalidInputError("cursor", "must be one that a page gave", cursor) from None
