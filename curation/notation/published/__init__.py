"""The 28 notation rules that the published filter applies, reproduced decision for decision."""
