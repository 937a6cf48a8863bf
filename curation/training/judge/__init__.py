"""Labelling by a language model that judges each document under several prompts; agreed answers become labels."""
