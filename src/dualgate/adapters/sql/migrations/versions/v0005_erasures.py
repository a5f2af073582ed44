"""Erasing leaves keyed hashes behind, and nothing else; none is ever left half done [P3]."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """Make the tables of tombstones and of erasures; they begin empty."""
    op.create_table('tombstones',
    sa.Column('user_id', sa.Text(), nullable=False),
    sa.Column('hash', sa.Text(), nullable=False),
    sa.Column('kind', sa.Text(), nullable=False),
    sa.Column('erased_at', sa.BigInteger(), nullable=False),
    sa.PrimaryKeyConstraint('user_id', 'hash'),
    sqlite_with_rowid=False
    )
    op.create_table('tombstone_keys',
    sa.Column('user_id', sa.Text(), nullable=False),
    sa.Column('key', sa.Text(), nullable=False),
    sa.Column('version', sa.BigInteger(), autoincrement=False, nullable=False),
    sa.Column('units', sa.BigInteger(), autoincrement=False, nullable=False),
    sa.PrimaryKeyConstraint('user_id'),
    sqlite_with_rowid=False
    )
    op.create_table('erasures',
    sa.Column('user_id', sa.Text(), nullable=False),
    sa.Column('id', sa.Text(), nullable=False),
    sa.Column('kind', sa.Text(), nullable=False),
    sa.Column('target', sa.Text(), nullable=False),
    sa.Column('asked_at', sa.BigInteger(), nullable=False),
    sa.Column('done_at', sa.BigInteger(), nullable=True),
    sa.PrimaryKeyConstraint('user_id', 'id'),
    sqlite_with_rowid=False
    )
    if op.get_bind().dialect.name == "sqlite":
        # As in 0001: the plans shall be those of a full user, always.
        statistics = sa.table(
            "sqlite_stat1", sa.column("tbl"), sa.column("idx"), sa.column("stat")
        )
        for table, index, stat in (
            ("tombstones", "tombstones", "1000000 5000 1"),
            ("tombstone_keys", "tombstone_keys", "100000 1"),
            ("erasures", "erasures", "100 2 1"),
        ):
            op.execute(statistics.insert().values(tbl=table, idx=index, stat=stat))
