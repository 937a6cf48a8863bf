"""Artefacts: the models and tables that come with the service, their cards, and how well they do. Nothing here changes them."""
