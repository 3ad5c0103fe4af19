"""Several hidden columns and weak evidence: records move by fresh draws from the prior.

- ``model``: the posterior in that form; read this first
- ``agreements``: evidence by how far records agree
- ``sweeps``: the compiled sweeps
- ``followed``: chances of any guess, by following it through the chains' states
"""
