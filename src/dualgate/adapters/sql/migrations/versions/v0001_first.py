"""The first schema: items, their history, working memory, transcripts and the queue."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Make every table."""
    _item_uses()
    _memory_decisions()
    _memory_items()
    _memory_moves()
    _memory_signals()
    _memory_vectors()
    _pending_overrides()
    _queue_heads()
    _queue_jobs()
    _sessions()
    _turns()
    _users()
    _working_notes()
    _indexes()
    if op.get_bind().dialect.name == "sqlite":
        _words()
        _statistics()


def _item_uses() -> None:
    op.create_table('item_uses',
    sa.Column('user_id', sa.Text(), nullable=False),
    sa.Column('item_id', sa.Text(), nullable=False),
    sa.Column('seq', sa.BigInteger(), autoincrement=False, nullable=False),
    sa.Column('at', sa.BigInteger(), nullable=False),
    sa.Column('hit', sa.Boolean(), nullable=False),
    sa.Column('query_relevance', sa.Double(), nullable=False),
    sa.Column('session_id', sa.Text(), nullable=True),
    sa.PrimaryKeyConstraint('user_id', 'item_id', 'seq'),
    sqlite_with_rowid=False
    )


def _memory_decisions() -> None:
    op.create_table('memory_decisions',
    sa.Column('user_id', sa.Text(), nullable=False),
    sa.Column('id', sa.Text(), nullable=False),
    sa.Column('session_id', sa.Text(), nullable=False),
    sa.Column('at', sa.BigInteger(), nullable=False),
    sa.Column('outcome', sa.Text(), nullable=False),
    sa.Column('reason', sa.Text(), nullable=False),
    sa.Column('candidate', sa.Text(), nullable=False),
    sa.Column('folded', sa.Text(), nullable=False),
    sa.Column('item_id', sa.Text(), nullable=True),
    sa.Column('pending_id', sa.Text(), nullable=True),
    sa.Column('job_id', sa.Text(), nullable=True),
    sa.Column('numbers', sa.Text(), nullable=False),
    sa.PrimaryKeyConstraint('user_id', 'id'),
    sqlite_with_rowid=False
    )


def _memory_items() -> None:
    op.create_table('memory_items',
    sa.Column('user_id', sa.Text(), nullable=False),
    sa.Column('id', sa.Text(), nullable=False),
    sa.Column('item_type', sa.Text(), nullable=False),
    sa.Column('content', sa.Text(), nullable=False),
    sa.Column('status', sa.Text(), nullable=False),
    sa.Column('score', sa.Double(), nullable=False),
    sa.Column('confirm_count', sa.Double(), nullable=False),
    sa.Column('last_seen_at', sa.BigInteger(), nullable=False),
    sa.Column('created_at', sa.BigInteger(), nullable=False),
    sa.Column('updated_at', sa.BigInteger(), nullable=False),
    sa.Column('source_session_id', sa.Text(), nullable=False),
    sa.Column('override_of', sa.Text(), nullable=True),
    sa.Column('version', sa.Integer(), nullable=False),
    sa.Column('subject', sa.Text(), nullable=False),
    sa.Column('attribute', sa.Text(), nullable=True),
    sa.Column('value', sa.Text(), nullable=True),
    sa.Column('polarity', sa.Text(), nullable=False),
    sa.Column('qualifiers', sa.Text(), nullable=False),
    sa.Column('importance', sa.Double(), nullable=False),
    sa.Column('confidence', sa.Double(), nullable=False),
    sa.Column('calm_confidence', sa.Double(), nullable=False),
    sa.Column('support', sa.Double(), nullable=False),
    sa.Column('spaced_count', sa.Integer(), nullable=False),
    sa.Column('evidence', sa.Text(), nullable=False),
    sa.Column('sensitivity', sa.Text(), nullable=False),
    sa.Column('contested_with', sa.Text(), nullable=False),
    sa.Column('pinned', sa.Boolean(), nullable=False),
    sa.Column('was_confirmed', sa.Boolean(), nullable=False),
    sa.Column('tags', sa.Text(), nullable=False),
    sa.Column('entities', sa.Text(), nullable=False),
    sa.Column('event_at', sa.BigInteger(), nullable=True),
    sa.Column('expires_at', sa.BigInteger(), nullable=True),
    sa.Column('last_accessed_at', sa.BigInteger(), nullable=True),
    sa.Column('last_hit_at', sa.BigInteger(), nullable=True),
    sa.Column('frozen_at', sa.BigInteger(), nullable=True),
    sa.Column('thawed_at', sa.BigInteger(), nullable=True),
    sa.Column('liked_at', sa.BigInteger(), nullable=True),
    sa.Column('accessed_day', sa.Double(), nullable=False),
    sa.Column('access_count', sa.Integer(), nullable=False),
    sa.Column('superseded_by', sa.Text(), nullable=True),
    sa.Column('slot', sa.Text(), nullable=True),
    sa.Column('folded', sa.Text(), nullable=False),
    sa.PrimaryKeyConstraint('user_id', 'id'),
    sqlite_with_rowid=False
    )


