"""What differs between databases, and nothing else.

Rule: everything above this file is written against `Sql`: plain functions that run SQLAlchemy
Core statements inside one unit. SQLite runs them on the driver's own thread, on statements that
are compiled once: a whole unit's work is one hop to that thread. Measured here, a statement costs
0.017 ms so, against 0.44 ms through SQLAlchemy's async connection.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Protocol, TypeAlias

from sqlalchemy import Executable, Table, insert
from sqlalchemy.dialects import sqlite
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.elements import CompilerElement

from dualgate.adapters.sql import events
from dualgate.adapters.sql.text import (
    fts5_query,
    indexed_words,
    marked_words,
    row_number,
    row_numbers,
)

Row: TypeAlias = tuple[Any, ...]
Params: TypeAlias = Mapping[str, Any]

# SQLite takes 32,766 variables a statement; a list longer than this is asked for in parts.
LIST_LIMIT = 500
ASKED_WORDS = 24  # of a question, the rarest; their posting lists are what a search reads


class Sql(Protocol):
    """An open unit, or a consistent read: runs statements one after the other."""

    def rows(self, statement: Executable, params: Params | None = None) -> list[Row]:
        """Return all rows."""
        ...

    def one(self, statement: Executable, params: Params | None = None) -> Row | None:
        """Return the first row."""
        ...

    def run(self, statement: Executable, params: Params | None = None) -> int:
        """Return how many rows were changed."""
        ...

    def many(self, statement: Executable, rows: Sequence[Params]) -> None:
        """Run the statement once a row."""
        ...

    def upsert(self, table: Table, rows: Sequence[Params]) -> None:
        """Write whole rows, over those with the same primary key."""
        ...

    def insert_new(self, table: Table, rows: Sequence[Params]) -> None:
        """Insert rows; those whose primary key is known are left as they are."""
        ...

    def put_words(self, user_id: str, texts: Mapping[str, str]) -> None:
        """Index the text of each item, in place of what was indexed before."""
        ...

    def drop_words(self, user_id: str, item_ids: Sequence[str]) -> None:
        """Take items out of the full-text index."""
        ...

    def drop_all_words(self, user_id: str) -> None:
        """Take the user's items and turns out of both full-text indexes."""
        ...

    def match_words(self, user_id: str, words: str, limit: int) -> list[tuple[str, float]]:
        """Return (item id, BM25) of the items with one of these words, best first."""
        ...

    def put_turn_words(self, user_id: str, words: Mapping[str, Iterable[str]]) -> None:
        """Index the words of each turn, in place of what was indexed before."""
        ...

    def drop_turn_words(self, user_id: str, turn_ids: Sequence[str]) -> None:
        """Take turns out of the full-text index."""
        ...

    def count_turn_words(self, user_id: str, words: Sequence[str]) -> list[int]:
        """Return how many of the user's turns hold each word, in order."""
        ...

    def match_turn_words(
        self, user_id: str, weights: Mapping[str, float], limit: int
    ) -> list[tuple[str, float]]:
        """Return (turn id, summed weight of the words it holds), best first."""
        ...

    def bytes(self) -> int | None:
        """Return how large the database is."""
        ...


class _Compiled:
    """A statement as SQL text, with its constants and the lists it takes."""

    __slots__ = ("constants", "lists", "names", "text")

    def __init__(self, statement: Executable) -> None:
        if not isinstance(statement, CompilerElement):
            raise TypeError(statement)
        compiled = statement.compile(dialect=_SQLITE)
        if not isinstance(compiled, SQLCompiler):
            raise TypeError(compiled)
        self.text = str(compiled)
        all_users = bool(statement.get_execution_options().get(events.ALL_USERS))
        events.check(self.text, all_users=all_users)
        self.lists = [name for name in compiled.params if f"__[POSTCOMPILE_{name}]" in self.text]
        self.names = [n for bind, n in compiled.bind_names.items() if bind.required]
        self.constants = {
            name: bind.effective_value
            for bind, name in compiled.bind_names.items()
            if not bind.required
        }

    def bound(self, params: Params | None) -> tuple[str, dict[str, Any]]:
        """Return the text and parameters of one execution."""
        values = {**self.constants, **(params or {})}
        text = self.text
        for name in self.lists:
            items = list(values.pop(name))
            text = text.replace(
                f"(__[POSTCOMPILE_{name}])",
                f"({','.join(f':{name}_{i}' for i in range(len(items)))})",
            )
            values.update((f"{name}_{i}", item) for i, item in enumerate(items))
        return text, values


