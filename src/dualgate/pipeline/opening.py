"""Session start: the core, what is lately on the mind, and what the opening calls up [R1].

Rule: limits are hard for the whole text, headings and markers included. The core is rendered once
a session and kept; what changes meanwhile is told in the active section, and only what the user
himself took away (forgotten, erased, marked sensitive) leaves the kept core.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from dualgate.domain.assembly import (
    Budgets,
    ContextBlock,
    ContextLimits,
    Score,
    best_scored,
    core_order,
    is_outburst,
    is_withheld,
    on_topic_first,
)
from dualgate.domain.fusion import Path, fuse
from dualgate.domain.items import MemoryItem, clean_text
from dualgate.domain.query import first_sentence, read_query
from dualgate.domain.relevance import Fit, answers, fit
from dualgate.domain.score import live_scores
from dualgate.domain.status import Status
from dualgate.domain.terms import names_in
from dualgate.domain.view import Snapshot
from dualgate.pipeline.ports import Embedder, Session, Store, TokenCounter, Use
from dualgate.pipeline.recipes import ReadPolicy, Recipe
from dualgate.pipeline.render import (
    CLOSING,
    GROUP_MARK,
    arranged,
    checked_language,
    entries_of,
    fill_section,
    kept_lines,
    language_of,
    lone_entries,
    note_language,
    opening_lines,
    render_context,
    strip_injected,
)
from dualgate.pipeline.retrievers import (
    Source,
    Wanted,
    harvest,
    may_be_shown,
    rivals_of,
)


@dataclass(frozen=True, slots=True)
class Core:
    """The core as shown in one call, its cost with the wrapper, and all it was kept with."""

    text: str
    tokens: int
    shown: tuple[MemoryItem, ...]
    kept: Mapping[str, MemoryItem]


@dataclass(frozen=True, slots=True)
class Topic:
    """What the opening is about: the items that fit, best first."""

    fitting: Mapping[str, MemoryItem]


async def open_session(  # noqa: PLR0913 - the arguments of spec §8
    store: Store,
    embedder: Embedder,
    tokens: TokenCounter,
    *,
    user_id: str,
    session_id: str,
    query: str = "",
    now: datetime,
    policy: ReadPolicy,
    token_budget: int | None = None,
    window_tokens: int | None = None,
    lang: str | None = None,
    preview: bool = False,
) -> tuple[ContextBlock, list[Use]]:
    """Return the block with which a session starts, and the uses to be counted.

    preview: the session's core is not kept, so that looking leaves nothing behind.
    Being shown here is an access, never a relevance hit [F5]. Raises InvalidInputError that names
    the argument and the rule.
    """
    checked_language(lang)
    budgets = policy.limits.budgets(token_budget, window_tokens)
    opening = first_sentence(strip_injected(clean_text("query", query)))
    snapshot = await store.snapshot(user_id)
    if snapshot.recall_paused:
        return ContextBlock(), []
    source = Source(store, embedder, user_id)
    scores = live_scores({**snapshot.frozen, **snapshot.hot}, now, policy.score)

    def score(item: MemoryItem) -> float:
        return scores[item.id]

    wanted = may_be_shown(now)

    new = _NewCore(tokens, score, wanted, budgets.core, lang, opening)
    # A session's first core waits for the disk; the search need not wait with it.
    session, topic = await asyncio.gather(
        _kept_session(store, snapshot, session_id, now, new, keep=not preview),
        _topic(source, snapshot, opening, policy.recipe_named(None), wanted),
    )
    core = await _core(source, snapshot, session, tokens, min(budgets.core, budgets.total))
    if core is None:
        return ContextBlock(), []
    spoken = lang or note_language(core.text)
    block = await _sections(
        source,
        snapshot,
        core,
        topic,
        _Shape(tokens, budgets, policy.limits, spoken, score, wanted),
    )
    if not (block.core or block.active or block.recalled):
        return ContextBlock(left_out=block.left_out), []
    shown = (*block.core, *block.active, *block.recalled)
    return block, [Use(item_id=i.id, at=now, hit=False, session_id=session_id) for i in shown]


# --- the core -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _NewCore:
    tokens: TokenCounter
    score: Score
    wanted: Wanted
    budget: int
    lang: str | None
    opening: str

    def render(self, snapshot: Snapshot) -> tuple[str, int, tuple[str, ...]]:
        """Return the core's text, cost and items in the order shown; the full limit is used."""
        items = core_order(filter(self.wanted, snapshot.frozen.values()), self.score)
        said = [item.content for item in items or snapshot.hot.values()]
        lang = self.lang or language_of(said, language_of([self.opening]))
        start = opening_lines(lang, "session")
        wrapper = self.tokens.count(start) + self.tokens.count(CLOSING)
        body, filling = fill_section(
            lone_entries(items, lang), self.budget - wrapper, lang, self.tokens
        )
        ids = tuple(entry.items[0].id for entry in arranged(filling.taken))
        return start + body, wrapper + filling.spent, ids