def _memory_moves() -> None:
    op.create_table('memory_moves',
    sa.Column('user_id', sa.Text(), nullable=False),
    sa.Column('seq', sa.BigInteger(), autoincrement=False, nullable=False),
    sa.Column('item_id', sa.Text(), nullable=False),
    sa.Column('before', sa.Text(), nullable=True),
    sa.Column('after', sa.Text(), nullable=False),
    sa.Column('cause', sa.Text(), nullable=False),
    sa.Column('at', sa.BigInteger(), nullable=False),
    sa.Column('actor', sa.Text(), nullable=False),
    sa.Column('numbers', sa.Text(), nullable=False),
    sa.PrimaryKeyConstraint('user_id', 'seq'),
    sqlite_with_rowid=False
    )


def _memory_signals() -> None:
    op.create_table('memory_signals',
    sa.Column('user_id', sa.Text(), nullable=False),
    sa.Column('item_id', sa.Text(), nullable=False),
    sa.Column('id', sa.Text(), nullable=False),
    sa.Column('session_id', sa.Text(), nullable=False),
    sa.Column('at', sa.BigInteger(), nullable=False),
    sa.Column('confidence', sa.Double(), nullable=False),
    sa.Column('evidence', sa.Text(), nullable=False),
    sa.Column('agrees', sa.Boolean(), nullable=False),
    sa.Column('quote', sa.Text(), nullable=True),
    sa.Column('message_id', sa.Text(), nullable=True),
    sa.Column('source', sa.Text(), nullable=False),
    sa.PrimaryKeyConstraint('user_id', 'item_id', 'id'),
    sqlite_with_rowid=False
    )


def _memory_vectors() -> None:
    op.create_table('memory_vectors',
    sa.Column('user_id', sa.Text(), nullable=False),
    sa.Column('item_id', sa.Text(), nullable=False),
    sa.Column('model', sa.Text(), nullable=False),
    sa.Column('dim', sa.Integer(), nullable=False),
    sa.Column('scale', sa.Double(), nullable=False),
    sa.Column('q', sa.LargeBinary(), nullable=False),
    sa.PrimaryKeyConstraint('user_id', 'item_id'),
    sqlite_with_rowid=False
    )


def _pending_overrides() -> None:
    op.create_table('pending_overrides',
    sa.Column('user_id', sa.Text(), nullable=False),
    sa.Column('id', sa.Text(), nullable=False),
    sa.Column('item_id', sa.Text(), nullable=False),
    sa.Column('candidate', sa.Text(), nullable=False),
    sa.Column('challenges', sa.Text(), nullable=False),
    sa.Column('opened_at', sa.BigInteger(), nullable=False),
    sa.Column('last_at', sa.BigInteger(), nullable=False),
    sa.Column('counting_since', sa.BigInteger(), nullable=False),
    sa.Column('state', sa.Text(), nullable=False),
    sa.Column('closed_at', sa.BigInteger(), nullable=True),
    sa.PrimaryKeyConstraint('user_id', 'id'),
    sqlite_with_rowid=False
    )


def _queue_heads() -> None:
    op.create_table('queue_heads',
    sa.Column('user_id', sa.Text(), nullable=False),
    sa.Column('due_at', sa.BigInteger(), nullable=False),
    sa.Column('lease_until', sa.BigInteger(), nullable=True),
    sa.Column('token', sa.Text(), nullable=True),
    sa.Column('version', sa.BigInteger(), autoincrement=False, nullable=False),
    sa.Column('open_count', sa.Integer(), nullable=False),
    sa.PrimaryKeyConstraint('user_id'),
    sqlite_with_rowid=False
    )


