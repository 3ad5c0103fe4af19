"""Assess a table of one's own: exposure, accuracy and the largest safe budget."""
