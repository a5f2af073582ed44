"""Working memory: key-value notes of one task; no path leads from it to long-term memory [L2]."""

from __future__ import annotations

from datetime import timedelta

from dualgate.domain.items import clean_text
from dualgate.pipeline.intake import require_id
from dualgate.pipeline.ports import Clock, Redactor, Store


class WorkingMemory:
    """What was tried in a task, and why it failed; runs out, and ends with task or session."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        redactor: Redactor,
        place: tuple[str, str, str],
        ttl_hours: float,
    ) -> None:
        self._store = store
        self._clock = clock
        self._redactor = redactor
        self._place = place
        self._ttl = timedelta(hours=ttl_hours)

    async def set(self, key: str, value: str) -> None:
        """Keep a note; secrets in it are redacted."""
        now = self._clock.now()
        text = self._redactor.redact(clean_text("value", value))
        await self._store.note(*self._place, require_id("key", key), text, now, now + self._ttl)

    async def get(self, key: str) -> str | None:
        """Return a note, None if there is none or it has run out."""
        return (await self.all()).get(require_id("key", key))

    async def all(self) -> dict[str, str]:
        """Return all notes of the task."""
        return await self._store.notes(*self._place, self._clock.now())

    async def clear(self) -> None:
        """End the task: its notes go."""
        await self._store.clear_notes(*self._place)
