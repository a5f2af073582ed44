"""Vectors: one byte a coordinate in the database, an exact scan over one user's pool [T1].

Rule: numpy only, no SQL. Because a pool is bounded (about 5,000 items), the exact scan is both
right and fast; an approximate index with a user filter loses answers.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from dualgate.errors import InvalidInputError
from dualgate.pipeline.ports import Vector

_STEPS = 127.0
# A cosine of exactly the gate must pass although rounding to bytes moved it a little.
_ROUNDING = 1e-6
_BLOCK = 512


def checked(argument: str, vector: object) -> Vector:
    """Return the vector as float32, or say what is wrong with it."""
    found = np.asarray(vector, dtype=np.float32)
    if found.ndim != 1 or not found.size:
        raise InvalidInputError(argument, "must be a vector of one dimension", found.shape)
    if not np.isfinite(found).all():
        raise InvalidInputError(argument, "must hold finite numbers")
    return found


def quantised(vector: Vector) -> tuple[float, bytes]:
    """Return (scale, bytes): each coordinate as a whole number of `scale` between -127 and 127."""
    scale = float(np.abs(vector).max()) / _STEPS or 1.0  # all zeros: near to nothing
    return scale, np.rint(vector / scale).astype(np.int8).tobytes()


def restored(rows: Iterable[bytes], dim: int) -> NDArray[np.float32]:
    """Return quantised vectors as unit vectors; the scale falls out with the length."""
    matrix = np.frombuffer(b"".join(rows), dtype=np.int8).reshape(-1, dim).astype(np.float32)
    lengths = np.sqrt(np.einsum("ij,ij->i", matrix, matrix))
    matrix /= np.maximum(lengths, 1.0)[:, None]
    return matrix


def rounded(vector: Vector) -> Vector:
    """Return the unit vector that the database will give back, so that both rank alike."""
    row: Vector = restored([quantised(vector)[1]], vector.size)[0]
    return row


def _products(matrix: NDArray[np.float32], query: Vector) -> NDArray[np.float32]:
    # Not `matrix @ query`: BLAS would split so small a product over all cores, whose threads then
    # wait for each other for milliseconds on a busy machine.
    found: NDArray[np.float32]
    if hasattr(np, "vecdot"):  # since NumPy 2.0
        found = np.vecdot(matrix, query)
    else:
        found = np.einsum("ij,j->i", matrix, query)
    return found


class ByteRows:
    """Quantised vectors, a byte a coordinate. They never change, so threads may share them.

    For raw turns: as floats, the 20,000 of a year would take 40 MB instead of 10.
    """

    def __init__(self, ids: Sequence[str], matrix: NDArray[np.int8]) -> None:
        self.ids = ids
        self.matrix = matrix
        squares = np.zeros(len(matrix), dtype=np.float32)
        for start, block in _blocks(matrix):
            squares[start : start + len(block)] = np.einsum("ij,ij->i", block, block)
        self._lengths = np.maximum(np.sqrt(squares), 1.0)

    @classmethod
    def of(cls, rows: Sequence[tuple[str, bytes]], dim: int) -> ByteRows:
        """Return rows of (id, bytes) as one matrix."""
        matrix = np.frombuffer(b"".join(row[1] for row in rows), dtype=np.int8)
        return cls([row[0] for row in rows], matrix.reshape(-1, dim))

    def __len__(self) -> int:
        return len(self.ids)

    def followed_by(self, new: ByteRows) -> ByteRows:
        """Return these rows and the new ones, which take the place of those with their ids."""
        again = set(new.ids)
        stay = [row for row, one in enumerate(self.ids) if one not in again]
        matrix = self.matrix if len(stay) == len(self) else self.matrix[stay]
        ids = [*(self.ids[row] for row in stay), *new.ids]
        return ByteRows(ids, np.concatenate((matrix, new.matrix)))

    def nearest(self, vector: Vector, *, limit: int, gate: float) -> list[tuple[str, float]]:
        """Return (id, cosine) of the closest, best first, ties by id."""
        if limit < 1 or not self.ids:
            return []
        query = vector / np.float32(np.linalg.norm(vector) or 1.0)
        cosines = np.empty(len(self), dtype=np.float32)
        for start, block in _blocks(self.matrix):
            cosines[start : start + len(block)] = _products(block, query)
        cosines /= self._lengths
        near = np.flatnonzero(cosines >= gate - _ROUNDING)
        if len(near) > limit:
            # What ties with the last place stays, so that the order below decides.
            least = np.partition(cosines[near], len(near) - limit)[len(near) - limit]
            near = near[cosines[near] >= least]
        found = [(self.ids[row], float(cosines[row])) for row in near.tolist()]
        return sorted(found, key=lambda pair: (-pair[1], pair[0]))[:limit]


def _blocks(matrix: NDArray[np.int8]) -> Iterator[tuple[int, NDArray[np.float32]]]:
    for start in range(0, len(matrix), _BLOCK):
        yield start, matrix[start : start + _BLOCK].astype(np.float32)


class Pool:
    """The vectors of one user's live items, as one matrix that can grow and shrink."""

    def __init__(self, dim: int, ids: list[str], matrix: NDArray[np.float32]) -> None:
        self.dim = dim
        self._ids = ids
        self._rows = {item_id: row for row, item_id in enumerate(ids)}
        self._matrix = matrix

    @property
    def nbytes(self) -> int:
        """Return how much memory the matrix takes."""
        return int(self._matrix.nbytes)

    def __len__(self) -> int:
        return len(self._ids)

    def put(self, item_id: str, vector: Vector) -> None:
        """Add or replace an item's vector, given as `rounded` returns it."""
        row = self._rows.get(item_id)
        if row is None:
            row = len(self._ids)
            if row == len(self._matrix):
                grown = np.empty((row + row // 8 + 16, self.dim), dtype=np.float32)
                grown[:row] = self._matrix
                self._matrix = grown
            self._ids.append(item_id)
            self._rows[item_id] = row
        self._matrix[row] = vector

    def drop(self, item_id: str) -> None:
        """Remove an item's vector, if it is here: the last row takes its place."""
        row = self._rows.pop(item_id, None)
        if row is None:
            return
        last = self._ids.pop()
        if last != item_id:
            self._ids[row] = last
            self._rows[last] = row
            self._matrix[row] = self._matrix[len(self._ids)]

    def nearest(
        self,
        vector: Vector,
        *,
        limit: int,
        gate: float,
        without: Collection[str] = (),
        added: Mapping[str, Vector] | None = None,
    ) -> list[tuple[str, float]]:
        """Return (item id, cosine) of the closest, best first, ties by id.

        `without` and `added` are what an open unit changed and nobody else sees yet.
        """
        query = vector / np.float32(np.linalg.norm(vector) or 1.0)
        cosines = _products(self._matrix[: len(self._ids)], query)
        rows = np.flatnonzero(cosines >= gate - _ROUNDING)
        room = limit + len(without)
        if len(rows) > room:
            rows = rows[np.argpartition(-cosines[rows], room - 1)[:room]]
        near = zip(rows.tolist(), cosines[rows].tolist(), strict=True)
        found = {self._ids[row]: cosine for row, cosine in near}
        for item_id in without:
            found.pop(item_id, None)
        for item_id, other in (added or {}).items():
            cosine = float(other @ query) if other.size == self.dim else -2.0
            if cosine >= gate - _ROUNDING:
                found[item_id] = cosine
        # Pairs compare faster than a key does, and hundreds are scanned for a query.
        ranked = sorted((-cosine, item_id) for item_id, cosine in found.items())
        return [(item_id, -cosine) for cosine, item_id in ranked[:limit]]
