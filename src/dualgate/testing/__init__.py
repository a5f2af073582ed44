"""The public test kit: what an application needs to test what it builds on dualgate.

Who writes a store or a queue runs the contract suites: see store_contract.py and queue_contract.py
(they need pytest and pytest-asyncio, and are not imported here).
"""

from __future__ import annotations

from dualgate.testing.clock import ManualClock
from dualgate.testing.fakes import CountingIds, HashEmbedder, ScriptedExtractor

__all__ = ["CountingIds", "HashEmbedder", "ManualClock", "ScriptedExtractor"]
