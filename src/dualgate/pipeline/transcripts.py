"""Raw turns: made findable where they are written, found where items do not answer [L3, R6].

Rules of this file: a passage is a quotation, never an item; it counts no use and changes nothing.
What an item was forgotten or hidden for does not come back as a passage. Turns are searched in
the words of their speakers, so the query is not rewritten to the stored subject.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise

from dualgate.domain.passages import RankedPassage, RankedTurn, date_text, rank_turns
from dualgate.domain.query import Query
from dualgate.domain.transcript import (
    TranscriptPolicy,
    covered,
    excerpt,
    may_be_quoted,
    rarity,
)
from dualgate.domain.types import Role
from dualgate.errors import ModelError
from dualgate.pipeline.ports import (
    Clock,
    Embedder,
    IndexedTurn,
    Lexer,
    PlacedTurn,
    Store,
    StoredTurn,
    WordedTurns,
)
from dualgate.pipeline.recipes import Recipe

KIND = "transcript"
BATCH = 256  # turns indexed or emptied in one unit
# Of the text that is embedded: of the turn before it just enough to know what is spoken of. Both
# together fit an endpoint that refuses more than 512 tokens, in Chinese too.
TURN_CHARACTERS, BEFORE_CHARACTERS = 350, 150
# Of a turn, around what is asked: of one that may be shown, and of one that only lends its words.
# Cutting hundreds of long replies into words would take most of a recall's time.
RANKED_CHARACTERS, LENDING_CHARACTERS = 800, 300
_ROUNDS = 10_000
_COSINES = 2_000  # turns whose nearness is known to the ranking; further ones count as 0
_LOOKED_AT = 3  # turns whose words the gate looks at: the best by rarity


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A raw turn that fits a query, quoted: who said it, when, in which session.

    relevance and paths are 0-1, as of a Hit, but do not compare with those of items. before and
    after are the turns beside it in its session, oldest first.
    """

    turn_id: str
    session_id: str
    role: Role
    at: datetime
    content: str
    relevance: float
    paths: Mapping[str, float]
    before: tuple[StoredTurn, ...] = ()
    after: tuple[StoredTurn, ...] = ()
    kind: str = KIND


@dataclass(frozen=True, slots=True)
class Transcript:
    """Whose raw turns are searched, and with what."""

    store: Store
    embedder: Embedder
    lexer: Lexer
    user_id: str


def index_name(lexer: Lexer, embedder: Embedder) -> str:
    """Return the name of what turns are found by: it changes with the lexer and the model [T3]."""
    return f"{lexer.name} {embedder.model}"


async def index_entries(
    placed: Sequence[PlacedTurn], lexer: Lexer, embedder: Embedder
) -> list[IndexedTurn]:
    """Return what each turn is found by, with the turn before it for context."""
    if not placed:
        return []
    vectors = await embedder.embed([_embedded_text(one) for one in placed])
    made_by = index_name(lexer, embedder)
    return [
        IndexedTurn(
            turn_id=one.turn.id,
            made_by=made_by,
            words=frozenset(
                word for turn in (*one.before[-1:], one.turn) for word in lexer.words(turn.content)
            ),
            vector=vector,
        )
        for one, vector in zip(placed, vectors, strict=True)
    ]


def in_sequence(before: StoredTurn | None, turns: Iterable[StoredTurn]) -> list[PlacedTurn]:
    """Return turns of one session, each with the turn before it; `before` precedes the first."""
    placed = []
    for turn in turns:
        placed.append(PlacedTurn(turn=turn, before=() if before is None else (before,)))
        before = turn
    return placed


async def keep_transcript(
    transcript: Transcript, policy: TranscriptPolicy, clock: Clock
) -> None:
    """Empty the turns that were kept long enough; index those that no current index holds."""
    before = clock.now() - timedelta(days=policy.keep_days)
    for _ in range(_ROUNDS):
        async with transcript.store.begin(transcript.user_id) as tx:
            old = await tx.old_turns(before, BATCH)
            await tx.empty_turns(old)
        if len(old) < BATCH:
            break
    await index_missing(transcript, clock)


