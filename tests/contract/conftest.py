"""Every backend, opened fresh for each fact of the contract.

The in-memory one is always there; the SQL one joins as soon as it can be imported. Both take the
limits by the same names: archive_capacity, per_user, total.
"""

from __future__ import annotations

from importlib.util import find_spec

import pytest
import pytest_asyncio

# Before the suites are imported, so that their asserts tell what differed.
for _suite in ("store", "archive", "search", "history", "transcript", "queue"):
    pytest.register_assert_rewrite(f"dualgate.testing.{_suite}_contract")


def _backends() -> list[str]:
    has_sql = find_spec("dualgate.adapters.sql.store") is not None
    return ["memory", *(["sqlite"] if has_sql else [])]


@pytest_asyncio.fixture(params=_backends())
async def open_backend(request, tmp_path):
    opened = []

    async def open_(**limits):
        if request.param == "memory":
            from dualgate.adapters.memory import open_memory

            backend = open_memory(**limits)
        else:
            from dualgate.adapters.sql import open_sqlite

            queue_limits = limits.pop("per_user", 10_000), limits.pop("total", 1_000_000)
            path = tmp_path / f"{len(opened)}.db"
            backend = await open_sqlite(path, queue_limits=queue_limits, **limits)
        opened.append(backend)
        return backend

    yield open_
    for backend in opened:
        await backend.close()


@pytest_asyncio.fixture
async def backend(open_backend):
    return await open_backend()
