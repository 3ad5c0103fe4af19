"""Bayesian networks over categorical columns.

- ``baynet``: the network as a prior: sampling, conditionals, modes; read this first
- ``elimination``: exact inference for a batch of records, by variable elimination on arrays
- ``likeliest``: the likeliest joint values of several columns, in order
- ``fit``: structure searches and smoothed tables
- ``bif``: networks as BIF files with a JSON codebook beside them
- ``pgmpy_bridge``: networks as pgmpy models, for cross-checks
"""
