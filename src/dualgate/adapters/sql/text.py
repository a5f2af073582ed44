"""Words for full-text search, the same on both sides: index and query [R2].

Rules of this file: pure functions of text. Han, kana and hangul are cut into characters and pairs
of characters, since nothing else found every two-character word without a dictionary; all other
scripts into words.

What goes into the index are not the words but short hashes of them, each behind a mark of its
user. The mark keeps the posting lists of one user as long as that user's memory, however many
others share the file. The hash keeps readable text out of the index: FTS5 leaves deleted words in
the file until it merges its segments, and forgotten text must be gone at once [P3].
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable, Iterator

from dualgate.domain.items import MemoryItem
from dualgate.domain.terms import SHORTEST_PLURAL, singular

QUERY_WORDS = 96  # a query is a sentence; what comes after these words does not change its subject
# Half of a memory holds "the": ranking all of that costs the most and says nothing.
_SAYS_NOTHING = frozenset(
    (
        "a an and any are as at be been but by can could did do does for from had has have he her"
        " him his how i if in into is it its me mine my of on or our she so than that the their"
        " them then there these they this those to us was we were what when where which who whom"
        " whose why will with would you your"
    ).split()
)

_UNSPACED = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003fa1f"
_RUN = re.compile(f"[{_UNSPACED}]+|[^\\W{_UNSPACED}]+")
_IS_UNSPACED = re.compile(f"[{_UNSPACED}]")


def words_of(text: str) -> Iterator[str]:
    """Yield what a text is found by.

    >>> list(words_of("用 PostgreSQL，回答简洁"))
    ['用', 'postgresql', '回', '回答', '答', '答简', '简', '简洁', '洁']
    """
    for run in _runs(text):
        if not _IS_UNSPACED.match(run):
            yield run
            continue
        for start, character in enumerate(run):
            yield character
            if start + 1 < len(run):
                yield run[start : start + 2]


def query_words(text: str) -> list[str]:
    """Return the words that a query asks for; single characters only where they stand alone.

    >>> query_words("茶 tea 简洁的")
    ['茶', 'tea', '简洁', '洁的']
    """
    found: dict[str, None] = {}
    for run in _runs(text):
        if not _IS_UNSPACED.match(run) or len(run) == 1:
            found[run] = None
        else:
            found.update((run[start : start + 2], None) for start in range(len(run) - 1))
        if len(found) >= QUERY_WORDS:
            break
    return list(found)[:QUERY_WORDS]


def searched_text(item: MemoryItem) -> str:
    """Return what an item is searched by: content, value, entities and tags."""
    return "\n".join((item.content, item.value or "", *item.entities, *item.tags))


def indexed_words(user_id: str, text: str) -> str:
    """Return the text that is put in the full-text index."""
    return " ".join(marked_words(user_id, words_of(text)))


def marked_words(user_id: str, words: Iterable[str]) -> list[str]:
    """Return the words as they stand in the full-text index, in order."""
    mark = _mark(user_id)
    return [f"{mark}{_hash(mark, word)}" for word in words]


def fts5_query(user_id: str, text: str) -> str | None:
    """Return the text as an FTS5 query in which one match is enough; None if it has no words.

    Words that carry no subject are asked for only where there are no others. A thing is found by
    its plural and the other way round: the index holds words as they were written.
    """
    mark = _mark(user_id)
    asked = query_words(text)
    telling = [word for word in asked if word not in _SAYS_NOTHING] or asked
    forms = dict.fromkeys(form for word in telling for form in (word, *_other_number(word)))
    return " OR ".join(f'"{mark}{_hash(mark, form)}"' for form in forms) or None


def _other_number(word: str) -> tuple[str, ...]:
    """Return the singular of an English plural, or the plural of what may be a singular."""
    if len(word) < SHORTEST_PLURAL - 1 or not (word.isascii() and word.isalpha()):
        return ()
    base = singular(word)
    if base != word:
        return (base,)
    if word[-1] == "y" and word[-2] not in "aeiou":
        return (f"{word[:-1]}ies",)
    return (f"{word}es",) if word.endswith(("s", "x", "ch", "sh", "z")) else (f"{word}s",)


def row_number(user_id: str, item_id: str) -> int:
    """Return the row of an item's words in the full-text table: 24 bits of user, 39 of item.

    The row can be replaced without looking it up. The user comes first so that one user's rows lie
    together: ranking looks up every match's length, which among a million items of others would
    else be a page of the file each. Of a full user's items two share a row with a chance of one in
    40,000; then the older is found by meaning but not by words.
    """
    name = f"{len(user_id)}:{user_id}{item_id}".encode()
    within = int.from_bytes(hashlib.blake2b(name, digest_size=8).digest()) >> 25
    return row_numbers(user_id)["first"] | within


def row_numbers(user_id: str) -> dict[str, int]:
    """Return the first and the last row that may be this user's."""
    user = int.from_bytes(hashlib.blake2b(user_id.encode(), digest_size=8).digest()) >> 40
    return {"first": user << 39, "last": (user + 1 << 39) - 1}


def _mark(user_id: str) -> str:
    # Two users may share a mark; every search compares the user_id itself as well.
    return _letters(hashlib.blake2b(user_id.encode(), digest_size=5).digest())


def _hash(mark: str, word: str) -> str:
    return _letters(hashlib.blake2b(f"{mark}{word}".encode(), digest_size=5).digest())


_ALPHABET = "abcdefghijklmnopqrstuvwxyz234567"
_PAIRS = [one + other for one in _ALPHABET for other in _ALPHABET]


def _letters(digest: bytes) -> str:
    """Return five bytes in base 32, as base64.b32encode does, but ten bits a step.

    >>> _letters(b"hello")
    'nbswy3dp'
    """
    bits = int.from_bytes(digest)
    return (
        _PAIRS[bits >> 30] + _PAIRS[bits >> 20 & 1023] + _PAIRS[bits >> 10 & 1023]
        + _PAIRS[bits & 1023]
    )  # fmt: skip


def _runs(text: str) -> Iterator[str]:
    plain = unicodedata.normalize("NFKC", text).casefold()
    return (match.group() for match in _RUN.finditer(plain))
