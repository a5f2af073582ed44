"""What is left of what was erased, and what has the erased words in it [P3].

Two things live here, both pure. *Marks*: plain strings that name a turn, a text or a statement;
the store keeps only a keyed hash of each (a tombstone), so that old text can be recognised and not
read back. *Words*: the sentences and values of what is erased, to find where else they stand.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from hashlib import blake2b

from dualgate.domain.items import Candidate, MemoryItem, folded

KEY_BYTES = 32
# A text as short as "yes, please" is said in a thousand conversations; by itself it says nothing.
TELLING_LATIN, TELLING_HAN = 16, 7
VALUE_LATIN, VALUE_HAN = 3, 2
SHARED_LATIN, SHARED_HAN = 8, 4

_UNSPACED = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
_HAN = re.compile(f"[{_UNSPACED}]")
_LETTER = f"[^\\W_{_UNSPACED}]"
_TOKEN = re.compile(f"[{_UNSPACED}]|{_LETTER}+")


class ErasureKind(StrEnum):
    """What was erased."""

    ITEM = "item"
    SESSION = "session"
    USER = "user"


class MarkKind(StrEnum):
    """What a mark names; each is blocked in its own way (pipeline/erasing.py)."""

    ITEM = "item"
    SESSION = "session"
    TURN = "turn"
    TEXT = "text"
    SAID = "said"  # a text that an item rested on, or that says an erased item's words
    STATEMENT = "statement"


def keyed(key: bytes, mark: str) -> str:
    """Return the tombstone of a mark: 32 hexadecimal digits that tell nothing without the key.

    >>> len(keyed(b"k" * 32, "turn:t1"))
    32
    """
    return blake2b(mark.encode("utf-8", "replace"), key=key, digest_size=16).hexdigest()


def item_mark(item_id: str) -> str:
    """Return the mark of an item."""
    return f"{MarkKind.ITEM}:{item_id}"


def session_mark(session_id: str) -> str:
    """Return the mark of a session."""
    return f"{MarkKind.SESSION}:{session_id}"


def turn_mark(turn_id: str) -> str:
    """Return the mark of a turn."""
    return f"{MarkKind.TURN}:{turn_id}"


def text_mark(text: str) -> str:
    """Return the mark of what was said, spacing and case aside."""
    return f"{MarkKind.TEXT}:{squeezed(text)}"


def said_mark(text: str) -> str:
    """Return the mark of a text that an erased item rested on."""
    return f"{MarkKind.SAID}:{squeezed(text)}"


def is_telling(text: str) -> bool:
    """Return whether a text is long enough to be recognised by its words alone.

    >>> is_telling("Yes, please!"), is_telling("My sister moved to Hobart in March")
    (False, True)
    """
    return len(squeezed(text)) >= (TELLING_HAN if _HAN.search(text) else TELLING_LATIN)


def statement_marks(said: Candidate | MemoryItem) -> tuple[str, ...]:
    """Return the marks of a statement: by its wording, and by its slot and value."""
    start = f"{MarkKind.STATEMENT}:{said.item_type}|{folded(said.subject)}"
    marks = [f"{start}|says|{squeezed(said.content)}"]
    if said.value:
        marks.append(f"{start}|{said.polarity}|{folded(said.attribute)}|{squeezed(said.value)}")
    return tuple(marks)


def squeezed(text: str | None) -> str:
    """Return a text without spaces, case and closing punctuation."""
    return "".join(folded(text).split())


@dataclass(frozen=True, slots=True)
class Words:
    """The words of what is erased.

    sentences: contents and quotes, squeezed. values: shorter pieces, folded, that stand in a text
    as words of their own.
    """

    sentences: frozenset[str]
    values: tuple[str, ...]

    def quoted_in(self, text: str | None) -> bool:
        """Return whether a whole sentence stands in the text, or the text within a sentence."""
        given = squeezed(text)
        if not given:
            return False
        return any(
            one in given or (is_telling(given) and given in one) for one in self.sentences
        )

    def said_in(self, text: str | None) -> bool:
        """Return whether a sentence or a value stands in the text."""
        return self.quoted_in(text) or any(self.holders([text or ""]))

    def holders(self, texts: Iterable[str]) -> list[bool]:
        """Return for each text whether a value stands in it."""
        patterns = [_pattern(value) for value in self.values]
        return [any(p.search(folded(text)) for p in patterns) for text in texts]

    def without(self, values: Iterable[str]) -> Words:
        """Return these words less some values."""
        gone = set(values)
        return Words(self.sentences, tuple(v for v in self.values if v not in gone))


def words_of(statements: Sequence[MemoryItem | Candidate], quotes: Iterable[str | None]) -> Words:
    """Return the words of these statements, said in these quotes."""
    said = list(dict.fromkeys(quote for quote in quotes if quote))
    contents = dict.fromkeys(one.content for one in statements)
    sentences = {squeezed(text) for text in (*contents, *said)}
    values = {folded(one.value) for one in statements}
    values |= {_shared(content, quote) for content in contents for quote in said}
    return Words(
        frozenset(one for one in sentences if len(one) > VALUE_LATIN),
        tuple(sorted(value for value in values if _long_enough(value, VALUE_LATIN, VALUE_HAN))),
    )


def _long_enough(value: str, latin: int, han: int) -> bool:
    return len(value) >= (han if _HAN.search(value) else latin)


def _pattern(value: str) -> re.Pattern[str]:
    words = r"\s*".join(re.escape(word) for word in value.split())
    # Chinese puts no space around a Latin name: "我用Python写" says Python, "cPython" does not.
    before = "" if _HAN.match(value) else f"(?<!{_LETTER})"
    after = "" if _HAN.match(value[-1]) else f"(?!{_LETTER})"
    return re.compile(f"{before}{words}{after}")


def _shared(content: str, quote: str) -> str:
    """Return the longest run of words that the content took from the quote; "" if it is short.

    >>> _shared("The user drinks oolong from Wuyi", "I only drink oolong from Wuyi, please")
    'oolong from wuyi'
    """
    mine, theirs = _TOKEN.findall(folded(content)), _TOKEN.findall(folded(quote))
    best: list[str] = []
    for run in _runs(mine, theirs):
        if sum(map(len, run)) > sum(map(len, best)):
            best = run
    text = folded("".join(w if _HAN.match(w) else f" {w} " for w in best))
    return text if _long_enough(text, SHARED_LATIN, SHARED_HAN) and len(best) > 1 else ""


def _runs(mine: Sequence[str], theirs: Sequence[str]) -> Iterator[list[str]]:
    above = [0] * (len(theirs) + 1)
    for row, word in enumerate(mine):
        here = [0] * (len(theirs) + 1)
        for column, other in enumerate(theirs):
            if word == other:
                here[column + 1] = above[column] + 1
                yield list(mine[row + 1 - here[column + 1] : row + 1])
        above = here
