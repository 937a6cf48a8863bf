"""Training: rows with a known band become graders and word scores, each with out-of-fold scores and a card."""
