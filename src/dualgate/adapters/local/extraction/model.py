"""The fitted weights and how to apply them: numpy alone, deterministic.

Rule: no decision lives here. A head is a linear classifier over a view of `features`; its rows hold
only the buckets that training kept, so the file stays small.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from dualgate.adapters.local.extraction.features import BUCKETS, Ids

Array = NDArray[np.float32]
WEIGHTS = "weights.npz"


@dataclass(frozen=True, slots=True, eq=False)
class Head:
    """One classifier. row[bucket] is the bucket's line in `sparse`, 0 for buckets never seen."""

    labels: tuple[str, ...]
    row: NDArray[np.int32]
    sparse: Array
    dense: Array
    bias: Array

    def probabilities(self, ids: Sequence[Ids], dense: Array | None) -> Array:
        """Return one line of label probabilities per described thing."""
        logits = np.stack([self.sparse[self.row[each]].sum(axis=0) for each in ids]) + self.bias
        if dense is not None and self.dense.size:
            logits = logits + dense @ self.dense
        shifted = np.exp(logits - logits.max(axis=1, keepdims=True))
        return np.asarray(shifted / shifted.sum(axis=1, keepdims=True), dtype=np.float32)


@dataclass(frozen=True, slots=True, eq=False)
class Model:
    """All heads, and the fit that turns the grounds of a statement into its confidence."""

    heads: Mapping[str, Head]
    sure_weights: Array
    sure_bias: Array

    def __getitem__(self, name: str) -> Head:
        return self.heads[name]

    def confidence(self, grounds: Array) -> float:
        """Return how often a statement with these grounds is right."""
        return float(1.0 / (1.0 + np.exp(-(grounds @ self.sure_weights + self.sure_bias[0]))))


@cache
def load() -> Model:
    """Read the weights that come with the package."""
    with files(__package__).joinpath(WEIGHTS).open("rb") as file, np.load(file) as stored:
        arrays = {name: stored[name] for name in stored.files}
    names = sorted({name.split("/")[0] for name in arrays if "/" in name})
    return Model(
        {name: head_of(arrays, name) for name in names}, arrays["sure_weights"], arrays["sure_bias"]
    )


def head_of(
    arrays: Mapping[str, NDArray[np.generic]], name: str, buckets: int = BUCKETS
) -> Head:
    """Return one head of a stored file."""
    kept = np.asarray(arrays[f"{name}/kept"], dtype=np.int32)
    weights = np.asarray(arrays[f"{name}/sparse"], dtype=np.float32)
    if f"{name}/scale" in arrays:  # stored as bytes
        weights = weights * np.asarray(arrays[f"{name}/scale"], dtype=np.float32)
    row = np.zeros(buckets, dtype=np.int32)
    row[kept] = np.arange(1, len(kept) + 1, dtype=np.int32)
    nothing = np.zeros((1, weights.shape[1]), dtype=np.float32)
    return Head(
        tuple(str(label) for label in arrays[f"{name}/labels"]),
        row,
        np.concatenate([nothing, weights]),
        np.asarray(arrays[f"{name}/dense"], dtype=np.float32),
        np.asarray(arrays[f"{name}/bias"], dtype=np.float32),
    )
