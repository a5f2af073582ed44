"""Putting several paths' opinions about the same items into one relevance [R2].

Rule: pure arithmetic on numbers between 0 and 1. What a path means is not known here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class Path(StrEnum):
    """A way in which an item can fit a query [R2]."""

    SEMANTIC = "semantic"
    ENTITY = "entity"
    RECENCY = "recency"
    TYPE = "type"


@dataclass(frozen=True, slots=True, kw_only=True)
class PathWeights:
    """How much each path counts; M 4.1 gives 0.5, 0.3, 0.1, 0.1. Normalised to sum to 1."""

    semantic: float = 0.5
    entity: float = 0.3
    recency: float = 0.1
    type: float = 0.1

    def of(self, path: Path) -> float:
        """Return the weight of one path."""
        weight: float = getattr(self, path.value)
        return weight

    def problems(self, name: str = "weights") -> list[str]:
        """Return what is wrong with these numbers."""
        found = [f"{name}.{path} must not be negative" for path in Path if not self.of(path) >= 0]
        if not self.semantic + self.entity > 0:
            # Recency and type alone never make a hit, so nothing could ever be found.
            found.append(f"{name}: semantic or entity must be positive")
        return found


@dataclass(frozen=True, slots=True)
class Fused:
    """An item's relevance, and what each path contributed to it."""

    item_id: str
    relevance: float
    paths: Mapping[Path, float]


def fuse(opinions: Mapping[str, Mapping[Path, float]], weights: PathWeights) -> list[Fused]:
    """Return items by weighted mean of their paths (0-1 each), best first; a missing path is 0.

    >>> [f.item_id for f in fuse({"a": {Path.TYPE: 1}, "b": {Path.SEMANTIC: 1}}, PathWeights())]
    ['b', 'a']
    """
    weighed = [(path, weights.of(path)) for path in Path]
    total = sum(weight for _, weight in weighed)
    fused = [
        Fused(
            item_id,
            sum([weight * paths.get(path, 0.0) for path, weight in weighed]) / total,
            {path: paths.get(path, 0.0) for path, _ in weighed},
        )
        for item_id, paths in opinions.items()
    ]
    # Ties go by meaning, then by id, so that two stores give the same order.
    return sorted(fused, key=lambda f: (-f.relevance, -f.paths[Path.SEMANTIC], f.item_id))
