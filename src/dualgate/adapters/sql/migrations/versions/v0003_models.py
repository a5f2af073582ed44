"""What models cost, and what audits of the frozen pool found [U2, W5]."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Make the tables of usage and of findings; both begin empty."""
    op.create_table('model_usage',
    sa.Column('user_id', sa.Text(), nullable=False),
    sa.Column('day', sa.Integer(), autoincrement=False, nullable=False),
    sa.Column('task', sa.Text(), nullable=False),
    sa.Column('model', sa.Text(), nullable=False),
    sa.Column('calls', sa.BigInteger(), autoincrement=False, nullable=False),
    sa.Column('input_tokens', sa.BigInteger(), autoincrement=False, nullable=False),
    sa.Column('output_tokens', sa.BigInteger(), autoincrement=False, nullable=False),
    sa.Column('estimated', sa.Boolean(create_constraint=False), nullable=False),
    sa.Column('turns', sa.BigInteger(), autoincrement=False, nullable=False),
    sa.Column('skipped', sa.BigInteger(), autoincrement=False, nullable=False),
    sa.Column('fell_back', sa.BigInteger(), autoincrement=False, nullable=False),
    sa.PrimaryKeyConstraint('user_id', 'day', 'task', 'model'),
    sqlite_with_rowid=False
    )
    op.create_index('ix_usage_day', 'model_usage', ['day'], unique=False)
    op.create_table('audit_findings',
    sa.Column('user_id', sa.Text(), nullable=False),
    sa.Column('id', sa.Text(), nullable=False),
    sa.Column('kind', sa.Text(), nullable=False),
    sa.Column('item_id', sa.Text(), nullable=False),
    sa.Column('other_id', sa.Text(), nullable=True),
    sa.Column('said', sa.Text(), nullable=False),
    sa.Column('by', sa.Text(), nullable=False),
    sa.Column('found_at', sa.BigInteger(), nullable=False),
    sa.Column('state', sa.Text(), nullable=False),
    sa.Column('settled_at', sa.BigInteger(), nullable=True),
    sa.PrimaryKeyConstraint('user_id', 'id'),
    sqlite_with_rowid=False
    )
    op.create_table('audits',
    sa.Column('user_id', sa.Text(), nullable=False),
    sa.Column('at', sa.BigInteger(), nullable=False),
    sa.PrimaryKeyConstraint('user_id'),
    sqlite_with_rowid=False
    )
    if op.get_bind().dialect.name == "sqlite":
        # As in 0001: the plans shall be those of a full user, always.
        statistics = sa.table(
            "sqlite_stat1", sa.column("tbl"), sa.column("idx"), sa.column("stat")
        )
        for table, index, stat in (
            ("model_usage", "model_usage", "1000000 1000 4 2 1"),
            ("model_usage", "ix_usage_day", "1000000 3000"),
            ("audit_findings", "audit_findings", "100000 10 1"),
            ("audits", "audits", "100000 1"),
        ):
            op.execute(statistics.insert().values(tbl=table, idx=index, stat=stat))
