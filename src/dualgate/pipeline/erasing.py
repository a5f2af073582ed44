"""Erase an item, a session, a user: for ever, everywhere, finished whatever happens [P3].

First the wish is kept, durably. Then one unit looks at all that is kept of the user, decides what
has the erased words in it, takes it out and leaves tombstones. Then the file is rewritten. A
process that is killed in between leaves a wish behind that the next start fulfils (`resume`).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import chain, pairwise

from dualgate.domain.erasure import (
    ErasureKind,
    Words,
    is_telling,
    item_mark,
    said_mark,
    session_mark,
    statement_marks,
    text_mark,
    turn_mark,
    words_of,
)
from dualgate.domain.items import Candidate, MemoryItem, Message
from dualgate.domain.plan import Actor, Decision, Move, Pending
from dualgate.domain.signals import Signal, counted, support_of
from dualgate.domain.status import Cause, move
from dualgate.domain.types import Source
from dualgate.errors import NotFoundError
from dualgate.pipeline.dossier import (
    AskedErasure,
    Dossier,
    Erasure,
    ErasureReport,
    KeptJob,
)
from dualgate.pipeline.intake import candidate_from_payload
from dualgate.pipeline.ports import (
    Clock,
    IdSource,
    JobKind,
    Session,
    Store,
    StoredTurn,
)
from dualgate.pipeline.render import kept_lines

Erased = Mapping[str, tuple[ErasureKind, datetime]]

# A value that stands in more turns than this is a common word: only where it was said is it the
# item's. So is one in more than a fiftieth of all turns.
COMMON_TURNS, COMMON_SHARE = 20, 0.02
GONE = "[erased]"


@dataclass(frozen=True, slots=True, kw_only=True)
class ErasePorts:
    """What erasing talks to. limit_bytes: a larger file is not rewritten by the way."""

    store: Store
    clock: Clock
    ids: IdSource
    reindex: Callable[[str, Sequence[str]], Awaitable[None]]
    limit_bytes: int


async def erase(
    kind: ErasureKind, user_id: str, target: str, on: ErasePorts
) -> ErasureReport:
    """Erase, and report what was removed where. Raises NotFoundError for what is not there."""
    _require_there(kind, target, await on.store.dossier(user_id))
    asked = AskedErasure(
        id=on.ids.new(), user_id=user_id, kind=kind, target=target, asked_at=on.clock.now()
    )
    await on.store.ask_erasure(asked)
    report = await _carry_out(asked, on)
    return replace(report, bytes_gone=await on.store.scrub(on.limit_bytes))


async def resume(on: ErasePorts) -> int:
    """Finish what a killed process left undone; return how many erasures that was."""
    waiting = await on.store.asked_erasures()
    for asked in waiting:
        if asked.done_at is None:
            await _carry_out(asked, on)
    if waiting:
        await on.store.scrub(on.limit_bytes)
    return len(waiting)


async def _carry_out(asked: AskedErasure, on: ErasePorts) -> ErasureReport:
    async with on.store.begin(asked.user_id) as tx:
        dossier = await tx.dossier()
        erasure = planned(asked, dossier, on.clock.now())
        removed = await tx.erase(erasure)
    if erasure.stale_turn_ids:
        await on.reindex(asked.user_id, erasure.stale_turn_ids)
    return _report(erasure, dossier, removed)


def planned(asked: AskedErasure, dossier: Dossier, now: datetime) -> Erasure:
    """Decide what an erasure takes out."""
    if asked.kind is ErasureKind.ITEM:
        return _item(asked, dossier, now)
    if asked.kind is ErasureKind.SESSION:
        return _session(asked, dossier, now)
    everything = Erasure(
        asked=asked, at=now, whole=True,
        marks=(
            *(item_mark(item.id) for item in dossier.items),
            *chain.from_iterable(statement_marks(item) for item in dossier.items),
            *_turn_marks(
                [kept.turn for kept in dossier.turns],
                {signal.message_id for signal in dossier.signals},
            ),
            *_job_marks(dossier.jobs),
            *(session_mark(session.id) for session in dossier.sessions),
        ),
    )  # fmt: skip
    return replace(everything, marks=tuple(dict.fromkeys(everything.marks)))


# --- old text that comes back --------------------------------------------------------------------


async def unerased(
    store: Store, user_id: str, kept: Sequence[Message], now: datetime
) -> list[Message]:
    """Return the messages less those that repeat what was erased; before anything is queued.

    What carries no time of its own was given `now`: it cannot be told from old text, so there the
    words alone decide, if they are telling or an item rested on them.
    """
    marks = chain.from_iterable(_marks(str(m.id), m.content) for m in kept)
    found = await store.erased(user_id, list(marks))
    if not found:
        return list(kept)
    return [
        m for m in kept
        if not _is_old(str(m.id), m.content, m.at or now, found, undated=m.at == now)
    ]  # fmt: skip


def turn_blocked(turn: StoredTurn, found: Erased) -> bool:
    """Return whether a queued turn repeats what was erased."""
    return _is_old(turn.id, turn.content, turn.at, found, undated=False)


def turn_marks(turns: Iterable[StoredTurn]) -> list[str]:
    """Return what to look up for `turn_blocked`."""
    return list(chain.from_iterable(_marks(one.id, one.content) for one in turns))


def candidate_marks(candidate: Candidate, session_id: str) -> tuple[str, ...]:
    """Return what to look up for `candidate_blocked`."""
    turn = () if candidate.message_id is None else (turn_mark(candidate.message_id),)
    return (*statement_marks(candidate), *turn, session_mark(session_id))


def candidate_blocked(
    candidate: Candidate, at: datetime, source: Source, session: Session, found: Erased
) -> bool:
    """Return whether a statement is an erased one, read out of old text once more.

    What the user says after the erasure is a new statement, whatever its words. A host tells no
    time: in a session that began before the erasure its word is an old one.
    """
    if candidate.message_id is not None and turn_mark(candidate.message_id) in found:
        return True
    erased_at = [found[mark][1] for mark in statement_marks(candidate) if mark in found]
    if not erased_at:
        return False
    if source in (Source.HOST, Source.HINT):
        again = session_mark(session.id) in found
        return again or session.started_at <= max(erased_at)
    return at < max(erased_at)


def without_words(candidate: Candidate) -> Candidate:
    """Return what may be recorded of a candidate whose words were erased."""
    return Candidate(candidate.item_type, GONE, confidence=candidate.confidence)


def _is_old(
    turn_id: str, text: str, at: datetime, found: Erased, *, undated: bool
) -> bool:
    if turn_mark(turn_id) in found or (undated and said_mark(text) in found):
        return True
    known = found.get(text_mark(text))
    if known is None:
        return False
    return is_telling(text) if undated else at <= known[1]


def _marks(turn_id: str, text: str) -> tuple[str, str, str]:
    return turn_mark(turn_id), text_mark(text), said_mark(text)


# --- one item ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Trace:
    """The words of what goes, the turns that go with them, and the items that go."""

    words: Words
    item_ids: frozenset[str]
    turn_ids: frozenset[str]

    def of_turn(self, message_id: str | None, text: str | None) -> bool:
        """Whether a text rests on a turn that goes, and says the words."""
        return self.words.quoted_in(text) or (
            message_id in self.turn_ids and self.words.said_in(text)
        )

    def in_candidate(self, candidate: Candidate) -> bool:
        """Whether a candidate says the words."""
        texts = (candidate.content, candidate.value, candidate.quote)
        return any(self.words.said_in(text) for text in texts)


def _item(asked: AskedErasure, dossier: Dossier, now: datetime) -> Erasure:
    item_ids = _lineage(asked.target, dossier.items)
    mine = [item for item in dossier.items if item.id in item_ids]
    signals = [signal for signal in dossier.signals if signal.item_id in item_ids]
    told = [one.candidate for one in dossier.decisions if one.item_id in item_ids]
    told += [one.candidate for one in dossier.pendings if one.item_id in item_ids]
    quotes = [*(one.quote for one in signals), *(one.quote for one in told)]
    words = words_of([*mine, *told], quotes)
    sources = {one.message_id for one in signals} | {one.message_id for one in told}
    turn_ids = _turns_with(words, sources, dossier)
    trace = _Trace(words, frozenset(item_ids), frozenset(turn_ids))
    job_ids, thinned, dropped = _jobs_without(trace, dossier.jobs)
    lone = _lone_decisions(trace, dossier)
    turns = [kept.turn for kept in dossier.turns if kept.turn.id in turn_ids]
    statements: list[MemoryItem | Candidate] = [*mine, *told, *(d.candidate for d in lone)]
    return replace(
        _taking_items(asked, dossier, now, item_ids),
        turn_ids=tuple(turn_ids),
        stale_turn_ids=_followers(turn_ids, dossier),
        signals=_unquoted_signals(trace, dossier),
        decision_ids=tuple(one.id for one in lone),
        decisions=_unquoted_decisions(trace, dossier, {one.id for one in lone}),
        pending_ids=tuple(one.id for one in _other_pendings(trace, dossier)),
        note_keys=tuple(
            (note.session_id, note.task_id, note.key)
            for note in dossier.notes
            if words.said_in(note.text) or words.said_in(note.key)
        ),
        job_ids=job_ids,
        jobs=thinned,
        marks=tuple(
            dict.fromkeys(
                (
                    *(item_mark(item_id) for item_id in item_ids),
                    *chain.from_iterable(statement_marks(one) for one in statements),
                    *_turn_marks(turns, turn_ids),
                    *dropped,
                )
            )
        ),
    )


def _lineage(item_id: str, items: Sequence[MemoryItem]) -> set[str]:
    """Return the item with all its versions: joined by override_of or superseded_by."""
    joined: dict[str, set[str]] = {}
    for item in items:
        for other in (item.override_of, item.superseded_by):
            if other is not None:
                joined.setdefault(item.id, set()).add(other)
                joined.setdefault(other, set()).add(item.id)
    known, ahead = {item.id for item in items}, [item_id]
    seen: set[str] = set()
    while ahead:
        one = ahead.pop()
        if one not in seen:
            seen.add(one)
            ahead += joined.get(one, ())
    return seen & known


def _turns_with(words: Words, sources: Collection[str | None], dossier: Dossier) -> list[str]:
    turns = [kept.turn for kept in dossier.turns if kept.turn.content]
    places = {turn.session_id for turn in turns if turn.id in sources}
    limit = max(COMMON_TURNS, COMMON_SHARE * len(turns))
    common = [
        value for value in words.values
        if sum(Words(frozenset(), (value,)).holders(t.content for t in turns)) > limit
    ]  # fmt: skip
    rare = words.without(common)
    return [
        kept.turn.id
        for kept in dossier.turns
        if kept.turn.id in sources
        or (words if kept.turn.session_id in places else rare).said_in(kept.turn.content)
    ]


def _followers(turn_ids: Collection[str], dossier: Dossier) -> tuple[str, ...]:
    """Return the turns that are found by the words of one that goes: those after it."""
    sessions: dict[str, list[StoredTurn]] = {}
    for kept in dossier.turns:
        if kept.turn.content:
            sessions.setdefault(kept.turn.session_id, []).append(kept.turn)
    gone, found = set(turn_ids), set[str]()
    for said in sessions.values():
        for order in (said, sorted(said, key=lambda turn: turn.at)):
            found |= {after.id for before, after in pairwise(order) if before.id in gone}
    return tuple(sorted(found - gone))


def _unquoted_signals(trace: _Trace, dossier: Dossier) -> tuple[Signal, ...]:
    return tuple(
        replace(signal, quote=None)
        for signal in dossier.signals
        if signal.item_id not in trace.item_ids and trace.of_turn(signal.message_id, signal.quote)
    )


def _lone_decisions(trace: _Trace, dossier: Dossier) -> list[Decision]:
    """Return the decisions that say the words and are about no item that stays."""
    staying = {item.id for item in dossier.items} - trace.item_ids
    return [
        one
        for one in dossier.decisions
        if one.item_id not in trace.item_ids | staying and trace.in_candidate(one.candidate)
    ]


def _unquoted_decisions(
    trace: _Trace, dossier: Dossier, lone: Collection[str]
) -> tuple[Decision, ...]:
    return tuple(
        replace(one, candidate=replace(one.candidate, quote=None))
        for one in dossier.decisions
        if one.id not in lone
        and one.item_id not in trace.item_ids
        and trace.of_turn(one.candidate.message_id, one.candidate.quote)
    )


def _other_pendings(trace: _Trace, dossier: Dossier) -> list[Pending]:
    return [
        one
        for one in dossier.pendings
        if one.item_id not in trace.item_ids and trace.in_candidate(one.candidate)
    ]


def _jobs_without(
    trace: _Trace, jobs: Sequence[KeptJob]
) -> tuple[tuple[str, ...], tuple[KeptJob, ...], list[str]]:
    """Return the jobs of which nothing is left, those that carry less, and marks of what went."""
    ended: list[str] = []
    thinned: list[KeptJob] = []
    marks: list[str] = []
    for kept in jobs:
        name, rows = _carried(kept)
        stay = [row for row in rows if not _says(trace, kept, row)]
        error = kept.error
        if trace.words.said_in(error):
            error = GONE
        if rows and not stay:
            ended.append(kept.job.id)
        elif len(stay) < len(rows) or error != kept.error:
            payload = {**kept.job.payload, name: stay}
            job = replace(kept.job, payload=payload)
            thinned.append(replace(kept, job=job, error=error))
        if kept.job.kind == JobKind.TURNS:
            gone = [row for row in rows if row not in stay]
            marks += chain.from_iterable(_marks(row["id"], row["content"]) for row in gone)
    return tuple(ended), tuple(thinned), marks


def _carried(kept: KeptJob) -> tuple[str, list[dict[str, str]]]:
    name = "messages" if kept.job.kind == JobKind.TURNS else "candidates"
    return name, list(kept.job.payload.get(name, ()))


def _says(trace: _Trace, kept: KeptJob, row: Mapping[str, str]) -> bool:
    if kept.job.kind == JobKind.TURNS:
        return row["id"] in trace.turn_ids or trace.words.said_in(row["content"])
    return trace.in_candidate(candidate_from_payload(row))


# --- one session ---------------------------------------------------------------------------------


def _session(asked: AskedErasure, dossier: Dossier, now: datetime) -> Erasure:
    session_id = asked.target
    turns = [kept.turn for kept in dossier.turns if kept.turn.session_id == session_id]
    turn_ids = {turn.id for turn in turns}
    elsewhere = {kept.turn.id for kept in dossier.turns} - turn_ids

    def said_here(root_id: str, message_id: str | None) -> bool:
        # A fork shares the root of its lineage: then the turn tells which of both it was.
        return message_id in turn_ids or (root_id == session_id and message_id not in elsewhere)

    here = [s for s in dossier.signals if said_here(s.session_id, s.message_id)]
    item_ids = _resting_only_here(here, dossier, session_id)
    kept = {signal.item_id for signal in here} - item_ids
    told = [d for d in dossier.decisions if said_here(d.session_id, d.candidate.message_id)]
    pending_ids, pendings = _pendings_without(session_id, turn_ids, dossier)
    jobs = [one for one in dossier.jobs if one.job.session_id == session_id]
    taking = _taking_items(asked, dossier, now, item_ids)
    weakened = _weakened(kept, here, dossier, now)
    changed = {**{i.id: i for i in taking.items}, **{i.id: i for i in weakened}}
    statements: list[MemoryItem | Candidate] = [
        *(item for item in dossier.items if item.id in item_ids),
        *(one.candidate for one in told if one.item_id not in kept),
    ]
    return replace(
        taking,
        items=tuple(changed.values()),
        signal_ids=tuple((s.item_id, s.id) for s in here if s.item_id in kept),
        decision_ids=tuple(d.id for d in told if d.item_id not in item_ids),
        pending_ids=pending_ids,
        pendings=pendings,
        note_keys=tuple(
            (n.session_id, n.task_id, n.key) for n in dossier.notes if n.session_id == session_id
        ),
        turn_ids=tuple(turn_ids),
        session_ids=(session_id,),
        sessions=tuple(one for one in taking.sessions if one.id != session_id),
        job_ids=tuple(one.job.id for one in jobs),
        marks=tuple(
            dict.fromkeys(
                (
                    session_mark(session_id),
                    *(item_mark(item_id) for item_id in item_ids),
                    *chain.from_iterable(statement_marks(one) for one in statements),
                    *_turn_marks(turns, {s.message_id for s in here}),
                    *_job_marks(jobs),
                )
            )
        ),
    )


def _resting_only_here(
    here: Sequence[Signal], dossier: Dossier, session_id: str
) -> set[str]:
    """Return the items that nothing but this session speaks for, with their kept-aside versions.

    The user's own verbs hold no words: an item that was only liked elsewhere rests on it, too.
    """
    mine = {(signal.item_id, signal.id) for signal in here}
    others = {
        s.item_id
        for s in dossier.signals
        if s.agrees and s.source is not Source.USER and (s.item_id, s.id) not in mine
    }
    spoken_for = {signal.item_id for signal in dossier.signals}
    born = {i.id for i in dossier.items if i.source_session_id == session_id}
    gone = ({signal.item_id for signal in here if signal.agrees} | born & spoken_for) - others
    grown = True
    while grown:
        # A version kept aside by a correction has no signals; it goes with what replaced it.
        aside = {
            i.id
            for i in dossier.items
            if i.id not in spoken_for and (i.superseded_by in gone or i.id in born)
        }
        grown = not aside <= gone
        gone |= aside
    return gone & {item.id for item in dossier.items}


def _weakened(
    item_ids: Collection[str], here: Sequence[Signal], dossier: Dossier, now: datetime
) -> list[MemoryItem]:
    """Return items that lose this session's word for them; their status stays."""
    changed = []
    mine = {(signal.item_id, signal.id) for signal in here}
    for item in (one for one in dossier.items if one.id in item_ids):
        lost = [s for s in here if s.item_id == item.id and s.agrees]
        left = [
            s for s in dossier.signals if s.item_id == item.id and (s.item_id, s.id) not in mine
        ]
        counts = max((counted(s.evidence, source=s.source) for s in lost), default=0.0)
        born_elsewhere = item.source_session_id not in {s.session_id for s in here}
        source = item.source_session_id if born_elsewhere else left[0].session_id
        changed.append(
            item.with_(
                confirm_count=max(0.0, item.confirm_count - counts), support=support_of(left),
                source_session_id=source, updated_at=now,
            )
        )  # fmt: skip
    return changed


