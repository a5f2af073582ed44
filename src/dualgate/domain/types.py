"""The closed vocabularies of dualgate (spec §1). One concept, one word."""

from __future__ import annotations

from enum import StrEnum


class ItemType(StrEnum):
    """What kind of statement an item is."""

    IDENTITY = "identity"
    PREFERENCE = "preference"
    CONSTRAINT = "constraint"
    RULE = "rule"
    PROJECT = "project"
    DECISION = "decision"
    COMMITMENT = "commitment"
    EVENT = "event"
    FACT = "fact"


# [C2] States follow, traits resist.
TRAIT_TYPES = frozenset({ItemType.IDENTITY, ItemType.PREFERENCE, ItemType.CONSTRAINT})
STATE_TYPES = frozenset(ItemType) - TRAIT_TYPES


class Evidence(StrEnum):
    """On what an utterance rests: 明示, 暗示, 情绪化."""

    EXPLICIT = "explicit"
    IMPLIED = "implied"
    EMOTIONAL = "emotional"


class Scope(StrEnum):
    """How long a statement is meant to hold."""

    LASTING = "lasting"
    TASK = "task"
    MOMENT = "moment"


class Sensitivity(StrEnum):
    """How carefully an item is handled [P1]."""

    NORMAL = "normal"
    PERSONAL = "personal"
    SENSITIVE = "sensitive"


class Polarity(StrEnum):
    """Whether the statement affirms or denies its value."""

    POSITIVE = "+"
    NEGATIVE = "-"


class Cardinality(StrEnum):
    """How many values a slot may hold at once."""

    ONE = "one"
    MANY = "many"


class Source(StrEnum):
    """Who proposed a candidate [W5]."""

    LOCAL = "local"
    LLM = "llm"
    HOST = "host"  # with the user's own words beside it, or from a host that is trusted
    HINT = "hint"  # a host's word alone: never a confirmation, never a correction
    USER = "user"
    IMPORT = "import"


class Role(StrEnum):
    """Who speaks in a turn."""

    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"
    SYSTEM = "system"
