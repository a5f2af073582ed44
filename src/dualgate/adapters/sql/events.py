"""A check of every statement against the shard-safe rules [T5].

Rule: it reads SQL text only. A statement that touches a user's table must name the user for each
table it touches; the few reports over all users say so by `all_users`. The check runs when a
statement is first compiled, so it costs nothing afterwards and is always on; `watch` puts it on a
SQLAlchemy engine as well.
"""

from __future__ import annotations

import re
from typing import Any

from sqlalchemy import event
from sqlalchemy.engine import Engine

from dualgate.adapters.sql.tables import NO_USERS, metadata
from dualgate.errors import DualgateError

ALL_USERS = "dualgate_all_users"  # execution option: why this statement may read every user

_OURS = (frozenset(metadata.tables) - NO_USERS) | {"memory_words", "turn_words"}
_TOUCHED = re.compile(
    r"\b(?:FROM|JOIN|INTO|UPDATE)\s+\"?(\w+)\"?|,\s*\"?(\w+)\"?(?= |$)", re.IGNORECASE
)
_PARAMETER = r"(?::\w+|\?|%\(\w+\)s|\$\d+)(?:::\w+)?"
_NAMED = re.compile(
    rf"\buser_id\s*=\s*(?:{_PARAMETER}|(?:\w+\.)?user_id\b)|{_PARAMETER}\s*=\s*(?:\w+\.)?user_id\b",
    re.IGNORECASE,
)
_INSERTED = re.compile(r"^\s*INSERT\b[^(]*\(\s*(?:rowid\s*,\s*)?\"?user_id\"?\b", re.IGNORECASE)
_FORBIDDEN = re.compile(
    r"\b(now\(|current_timestamp|datetime\(|random\(|gen_random_uuid|nextval|pg_advisory)",
    re.IGNORECASE,
)
_EXEMPT = re.compile(r"^\s*(?:PRAGMA|BEGIN|COMMIT|ROLLBACK|SAVEPOINT|RELEASE)\b", re.IGNORECASE)


class ShardRuleError(DualgateError):
    """A statement of ours breaks a shard-safe rule: a fault in dualgate, not in its use."""

    def __init__(self, rule: str, sql: str) -> None:
        self.rule = rule
        self.sql = sql
        super().__init__(f"{rule}: {' '.join(sql.split())[:300]}")


def check(sql: str, *, all_users: bool = False) -> None:
    """Raise ShardRuleError unless the statement keeps to one user."""
    if _EXEMPT.match(sql):
        return
    touched = tables_of(sql)
    if not touched:
        return
    if _FORBIDDEN.search(sql):
        raise ShardRuleError("ids, times and chance come from the client", sql)
    if all_users:
        if not sql.lstrip().upper().startswith("SELECT"):
            raise ShardRuleError("only a report may cover all users", sql)
        return
    named = len(_NAMED.findall(sql)) + bool(_INSERTED.match(sql))
    if named < len(touched):
        raise ShardRuleError("every table of a statement carries user_id", sql)


def tables_of(sql: str) -> list[str]:
    """Return our tables that the statement touches, once for each time they stand in it."""
    names = (first or second for first, second in _TOUCHED.findall(sql))
    return [name.lower() for name in names if name.lower() in _OURS]


def watch(engine: Engine) -> None:
    """Check whatever this engine executes, from now on."""

    @event.listens_for(engine, "before_cursor_execute")
    def _checked(
        _connection: Any, _cursor: Any, sql: str, _parameters: Any, context: Any, _many: bool
    ) -> None:
        options = context.execution_options if context is not None else {}
        check(sql, all_users=bool(options.get(ALL_USERS)))
