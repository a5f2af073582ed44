"""Raw turns: keeping them findable, finding them, emptying them [L3, R6, P3].

Rule: plain functions over an open `Sql`, as in reading.py and writing.py. The vectors of a year of
talk (20,000 turns) take 30 ms to read and 4 to compare, so a process keeps those of the users it
served last, and reads what is new.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import and_, bindparam, delete, func, or_, select, tuple_, update

from dualgate.adapters.sql import reading, tables
from dualgate.adapters.sql.dialects import ASKED_WORDS, Row, Sql
from dualgate.adapters.sql.lines import Lines
from dualgate.adapters.sql.reading import in_parts, own
from dualgate.adapters.sql.rows import TURN_COLUMNS, to_micros, turn_of
from dualgate.adapters.sql.vectors import ByteRows, checked, quantised
from dualgate.domain.items import MemoryItem
from dualgate.domain.transcript import rarity
from dualgate.pipeline.ports import IndexedTurn, PlacedTurn, StoredTurn, WordedTurns

TALK_BYTES = 128 * 1024 * 1024  # twelve users with a year of talk each

_turns = tables.turns.c
_index = tables.turn_index.c
_signals = tables.memory_signals.c

_KEPT = select(func.count()).where(own(_index.user_id))
_of_one_kind = and_(
    own(_index.user_id),
    _index.made_by == bindparam("made_by"),
    _index.dim == bindparam("dim"),
)
_VECTORS = select(_index.turn_id, _index.q).where(
    own(_index.user_id),
    # Not the bare column: through its index every row would be looked up by itself.
    _index.made_by.concat("") == bindparam("made_by"),
    _index.dim == bindparam("dim"),
)
_STATE = select(func.count(), func.max(_index.seq)).where(_of_one_kind)
_NEW_VECTORS = (
    select(_index.turn_id, _index.q)
    .where(_of_one_kind, _index.seq > bindparam("last"))
    .order_by(_index.seq)
)
_BY_ID = select(*TURN_COLUMNS, _turns.seq).where(
    own(_turns.user_id), _turns.id.in_(bindparam("ids", expanding=True)), _turns.content != ""
)
_same_session = and_(
    own(_turns.user_id), _turns.session_id == bindparam("session_id"), _turns.content != ""
)
_place = tuple_(_turns.at, _turns.seq)
_here = tuple_(bindparam("at"), bindparam("seq"))
_BEFORE = (
    select(*TURN_COLUMNS)
    .where(_same_session, _place < _here)
    .order_by(_turns.at.desc(), _turns.seq.desc())
    .limit(bindparam("limit"))
)
_AFTER = (
    select(*TURN_COLUMNS)
    .where(_same_session, _place > _here)
    .order_by(_turns.at, _turns.seq)
    .limit(bindparam("limit"))
)
_UNINDEXED = (
    select(*TURN_COLUMNS, _turns.seq)
    .select_from(
        tables.turns.outerjoin(
            tables.turn_index,
            and_(_index.user_id == _turns.user_id, _index.turn_id == _turns.id),
        )
    )
    .where(
        own(_turns.user_id),
        _turns.content != "",
        or_(_index.turn_id.is_(None), _index.made_by != bindparam("made_by")),
    )
    .order_by(_turns.session_id, _turns.at, _turns.seq)
    .limit(bindparam("limit"))
)
_OLD = (
    select(_index.turn_id)
    .where(own(_index.user_id), _index.stored_at < bindparam("before"))
    .order_by(_index.stored_at, _index.turn_id)
    .limit(bindparam("limit"))
)
_STORED_AT = select(_index.turn_id, _index.stored_at).where(
    own(_index.user_id), _index.turn_id.in_(bindparam("ids", expanding=True))
)
_EMPTY = (
    update(tables.turns)
    .where(own(_turns.user_id), _turns.id == bindparam("turn_id"))
    .values(content=bindparam("nothing"))
)
# Its storing time stays; `unindexed` finds it, for no index has this name.
_STALE = (
    update(tables.turn_index)
    .where(own(_index.user_id), _index.turn_id == bindparam("stale_id"))
    .values(made_by="", dim=0, q=None)
)
_NO_INDEX = delete(tables.turn_index).where(
    own(_index.user_id), _index.turn_id == bindparam("turn_id")
)
_RESTING = (
    select(_signals.message_id, _signals.item_id)
    .distinct()
    .where(own(_signals.user_id), _signals.message_id.in_(bindparam("ids", expanding=True)))
    .order_by(_signals.message_id, _signals.item_id)
)
_SOURCES = (
    select(_signals.message_id)
    .distinct()
    .where(
        own(_signals.user_id),
        _signals.item_id.in_(bindparam("ids", expanding=True)),
        _signals.message_id.is_not(None),
    )
)


@dataclass(frozen=True, slots=True)
class Talk:
    """The vectors of one user's turns, as of the last row written (`last`)."""

    made_by: str
    dim: int
    last: int
    rows: ByteRows

    @property
    def nbytes(self) -> int:
        """Return how much memory the vectors take."""
        return int(self.rows.matrix.nbytes)


