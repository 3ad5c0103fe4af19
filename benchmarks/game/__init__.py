"""The game: its setting, one round of it, and the row that comes of it."""
