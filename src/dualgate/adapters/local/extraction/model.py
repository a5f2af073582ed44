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
TEMPER = "temper/"
TINY = np.float32(1e-6)


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
    """The cheap head for long turns, and the fits that make probabilities honest."""

    gate: Head
    tempers: Mapping[str, Array]  # per question: a temperature, then a bias a label
    sure_weights: Array
    sure_bias: Array
    leave_at: float  # of which the first layers must be this sure, or a window is left

    def tempered(self, name: str, line: Array) -> Array:
        """Return probabilities of a question as they turned out on turns that nobody was fitted to.

        A network is too sure of itself; one factor and a bias a label mend that (bias-corrected
        temperature scaling: Alexandari et al. 2020, arXiv:1901.06852).
        """
        temper = self.tempers[name]
        logits = temper[0] * np.log(line + TINY) + temper[1:]
        shifted = np.exp(logits - logits.max())
        return np.asarray(shifted / shifted.sum(), dtype=np.float32)

    def confidence(self, grounds: Array) -> float:
        """Return how often a statement with these grounds is right."""
        return float(1.0 / (1.0 + np.exp(-(grounds @ self.sure_weights + self.sure_bias[0]))))


@cache
def load() -> Model:
    """Read the weights that come with the package."""
    with files(__package__).joinpath(WEIGHTS).open("rb") as file, np.load(file) as stored:
        return model_of({name: stored[name] for name in stored.files})


def model_of(arrays: Mapping[str, NDArray[np.generic]]) -> Model:
    """Return the model of a stored file."""
    tempers = [name for name in arrays if name.startswith(TEMPER)]
    return Model(
        head_of(arrays, "gate"),
        {name.removeprefix(TEMPER): np.asarray(arrays[name], np.float32) for name in tempers},
        np.asarray(arrays["sure_weights"], dtype=np.float32),
        np.asarray(arrays["sure_bias"], dtype=np.float32),
        float(arrays["leave_at"]),
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
