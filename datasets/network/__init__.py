"""Bayesian networks over categorical columns.

- ``baynet``: the network as a prior: sampling, conditionals, modes; read this first
- ``elimination``: exact inference for a batch of records, by variable elimination on arrays
- ``likeliest``: the likeliest joint values of several columns, in order
- ``pairs``: the joint distribution of every pair of columns
- ``fit``: structure searches and smoothed tables
- ``misfit``: the pairs of columns that a network does not explain
- ``bif``: networks as BIF files, with a JSON codebook beside those of ours
- ``bif_reader``: the grammar of BIF files of any origin
- ``pgmpy_bridge``: networks as pgmpy models, and back
"""
