"""Jobs: a source measured under a recipe, decided by a profile and exported, by workers that may die at any moment."""
