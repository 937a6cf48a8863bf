"""Status: whether the service lives and can work, and what it counts."""
