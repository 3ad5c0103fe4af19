"""Bounds on one target: advantage, success, singling out."""
