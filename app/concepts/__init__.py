"""Concepts: versions of the catalogue, what a boundary does to each concept of a run, and probes of what leaks through."""
