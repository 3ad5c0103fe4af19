"""One hidden column of a long table: counts of values among records that agree otherwise.

- ``model``: the posterior in that form; read this first
- ``sweeps``, ``blocks``: compiled moves of single counts, and of many large ones at once
"""
