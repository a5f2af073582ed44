"""Each turn: what does the memory know about this? Four paths, one topic gate [R2, R3, R5].

Rule: a hit needs meaning or words; recency and type only order hits. A query that nothing fits
returns nothing, never a padded top-k.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from dualgate.domain.archiving import kept_strength
from dualgate.domain.fusion import Fused, Path, fuse
from dualgate.domain.items import MemoryItem, choice, clean_text, require_aware
from dualgate.domain.passages import bm25, counted
from dualgate.domain.query import Query, read_query
from dualgate.domain.relevance import Fit, TopicGate, accompanies, answers, fit
from dualgate.domain.status import ACTIVE
from dualgate.domain.terms import names_in
from dualgate.domain.types import ItemType
from dualgate.domain.view import Snapshot
from dualgate.errors import InvalidInputError
from dualgate.pipeline.ports import Embedder, Lexer, Store, TokenCounter, Use
from dualgate.pipeline.quoting import with_passages
from dualgate.pipeline.recipes import ReadPolicy, Recipe
from dualgate.pipeline.render import (
    checked_language,
    language_of,
    render_found,
    strip_injected,
)
from dualgate.pipeline.retrievers import (
    Harvest,
    Source,
    Wanted,
    harvest,
    harvest_as_of,
    may_be_shown,
    rivals_of,
)
from dualgate.pipeline.transcripts import Passage, Transcript, search

WORDS_SHARE = 0.25  # of the entity path: BM25's order among items that share words


@dataclass(frozen=True, slots=True)
class Hit:
    """An item that fits a query: its relevance, and its fit on every path (0-1 each)."""

    item: MemoryItem
    relevance: float
    paths: Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What a recall brings back, best first.

    on_topic is False when no item is on the query's subject; hits are then only what identity and
    preference say to it, often nothing. passages are raw turns, if they were searched [R6]; they
    are no items. text renders hits and passages, apart, as quoted data. degraded says why memories
    were found by their words only, "" if they were not: an embedding endpoint that does not
    answer, or a changed model whose vectors are not all made yet [T3].
    """

    hits: tuple[Hit, ...] = ()
    on_topic: bool = False
    text: str = ""
    passages: tuple[Passage, ...] = ()
    degraded: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One recall as asked, checked."""

    query: Query
    now: datetime
    limit: int
    item_types: frozenset[ItemType] | None
    archived: bool
    sensitive: bool
    as_of: datetime | None
    transcripts: bool

    def wanted(self) -> Wanted:
        """Return the test an item must pass before its fit is looked at."""
        shown = may_be_shown(self.as_of or self.now, sensitive=self.sensitive)

        def test(item: MemoryItem) -> bool:
            if self.item_types is not None and item.item_type not in self.item_types:
                return False
            return shown(item) and (self.archived or item.status in ACTIVE)

        return test


async def recall(  # noqa: PLR0913 - the arguments of spec §8
    store: Store,
    embedder: Embedder,
    tokens: TokenCounter,
    *,
    user_id: str,
    query: str,
    now: datetime,
    policy: ReadPolicy,
    limit: int = 10,
    item_types: Collection[ItemType | str] | None = None,
    archived: bool = True,
    sensitive: bool = False,
    transcripts: bool = False,
    as_of: datetime | None = None,
    recipe: str | Recipe | None = None,
    lang: str | None = None,
    lexer: Lexer | None = None,
) -> tuple[Found, list[Use]]:
    """Return what the memory knows about the query, and the uses to be counted.

    limit: 1-100 items. item_types: only these. archived: also what is in the archive. sensitive:
    also sensitive items. transcripts: raw turns as well, at most `limit`; the lexer cuts them.
    as_of: what was believed at that aware datetime; it counts no use. Raises InvalidInputError
    that names the argument and the rule.
    """
    chosen = policy.recipe_named(recipe)
    checked_language(lang)
    request = Request(
        query=read_query(strip_injected(clean_text("query", query))),
        now=now,
        limit=_limit(limit, policy.most_hits),
        item_types=_item_types(item_types),
        archived=archived,
        sensitive=sensitive,
        as_of=None if as_of is None else require_aware("as_of", as_of),
        transcripts=_flag("transcripts", transcripts),
    )
    snapshot = await store.snapshot(user_id)
    if snapshot.recall_paused or request.query.courtesy:
        return Found(), []
    source = Source(store, embedder, user_id)
    harvested = await _harvest(source, snapshot, request, chosen)
    fits, on_topic = _gate(request.query, harvested, chosen.gate, lexer)
    if lexer is not None:
        harvested = replace(harvested, words=_worded(request.query, harvested, lexer, chosen))
    ranked = _ranked(request, snapshot, harvested, fits, policy, chosen)
    hits = await _with_rivals(source, request, harvested, ranked)
    items = [hit.item for hit in hits]
    # Whoever asks is read to in the language of the question; a bare name tells none.
    spoken = lang or language_of([request.query.text], language_of(i.content for i in items))
    text = render_found(items, spoken, tokens, policy.found_tokens)
    passages: tuple[Passage, ...] = ()
    if request.transcripts or (chosen.when_unanswered and not on_topic):
        transcript = Transcript(store, embedder, _needed(lexer), user_id)
        passages = await search(
            transcript, request.query, chosen, limit=request.limit, sensitive=sensitive,
            until=request.as_of,
        )  # fmt: skip
        asked = transcript.lexer.asked(request.query.text)
        text = with_passages(text, passages, spoken, tokens, policy.passage_tokens, asked)
    found = Found(
        hits=tuple(hits), on_topic=on_topic, text=text, passages=passages,
        degraded=harvested.missed,
    )  # fmt: skip
    if request.as_of is not None:
        return found, []  # looking back is no use of what is believed today
    # Only an answer is a relevance hit; what merely accompanies keeps nothing frozen [F5].
    uses = [
        Use(
            item_id=hit.item.id,
            at=now,
            hit=on_topic and hit.item.id in fits,
            query_relevance=hit.relevance,
        )
        for hit in hits
    ]
    return found, uses


async def _harvest(
    source: Source, snapshot: Snapshot, request: Request, recipe: Recipe
) -> Harvest:
    if request.as_of is None:
        return await harvest(source, snapshot, request.query, recipe, request.wanted())
    return await harvest_as_of(source, request.query, recipe, request.as_of, request.wanted())


def _gate(
    query: Query, harvested: Harvest, gate: TopicGate, lexer: Lexer | None
) -> tuple[dict[str, Fit], bool]:
    """Return the fits of what may be shown, and whether the memory knows the subject [R3]."""
    asked = lexer.asked_for(query.text) if lexer else frozenset()
    names = names_in(query.text, harvested.items.values())
    fits = {
        item_id: fit(
            query,
            item,
            harvested.cosines.get(item_id, 0.0),
            gate,
            harvested.to_subject,
            len(asked & lexer.stated(item.content)) / len(asked) if lexer and asked else 0.0,
            names,
        )
        for item_id, item in harvested.items.items()
    }
    answering = {i: one for i, one in fits.items() if answers(query, one, gate)}
    if answering:
        return answering, True
    beside = {
        i: one for i, one in fits.items() if accompanies(query, harvested.items[i], one, gate)
    }
    return beside, False


def _worded(query: Query, harvested: Harvest, lexer: Lexer, recipe: Recipe) -> dict[str, float]:
    """Return BM25 of every item as a share of the best; how rare a word is, is counted over them.

    The store finds items by their words as they stand, among those of its whole file; here endings
    are off, and only what was found counts.
    """
    asked: dict[str, float] = {}
    lines = zip(query.shares(), query.lines, strict=True) if query.lines else [(1.0, query.text)]
    for share, line in lines:
        asked |= {word: max(share, asked.get(word, 0.0)) for word in lexer.asked(line)}
    texts = [counted(lexer.words(i.content), asked) for i in harvested.items.values()]
    scores = bm25(asked, texts, recipe.passages.k1, recipe.passages.b)
    best = max(scores, default=0.0)
    found = zip(harvested.items, scores, strict=True)
    return {item_id: score / best for item_id, score in found if score > 0}


def _ranked(
    request: Request,
    snapshot: Snapshot,
    harvested: Harvest,
    fits: Mapping[str, Fit],
    policy: ReadPolicy,
    recipe: Recipe,
) -> list[Fused]:
    """Return the relevance of every item that passed the gate, best first [R2]."""
    kept = {
        i: kept_strength(
            harvested.items[i],
            request.now,
            snapshot.own_time,
            policy.score,
            policy.archive,
        )
        for i in fits
    }
    strongest = max(kept.values(), default=0.0) or 1.0
    # A talk is near to nothing as a whole: there the nearest item counts as full.
    talk = bool(request.query.lines)
    nearest = max((one.cosine for one in fits.values()), default=0.0)
    full = (
        min(nearest, recipe.gate.full_cosine) if talk and nearest > 0 else recipe.gate.full_cosine
    )
    by_words = 0.6 if talk else WORDS_SHARE
    opinions = {}
    for item_id, one in fits.items():
        worded = one.factor * harvested.words.get(item_id, 0.0) if one.overlap > 0 else 0.0
        opinions[item_id] = {
            Path.SEMANTIC: min(1.0, max(0.0, one.cosine) / full),
            Path.ENTITY: (1 - by_words) * one.entity + by_words * worded,
            Path.RECENCY: kept[item_id] / strongest,
            Path.TYPE: float(harvested.items[item_id].item_type in request.query.intents),
        }
    return fuse(opinions, recipe.weights)


async def _with_rivals(
    source: Source, request: Request, harvested: Harvest, ranked: Sequence[Fused]
) -> list[Hit]:
    """Return at most `limit` hits, each followed by what contradicts it [C1].

    A pair that no longer fits whole is left out for the next single item, unless it comes first.
    """
    chosen = ranked[: 2 * request.limit]
    by_id = {one.item_id: one for one in ranked}
    rivals: dict[str, MemoryItem] = {}
    if request.as_of is None:
        contested = (harvested.items[one.item_id] for one in chosen)
        rivals = await rivals_of(source, contested, harvested.items, request.wanted())
    hits: list[Hit] = []
    shown: set[str] = set()
    for one in chosen:
        item = harvested.items[one.item_id]
        if item.id in shown:
            continue
        pair = [
            item,
            *(rivals[r] for r in item.contested_with if r in rivals and r not in shown),
        ]
        room = request.limit - len(hits)
        if len(pair) > room and hits:
            continue
        for member in pair[:room]:
            known = by_id.get(member.id)
            # A rival that does not fit by itself is there for the conflict, not for its fit.
            paths = {path.value: value for path, value in (known.paths if known else {}).items()}
            hits.append(Hit(member, known.relevance if known else 0.0, paths))
            shown.add(member.id)
    return hits


def _limit(limit: object, most: int) -> int:
    if isinstance(limit, bool) or not isinstance(limit, int) or not 1 <= limit <= most:
        raise InvalidInputError("limit", f"must be a whole number from 1 to {most}", limit)
    return limit


def _flag(argument: str, value: object) -> bool:
    if not isinstance(value, bool):
        raise InvalidInputError(argument, "must be True or False", value)
    return value


def _needed(lexer: Lexer | None) -> Lexer:
    if lexer is None:
        raise InvalidInputError("lexer", "is needed where raw turns are searched")
    return lexer


def _item_types(given: Collection[ItemType | str] | None) -> frozenset[ItemType] | None:
    if given is None:
        return None
    if isinstance(given, str):
        given = (given,)
    return frozenset(choice("item_types", ItemType, one) for one in given)
