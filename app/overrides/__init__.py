"""Rulings of curators on documents: kept with their reasons, one count of revisions a source, nothing ever erased."""
