"""Vocabulary: which words exclude documents, and the versions by which curators allow, block and tell them apart."""
