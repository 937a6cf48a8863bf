"""Word tables: ages of acquisition, word frequencies, beyond-K-5 scores; immutable once loaded."""
