"""Exports, and those that curate jobs have made so far"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

_FIRST_EXPORTS = """
    INSERT INTO exports
        (kind, source_id, base_job_id, job_id, folder, documents_written, tokens_written, bytes_written)
    SELECT 'first', source_id, id, id, folder || '/export', 0, 0, 0 FROM jobs
    WHERE kind = 'curate' AND state = 'succeeded' AND folder <> '' ORDER BY id
"""


def upgrade() -> None:
    op.create_table(
        "exports",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("kind", sa.String(length=200), nullable=False),
        sa.Column("source_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("base_job_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("job_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("folder", sa.Text(), nullable=False),
        sa.Column(
            "options", sa.JSON().with_variant(postgresql.JSONB(astext_type=sa.Text()), "postgresql"), nullable=True
        ),
        sa.Column("overrides_revision", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("documents_written", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("tokens_written", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("bytes_written", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("deleted_by", sa.String(length=200), nullable=True),
        sa.Column("deleted_at", sa.Double(), nullable=True),
        sa.ForeignKeyConstraint(["base_job_id"], ["jobs.id"], name=op.f("fk_exports_base_job_id_jobs")),
        sa.ForeignKeyConstraint(["job_id"], ["jobs.id"], name=op.f("fk_exports_job_id_jobs")),
        sa.ForeignKeyConstraint(["source_id"], ["sources.id"], name=op.f("fk_exports_source_id_sources")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_exports")),
        sa.UniqueConstraint("job_id", name=op.f("uq_exports_job_id")),
    )
    with op.batch_alter_table("exports", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_exports_base_job_id"), ["base_job_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_exports_source_id"), ["source_id"], unique=False)

    op.create_table(
        "export_checks",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("export_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("job_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("is_sound", sa.Boolean(), nullable=True),
        sa.Column("files_checked", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("rows_rechecked", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("problem_count", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column(
            "problems", sa.JSON().with_variant(postgresql.JSONB(astext_type=sa.Text()), "postgresql"), nullable=True
        ),
        sa.Column("checked_at", sa.Double(), nullable=True),
        sa.ForeignKeyConstraint(["export_id"], ["exports.id"], name=op.f("fk_export_checks_export_id_exports")),
        sa.ForeignKeyConstraint(["job_id"], ["jobs.id"], name=op.f("fk_export_checks_job_id_jobs")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_export_checks")),
        sa.UniqueConstraint("job_id", name=op.f("uq_export_checks_job_id")),
    )
    with op.batch_alter_table("export_checks", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_export_checks_export_id"), ["export_id"], unique=False)

    op.create_table(
        "export_pushes",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("export_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("job_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("repository", sa.String(length=200), nullable=False),
        sa.Column("revision", sa.String(length=200), nullable=False),
        sa.Column("is_private", sa.Boolean(), nullable=False),
        sa.Column("commit_sha", sa.String(length=200), nullable=True),
        sa.Column("url", sa.Text(), nullable=True),
        sa.Column("pushed_at", sa.Double(), nullable=True),
        sa.ForeignKeyConstraint(["export_id"], ["exports.id"], name=op.f("fk_export_pushes_export_id_exports")),
        sa.ForeignKeyConstraint(["job_id"], ["jobs.id"], name=op.f("fk_export_pushes_job_id_jobs")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_export_pushes")),
        sa.UniqueConstraint("job_id", name=op.f("uq_export_pushes_job_id")),
    )
    with op.batch_alter_table("export_pushes", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_export_pushes_export_id"), ["export_id"], unique=False)

    op.execute(_FIRST_EXPORTS)