_SQLITE = sqlite.dialect(paramstyle="named")
_compiled: dict[Executable, _Compiled] = {}


def _ready(statement: Executable) -> _Compiled:
    # Statements are module constants or cached, so the table of them stays small.
    found = _compiled.get(statement)
    if found is None:
        found = _compiled[statement] = _Compiled(statement)
    return found


@lru_cache(maxsize=64)
def _upsert(table: Table) -> Executable:
    keys = [column.name for column in table.primary_key]
    values = sqlite.insert(table)
    changed = {c.name: values.excluded[c.name] for c in table.columns if c.name not in keys}
    return values.on_conflict_do_update(index_elements=keys, set_=changed)


@lru_cache(maxsize=64)
def _insert_new(table: Table) -> Executable:
    keys = [column.name for column in table.primary_key]
    return sqlite.insert(table).on_conflict_do_nothing(index_elements=keys)


@lru_cache(maxsize=64)
def inserting(table: Table) -> Executable:
    """Return the plain insert of whole rows."""
    return insert(table)


_PUT_WORDS = (
    "INSERT OR REPLACE INTO memory_words (rowid, user_id, item_id, words) VALUES (?,?,?,?)"
)
_NO_WORDS = "DELETE FROM memory_words WHERE rowid = ? AND user_id = ?"
_NONE_OF_USER = (
    "DELETE FROM memory_words WHERE rowid BETWEEN :first AND :last AND user_id = :user_id"
)
# The words carry their user's mark, so the index alone keeps to one user; the outer comparison is
# for two users who share a mark. FTS5 sorts by rank itself, without fetching what it leaves out.
_MATCH = """SELECT item_id, -rank AS relevance FROM (
SELECT user_id, item_id, rank FROM memory_words WHERE memory_words MATCH :words
ORDER BY rank LIMIT :limit) WHERE user_id = :user_id ORDER BY rank, item_id"""
_PUT_TURN_WORDS = _PUT_WORDS.replace("memory_words", "turn_words").replace("item_id", "turn_id")
_NO_TURN_WORDS = _NO_WORDS.replace("memory_words", "turn_words")
_NO_TURN_OF_USER = _NONE_OF_USER.replace("memory_words", "turn_words")
# Counting reads the posting list alone; the row's number begins with the user's (row_number).
_COUNT_TURNS = (
    "(SELECT count(*) FROM turn_words WHERE turn_words MATCH ? AND rowid BETWEEN :first AND :last)"
)


_HELD = "SELECT rowid AS number, :r? AS rare FROM turn_words WHERE turn_words MATCH :w?"
# The inner part touches posting lists only; a turn's row is read for the best alone.
_MATCH_TURNS = """SELECT turn_id, rare FROM (
SELECT number, sum(rare) AS rare FROM (held)
WHERE number BETWEEN :first AND :last GROUP BY number ORDER BY rare DESC, number LIMIT :limit)
JOIN turn_words ON turn_words.rowid = number WHERE user_id = :user_id
ORDER BY rare DESC, turn_id"""


@lru_cache(maxsize=ASKED_WORDS)
def _count_turns(words: int) -> str:
    return "SELECT " + ", ".join(_COUNT_TURNS.replace("?", f":w{n}") for n in range(words))


@lru_cache(maxsize=ASKED_WORDS)
def _match_turns(words: int) -> str:
    return _MATCH_TURNS.replace(
        "(held)",
        "(" + " UNION ALL ".join(_HELD.replace("?", str(n)) for n in range(words)) + ")",
    )


for _statement in (
    _PUT_TURN_WORDS.replace("rowid, ", ""), _NO_TURN_WORDS, _NO_TURN_OF_USER, _MATCH_TURNS
):  # fmt: skip
    events.check(_statement)
for _statement in (_PUT_WORDS.replace("rowid, ", ""), _NO_WORDS, _NONE_OF_USER, _MATCH):
    events.check(_statement)


