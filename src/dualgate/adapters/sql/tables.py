"""The tables, once for every database.

Rules of this file, so that the same SQL runs on SQLite, PostgreSQL and Citus [T1, T5]:
- user_id is the first column of every primary key, unique key and index; the one exception is
  said where it stands.
- ids and times come from the client; a time is a BIGINT of microseconds since 1970, UTC, which
  sorts, compares and keeps every digit a datetime has.
- no trigger, no server default, no foreign key, no type that needs converting on the way.
- tuples and mappings are JSON text.

What SQLite alone needs (FTS5) is made by the migrations and named in dialects.py.
"""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Double,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    text,
)

metadata = MetaData()


def _text(name: str, *, key: bool = False, empty: bool = False) -> Column[str]:
    return Column(name, Text, primary_key=key, nullable=empty)


def _time(name: str, *, empty: bool = False) -> Column[int]:
    return Column(name, BigInteger, nullable=empty)


def _number(name: str) -> Column[float]:
    return Column(name, Double, nullable=False)


def _count(name: str) -> Column[int]:
    return Column(name, Integer, nullable=False)


def _flag(name: str) -> Column[bool]:
    return Column(name, Boolean(create_constraint=False), nullable=False)


def _sequence(name: str, *, key: bool = False) -> Column[int]:
    return Column(name, BigInteger, primary_key=key, nullable=False, autoincrement=False)


# One row a user: `version` rises with every unit that changed what the Snapshot shows; `units`
# with every unit that wrote anything, and numbers the lines of the logs.
users = Table(
    "users",
    metadata,
    _text("user_id", key=True),
    _sequence("version"),
    _sequence("units"),
    _number("own_days"),
    _time("active_at", empty=True),
    _text("user_class"),
    _flag("capture_paused"),
    _flag("recall_paused"),
    _time("maintained_at", empty=True),
    sqlite_with_rowid=False,
)

# G's table: its columns keep their names and meanings [T1].
memory_items = Table(
    "memory_items",
    metadata,
    _text("user_id", key=True),
    _text("id", key=True),
    _text("item_type"),
    _text("content"),
    _text("status"),
    _number("score"),
    _number("confirm_count"),
    _time("last_seen_at"),
    _time("created_at"),
    _time("updated_at"),
    _text("source_session_id"),
    _text("override_of", empty=True),
    Column("version", Integer, nullable=False),
    _text("subject"),
    _text("attribute", empty=True),
    _text("value", empty=True),
    _text("polarity"),
    _text("qualifiers"),
    _number("importance"),
    _number("confidence"),
    _number("calm_confidence"),
    _number("support"),
    _count("spaced_count"),
    _text("evidence"),
    _text("sensitivity"),
    _text("contested_with"),
    _flag("pinned"),
    _flag("was_confirmed"),
    _text("tags"),
    _text("entities"),
    _time("event_at", empty=True),
    _time("expires_at", empty=True),
    _time("last_accessed_at", empty=True),
    _time("last_hit_at", empty=True),
    _time("frozen_at", empty=True),
    _time("thawed_at", empty=True),
    _time("liked_at", empty=True),
    _number("accessed_day"),
    _count("access_count"),
    _text("superseded_by", empty=True),
    # Not fields of MemoryItem: what `in_slot` and text filters compare by.
    _text("slot", empty=True),
    _text("folded"),
    sqlite_with_rowid=False,
)
Index("ix_items_status", memory_items.c.user_id, memory_items.c.status)
Index("ix_items_slot", memory_items.c.user_id, memory_items.c.slot)
Index("ix_items_override", memory_items.c.user_id, memory_items.c.override_of)
Index("ix_items_superseded", memory_items.c.user_id, memory_items.c.superseded_by)
Index("ix_items_created", memory_items.c.user_id, memory_items.c.created_at)
Index(
    "ix_items_expires",
    memory_items.c.user_id,
    memory_items.c.expires_at,
    sqlite_where=text("expires_at IS NOT NULL"),
    postgresql_where=text("expires_at IS NOT NULL"),
)

# [T3] The model's name goes with every vector; a search never mixes two. `status` is not kept
# here: which items are live is memory_items' to say.
memory_vectors = Table(
    "memory_vectors",
    metadata,
    _text("user_id", key=True),
    _text("item_id", key=True),
    _text("model"),
    _count("dim"),
    _number("scale"),
    Column("q", LargeBinary, nullable=False),
    sqlite_with_rowid=False,
)

memory_signals = Table(
    "memory_signals",
    metadata,
    _text("user_id", key=True),
    _text("item_id", key=True),
    _text("id", key=True),
    _text("session_id"),
    _time("at"),
    _number("confidence"),
    _text("evidence"),
    _flag("agrees"),
    _text("quote", empty=True),
    _text("message_id", empty=True),
    _text("source"),
    sqlite_with_rowid=False,
)

