"""The in-process backend: a complete store and queue, for `memory://` and for tests."""

from __future__ import annotations

from dataclasses import dataclass

from dualgate.adapters.memory.queue import MemoryQueue
from dualgate.adapters.memory.serving import MemoryServing
from dualgate.adapters.memory.store import MemoryStore

__all__ = ["MemoryBackend", "MemoryQueue", "MemoryStore", "open_memory"]


@dataclass(frozen=True, slots=True)
class MemoryBackend:
    """A store and the queue whose jobs its units can finish."""

    store: MemoryStore
    queue: MemoryQueue

    @property
    def serving(self) -> MemoryServing:
        """Return what a server keeps."""
        return self.store.serving

    async def close(self) -> None:
        """Let everything go."""
        await self.store.close()


def open_memory(
    *, archive_capacity: int = 5_000, per_user: int = 10_000, total: int = 1_000_000
) -> MemoryBackend:
    """Return a fresh, empty backend. per_user and total limit the jobs that may wait [W1]."""
    queue = MemoryQueue(per_user=per_user, total=total)
    return MemoryBackend(MemoryStore(queue, archive_capacity=archive_capacity), queue)
