"""Shards in: where they come from, how their rows are read, and what can go wrong in a file."""