Index("ix_signals_message", memory_signals.c.user_id, memory_signals.c.message_id)

# The log [S1]. It holds no content, so it may outlive an erased item.
memory_moves = Table(
    "memory_moves",
    metadata,
    _text("user_id", key=True),
    _sequence("seq", key=True),
    _text("item_id"),
    _text("before", empty=True),
    _text("after"),
    _text("cause"),
    _time("at"),
    _text("actor"),
    _text("numbers"),
    sqlite_with_rowid=False,
)
Index("ix_moves_item", memory_moves.c.user_id, memory_moves.c.item_id)

memory_decisions = Table(
    "memory_decisions",
    metadata,
    _text("user_id", key=True),
    _text("id", key=True),
    _text("session_id"),
    _time("at"),
    _text("outcome"),
    _text("reason"),
    _text("candidate"),
    _text("folded"),
    _text("item_id", empty=True),
    _text("pending_id", empty=True),
    _text("job_id", empty=True),
    _text("numbers"),
    sqlite_with_rowid=False,
)
Index("ix_decisions_at", memory_decisions.c.user_id, memory_decisions.c.at)
Index("ix_decisions_job", memory_decisions.c.user_id, memory_decisions.c.job_id)
Index("ix_decisions_item", memory_decisions.c.user_id, memory_decisions.c.item_id)

pending_overrides = Table(
    "pending_overrides",
    metadata,
    _text("user_id", key=True),
    _text("id", key=True),
    _text("item_id"),
    _text("candidate"),
    _text("challenges"),
    _time("opened_at"),
    _time("last_at"),
    _time("counting_since"),
    _text("state"),
    _time("closed_at", empty=True),
    sqlite_with_rowid=False,
)
Index("ix_pendings_state", pending_overrides.c.user_id, pending_overrides.c.state)

item_uses = Table(
    "item_uses",
    metadata,
    _text("user_id", key=True),
    _text("item_id", key=True),
    _sequence("seq", key=True),
    _time("at"),
    _flag("hit"),
    _number("query_relevance"),
    _text("session_id", empty=True),
    sqlite_with_rowid=False,
)

working_notes = Table(
    "working_notes",
    metadata,
    _text("user_id", key=True),
    _text("session_id", key=True),
    _text("task_id", key=True),
    _text("key", key=True),
    _text("text"),
    _time("at"),
    _time("expires_at", empty=True),
    sqlite_with_rowid=False,
)

sessions = Table(
    "sessions",
    metadata,
    _text("user_id", key=True),
    _text("id", key=True),
    _text("root_id"),
    _time("started_at"),
    _time("ended_at", empty=True),
    _text("core_text", empty=True),
    _text("core_item_ids"),
    _count("core_tokens"),
    sqlite_with_rowid=False,
)

# The raw turns, for provenance and as a fallback only [L3].
turns = Table(
    "turns",
    metadata,
    _text("user_id", key=True),
    _text("id", key=True),
    _text("session_id"),
    _sequence("seq"),
    _text("role"),
    _text("content"),
    _time("at"),
    sqlite_with_rowid=False,
)
Index("ix_turns_session", turns.c.user_id, turns.c.session_id, turns.c.at, turns.c.seq)

# What a turn is found by [R6]; its words are in the full-text table turn_words. `made_by` names
# the lexer and the model [T3]. `seq` rises with every writing of a row: what a process has read
# already it need not read again. `q` is NULL for a turn with nothing to embed.
turn_index = Table(
    "turn_index",
    metadata,
    _text("user_id", key=True),
    _text("turn_id", key=True),
    _text("made_by"),
    _time("stored_at"),
    _sequence("seq"),
    _count("dim"),
    Column("q", LargeBinary, nullable=True),
    sqlite_with_rowid=False,
)
Index("ix_turn_index_stored", turn_index.c.user_id, turn_index.c.stored_at)
Index(
    "ix_turn_index_seq",
    turn_index.c.user_id,
    turn_index.c.made_by,
    turn_index.c.dim,
    turn_index.c.seq,
)

# --- models and audits --------------------------------------------------------------------------

# One row for what one model cost one user for one task on one day.
model_usage = Table(
    "model_usage",
    metadata,
    _text("user_id", key=True),
    # The day's ordinal: 1 is the first of January of the year 1.
    Column("day", Integer, primary_key=True, autoincrement=False),
    _text("task", key=True),
    _text("model", key=True),
    _sequence("calls"),
    _sequence("input_tokens"),
    _sequence("output_tokens"),
    _flag("estimated"),
    _sequence("turns"),
    _sequence("skipped"),
    _sequence("fell_back"),
    sqlite_with_rowid=False,
)
# An exception to the first rule: the day's budget is over all users. Every shard keeps its own.
Index("ix_usage_day", model_usage.c.day)

