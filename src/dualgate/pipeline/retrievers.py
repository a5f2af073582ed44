"""Fetching what may fit a query: by meaning, by words, as believed earlier [R2, R5].

Rule: the store ranks thousands, this file reads few. Ids and cosines come for many items; whole
items are read only from the snapshot and for a bounded number of others.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np

from dualgate.domain.assembly import recallable
from dualgate.domain.items import MemoryItem
from dualgate.domain.query import Query
from dualgate.domain.status import LIVE
from dualgate.domain.view import Snapshot
from dualgate.errors import ModelError
from dualgate.pipeline.ports import Embedder, Store, Vector
from dualgate.pipeline.recipes import Recipe

Wanted = Callable[[MemoryItem], bool]
BARE_SUBJECT = ("用户", "The user")  # what every statement about the user has in common


@dataclass(frozen=True, slots=True)
class Harvest:
    """Items that may fit, the cosine of each, and how well its words rank (1 is the best).

    to_subject is the query's cosine with the bare subject, which is no fit to any item yet. missed
    says why nothing was looked for by meaning, "" if it was.
    """

    items: Mapping[str, MemoryItem]
    cosines: Mapping[str, float]
    words: Mapping[str, float]
    to_subject: float = 0.0
    missed: str = ""


@dataclass(frozen=True, slots=True)
class Source:
    """Whose memory is read, and with what."""

    store: Store
    embedder: Embedder
    user_id: str


async def harvest(
    source: Source, snapshot: Snapshot, query: Query, recipe: Recipe, wanted: Wanted
) -> Harvest:
    """Return what is near in meaning or shares words, among the items wanted."""
    meant, worded = await asyncio.gather(
        _meant(source, query, recipe),
        source.store.by_words(source.user_id, query.text, limit=2 * recipe.worded),
    )
    near = meant.near
    best = max((relevance for _, relevance in worded), default=0.0)
    cosines = dict(near)
    words = {item_id: relevance / best for item_id, relevance in worded if best > 0}

    active = {**snapshot.hot, **snapshot.frozen}
    at_hand = {i: active[i] for i in (*cosines, *words) if i in active}
    # Both lists are best first, so each keeps its own best.
    to_read = [i for i in cosines if i not in active][: recipe.near]
    to_read += [i for i in words if i not in active and i not in to_read][: recipe.worded]
    read = await source.store.items(source.user_id, to_read) if to_read else {}
    found = {i: item for i, item in {**at_hand, **read}.items() if wanted(item)}
    return Harvest(found, cosines, words, meant.to_subject, meant.missed)


async def harvest_as_of(
    source: Source, query: Query, recipe: Recipe, when: datetime, wanted: Wanted
) -> Harvest:
    """Return the items believed at `when` with their fit to the query [R5].

    What has been superseded since has left the vector index, so it is embedded again; at most
    the size of the hot and frozen pools, and only for this rare question.
    """
    believed = {i.id: i for i in await source.store.believed_at(source.user_id, when) if wanted(i)}
    if not believed:
        return Harvest({}, {}, {})
    meant = await _meant(source, query, recipe)
    if meant.vector is None:
        return Harvest(believed, {}, {}, missed=meant.missed)
    cosines = {item_id: cosine for item_id, cosine in meant.near if item_id in believed}
    now = await source.store.items(source.user_id, believed)
    gone = [
        i for i in believed if i not in cosines and (i not in now or now[i].status not in LIVE)
    ]
    if gone:
        vectors = await source.embedder.embed([believed[i].content for i in gone])
        again = np.asarray(vectors @ meant.vector, dtype=float)
        cosines |= dict(zip(gone, again.tolist(), strict=True))
    return Harvest(believed, cosines, {}, meant.to_subject)


async def rivals_of(
    source: Source,
    items: Iterable[MemoryItem],
    known: Mapping[str, MemoryItem],
    wanted: Wanted,
) -> dict[str, MemoryItem]:
    """Return the other side of what is contested, so that a conflict is shown whole [C1]."""
    ids = list(dict.fromkeys(rival for item in items for rival in item.contested_with))
    missing = [i for i in ids if i not in known]
    read = await source.store.items(source.user_id, missing) if missing else {}
    rivals = {i: known.get(i) or read.get(i) for i in ids}
    return {i: item for i, item in rivals.items() if item is not None and wanted(item)}


def may_be_shown(now: datetime, *, sensitive: bool = False) -> Wanted:
    """Return the test of [R5] for one call."""
    return lambda item: recallable(item, now, sensitive=sensitive)


@dataclass(frozen=True, slots=True)
class _Meant:
    vector: Vector | None = None
    to_subject: float = 0.0
    near: Sequence[tuple[str, float]] = ()
    missed: str = ""


async def _meant(source: Source, query: Query, recipe: Recipe) -> _Meant:
    """Return what is near in meaning; where an endpoint embeds and does not answer, why not."""
    try:
        vector, to_subject = await _embedded(source, query)
    except ModelError as error:
        return _Meant(missed=str(error))
    near = await source.store.nearest(
        source.user_id, vector, limit=recipe.scanned, gate=recipe.scan_gate
    )
    return _Meant(vector, to_subject, near)


async def _embedded(source: Source, query: Query) -> tuple[Vector, float]:
    """Return the query's vector, and its cosine with the bare subject."""
    bare = BARE_SUBJECT if query.personal else ()
    vectors = await source.embedder.embed([query.statement, *query.lines, *bare])
    vector = vectors[0]
    if query.lines:
        # A talk is as near as the mean of the whole and of its turns, the last ones first.
        shares = np.asarray(query.shares(), dtype=np.float32)
        turns = shares @ vectors[1 : 1 + len(shares)] / shares.sum()
        vector = (vector + turns) / 2
        vector = vector / max(float(np.linalg.norm(vector)), 1e-9)
    if not bare:
        return vector, 0.0
    return vector, float(np.mean(vectors[-len(bare) :] @ vector))
