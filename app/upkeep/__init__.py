"""Upkeep: what an installation needs now and then. Removing what is left over, saving its state, and bringing it back."""
