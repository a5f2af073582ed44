"""What may come through the door of the in-memory store and queue [P4]."""

from __future__ import annotations

from collections.abc import Iterable

from dualgate.errors import InvalidInputError


def require_user(user_id: object) -> str:
    """Return the user_id, or refuse a missing or blank one: it never means "all users" [P4]."""
    if not isinstance(user_id, str) or not user_id.strip():
        raise InvalidInputError("user_id", "must be a non-blank string", user_id)
    return user_id


def require_own(user_id: str, owners: Iterable[str]) -> None:
    """Refuse what belongs to another user than the unit."""
    for owner in owners:
        if owner != user_id:
            raise InvalidInputError("user_id", f"must be the unit's own, {user_id!r}", owner)
