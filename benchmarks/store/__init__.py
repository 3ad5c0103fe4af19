"""Stored rows: the store, their provenance, summaries, export and import."""
