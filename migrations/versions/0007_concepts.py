"""Versions of the catalogue of concepts, measurings and leak probes"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def _number(name: str, *, is_nullable: bool = False, is_counted_up: bool = False) -> sa.Column[int]:
    kind = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
    return sa.Column(name, kind, nullable=is_nullable, **({"autoincrement": True} if is_counted_up else {}))


def upgrade() -> None:
    op.create_table(
        "catalogue_versions",
        _number("id", is_counted_up=True),
        _number("version"),
        sa.Column("content", sa.Text(), nullable=False),
        sa.Column("sha256", sa.String(length=64), nullable=False),
        _number("concept_count"),
        sa.Column(
            "changes", sa.JSON().with_variant(postgresql.JSONB(astext_type=sa.Text()), "postgresql"), nullable=False
        ),
        sa.Column("note", sa.Text(), nullable=False),
        sa.Column("author", sa.String(length=200), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        _number("based_on", is_nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_catalogue_versions")),
        sa.UniqueConstraint("version", name=op.f("uq_catalogue_versions_version")),
    )
    op.create_table(
        "concept_measurings",
        _number("id", is_counted_up=True),
        _number("job_id"),
        _number("base_job_id"),
        _number("catalogue_id"),
        sa.ForeignKeyConstraint(["base_job_id"], ["jobs.id"], name=op.f("fk_concept_measurings_base_job_id_jobs")),
        sa.ForeignKeyConstraint(
            ["catalogue_id"],
            ["catalogue_versions.id"],
            name=op.f("fk_concept_measurings_catalogue_id_catalogue_versions"),
        ),
        sa.ForeignKeyConstraint(["job_id"], ["jobs.id"], name=op.f("fk_concept_measurings_job_id_jobs")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_concept_measurings")),
        sa.UniqueConstraint("job_id", name=op.f("uq_concept_measurings_job_id")),
    )
    with op.batch_alter_table("concept_measurings", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_concept_measurings_base_job_id"), ["base_job_id"], unique=False)

    op.create_table(
        "leak_probes",
        _number("id", is_counted_up=True),
        _number("job_id"),
        _number("base_job_id"),
        _number("export_id", is_nullable=True),
        _number("catalogue_id"),
        _number("overrides_revision"),
        sa.Column("max_share", sa.Double(), nullable=True),
        _number("documents", is_nullable=True),
        _number("leaking", is_nullable=True),
        sa.Column("report", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(["base_job_id"], ["jobs.id"], name=op.f("fk_leak_probes_base_job_id_jobs")),
        sa.ForeignKeyConstraint(
            ["catalogue_id"], ["catalogue_versions.id"], name=op.f("fk_leak_probes_catalogue_id_catalogue_versions")
        ),
        sa.ForeignKeyConstraint(["export_id"], ["exports.id"], name=op.f("fk_leak_probes_export_id_exports")),
        sa.ForeignKeyConstraint(["job_id"], ["jobs.id"], name=op.f("fk_leak_probes_job_id_jobs")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_leak_probes")),
        sa.UniqueConstraint("job_id", name=op.f("uq_leak_probes_job_id")),
    )
    with op.batch_alter_table("leak_probes", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_leak_probes_base_job_id"), ["base_job_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_leak_probes_export_id"), ["export_id"], unique=False)
