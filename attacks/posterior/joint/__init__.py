"""Several hidden columns and strong evidence: records trade columns, at many noise levels.

- ``model``: the posterior in that form; read this first
- ``sweeps``: the compiled sweeps
"""
