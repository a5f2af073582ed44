"""Classes of words: what a word is a word for, so that one occupation teaches about all of them.

Rule: this file finds the words of lexicon/classes-*.txt in a list of tokens, longest first. A class
decides nothing; the model weighs "a word of this class stands here" like any other feature.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

FILES = ("classes-zh.txt", "classes-en.txt")
SHORTEST_PLURAL = 3  # "gas" and "bus" are none
_HEAD = re.compile(r"\[([\w-]+)\]")
_PIECES = re.compile(r"[a-z][a-z'’+#.-]*|\d+(?:[.,:/]\d+)*|[\u3400-\u9fff]|[^\w\s]")

Words = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Classes:
    """classes by the tokens of a word; `longest` is the most tokens a word has."""

    of: dict[Words, tuple[str, ...]]
    longest: int

    def named(self, tokens: Sequence[str]) -> list[tuple[int, int, tuple[str, ...]]]:
        """Return (start, end, classes) of the words found in the tokens, left to right."""
        found = []
        place = 0
        while place < len(tokens):
            for size in range(min(self.longest, len(tokens) - place), 0, -1):
                known = self._lookup(tuple(tokens[place : place + size]))
                if known:
                    found.append((place, place + size, known))
                    place += size
                    break
            else:
                place += 1
        return found

    def _lookup(self, words: Words) -> tuple[str, ...]:
        known = self.of.get(words)
        if known or not words[-1].isascii():
            return known or ()
        singular = (self.of.get((*words[:-1], each)) for each in _singulars(words[-1]))
        return next((each for each in singular if each), ())


@cache
def classes() -> Classes:
    """Read the lexicon that comes with the package.

    >>> classes().named(["i", "am", "a", "nurse"])[-1]
    (3, 4, ('occupation',))
    """
    folder = files(__package__.rpartition(".")[0]).joinpath("lexicon")
    of: dict[Words, list[str]] = {}
    for name in FILES:
        for kind, word in _entries(folder.joinpath(name).read_text(encoding="utf-8")):
            words = tuple(_PIECES.findall(word.lower().replace("’", "'")))
            if words and kind not in of.setdefault(words, []):
                of[words].append(kind)
    return Classes(
        {words: tuple(sorted(kinds)) for words, kinds in of.items()}, max(map(len, of), default=0)
    )


def _entries(text: str) -> Iterable[tuple[str, str]]:
    kind = ""
    for line in text.split("\n"):
        if head := _HEAD.fullmatch(line.strip()):
            kind = head.group(1)
        elif kind and not line.startswith("#"):
            yield from ((kind, word.strip()) for word in line.split(",") if word.strip())


def _singulars(word: str) -> Iterable[str]:
    if word.endswith("ies"):
        yield f"{word[:-3]}y"
    if word.endswith("es"):
        yield word[:-2]
    if word.endswith("s") and len(word) > SHORTEST_PLURAL:
        yield word[:-1]
