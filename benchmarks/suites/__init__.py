"""Suites: named sets of games and computations, as TOML files."""
