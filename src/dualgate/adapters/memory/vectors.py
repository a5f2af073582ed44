"""One user's vectors in one matrix, so that a search is one multiplication."""

from __future__ import annotations

import numpy as np

from dualgate.errors import InvalidInputError
from dualgate.pipeline.ports import Vector, Vectors


class VectorRows:
    """Vectors by item id. All have one length: one model at a time [T3]."""

    def __init__(self) -> None:
        self._rows: Vectors = np.empty((0, 0), dtype=np.float32)
        self._ids: list[str] = []
        self._place: dict[str, int] = {}

    def check(self, vector: Vector) -> Vector:
        """Return a copy of the vector, or refuse what cannot be compared with the others."""
        copied = np.array(vector, dtype=np.float32)
        if copied.ndim != 1 or not copied.size or not np.isfinite(copied).all():
            raise InvalidInputError("vector", "must be one row of finite numbers")
        if self._ids and copied.size != self._rows.shape[1]:
            rule = f"must have {self._rows.shape[1]} numbers, as the vectors kept already"
            raise InvalidInputError("vector", rule, copied.size)
        return copied

    def __contains__(self, item_id: object) -> bool:
        return item_id in self._place

    def __len__(self) -> int:
        return len(self._ids)

    def holds(self, item_id: str, dim: int) -> bool:
        """Return whether the item has a vector of this size."""
        return item_id in self._place and self._rows.shape[1] == dim

    def put(self, item_id: str, vector: Vector) -> None:
        """Keep this vector for the item."""
        place = self._place.get(item_id)
        if place is None:
            place = len(self._ids)
            self._make_room(place + 1, vector.size)
            self._ids.append(item_id)
            self._place[item_id] = place
        self._rows[place] = vector

    def drop(self, item_id: str) -> None:
        """Forget the item's vector, if there is one; the last row takes its place."""
        place = self._place.pop(item_id, None)
        if place is None:
            return
        last = self._ids.pop()
        if last != item_id:
            self._ids[place] = last
            self._place[last] = place
            self._rows[place] = self._rows[len(self._ids)]
        self._rows[len(self._ids)] = 0.0

    def cosines(self, vector: Vector, gate: float) -> dict[str, float]:
        """Return the cosine of every item that reaches the gate."""
        asked = self.check(vector)
        if not self._ids:
            return {}
        found = self._rows[: len(self._ids)] @ asked
        near = np.flatnonzero(found >= gate)
        cosines = found[near].tolist()
        return {self._ids[n]: c for n, c in zip(near.tolist(), cosines, strict=True)}

    def _make_room(self, rows: int, dim: int) -> None:
        if not self._ids and self._rows.shape[1] != dim:
            self._rows = np.zeros((64, dim), dtype=np.float32)
        if rows > len(self._rows):
            grown = np.zeros((2 * len(self._rows), dim), dtype=np.float32)
            grown[: len(self._rows)] = self._rows
            self._rows = grown
