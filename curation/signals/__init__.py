"""Signals: one file a group of measured values. A signal measures and has no threshold."""
