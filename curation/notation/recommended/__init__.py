"""The corrected notation rules: one idea a file, every judgement written in the rule it belongs to."""
