"""API keys and answered requests, in process."""

from __future__ import annotations

from datetime import datetime

from dualgate.pipeline.serving import Answered, ApiKey


class MemoryServing:
    """Keeps both in dictionaries; gone with the process."""

    def __init__(self) -> None:
        self._keys: dict[str, ApiKey] = {}
        self._digests: dict[str, str] = {}
        self._answered: dict[str, dict[str, Answered]] = {}

    async def put_key(self, key: ApiKey, digest: str | None = None) -> None:
        """Write a key whole."""
        if digest is not None:
            self._digests[digest] = key.id
        self._keys[key.id] = key

    async def key_by_digest(self, digest: str) -> ApiKey | None:
        """Return the key with this secret."""
        key_id = self._digests.get(digest)
        return None if key_id is None else self._keys[key_id]

    async def keys(self) -> list[ApiKey]:
        """Return all keys, oldest first."""
        return sorted(self._keys.values(), key=lambda key: (key.created_at, key.id))

    async def begin_answer(self, answered: Answered, forget_before: datetime) -> Answered | None:
        """Note that a request is being answered; return what was noted before."""
        notes = self._answered.setdefault(answered.user_id, {})
        for key in [k for k, note in notes.items() if note.begun_at < forget_before]:
            del notes[key]
        before = notes.get(answered.key)
        if before is None:
            notes[answered.key] = answered
        return before

    async def end_answer(self, answered: Answered) -> None:
        """Note that the request was answered."""
        self._answered.setdefault(answered.user_id, {})[answered.key] = answered

    async def drop_answer(self, user_id: str, key: str) -> None:
        """Forget a request that failed."""
        self._answered.get(user_id, {}).pop(key, None)

    def drop_user(self, user_id: str) -> None:
        """Forget all requests of a user [P3]."""
        self._answered.pop(user_id, None)
