"""Ceilings on how many targets any attack reconstructs."""