class SqliteSql:
    """Statements on one sqlite3 connection; used on that connection's thread only."""

    def __init__(self, raw: sqlite3.Connection) -> None:
        self._raw = raw

    def rows(self, statement: Executable, params: Params | None = None) -> list[Row]:
        """Return all rows."""
        return self._raw.execute(*_ready(statement).bound(params)).fetchall()

    def one(self, statement: Executable, params: Params | None = None) -> Row | None:
        """Return the first row."""
        found: Row | None = self._raw.execute(*_ready(statement).bound(params)).fetchone()
        return found

    def run(self, statement: Executable, params: Params | None = None) -> int:
        """Return how many rows were changed."""
        return self._raw.execute(*_ready(statement).bound(params)).rowcount

    def many(self, statement: Executable, rows: Sequence[Params]) -> None:
        """Run the statement once a row."""
        if rows:
            ready = _ready(statement)
            constants = ready.constants
            full = [{**constants, **row} for row in rows] if constants else rows
            self._raw.executemany(ready.text, full)

    def upsert(self, table: Table, rows: Sequence[Params]) -> None:
        """Write whole rows, over those with the same primary key."""
        self.many(_upsert(table), rows)

    def insert_new(self, table: Table, rows: Sequence[Params]) -> None:
        """Insert rows; those whose primary key is known are left as they are."""
        self.many(_insert_new(table), rows)

    def put_words(self, user_id: str, texts: Mapping[str, str]) -> None:
        """Index the text of each item, in place of what was indexed before."""
        self._raw.executemany(
            _PUT_WORDS,
            [
                (row_number(user_id, item_id), user_id, item_id, indexed_words(user_id, text))
                for item_id, text in texts.items()
            ],
        )

    def drop_words(self, user_id: str, item_ids: Sequence[str]) -> None:
        """Take items out of the full-text index."""
        self._raw.executemany(_NO_WORDS, [(row_number(user_id, i), user_id) for i in item_ids])

    def drop_all_words(self, user_id: str) -> None:
        """Take the user's items and turns out of both full-text indexes."""
        values = {**row_numbers(user_id), "user_id": user_id}
        for statement in (_NONE_OF_USER, _NO_TURN_OF_USER):
            self._raw.execute(statement, values)

    def match_words(self, user_id: str, words: str, limit: int) -> list[tuple[str, float]]:
        """Return (item id, BM25) of the items with one of these words, best first."""
        query = fts5_query(user_id, words)
        if query is None or limit < 1:
            return []
        values = {"user_id": user_id, "words": query, "limit": limit}
        return self._raw.execute(_MATCH, values).fetchall()

    def put_turn_words(self, user_id: str, words: Mapping[str, Iterable[str]]) -> None:
        """Index the words of each turn, in place of what was indexed before."""
        self._raw.executemany(
            _PUT_TURN_WORDS,
            [
                (row_number(user_id, i), user_id, i, " ".join(marked_words(user_id, sorted(held))))
                for i, held in words.items()
            ],
        )

    def drop_turn_words(self, user_id: str, turn_ids: Sequence[str]) -> None:
        """Take turns out of the full-text index."""
        self._raw.executemany(
            _NO_TURN_WORDS, [(row_number(user_id, i), user_id) for i in turn_ids]
        )

    def count_turn_words(self, user_id: str, words: Sequence[str]) -> list[int]:
        """Return how many of the user's turns hold each word, in order."""
        found: list[int] = []
        for start in range(0, len(words), ASKED_WORDS):
            asked = marked_words(user_id, words[start : start + ASKED_WORDS])
            values = {**row_numbers(user_id), **{f"w{n}": f'"{w}"' for n, w in enumerate(asked)}}
            found += self._raw.execute(_count_turns(len(asked)), values).fetchone()
        return found

    def match_turn_words(
        self, user_id: str, weights: Mapping[str, float], limit: int
    ) -> list[tuple[str, float]]:
        """Return (turn id, summed weight of the words it holds), best first."""
        if not weights or limit < 1:
            return []
        values: dict[str, Any] = {**row_numbers(user_id), "user_id": user_id, "limit": limit}
        for n, (word, rare) in enumerate(
            zip(marked_words(user_id, weights), weights.values(), strict=True)
        ):
            values |= {f"w{n}": f'"{word}"', f"r{n}": rare}
        return self._raw.execute(_match_turns(len(weights)), values).fetchall()

    def bytes(self) -> int | None:
        """Return how large the database is."""
        pages = self._raw.execute("PRAGMA page_count").fetchone()[0]
        return int(pages * self._raw.execute("PRAGMA page_size").fetchone()[0])
