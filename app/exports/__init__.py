"""Exports: corpora for trainers, built by jobs, verified, compared, downloaded and pushed to a Hub."""
