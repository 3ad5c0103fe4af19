"""Numbers of papers that follow from a guarantee and a baseline, without a game."""
