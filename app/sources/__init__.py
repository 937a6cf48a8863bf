"""Sources: where documents come from, which places may be named, and what must not be kept of them."""