def _pendings_without(
    session_id: str, turn_ids: Collection[str], dossier: Dossier
) -> tuple[tuple[str, ...], tuple[Pending, ...]]:
    gone, changed = [], []
    for one in dossier.pendings:
        left = tuple(c for c in one.challenges if c.session_id != session_id)
        said_here = one.candidate.message_id in turn_ids
        if left == one.challenges and not said_here:
            continue
        if not left:
            gone.append(one.id)
        else:
            candidate = replace(one.candidate, quote=None) if said_here else one.candidate
            changed.append(replace(one, challenges=left, candidate=candidate))
    return tuple(gone), tuple(changed)


# --- common --------------------------------------------------------------------------------------


def _taking_items(
    asked: AskedErasure, dossier: Dossier, now: datetime, item_ids: Collection[str]
) -> Erasure:
    """Return the erasure of items: the moves, and the links and lines that point to them."""
    moves = tuple(
        Move(
            user_id=item.user_id, item_id=item.id, before=item.status,
            after=move(item.status, Cause.ERASED), cause=Cause.ERASED, at=now, actor=Actor.USER,
        )
        for item in dossier.items
        if item.id in item_ids
    )  # fmt: skip
    linked = tuple(
        item.with_(
            contested_with=tuple(i for i in item.contested_with if i not in item_ids),
            override_of=None if item.override_of in item_ids else item.override_of,
            superseded_by=None if item.superseded_by in item_ids else item.superseded_by,
        )
        for item in dossier.items
        if item.id not in item_ids
        and not {*item.contested_with, item.override_of, item.superseded_by}.isdisjoint(item_ids)
    )
    sessions = tuple(
        _without_lines(session, item_ids)
        for session in dossier.sessions
        if not set(session.core_item_ids).isdisjoint(item_ids)
    )
    return Erasure(
        asked=asked, at=now, item_ids=tuple(item_ids), items=linked, moves=moves,
        sessions=sessions,
    )  # fmt: skip