def _queue_jobs() -> None:
    op.create_table('queue_jobs',
    sa.Column('user_id', sa.Text(), nullable=False),
    sa.Column('id', sa.Text(), nullable=False),
    sa.Column('seq', sa.BigInteger(), autoincrement=False, nullable=False),
    sa.Column('session_id', sa.Text(), nullable=False),
    sa.Column('kind', sa.Text(), nullable=False),
    sa.Column('payload', sa.Text(), nullable=False),
    sa.Column('enqueued_at', sa.BigInteger(), nullable=False),
    sa.Column('attempts', sa.Integer(), nullable=False),
    sa.Column('idempotency_key', sa.Text(), nullable=True),
    sa.Column('state', sa.Text(), nullable=False),
    sa.Column('error', sa.Text(), nullable=True),
    sa.Column('died_at', sa.BigInteger(), nullable=True),
    sa.PrimaryKeyConstraint('user_id', 'id'),
    sqlite_with_rowid=False
    )


def _sessions() -> None:
    op.create_table('sessions',
    sa.Column('user_id', sa.Text(), nullable=False),
    sa.Column('id', sa.Text(), nullable=False),
    sa.Column('root_id', sa.Text(), nullable=False),
    sa.Column('started_at', sa.BigInteger(), nullable=False),
    sa.Column('ended_at', sa.BigInteger(), nullable=True),
    sa.Column('core_text', sa.Text(), nullable=True),
    sa.Column('core_item_ids', sa.Text(), nullable=False),
    sa.Column('core_tokens', sa.Integer(), nullable=False),
    sa.PrimaryKeyConstraint('user_id', 'id'),
    sqlite_with_rowid=False
    )


def _turns() -> None:
    op.create_table('turns',
    sa.Column('user_id', sa.Text(), nullable=False),
    sa.Column('id', sa.Text(), nullable=False),
    sa.Column('session_id', sa.Text(), nullable=False),
    sa.Column('seq', sa.BigInteger(), autoincrement=False, nullable=False),
    sa.Column('role', sa.Text(), nullable=False),
    sa.Column('content', sa.Text(), nullable=False),
    sa.Column('at', sa.BigInteger(), nullable=False),
    sa.PrimaryKeyConstraint('user_id', 'id'),
    sqlite_with_rowid=False
    )


def _users() -> None:
    op.create_table('users',
    sa.Column('user_id', sa.Text(), nullable=False),
    sa.Column('version', sa.BigInteger(), autoincrement=False, nullable=False),
    sa.Column('units', sa.BigInteger(), autoincrement=False, nullable=False),
    sa.Column('own_days', sa.Double(), nullable=False),
    sa.Column('active_at', sa.BigInteger(), nullable=True),
    sa.Column('user_class', sa.Text(), nullable=False),
    sa.Column('capture_paused', sa.Boolean(), nullable=False),
    sa.Column('recall_paused', sa.Boolean(), nullable=False),
    sa.Column('maintained_at', sa.BigInteger(), nullable=True),
    sa.PrimaryKeyConstraint('user_id'),
    sqlite_with_rowid=False
    )


def _working_notes() -> None:
    op.create_table('working_notes',
    sa.Column('user_id', sa.Text(), nullable=False),
    sa.Column('session_id', sa.Text(), nullable=False),
    sa.Column('task_id', sa.Text(), nullable=False),
    sa.Column('key', sa.Text(), nullable=False),
    sa.Column('text', sa.Text(), nullable=False),
    sa.Column('at', sa.BigInteger(), nullable=False),
    sa.Column('expires_at', sa.BigInteger(), nullable=True),
    sa.PrimaryKeyConstraint('user_id', 'session_id', 'task_id', 'key'),
    sqlite_with_rowid=False
    )


