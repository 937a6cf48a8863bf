"""Celery workers: queues and tasks that call `primer.app` services and `curation`."""
