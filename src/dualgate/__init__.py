"""dualgate: a long-term memory layer for conversational assistants.

Remember steadily, forget accurately, be hard to change. 记得稳、忘得准、改得难。

The public names are loaded when they are first used, so that `import dualgate` costs nothing and
a part of it can be used without the rest.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dualgate.bootstrap import Memory
    from dualgate.config import Settings
    from dualgate.domain.items import Candidate, MemoryItem, Message
    from dualgate.domain.plan import Decision
    from dualgate.errors import DualgateError
    from dualgate.sync import SyncMemory

_HOMES = {
    "Candidate": "dualgate.domain.items",
    "Decision": "dualgate.domain.plan",
    "DualgateError": "dualgate.errors",
    "Memory": "dualgate.bootstrap",
    "MemoryItem": "dualgate.domain.items",
    "Message": "dualgate.domain.items",
    "Settings": "dualgate.config",
    "SyncMemory": "dualgate.sync",
}

__all__ = [
    "Candidate",
    "Decision",
    "DualgateError",
    "Memory",
    "MemoryItem",
    "Message",
    "Settings",
    "SyncMemory",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'dualgate' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
