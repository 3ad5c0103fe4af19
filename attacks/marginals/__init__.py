"""Attacks on released marginals that fit no relaxed table and run no Markov chain.

- ``averaging``: the weighted average of each record's cells, without a prior
- ``linear``: the fit of least absolute error, by linear programming
- ``informed``: the exact posterior of one record when all others are known
- ``release_parts``: a release taken apart by hidden columns, which other attacks use too
"""
