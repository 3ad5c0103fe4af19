"""Graphical models: exact inference on junction trees, and fitting them to noisy counts.

- ``fitting``: Private-PGM, with a proof of how near the fit is. Read this first.
- ``markov_model``: the fitted distribution; marginals and rows are drawn from it.
- ``junction_tree``: cliques of columns as a forest.
- ``kernels``, ``joint_kernels``: the compiled loops.
- ``mbi_engine``: the same fit by the package mbi (extra ``synth``).
"""