async def _kept_session(
    store: Store,
    snapshot: Snapshot,
    session_id: str,
    now: datetime,
    new: _NewCore,
    *,
    keep: bool,
) -> Session:
    """Return the session with its core, rendered at its first context() [R1]."""
    session = await store.session(snapshot.user_id, session_id)
    if session is not None and session.core_text is not None:
        return session
    text, cost, ids = new.render(snapshot)
    opened = Session(
        user_id=snapshot.user_id,
        id=session_id,
        # Its first turns tell whose fork it is; looking comes before them [F2].
        root_id="" if session is None else session.root_id,
        started_at=now if session is None else session.started_at,
        ended_at=None if session is None else session.ended_at,
        core_text=text,
        core_item_ids=ids,
        core_tokens=cost,
    )
    return await store.keep_core(opened) if keep else opened


async def _core(
    source: Source,
    snapshot: Snapshot,
    session: Session,
    tokens: TokenCounter,
    budget: int,
) -> Core | None:
    """Return the kept core within this call's budget; None if not even the wrapper fits."""
    ids = session.core_item_ids
    known = {i: snapshot.frozen.get(i) or snapshot.hot.get(i) for i in ids}
    missing = [i for i, item in known.items() if item is None]
    read = await source.store.items(source.user_id, missing) if missing else {}
    kept = {i: item for i in ids if (item := known[i] or read.get(i)) is not None}
    lines = kept_lines(session.core_text or "", [_stays(kept.get(i)) for i in ids])

    text, heading, shown = "", "", []
    spent = tokens.count(CLOSING)
    for line, place in lines:
        if line.startswith(GROUP_MARK):
            heading = line
            continue
        cost = tokens.count(line) + (tokens.count(heading) if heading else 0)
        if spent + cost > budget:
            if place is None:
                return None
            break  # a smaller budget takes lines off the end: what ranks last goes first
        text += heading + line
        spent += cost
        heading = ""
        if place is not None:
            shown.append(kept[ids[place]])
    return Core(text, spent, tuple(shown), kept)


def _stays(item: MemoryItem | None) -> bool:
    """Whether a kept line may still be shown: not if the user took the item away [P1, P3]."""
    if item is None or item.status is Status.FORGOTTEN:
        return False
    return not is_withheld(item)


# --- active and recalled ------------------------------------------------------------------------


async def _topic(
    source: Source, snapshot: Snapshot, opening: str, recipe: Recipe, wanted: Wanted
) -> Topic | None:
    """Return what the opening is about; None if it says nothing."""
    if not opening:
        return None
    query = read_query(opening)
    found = await harvest(source, snapshot, query, recipe, wanted)
    fits: dict[str, Fit] = {}
    names = names_in(query.text, found.items.values())
    for item_id, item in found.items.items():
        cosine = found.cosines.get(item_id, 0.0)
        one = fit(query, item, cosine, recipe.gate, found.to_subject, names=names)
        if answers(query, one, recipe.gate):
            fits[item_id] = one
    opinions = {
        item_id: {
            Path.SEMANTIC: max(0.0, one.cosine) / recipe.gate.full_cosine,
            Path.ENTITY: one.overlap,
        }
        for item_id, one in fits.items()
    }
    ranked = fuse(opinions, recipe.weights)
    return Topic({one.item_id: found.items[one.item_id] for one in ranked})


