"""Words of an item, and BM25 over one user's items.

Rule: what is indexed and what is asked for go through the same `terms`.
"""

from __future__ import annotations

import math
import re
from collections import Counter

from dualgate.domain.items import MemoryItem, folded

# Scripts written without spaces: Han, kana and Hangul are matched by pairs of characters.
_UNSPACED = (
    "\u3005\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
)
_RUN = re.compile(f"([{_UNSPACED}]+)|([^\\W_{_UNSPACED}]+)")

K1, B = 1.2, 0.75  # the usual constants of BM25


def terms(text: str, *, asked: bool = False) -> list[str]:
    """Return the terms of a text: Latin words whole, Chinese in pairs of characters.

    Single Chinese characters are indexed too, but asked for only where one stands alone: they
    are far too common to count beside the pairs.

    >>> terms("绿茶 tea", asked=True)
    ['绿茶', 'tea']
    """
    found = []
    for run, word in _RUN.findall(folded(text)):
        if word:
            found.append(word)
            continue
        found += [run[i : i + 2] for i in range(len(run) - 1)]
        if len(run) == 1 or not asked:
            found += run
    return found


def searched_text(item: MemoryItem) -> str:
    """Return what a search by words looks at: content, value, entities and tags."""
    return "\n".join((item.content, item.value or "", *item.entities, *item.tags))


class WordIndex:
    """An inverted index over one user's live items."""

    def __init__(self) -> None:
        self._postings: dict[str, dict[str, int]] = {}
        self._terms: dict[str, tuple[str, ...]] = {}
        self._lengths: dict[str, int] = {}
        self._total = 0

    def put(self, item_id: str, text: str) -> None:
        """Index the item under this text only."""
        self.drop(item_id)
        counts = Counter(terms(text))
        self._terms[item_id] = tuple(counts)
        self._lengths[item_id] = counts.total()
        self._total += counts.total()
        for term, count in counts.items():
            self._postings.setdefault(term, {})[item_id] = count

    def drop(self, item_id: str) -> None:
        """Forget the item, if it is known."""
        if item_id not in self._terms:
            return
        self._total -= self._lengths.pop(item_id)
        for term in self._terms.pop(item_id):
            holders = self._postings[term]
            del holders[item_id]
            if not holders:
                del self._postings[term]

    def search(self, words: str, limit: int) -> list[tuple[str, float]]:
        """Return (item id, BM25) of the items that hold one of the words, best first."""
        relevance: dict[str, float] = {}
        known = len(self._terms)
        for term in dict.fromkeys(terms(words, asked=True)):
            holders = self._postings.get(term, {})
            rarity = math.log1p((known - len(holders) + 0.5) / (len(holders) + 0.5))
            for item_id, count in holders.items():
                length = self._lengths[item_id] * known / self._total  # 1: as long as the average
                weight = count * (K1 + 1) / (count + K1 * (1 - B + B * length))
                relevance[item_id] = relevance.get(item_id, 0.0) + rarity * weight
        ranked = sorted(relevance.items(), key=lambda hit: (-hit[1], hit[0]))
        return ranked[: max(0, limit)]