class TalkCache:
    """The vectors of the users whose turns were searched last. Used on the event loop only."""

    def __init__(self, limit: int = TALK_BYTES) -> None:
        self._limit = limit
        self._kept: OrderedDict[str, Talk] = OrderedDict()

    def get(self, user_id: str) -> Talk | None:
        """Return what is kept, however old it is: `talk_for` brings it up to date."""
        return self._kept.get(user_id)

    def put(self, user_id: str, talk: Talk) -> None:
        """Keep this, and let go of what has not been used for longest."""
        self._kept[user_id] = talk
        self._kept.move_to_end(user_id)
        total = sum(one.nbytes for one in self._kept.values())
        while total > self._limit and len(self._kept) > 1:
            total -= self._kept.popitem(last=False)[1].nbytes


def index_turns(
    sql: Sql, user_id: str, entries: Sequence[IndexedTurn], now: datetime, lines: Lines
) -> None:
    """Make kept turns findable; those that are not kept are left out."""
    ids, micros = [entry.turn_id for entry in entries], to_micros(now)
    kept = {row[0] for row in _by_ids(sql, _BY_ID, user_id, ids)}
    known: dict[str, int] = dict(_by_ids(sql, _STORED_AT, user_id, ids))
    mine = {entry.turn_id: entry for entry in entries if entry.turn_id in kept}
    sql.upsert(
        tables.turn_index,
        [
            {**_row(user_id, entry), "stored_at": known.get(i, micros), "seq": lines.next()}
            for i, entry in mine.items()
        ],
    )
    sql.put_turn_words(user_id, {i: entry.words for i, entry in mine.items()})


def unindexed(sql: Sql, user_id: str, made_by: str, limit: int) -> list[PlacedTurn]:
    """Return kept turns that this index lacks, each with the turn before it."""
    values = {"user_id": user_id, "made_by": made_by, "limit": max(0, limit)}
    return [_placed(sql, row, 1, 0) for row in sql.rows(_UNINDEXED, values)]


def old(sql: Sql, user_id: str, stored_before: datetime, limit: int) -> list[str]:
    """Return indexed turns stored before that instant, oldest first."""
    values = {"user_id": user_id, "before": to_micros(stored_before), "limit": max(0, limit)}
    return [row[0] for row in sql.rows(_OLD, values)]


def empty(sql: Sql, user_id: str, turn_ids: Iterable[str]) -> None:
    """Take the content of turns and all they are found by; their ids stay."""
    ids = list(dict.fromkeys(turn_ids))
    rows = _by_ids(sql, _BY_ID, user_id, ids)
    followers = (turn for row in rows for turn in _placed(sql, row, 0, 1).after)
    make_stale(sql, user_id, [turn.id for turn in followers if turn.id not in set(ids)])
    named = [{"user_id": user_id, "turn_id": turn_id} for turn_id in ids]
    sql.many(_EMPTY, [{**one, "nothing": ""} for one in named])
    sql.many(_NO_INDEX, named)
    sql.drop_turn_words(user_id, ids)


def make_stale(sql: Sql, user_id: str, turn_ids: Sequence[str]) -> None:
    """Take what these turns are found by, which has the words of another turn in it [P3]."""
    sql.many(_STALE, [{"user_id": user_id, "stale_id": turn_id} for turn_id in turn_ids])
    sql.drop_turn_words(user_id, turn_ids)


def sources(sql: Sql, user_id: str, item_ids: Sequence[str]) -> list[str]:
    """Return the turns these items rest on."""
    return [row[0] for row in _by_ids(sql, _SOURCES, user_id, item_ids)]


