"""Concepts: what U.S. schools teach after grade 5, as terms that are found in texts. Reports and probes over them."""