audit_findings = Table(
    "audit_findings",
    metadata,
    _text("user_id", key=True),
    _text("id", key=True),
    _text("kind"),
    _text("item_id"),
    _text("other_id", empty=True),
    _text("said"),
    _text("by"),
    _time("found_at"),
    _text("state"),
    _time("settled_at", empty=True),
    sqlite_with_rowid=False,
)

# --- the server ---------------------------------------------------------------------------------

# An exception to the first rule: a key is no user's, and is asked for before anybody knows whose
# call it is. The table is small; every shard holds a copy (a reference table of Citus).
api_keys = Table(
    "api_keys",
    metadata,
    _text("digest", key=True),
    _text("id"),
    _text("tenant"),
    _text("name"),
    _text("scope"),
    _time("created_at"),
    _time("expires_at", empty=True),
    _time("revoked_at", empty=True),
    _time("last_used_at", empty=True),
    sqlite_with_rowid=False,
)
Index("ux_keys_id", api_keys.c.id, unique=True)
NO_USERS = frozenset({api_keys.name})

# Which writes with an idempotency key were done; no word of what was in them.
answered_requests = Table(
    "answered_requests",
    metadata,
    _text("user_id", key=True),
    _text("key", key=True),
    _text("fingerprint"),
    _time("begun_at"),
    _time("done_at", empty=True),
    _text("subject"),
    sqlite_with_rowid=False,
)
Index("ix_answered_begun", answered_requests.c.user_id, answered_requests.c.begun_at)

# --- what was erased [P3] ------------------------------------------------------------------------

# Keyed hashes, no word: old text is recognised by them. An erasure leaves these three alone.
tombstones = Table(
    "tombstones",
    metadata,
    _text("user_id", key=True),
    _text("hash", key=True),
    _text("kind"),
    _time("erased_at"),
    sqlite_with_rowid=False,
)

# The key of the user's tombstones; and where the counters stood when all of the user was erased,
# so that no other process takes a new state for an old one it still holds.
tombstone_keys = Table(
    "tombstone_keys",
    metadata,
    _text("user_id", key=True),
    _text("key"),
    _sequence("version"),
    _sequence("units"),
    sqlite_with_rowid=False,
)

# Erasures from the moment they were asked for until their bytes are gone from the file.
erasures = Table(
    "erasures",
    metadata,
    _text("user_id", key=True),
    _text("id", key=True),
    _text("kind"),
    _text("target"),
    _time("asked_at"),
    _time("done_at", empty=True),
    sqlite_with_rowid=False,
)
LEFT_BY_ERASURES = frozenset({tombstones.name, tombstone_keys.name, erasures.name})

# When each user's frozen pool was last looked through.
audits = Table(
    "audits",
    metadata,
    _text("user_id", key=True),
    _time("at"),
    sqlite_with_rowid=False,
)

# --- the queue [W1] -----------------------------------------------------------------------------

# `payload` is emptied when the job is done: what stays answers idempotency keys and job_state.
queue_jobs = Table(
    "queue_jobs",
    metadata,
    _text("user_id", key=True),
    _text("id", key=True),
    _sequence("seq"),
    _text("session_id"),
    _text("kind"),
    _text("payload"),
    _time("enqueued_at"),
    _count("attempts"),
    _text("idempotency_key", empty=True),
    _text("state"),
    _text("error", empty=True),
    _time("died_at", empty=True),
    sqlite_with_rowid=False,
)
Index("ux_jobs_seq", queue_jobs.c.user_id, queue_jobs.c.seq, unique=True)
Index("ux_jobs_key", queue_jobs.c.user_id, queue_jobs.c.idempotency_key, unique=True)
Index(
    "ix_jobs_waiting",
    queue_jobs.c.user_id,
    queue_jobs.c.seq,
    queue_jobs.c.enqueued_at,
    sqlite_where=text("state = 'waiting'"),
    postgresql_where=text("state = 'waiting'"),
)
Index(
    "ix_jobs_dead",
    queue_jobs.c.user_id,
    queue_jobs.c.died_at,
    sqlite_where=text("state = 'dead'"),
    postgresql_where=text("state = 'dead'"),
)

# One row for each user with waiting jobs: what a worker leases.
queue_heads = Table(
    "queue_heads",
    metadata,
    _text("user_id", key=True),
    _time("due_at"),
    _time("lease_until", empty=True),
    _text("token", empty=True),
    _sequence("version"),
    _count("open_count"),
    sqlite_with_rowid=False,
)
# The exception: a worker asks for whoever is due, among all users. Not unique, so every shard
# keeps its own.
Index("ix_heads_due", queue_heads.c.due_at)
