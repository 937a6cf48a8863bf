"""Claims of scans"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    with op.batch_alter_table("sources", schema=None) as batch_op:
        batch_op.add_column(sa.Column("scan_token", sa.String(length=200), nullable=True))
        batch_op.add_column(sa.Column("scan_until", sa.Double(), nullable=True))
        batch_op.add_column(
            sa.Column(
                "scan_attempts",
                sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
                server_default="0",
                nullable=False,
            )
        )
