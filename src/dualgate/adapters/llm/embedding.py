"""Vectors from an endpoint with /embeddings, as OpenAI has it [T3].

Rule: what comes back is checked before it is believed: as many vectors as texts, in their order,
finite, of one size. A model's name and size go with every vector; so that two are never mixed, a
size other than declared or first seen is an error.
"""

from __future__ import annotations

import base64
import binascii
import time
from collections.abc import Mapping, Sequence
from typing import Any

import httpx2
import numpy as np

from dualgate.adapters.llm.endpoint import Endpoint, Patience
from dualgate.domain.items import clean_text
from dualgate.errors import (
    InvalidInputError,
    ModelRejectedError,
    ModelUnavailableError,
)
from dualgate.pipeline.endpoints import EmbeddingSettings
from dualgate.pipeline.ports import ModelUsage, Vector, Vectors

_FAILED = 500
_TOO_MUCH = frozenset({400, 413, 422, _FAILED})
_SHORTEST = 128  # characters; what a model cannot take at this length it cannot take at all
_LONGEST_VECTOR = 65_536


class EndpointEmbedder:
    """Unit vectors of an endpoint's model. Safe to use from many tasks of one loop.

    dim is 0 until the first answer, unless declared. After an outage the endpoint is left alone
    for `rest_seconds`, so that who waits for an answer does not wait for it every time. `usage`
    is what all calls so far cost.
    """

    model: str
    dim: int

    def __init__(
        self,
        settings: EmbeddingSettings,
        *,
        transport: httpx2.AsyncBaseTransport | None = None,
    ) -> None:
        if settings.base_url is None or not settings.name:
            raise InvalidInputError("settings", "must have embedding.base_url and embedding.name")
        self._settings = settings
        self._name = settings.name
        self.model = f"endpoint/{settings.name}"
        self.dim = settings.dim or 0
        self.usage = ModelUsage()
        self._down: tuple[float, ModelUnavailableError] | None = None
        self._endpoint = Endpoint(
            settings.base_url,
            key=settings.key,
            key_name=settings.key_env or "DUALGATE_EMBEDDING__KEY",
            header=lambda key: {"authorization": f"Bearer {key}"},
            patience=Patience(
                timeout_seconds=settings.timeout_seconds,
                attempts=settings.attempts,
                retry_seconds=settings.retry_seconds,
                longest_wait_seconds=settings.longest_wait_seconds,
            ),
            transport=transport,
        )

    def __repr__(self) -> str:
        return f"EndpointEmbedder({self._settings.base_url!r}, {self._name!r})"

    async def close(self) -> None:
        """Close the connections."""
        await self._endpoint.close()

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one unit vector a text, in order: (len(texts), dim).

        A text longer than `character_limit` is embedded by its beginning, and by less where the
        model takes less. Raises InvalidInputError for a blank text, and ModelErrors.
        """
        prepared = self._prepared(texts)
        if not prepared:
            return np.empty((0, self.dim), dtype=np.float32)
        self._refuse_while_down()
        # Equal texts are asked for once.
        once = list(dict.fromkeys(prepared))
        found: list[Vector] = []
        try:
            for start in range(0, len(once), self._settings.batch):
                found += await self._of(once[start : start + self._settings.batch])
        except ModelUnavailableError as error:
            self._down = (time.monotonic() + self._settings.rest_seconds, error)
            raise
        by_text = dict(zip(once, found, strict=True))
        return np.stack([by_text[text] for text in prepared])

    def _prepared(self, texts: Sequence[str]) -> list[str]:
        if isinstance(texts, str):
            raise InvalidInputError(
                "texts", "must be a sequence of strings, not one string", texts
            )
        limit = self._settings.character_limit
        prepared = [clean_text("texts", t)[:limit] for t in texts]
        for text in prepared:
            if not text.strip():
                raise InvalidInputError("texts", "must not be blank", text)
        return prepared

    def _refuse_while_down(self) -> None:
        if self._down is None:
            return
        until, error = self._down
        if time.monotonic() < until:
            raise ModelUnavailableError(error.problem, error.advice, status=error.status)
        self._down = None

    async def _of(self, texts: list[str]) -> list[Vector]:
        try:
            return await self._asked(texts)
        except (ModelRejectedError, ModelUnavailableError) as error:
            # One text too long fails a whole batch, and servers have many ways to say so.
            if error.status not in _TOO_MUCH:
                raise
            if len(texts) > 1:
                if error.status == _FAILED:
                    # Too long a text, or an outage? The shortest one tells.
                    await self._asked([min(texts, key=len)])
                half = len(texts) // 2
                return [*await self._of(texts[:half]), *await self._of(texts[half:])]
            if len(texts[0]) <= _SHORTEST:
                raise
            return await self._of([texts[0][: len(texts[0]) // 2]])

    async def _asked(self, texts: list[str]) -> list[Vector]:
        body = {
            "model": self._name,
            "input": texts,
            "encoding_format": "float",
            **self._settings.body,
        }
        tree = await self._endpoint.post("/embeddings", body)
        vectors = _vectors(tree, len(texts))
        self._count(tree)
        for vector in vectors:
            if self.dim and vector.size != self.dim:
                raise ModelRejectedError(
                    f"{self._name} gives vectors of {vector.size} numbers, not of {self.dim}",
                    "Correct embedding.dim, or name the model that is meant",
                )
            self.dim = self.dim or vector.size
        return vectors

    def _count(self, tree: Mapping[str, Any]) -> None:
        usage = tree.get("usage")
        given = usage.get("prompt_tokens") if isinstance(usage, Mapping) else None
        told = isinstance(given, int)
        self.usage += ModelUsage(
            calls=1, input_tokens=given if told and given else 0, estimated=not told
        )


def _vectors(tree: Any, count: int) -> list[Vector]:
    rows = tree.get("data") if isinstance(tree, Mapping) else None
    if not isinstance(rows, list) or not all(isinstance(row, Mapping) for row in rows):
        raise ModelRejectedError(
            "what answers does not speak /embeddings", "Check embedding.base_url"
        )
    if len(rows) != count:
        raise ModelUnavailableError(
            f"{len(rows)} vectors came for {count} texts", "It is tried again later"
        )
    # Answers may come in any order; `index` says which is which.
    places = [row.get("index", place) for place, row in enumerate(rows)]
    if sorted(p for p in places if isinstance(p, int)) != list(range(count)):
        raise ModelUnavailableError(
            "the vectors do not say which text each is of", "It is tried again later"
        )
    by_place = {place: _vector(row.get("embedding")) for place, row in zip(places, rows)}  # noqa: B905 - of one length
    return [by_place[place] for place in range(count)]


def _vector(given: Any) -> Vector:
    try:
        if isinstance(
            given, str
        ):  # base64 of float32, little-endian, though floats were asked for
            found = np.frombuffer(base64.b64decode(given, validate=True), dtype="<f4")
        else:
            found = np.asarray(given, dtype=np.float32)
    except (ValueError, TypeError, OverflowError, binascii.Error) as error:
        raise ModelUnavailableError("a vector is not made of numbers") from error
    length = float(np.linalg.norm(found.astype(np.float64))) if found.ndim == 1 else 0.0
    if not 0 < found.size <= _LONGEST_VECTOR or not np.isfinite(length) or length == 0:
        raise ModelUnavailableError(
            "a vector is empty, all zeros or not finite", "Is this an embedding model"
        )
    unit: Vector = (found / np.float32(length)).astype(np.float32)
    return unit