def by_words(sql: Sql, user_id: str, words: Sequence[str], limit: int) -> WordedTurns:
    """Return the turns that hold the rarest of these words."""
    asked = list(dict.fromkeys(words))
    row = sql.one(_KEPT, {"user_id": user_id})
    kept = 0 if row is None else int(row[0])
    if not asked or not kept:
        return WordedTurns(kept=kept, holders=dict.fromkeys(asked, 0))
    holders = dict(zip(asked, sql.count_turn_words(user_id, asked), strict=True))
    weights = {word: rarity(count, kept) for word, count in holders.items() if count}
    rarest = sorted(weights, key=lambda word: (-weights[word], word))[:ASKED_WORDS]
    found = sql.match_turn_words(user_id, {word: weights[word] for word in rarest}, limit)
    return WordedTurns(kept=kept, holders=holders, turns=tuple(found))


def talk_for(sql: Sql, user_id: str, made_by: str, dim: int, kept: Talk | None) -> Talk:
    """Return the vectors of the user's turns as they stand, from `kept` as far as it holds.

    Rows that were written since carry a higher `seq`. What was known and what is new hold at
    least all that there is, so if they are as many, nothing was removed meanwhile.
    """
    values: dict[str, Any] = {"user_id": user_id, "made_by": made_by, "dim": dim}
    count, last = sql.rows(_STATE, values)[0]
    last = -1 if last is None else last
    same = kept is not None and (kept.made_by, kept.dim) == (made_by, dim)
    if kept is not None and same and last >= kept.last:
        rows = kept.rows
        if last > kept.last:
            new = sql.rows(_NEW_VECTORS, {**values, "last": kept.last})
            rows = rows.followed_by(ByteRows.of(new, dim))
        if len(rows) == count:
            return Talk(made_by, dim, last, rows)
    return Talk(made_by, dim, last, ByteRows.of(sql.rows(_VECTORS, values), dim))


def placed(
    sql: Sql, user_id: str, turn_ids: Iterable[str], before: int, after: int
) -> dict[str, PlacedTurn]:
    """Return turns with their neighbours in the session."""
    rows = _by_ids(sql, _BY_ID, user_id, list(dict.fromkeys(turn_ids)))
    return {row[0]: _placed(sql, row, before, after) for row in rows}


def resting_on(
    sql: Sql, user_id: str, turn_ids: Iterable[str]
) -> dict[str, list[MemoryItem]]:
    """Return the items that have a signal from each turn."""
    pairs = _by_ids(sql, _RESTING, user_id, list(dict.fromkeys(turn_ids)))
    items = reading.items(sql, user_id, dict.fromkeys(item_id for _, item_id in pairs))
    found: dict[str, list[MemoryItem]] = {}
    for turn_id, item_id in pairs:
        if item_id in items:
            found.setdefault(turn_id, []).append(items[item_id])
    return found


def _by_ids(sql: Sql, statement: Any, user_id: str, ids: Sequence[str]) -> list[Row]:
    return [
        row
        for part in in_parts(ids)
        for row in sql.rows(statement, {"user_id": user_id, "ids": part})
    ]


def _placed(sql: Sql, row: Row, before: int, after: int) -> PlacedTurn:
    turn = turn_of(row[:-1])
    here = {
        "user_id": turn.user_id,
        "session_id": turn.session_id,
        "at": to_micros(turn.at),
        "seq": row[-1],
    }
    return PlacedTurn(
        turn=turn,
        before=_neighbours(sql, _BEFORE, here, before)[::-1],
        after=_neighbours(sql, _AFTER, here, after),
    )


def _neighbours(
    sql: Sql, statement: Any, here: Mapping[str, Any], limit: int
) -> tuple[StoredTurn, ...]:
    if limit < 1:
        return ()
    return tuple(turn_of(row) for row in sql.rows(statement, {**here, "limit": limit}))


def _row(user_id: str, entry: IndexedTurn) -> dict[str, Any]:
    vector = None if entry.vector is None else checked("vector", entry.vector)
    return {
        "user_id": user_id,
        "turn_id": entry.turn_id,
        "made_by": entry.made_by,
        "dim": 0 if vector is None else vector.size,
        "q": None if vector is None else quantised(vector)[1],
    }
