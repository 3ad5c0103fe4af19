"""Bayesian networks: inference, fitting, and BIF files."""
