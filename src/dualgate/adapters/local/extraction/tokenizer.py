"""Tokens of the encoder: the likeliest segmentation of every word into pieces of a fixed vocabulary.

A unigram language model over pieces (Kudo 2018, arXiv:1804.10959), as multilingual-e5 was trained
with; the vocabulary is its own, cut to the pieces that Chinese and English use.

Rule: pure Python over a table; linear in the length of a text, since no piece is long.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

SPACE = "▁"  # stands for the space before a word
PIECE_LIMIT = 16  # characters; longer pieces of the vocabulary are never looked for
WORD_LIMIT = 400
CACHE_LIMIT = 20_000
_UNKNOWN_COST = 10.0  # below the rarest piece, as SentencePiece has it
# Lone surrogates, control, zero-width and direction marks: nobody sees them, and no piece has them.
_UNSEEN = re.compile(r"[\ud800-\udfff\x00-\x08\x0e-\x1f\x7f-\x9f\xad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufe00-\ufe0f\ufeff\ufffd]")


class Tokenizer:
    """Cuts text into ids of a vocabulary; unknown characters become `unknown`."""

    def __init__(self, pieces: Sequence[str], scores: Sequence[float], unknown: int) -> None:
        """scores: log probability per piece; a piece in angle brackets is a mark, not text."""
        self._table = {
            piece: (index, score)
            for index, (piece, score) in enumerate(zip(pieces, scores, strict=True))
            if piece and not (piece.startswith("<") and piece.endswith(">"))
        }
        self._unknown = unknown
        self._floor = min(score for _, score in self._table.values()) - _UNKNOWN_COST
        self._words: dict[str, list[int]] = {}

    def __call__(self, text: str, *, starts_word: bool = True) -> list[int]:
        """Return the ids of a text; without `starts_word` its first word goes on with the one before."""
        plain = _UNSEEN.sub("", unicodedata.normalize("NFKC", text))
        ids: list[int] = []
        for number, word in enumerate(plain.split()):
            marked = SPACE + word[:WORD_LIMIT] if starts_word or number else word[:WORD_LIMIT]
            ids += self._cut(marked)
        return ids

    def _cut(self, word: str) -> list[int]:
        known = self._words.get(word)
        if known is None:
            known = self._best(word)
            if len(self._words) >= CACHE_LIMIT:
                self._words = {}
            self._words[word] = known
        return known

    def _best(self, word: str) -> list[int]:
        """Viterbi: best[i] is the score of the best cut of word[:i]."""
        size = len(word)
        best = [float("-inf")] * (size + 1)
        best[0] = 0.0
        back = [(0, self._unknown)] * (size + 1)
        table = self._table
        for start in range(size):
            here = best[start]
            for end in range(start + 1, min(size, start + PIECE_LIMIT) + 1):
                found = table.get(word[start:end])
                if found is not None and here + found[1] > best[end]:
                    best[end] = here + found[1]
                    back[end] = (start, found[0])
            if here + self._floor > best[start + 1]:
                best[start + 1] = here + self._floor
                back[start + 1] = (start, self._unknown)
        ids = []
        while size:
            size, index = back[size]
            ids.append(index)
        return ids[::-1]
