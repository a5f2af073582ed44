"""The queue contract, on every backend."""

from __future__ import annotations

import pytest

from dualgate.testing.queue_contract import QueueContract

pytestmark = pytest.mark.asyncio


class TestQueue(QueueContract):
    pass
