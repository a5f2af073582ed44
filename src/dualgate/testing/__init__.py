"""The public test kit: what an application needs to test what it builds on dualgate.

Who writes a store or a queue runs the contract suites: see store_contract.py and queue_contract.py
(they need pytest and pytest-asyncio, and are not imported here).
"""

from __future__ import annotations

from dualgate.testing.clock import ManualClock
from dualgate.testing.fakes import CountingIds, HashEmbedder, ScriptedExtractor
from dualgate.testing.llm_server import LlmServer, Manners
from dualgate.testing.llm_speech import Asked, Fault
from dualgate.testing.models import Question, ScriptedModel

__all__ = [
    "Asked",
    "CountingIds",
    "Fault",
    "HashEmbedder",
    "LlmServer",
    "Manners",
    "ManualClock",
    "Question",
    "ScriptedExtractor",
    "ScriptedModel",
]
