"""Celery workers: they claim tasks from the database, call the library, and say what came of it."""