async def index_again(transcript: Transcript, turn_ids: Sequence[str], clock: Clock) -> None:
    """Index these turns anew, with the turns that are before them now."""
    for start in range(0, len(turn_ids), BATCH):
        some = turn_ids[start : start + BATCH]
        placed = await transcript.store.placed_turns(
            transcript.user_id, some, before=1, after=0
        )
        entries = await index_entries(
            list(placed.values()), transcript.lexer, transcript.embedder
        )
        async with transcript.store.begin(transcript.user_id) as tx:
            await tx.index_turns(entries, clock.now())


async def index_missing(transcript: Transcript, clock: Clock) -> None:
    """Index the turns that no current index holds."""
    made_by = index_name(transcript.lexer, transcript.embedder)
    for _ in range(_ROUNDS):
        async with transcript.store.begin(transcript.user_id) as tx:
            missing = await tx.unindexed_turns(made_by, BATCH)
        # Embedding is slow: no unit is open meanwhile. What was emptied since is left out then.
        entries = await index_entries(missing, transcript.lexer, transcript.embedder)
        if entries:
            async with transcript.store.begin(transcript.user_id) as tx:
                await tx.index_turns(entries, clock.now())
        if len(missing) < BATCH:
            break


async def search(
    transcript: Transcript,
    query: Query,
    recipe: Recipe,
    *,
    limit: int,
    sensitive: bool = False,
    until: datetime | None = None,
) -> tuple[Passage, ...]:
    """Return the raw turns that answer, best first; none if the gate stays shut [R3, R6].

    until: only what was said by then.
    """
    asked = transcript.lexer.asked(query.text)
    store, user_id = transcript.store, transcript.user_id
    worded, near = await asyncio.gather(
        store.turns_by_words(user_id, asked, limit=recipe.passages_worded),
        _near(transcript, query),
    )
    cosines = dict(near)
    ids = [turn_id for turn_id, _ in worded.turns]
    ids += [turn_id for turn_id, _ in near[: recipe.passages_near]]
    reach = max(recipe.passages.reach, recipe.passages_beside)
    placed = await store.placed_turns(user_id, ids, before=reach, after=reach)
    if until is not None:
        placed = {i: one for i, one in placed.items() if one.turn.at <= until}
    heard = _heard(placed.values(), asked, cosines, transcript.lexer)
    if not _on_topic(ids, placed, heard, cosines, worded, recipe):
        return ()
    ranked = rank_turns(dict.fromkeys(asked, 1.0), list(heard.values()), recipe.passages)
    candidates = [one for one in ranked if one.turn_id in placed]
    shown = await _shown(transcript, candidates, limit, sensitive=sensitive)
    beside = recipe.passages_beside
    hidden = await _hidden(transcript, _ids_beside(shown, placed, beside), sensitive=sensitive)
    return tuple(_passage(one, placed[one.turn_id], beside, hidden, until) for one in shown)


def _heard(
    placed: Iterable[PlacedTurn],
    asked: Sequence[str],
    cosines: Mapping[str, float],
    lexer: Lexer,
) -> dict[str, RankedTurn]:
    """Return the turns and their neighbours as they are ranked.

    Where the runs of two turns overlap they make one; between runs there is a gap, so that what
    is not beside each other lends nothing.
    """
    placed = list(placed)
    candidates = {one.turn.id for one in placed}
    turns: dict[str, StoredTurn] = {}
    follower: dict[str, str] = {}
    for one in placed:
        run = (*one.before, one.turn, *one.after)
        turns |= {turn.id: turn for turn in run}
        follower |= {a.id: b.id for a, b in pairwise(run)}
    # Few dates for many turns: they are cut once each.
    dated = {day: lexer.words(date_text(day)) for day in {_day(turn) for turn in turns.values()}}
    first = turns.keys() - follower.values()
    heard: dict[str, RankedTurn] = {}
    place = 0
    for start in sorted(first):
        at: str | None = start
        while at is not None:
            turn = turns[at]
            room = RANKED_CHARACTERS if at in candidates else LENDING_CHARACTERS
            said = excerpt(turn.content, room, asked)
            heard[at] = RankedTurn(
                id=at, session_id=turn.session_id, place=place, words=lexer.words(said),
                dated=dated[_day(turn)], cosine=cosines.get(at, 0.0),
            )  # fmt: skip
            place += 1
            at = follower.get(at)
        place += len(turns)
    return heard