@dataclass(frozen=True, slots=True)
class _Shape:
    tokens: TokenCounter
    budgets: Budgets
    limits: ContextLimits
    lang: str
    score: Score
    wanted: Wanted


async def _sections(
    source: Source, snapshot: Snapshot, core: Core, topic: Topic | None, shape: _Shape
) -> ContextBlock:
    """Add the active and the recalled section to the core, within what the budget leaves."""
    taken = set(core.kept)
    newer = [i for i in _successors(snapshot, core) if shape.wanted(i)]
    active = [*newer, *_active(snapshot, topic, shape, taken | {i.id for i in newer})]
    active = await _with_rivals(source, snapshot, active, taken, shape.wanted)
    room = min(shape.budgets.active, shape.budgets.total - core.tokens)
    active_text, active_fill = fill_section(
        entries_of(active, shape.lang, {i.id for i in newer}),
        room,
        shape.lang,
        shape.tokens,
        "active",
    )
    in_active = [item for entry in arranged(active_fill.taken) for item in entry.items]

    taken |= {item.id for item in in_active}
    called = _recalled(topic, shape.limits.recalled_items, taken)
    called = await _with_rivals(source, snapshot, called, taken, shape.wanted)
    room = min(shape.budgets.recalled, shape.budgets.total - core.tokens - active_fill.spent)
    recalled_text, recalled_fill = fill_section(
        entries_of(called, shape.lang), room, shape.lang, shape.tokens, "recalled"
    )
    in_recalled = [item for entry in arranged(recalled_fill.taken) for item in entry.items]

    shown = taken | {item.id for item in in_recalled}
    belonging = {i.id for i in (*active, *called)}
    belonging |= {i.id for i in snapshot.frozen.values() if shape.wanted(i)}
    missed = belonging - shown | {i for i in core.kept if i not in {c.id for c in core.shown}}
    return ContextBlock(
        text=render_context(core.text, active_text, recalled_text),
        tokens=core.tokens + active_fill.spent + recalled_fill.spent,
        core=core.shown,
        active=tuple(in_active),
        recalled=tuple(in_recalled),
        core_tokens=core.tokens,
        active_tokens=active_fill.spent,
        recalled_tokens=recalled_fill.spent,
        left_out=len(missed),
    )


def _successors(snapshot: Snapshot, core: Core) -> list[MemoryItem]:
    """Return what has replaced a line of the kept core since the session began."""
    gone = {i for i, item in core.kept.items() if item.status is Status.SUPERSEDED}
    if not gone:
        return []
    live = (*snapshot.frozen.values(), *snapshot.hot.values())
    return [item for item in live if item.override_of in gone]


def _active(
    snapshot: Snapshot, topic: Topic | None, shape: _Shape, taken: Collection[str]
) -> list[MemoryItem]:
    """Return the best-scored hot items: all when there is no topic, else those on it [R1]."""
    hot = (
        i
        for i in snapshot.hot.values()
        if i.id not in taken
        and shape.wanted(i)
        and (shape.limits.outbursts or not is_outburst(i))
    )
    best = best_scored(hot, shape.score, shape.limits.active_items)
    if topic is None:
        return best
    general = shape.limits.general_types
    return on_topic_first(best, lambda item: item.id in topic.fitting, general)


def _recalled(topic: Topic | None, limit: int, taken: Collection[str]) -> list[MemoryItem]:
    """Return the best fits over hot and archive; the frozen ones belong to the core [R1]."""
    if topic is None:
        return []
    fitting = (i for i in topic.fitting.values() if i.status is not Status.FROZEN)
    return [item for item in fitting if item.id not in taken][:limit]


async def _with_rivals(
    source: Source,
    snapshot: Snapshot,
    items: Sequence[MemoryItem],
    taken: Collection[str],
    wanted: Wanted,
) -> list[MemoryItem]:
    """Return the items, each followed by what contradicts it; none that is shown already [C1]."""
    known = {**snapshot.hot, **snapshot.frozen}
    rivals = await rivals_of(source, items, known, wanted)
    together: dict[str, MemoryItem] = {}
    for item in items:
        together.setdefault(item.id, item)
        for rival in item.contested_with:
            if rival in rivals and rival not in taken:
                together.setdefault(rival, rivals[rival])
    return list(together.values())
