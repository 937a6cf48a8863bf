"""Profiles: drafts that people change, and published versions that nobody does."""
