"""Notation: rules that find what is written in the notation of grade 6 and above."""