def _without_lines(session: Session, item_ids: Collection[str]) -> Session:
    """Return the session with a core that does not say these items; its other lines stay."""
    stay = [item_id not in item_ids for item_id in session.core_item_ids]
    lines = kept_lines(session.core_text or "", stay)
    return replace(
        session,
        core_text="".join(line for line, _ in lines),
        core_item_ids=tuple(i for i in session.core_item_ids if i not in item_ids),
    )


def _turn_marks(turns: Iterable[StoredTurn], sources: Collection[str | None]) -> list[str]:
    """Return the marks of turns; `sources` say what an item rested on."""
    marks: list[str] = []
    for turn in turns:
        marks += _marks(turn.id, turn.content)[: 3 if turn.id in sources else 2]
    return marks


def _job_marks(jobs: Iterable[KeptJob]) -> list[str]:
    """Return the marks of turns that were never read: who knows what they say is careful."""
    return [
        mark
        for kept in jobs
        for row in kept.job.payload.get("messages", ())
        for mark in _marks(row["id"], row["content"])
    ]


def _require_there(kind: ErasureKind, target: str, dossier: Dossier) -> None:
    if kind is ErasureKind.ITEM:
        there = any(item.id == target for item in dossier.items)
    elif kind is ErasureKind.SESSION:
        there = target in chain(
            (session.id for session in dossier.sessions),
            (kept.turn.session_id for kept in dossier.turns),
            (kept.job.session_id for kept in dossier.jobs),
            (note.session_id for note in dossier.notes),
        )
    else:
        there = True
    if not there:
        raise NotFoundError(str(kind), target)


def _report(
    erasure: Erasure, dossier: Dossier, removed: Mapping[str, int]
) -> ErasureReport:
    asked = erasure.asked
    changed = {
        name: len(getattr(erasure, name))
        for name in ("items", "signals", "decisions", "pendings", "sessions", "jobs")
        if getattr(erasure, name)
    }
    mine = [item for item in dossier.items if item.id in erasure.item_ids]
    words = words_of(mine, ())
    return ErasureReport(
        id=asked.id, user_id=asked.user_id, kind=asked.kind, target=asked.target, at=erasure.at,
        removed=dict(removed), changed=changed,
        kept_items=tuple(dict.fromkeys(item_id for item_id, _ in erasure.signal_ids)),
        mentioned_in=tuple(
            item.id
            for item in dossier.items
            if mine and item.id not in erasure.item_ids and words.said_in(item.content)
        ),
    )  # fmt: skip
