"""What the contract suites need from a store: how to open it, and how to write into it briefly.

To run the suites on your own store, give pytest two fixtures and inherit the classes:

    @pytest_asyncio.fixture
    async def open_backend():        # async (archive_capacity=…, per_user=…, total=…) -> Backend
        ...
    @pytest_asyncio.fixture
    async def backend(open_backend):
        return await open_backend()

    class TestMyStore(StoreContract): ...
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

import numpy as np

from dualgate.domain.plan import Plan
from dualgate.pipeline.ports import Lease, Queue, Store, Vector
from dualgate.pipeline.serving import ServingStore
from dualgate.testing.builders import USER


class Backend(Protocol):
    """A store and the queue that shares its units."""

    @property
    def store(self) -> Store:
        """Return the store."""
        ...

    @property
    def queue(self) -> Queue:
        """Return the queue whose jobs the store's units can finish."""
        ...

    @property
    def serving(self) -> ServingStore:
        """Return what a server keeps beside the memory."""
        ...

    async def close(self) -> None:
        """Release everything."""
        ...


class OpenBackend(Protocol):
    """Opens a fresh, empty backend."""

    async def __call__(
        self, *, archive_capacity: int = 5_000, per_user: int = 10_000, total: int = 1_000_000
    ) -> Backend:
        """Return it; the fixture closes it."""
        ...


async def write(
    backend: Backend,
    plan: Plan,
    *,
    user_id: str = USER,
    vectors: Mapping[str, Vector] | None = None,
    lease: Lease | None = None,
) -> None:
    """Apply one plan in a unit of its own."""
    async with backend.store.begin(user_id, lease) as unit:
        await unit.apply(plan, vectors)


def a_vector(*axes: float, dim: int = 8) -> Vector:
    """Return the unit vector with these first coordinates, filled up with zeros."""
    vector = np.zeros(dim, dtype=np.float32)
    vector[: len(axes)] = axes
    return vector / np.float32(np.linalg.norm(vector))
