"""Pages of items and lineages: order, cursors, filters."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime

from dualgate.domain.items import MemoryItem
from dualgate.errors import InvalidInputError
from dualgate.pipeline.ports import ItemFilter


def newest_key(item: MemoryItem) -> tuple[datetime, str]:
    """Return the key under which the newest item is the largest."""
    return item.created_at, item.id


def cursor_of(item: MemoryItem) -> str:
    """Return an opaque mark of the place after this item.

    It names the place, not a number of items: what is added meanwhile shifts nothing.
    """
    place = json.dumps([item.created_at.isoformat(), item.id])
    return base64.urlsafe_b64encode(place.encode()).decode()


def after_cursor(
    items: Iterable[MemoryItem], wanted: ItemFilter, cursor: str | None
) -> Iterator[MemoryItem]:
    """Return the wanted items that come after the cursor, in no order."""
    place = None if cursor is None else _place(cursor)
    sought = None if wanted.text is None else wanted.text.casefold()
    return (
        item
        for item in items
        if (place is None or newest_key(item) < place)
        and (wanted.statuses is None or item.status in wanted.statuses)
        and (wanted.item_type is None or item.item_type is wanted.item_type)
        and (sought is None or sought in item.content.casefold())
    )


def lineage(items: Mapping[str, MemoryItem], item_id: str) -> list[MemoryItem]:
    """Return all that override_of or superseded_by join to the item, lowest version first."""
    if item_id not in items:
        return []
    joined: dict[str, set[str]] = {}
    for item in items.values():
        for other in (item.override_of, item.superseded_by):
            if other is not None:
                joined.setdefault(item.id, set()).add(other)
                joined.setdefault(other, set()).add(item.id)
    seen = {item_id}
    ahead = [item_id]
    while ahead:
        new = joined.get(ahead.pop(), set()) - seen
        seen |= new
        ahead += new
    found = (items[known] for known in seen if known in items)
    return sorted(found, key=lambda item: (item.version, item.created_at, item.id))


def _place(cursor: str) -> tuple[datetime, str]:
    try:
        created_at, item_id = json.loads(base64.b64decode(cursor, altchars=b"-_", validate=True))
        place = datetime.fromisoformat(created_at)
        if place.utcoffset() is None or not isinstance(item_id, str):
            raise TypeError(cursor)  # noqa: TRY301 - whatever is wrong with it, one answer
    except (binascii.Error, ValueError, TypeError) as error:
        raise InvalidInputError("cursor", "must be one that a page gave", cursor) from error
    return place, item_id
