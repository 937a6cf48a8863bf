"""Alembic's folder: the schema's history, forward only."""
