"""Raw turns become findable: their words, their vectors, and which items rest on them [R6]."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Make the index of turns; upkeep fills it with the turns that are kept already."""
    op.create_table('turn_index',
    sa.Column('user_id', sa.Text(), nullable=False),
    sa.Column('turn_id', sa.Text(), nullable=False),
    sa.Column('made_by', sa.Text(), nullable=False),
    sa.Column('stored_at', sa.BigInteger(), nullable=False),
    sa.Column('seq', sa.BigInteger(), autoincrement=False, nullable=False),
    sa.Column('dim', sa.Integer(), nullable=False),
    sa.Column('q', sa.LargeBinary(), nullable=True),
    sa.PrimaryKeyConstraint('user_id', 'turn_id'),
    sqlite_with_rowid=False
    )
    op.create_index('ix_turn_index_stored', 'turn_index', ['user_id', 'stored_at'], unique=False)
    op.create_index('ix_turn_index_seq', 'turn_index', ['user_id', 'made_by', 'dim', 'seq'], unique=False)
    op.create_index('ix_signals_message', 'memory_signals', ['user_id', 'message_id'], unique=False)
    # Upkeep is due at once for everybody: it indexes what was said before.
    users = sa.table("users", sa.column("maintained_at"))
    op.execute(users.update().values(maintained_at=None))
    if op.get_bind().dialect.name == "sqlite":
        _words()
        _statistics()


def _words() -> None:
    # Whether a turn holds a word is all that is asked, so no places and no counts are kept.
    op.execute(
        "CREATE VIRTUAL TABLE turn_words USING fts5("
        "user_id UNINDEXED, turn_id UNINDEXED, words, tokenize='ascii', detail=none)"
    )


def _statistics() -> None:
    # As in 0001: the plans shall be those of a full user, always.
    statistics = sa.table("sqlite_stat1", sa.column("tbl"), sa.column("idx"), sa.column("stat"))
    for table, index, stat in (
        ("turn_index", "turn_index", "1000000 5000 1"),
        ("turn_index", "ix_turn_index_stored", "1000000 5000 1"),
        ("turn_index", "ix_turn_index_seq", "1000000 5000 5000 5000 1"),
        ("memory_signals", "ix_signals_message", "1000000 5000 2"),
    ):
        op.execute(statistics.insert().values(tbl=table, idx=index, stat=stat))
