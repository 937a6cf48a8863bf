"""The installed name of Primer's programs: `primer.cli`, `primer.app`, `primer.workers` (links to the folders beside this one)."""
