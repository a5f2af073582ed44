"""What a session starts with: three sections, their limits and who belongs in which [R1].

Rule: chooses and orders items; knows no wording. Sizes are in tokens, counted elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from dualgate.domain.archiving import is_expired
from dualgate.domain.items import MemoryItem
from dualgate.domain.relevance import GENERAL_TYPES
from dualgate.domain.status import LIVE
from dualgate.domain.types import Evidence, ItemType, Sensitivity
from dualgate.errors import InvalidInputError

Score = Callable[[MemoryItem], float]


class Group(StrEnum):
    """Under which heading an item is shown, in this order [R4]."""

    PROFILE = "profile"
    CONSTRAINTS = "constraints"
    PREFERENCES = "preferences"
    PROJECTS = "projects"
    DECISIONS = "decisions"
    COMMITMENTS = "commitments"
    FACTS = "facts"
    CONFLICTS = "conflicts"


_GROUPS = {
    ItemType.IDENTITY: Group.PROFILE,
    ItemType.CONSTRAINT: Group.CONSTRAINTS,
    ItemType.RULE: Group.CONSTRAINTS,
    ItemType.PREFERENCE: Group.PREFERENCES,
    ItemType.PROJECT: Group.PROJECTS,
    ItemType.DECISION: Group.DECISIONS,
    ItemType.COMMITMENT: Group.COMMITMENTS,
    ItemType.EVENT: Group.FACTS,
    ItemType.FACT: Group.FACTS,
}
# What is shown at session start whatever its topic.
SESSION_TYPES = GENERAL_TYPES | {ItemType.CONSTRAINT, ItemType.RULE, ItemType.COMMITMENT}
_WISHES = frozenset({ItemType.PREFERENCE, ItemType.RULE, ItemType.CONSTRAINT, ItemType.DECISION})
# [R1] Identity first; what limits the assistant comes before what the user likes.
_CORE_ORDER = (ItemType.IDENTITY, ItemType.CONSTRAINT, ItemType.PREFERENCE)


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextLimits:
    """Sizes of the three sections; G 4.3 gives them, and what they are at a larger window."""

    core_tokens: int = 400
    active_tokens: int = 800
    recalled_tokens: int = 400
    window_share: float = 0.20  # G 4.3, M 4.2: at most a fifth of the window
    # G 4.3 has 20 and identity and preference alone. A rule for the assistant, a limit of the user
    # and what is owed hold on any topic, too: docs/results/stability.md has the curve.
    active_items: int = 40
    recalled_items: int = 5
    general_types: frozenset[ItemType] = SESSION_TYPES
    # Whether a wish that was only ever voiced in an outburst is shown.
    outbursts: bool = False

    @property
    def total(self) -> int:
        """Return the size of all three together."""
        return self.core_tokens + self.active_tokens + self.recalled_tokens

    def problems(self) -> list[str]:
        """Return what is wrong with these numbers."""
        sizes = (
            "core_tokens",
            "active_tokens",
            "recalled_tokens",
            "active_items",
            "recalled_items",
        )
        found = [
            f"limits.{name} must not be negative" for name in sizes if getattr(self, name) < 0
        ]
        if self.total <= 0:
            found.append("limits: one section must have tokens")
        if not 0 < self.window_share <= 1:
            found.append("limits.window_share must be above 0 and at most 1")
        return found

    def budgets(
        self, token_budget: int | None = None, window_tokens: int | None = None
    ) -> Budgets:
        """Return the hard limits for one call: the budget given, else a share of the window.

        A larger total lets the sections grow in proportion (G 6.1). A smaller one leaves their
        limits and is spent on core, then active, then recalled, so recalled gives way first.

        >>> ContextLimits().budgets(window_tokens=4_000).total
        800
        """
        total = self.total
        if window_tokens is not None:
            total = int(_positive("window_tokens", window_tokens) * self.window_share)
        if token_budget is not None:
            given = _positive("token_budget", token_budget)
            total = given if window_tokens is None else min(given, total)
        growth = max(1.0, total / self.total)
        return Budgets(
            total,
            int(self.core_tokens * growth),
            int(self.active_tokens * growth),
            int(self.recalled_tokens * growth),
        )


@dataclass(frozen=True, slots=True)
class Budgets:
    """Hard limits of one call, in tokens."""

    total: int
    core: int
    active: int
    recalled: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextBlock:
    """What an application puts before the conversation [R1].

    text is empty when there is nothing to say. The three *_tokens add up to tokens; the wrapper
    is part of the core's. left_out counts items that belonged in but did not fit.
    """

    text: str = ""
    tokens: int = 0
    core: tuple[MemoryItem, ...] = ()
    active: tuple[MemoryItem, ...] = ()
    recalled: tuple[MemoryItem, ...] = ()
    core_tokens: int = 0
    active_tokens: int = 0
    recalled_tokens: int = 0
    left_out: int = 0


def recallable(item: MemoryItem, now: datetime, *, sensitive: bool = False) -> bool:
    """Whether the item may be shown at all [R5]."""
    if item.status not in LIVE or is_expired(item, now):
        return False
    return sensitive or not is_withheld(item)


def is_withheld(item: MemoryItem) -> bool:
    """Whether the item is shown on request only: sensitive, and not kept by its user [P1].

    A sensitive item has a time limit from the start; who likes, accepts, pins or restores it takes
    that off, and has said by it that it may be used.
    """
    return item.sensitivity is Sensitivity.SENSITIVE and item.expires_at is not None


def group_of(item: MemoryItem) -> Group:
    """Return the heading under which the item is shown; what is contested is to be asked about."""
    return Group.CONFLICTS if item.contested else _GROUPS[item.item_type]


def core_order(frozen: Iterable[MemoryItem], score: Score) -> list[MemoryItem]:
    """Return frozen items as the core lists them: by type, then best-scored first [R1]."""

    def place(item: MemoryItem) -> tuple[int, float, str]:
        known = item.item_type in _CORE_ORDER
        rank = _CORE_ORDER.index(item.item_type) if known else len(_CORE_ORDER)
        return rank, -score(item), item.id

    return sorted(frozen, key=place)


def best_scored(items: Iterable[MemoryItem], score: Score, limit: int) -> list[MemoryItem]:
    """Return the best-scored items, best first."""
    return sorted(items, key=lambda item: (-score(item), item.id))[:limit]


def is_outburst(item: MemoryItem) -> bool:
    """Whether the item is a wish that nobody has voiced calmly yet [F2]."""
    return item.evidence is Evidence.EMOTIONAL and item.item_type in _WISHES


def on_topic_first(
    items: Sequence[MemoryItem],
    fits: Callable[[MemoryItem], bool],
    general_types: frozenset[ItemType] = SESSION_TYPES,
) -> list[MemoryItem]:
    """Return the items on the topic, then the general ones, which suit any topic [R1, R3]."""
    fitting = [item for item in items if fits(item)]
    shown = {item.id for item in fitting}
    general = (i for i in items if i.id not in shown and i.item_type in general_types)
    return [*fitting, *general]


def _positive(argument: str, number: object) -> int:
    if isinstance(number, bool) or not isinstance(number, int) or number < 1:
        raise InvalidInputError(argument, "must be a whole number above 0", number)
    return number