def _day(turn: StoredTurn) -> datetime:
    return turn.at.replace(hour=0, minute=0, second=0, microsecond=0)


def _on_topic(
    ids: Sequence[str],
    placed: Mapping[str, PlacedTurn],
    heard: Mapping[str, RankedTurn],
    cosines: Mapping[str, float],
    worded: WordedTurns,
    recipe: Recipe,
) -> bool:
    asked = {word: rarity(count, worded.kept) for word, count in worded.holders.items()}
    looked_at = [placed[turn_id] for turn_id in ids if turn_id in placed]
    shares = [
        covered(asked, (w for turn in (*one.before[-1:], one.turn) for w in heard[turn.id].words))
        for one in looked_at[:_LOOKED_AT]
    ]
    nearest = max((cosines.get(one.turn.id, 0.0) for one in looked_at), default=0.0)
    return bool(looked_at) and recipe.passage_gate.opens(max(shares), nearest)


async def _shown(
    transcript: Transcript, ranked: Sequence[RankedPassage], limit: int, *, sensitive: bool
) -> list[RankedPassage]:
    """Return the best that may be quoted; more are looked at only if some may not."""
    shown: list[RankedPassage] = []
    for start in range(0, len(ranked), 2 * limit):
        some = ranked[start : start + 2 * limit]
        hidden = await _hidden(transcript, [one.turn_id for one in some], sensitive=sensitive)
        shown += [one for one in some if one.turn_id not in hidden]
        if len(shown) >= limit:
            break
    return shown[:limit]


async def _hidden(
    transcript: Transcript, turn_ids: Sequence[str], *, sensitive: bool
) -> set[str]:
    resting = await transcript.store.resting_on(transcript.user_id, turn_ids)
    return {i for i, items in resting.items() if not may_be_quoted(items, sensitive=sensitive)}


def _ids_beside(
    shown: Sequence[RankedPassage], placed: Mapping[str, PlacedTurn], beside: int
) -> list[str]:
    if not beside:
        return []
    runs = (placed[one.turn_id] for one in shown)
    return [turn.id for run in runs for turn in (*run.before[-beside:], *run.after[:beside])]


def _passage(
    one: RankedPassage,
    placed: PlacedTurn,
    beside: int,
    hidden: set[str],
    until: datetime | None,
) -> Passage:
    def may(turn: StoredTurn) -> bool:
        return turn.id not in hidden and (until is None or turn.at <= until)

    turn = placed.turn
    return Passage(
        turn_id=turn.id, session_id=turn.session_id, role=turn.role, at=turn.at,
        content=turn.content, relevance=one.relevance, paths=dict(one.paths),
        before=tuple(t for t in placed.before[-beside:] if beside and may(t)),
        after=tuple(t for t in placed.after[:beside] if may(t)),
    )  # fmt: skip


async def _near(transcript: Transcript, query: Query) -> list[tuple[str, float]]:
    """Return turns near in meaning; none while the endpoint that embeds does not answer."""
    try:
        vector = (await transcript.embedder.embed([query.text]))[0]
    except ModelError:
        return []  # what was missed is told with the items: they were looked for in the same way
    return await transcript.store.turns_near(
        transcript.user_id, vector, made_by=index_name(transcript.lexer, transcript.embedder),
        limit=_COSINES, gate=0.0,
    )  # fmt: skip


def _embedded_text(one: PlacedTurn) -> str:
    before = " ".join(turn.content[-BEFORE_CHARACTERS:] for turn in one.before[-1:])
    return f"{before} {one.turn.content[:TURN_CHARACTERS]}".strip()
