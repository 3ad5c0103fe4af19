"""The Bayes-optimal attack on noisy counts: exact where it can be, or Markov chain Monte Carlo.

- ``posterior``: the attack: annealing, parallel tempering, and when to stop; read this first
- ``evidence``: what measured sets say, each weighed by its noise; all forms below start from it
- ``certified``: where the posterior is exact: by sums over the counts of open cells
  (``elimination``), or from all tables that fit counts without noise (``exact``)
- the posterior in a form that can be swept: ``gram_model`` for one hidden column, ``counts`` for
  one on a long table, ``draws`` for several with weak evidence, ``joint`` for several with strong
  evidence, and ``cell_model`` for what fits none of these
- ``gibbs``: compiled sweeps of ``gram_model`` and ``cell_model``
- ``chains``: noise levels, trading partners, and whether chains agree
- ``posteriors``: what the chains found: guesses, and their chances of success
"""
