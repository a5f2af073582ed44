"""Deterministic stand-ins for what is slow, random or needs a key."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence

import numpy as np

from dualgate.domain.items import Candidate, folded
from dualgate.errors import InvalidInputError
from dualgate.pipeline.ports import Turn, Vectors

Answer = Sequence[Candidate] | Exception


class CountingIds:
    """Ids that count up and sort in the order in which they were made.

    >>> ids = CountingIds("item")
    >>> ids.new(), ids.new()
    ('item-0000000001', 'item-0000000002')
    """

    def __init__(self, prefix: str = "id") -> None:
        self._prefix = prefix
        self._count = 0

    def new(self) -> str:
        """Return the next id."""
        self._count += 1
        return f"{self._prefix}-{self._count:010d}"


class ScriptedExtractor:
    """Answers each message as scripted; a scripted exception is raised.

    An unscripted message states nothing, unless `strict`: then it is an error of the test.
    `heard` holds the turns in the order in which they came.
    """

    def __init__(self, script: Mapping[str, Answer], *, strict: bool = False) -> None:
        self._script = dict(script)
        self._strict = strict
        self.heard: list[Turn] = []

    def say(self, content: str, answer: Answer) -> None:
        """Script the answer to one more message, or change it."""
        self._script[content] = answer

    async def extract(self, turn: Turn) -> Sequence[Candidate]:
        """Return what the script says about this message."""
        self.heard.append(turn)
        content = turn.message.content
        if self._strict and content not in self._script:
            raise InvalidInputError("content", "is not in the script", content)
        answer = self._script.get(content, ())
        if isinstance(answer, Exception):
            raise answer
        return tuple(answer)


class HashEmbedder:
    """Unit vectors from hashed runs of 1-3 characters: texts that share spelling are near.

    The same text gives the same vector in every process. It knows no meaning, and is no substitute
    for a model.
    """

    def __init__(self, dim: int = 64) -> None:
        if dim < 1:
            raise InvalidInputError("dim", "must be at least 1", dim)
        self.dim = dim
        self.model = f"hash-ngram-{dim}"

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one unit vector a text, in order."""
        vectors = np.zeros((len(texts), self.dim), dtype=np.float32)
        for row, text in zip(vectors, texts, strict=True):
            for gram in _grams(f" {folded(text)} "):
                digest = hashlib.blake2b(gram.encode("utf-8", "replace"), digest_size=8).digest()
                place = int.from_bytes(digest[:4], "big") % self.dim
                row[place] += 1.0 if digest[4] & 1 else -1.0
            if not row.any():  # the grams cancel out exactly
                row[0] = 1.0
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        vectors /= lengths
        return vectors


def _grams(text: str) -> list[str]:
    return [text[i : i + n] for n in (1, 2, 3) for i in range(len(text) - n + 1)]