def _indexes() -> None:
    op.create_index('ix_decisions_at', 'memory_decisions', ['user_id', 'at'], unique=False)
    op.create_index('ix_decisions_item', 'memory_decisions', ['user_id', 'item_id'], unique=False)
    op.create_index('ix_decisions_job', 'memory_decisions', ['user_id', 'job_id'], unique=False)
    op.create_index('ix_items_created', 'memory_items', ['user_id', 'created_at'], unique=False)
    op.create_index('ix_items_expires', 'memory_items', ['user_id', 'expires_at'], unique=False, sqlite_where=sa.text('expires_at IS NOT NULL'), postgresql_where=sa.text('expires_at IS NOT NULL'))
    op.create_index('ix_items_override', 'memory_items', ['user_id', 'override_of'], unique=False)
    op.create_index('ix_items_slot', 'memory_items', ['user_id', 'slot'], unique=False)
    op.create_index('ix_items_status', 'memory_items', ['user_id', 'status'], unique=False)
    op.create_index('ix_items_superseded', 'memory_items', ['user_id', 'superseded_by'], unique=False)
    op.create_index('ix_moves_item', 'memory_moves', ['user_id', 'item_id'], unique=False)
    op.create_index('ix_pendings_state', 'pending_overrides', ['user_id', 'state'], unique=False)
    op.create_index('ix_heads_due', 'queue_heads', ['due_at'], unique=False)
    op.create_index('ix_jobs_dead', 'queue_jobs', ['user_id', 'died_at'], unique=False, sqlite_where=sa.text("state = 'dead'"), postgresql_where=sa.text("state = 'dead'"))
    op.create_index('ix_jobs_waiting', 'queue_jobs', ['user_id', 'seq', 'enqueued_at'], unique=False, sqlite_where=sa.text("state = 'waiting'"), postgresql_where=sa.text("state = 'waiting'"))
    op.create_index('ux_jobs_key', 'queue_jobs', ['user_id', 'idempotency_key'], unique=True)
    op.create_index('ux_jobs_seq', 'queue_jobs', ['user_id', 'seq'], unique=True)
    op.create_index('ix_turns_session', 'turns', ['user_id', 'session_id', 'at', 'seq'], unique=False)


def _statistics() -> None:
    # What a full user looks like. Without it SQLite takes a user for ten rows and reads all 5,000
    # where an index would do; with it the plans never change as a file grows.
    op.execute("ANALYZE")
    statistics = sa.table("sqlite_stat1", sa.column("tbl"), sa.column("idx"), sa.column("stat"))
    for table, index, stat in (
        ("memory_items", "memory_items", "1000000 5000 1"),
        ("memory_items", "ix_items_status", "1000000 5000 100"),
        ("memory_items", "ix_items_slot", "1000000 5000 3"),
        ("memory_items", "ix_items_override", "1000000 5000 2"),
        ("memory_items", "ix_items_superseded", "1000000 5000 2"),
        ("memory_items", "ix_items_created", "1000000 5000 1"),
        ("memory_items", "ix_items_expires", "100000 500 1"),
        ("memory_vectors", "memory_vectors", "1000000 5000 1"),
        ("memory_signals", "memory_signals", "1000000 5000 5 1"),
        ("memory_moves", "memory_moves", "1000000 5000 1"),
        ("memory_moves", "ix_moves_item", "1000000 5000 5"),
        ("memory_decisions", "memory_decisions", "1000000 5000 1"),
        ("memory_decisions", "ix_decisions_at", "1000000 5000 2"),
        ("memory_decisions", "ix_decisions_job", "1000000 5000 5"),
        ("memory_decisions", "ix_decisions_item", "1000000 5000 3"),
        ("turns", "turns", "1000000 5000 1"),
        ("turns", "ix_turns_session", "1000000 5000 30 1 1"),
        ("queue_jobs", "queue_jobs", "1000000 5000 1"),
        ("queue_jobs", "ux_jobs_seq", "1000000 5000 1"),
        ("queue_jobs", "ux_jobs_key", "1000000 5000 1"),
        ("queue_jobs", "ix_jobs_waiting", "1000 10 1 1"),
        ("queue_jobs", "ix_jobs_dead", "100 2 1"),
    ):
        op.execute(statistics.insert().values(tbl=table, idx=index, stat=stat))


def _words() -> None:
    # The words are letters and digits already: see text.py.
    op.execute(
        "CREATE VIRTUAL TABLE memory_words USING fts5("
        "user_id UNINDEXED, item_id UNINDEXED, words, tokenize='ascii')"
    )
