"""What a server keeps: API keys, and which requests it has answered [P4]."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Make both tables; they begin empty."""
    op.create_table('api_keys',
    sa.Column('digest', sa.Text(), nullable=False),
    sa.Column('id', sa.Text(), nullable=False),
    sa.Column('tenant', sa.Text(), nullable=False),
    sa.Column('name', sa.Text(), nullable=False),
    sa.Column('scope', sa.Text(), nullable=False),
    sa.Column('created_at', sa.BigInteger(), nullable=False),
    sa.Column('expires_at', sa.BigInteger(), nullable=True),
    sa.Column('revoked_at', sa.BigInteger(), nullable=True),
    sa.Column('last_used_at', sa.BigInteger(), nullable=True),
    sa.PrimaryKeyConstraint('digest'),
    sqlite_with_rowid=False
    )
    op.create_index('ux_keys_id', 'api_keys', ['id'], unique=True)
    op.create_table('answered_requests',
    sa.Column('user_id', sa.Text(), nullable=False),
    sa.Column('key', sa.Text(), nullable=False),
    sa.Column('fingerprint', sa.Text(), nullable=False),
    sa.Column('begun_at', sa.BigInteger(), nullable=False),
    sa.Column('done_at', sa.BigInteger(), nullable=True),
    sa.Column('subject', sa.Text(), nullable=False),
    sa.PrimaryKeyConstraint('user_id', 'key'),
    sqlite_with_rowid=False
    )
    op.create_index('ix_answered_begun', 'answered_requests', ['user_id', 'begun_at'], unique=False)
    if op.get_bind().dialect.name == "sqlite":
        # As in 0001: the plans shall be those of a full user, always.
        statistics = sa.table(
            "sqlite_stat1", sa.column("tbl"), sa.column("idx"), sa.column("stat")
        )
        for table, index, stat in (
            ("api_keys", "api_keys", "1000 1"),
            ("api_keys", "ux_keys_id", "1000 1"),
            ("answered_requests", "answered_requests", "1000000 5000 1"),
            ("answered_requests", "ix_answered_begun", "1000000 5000 1"),
        ):
            op.execute(statistics.insert().values(tbl=table, idx=index, stat=stat))
