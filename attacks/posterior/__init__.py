"""The Bayes-optimal attack on Gaussian marginals: exact tables, or Markov chain Monte Carlo.

- ``posterior``: the attack: annealing, parallel tempering, and when to stop; read this first
- ``exact``: the posterior without noise, from all tables that fit
- the posterior in a form that can be swept: ``gram_model`` for one hidden column, ``count_model``
  for one on a long table, ``draw_model`` for several with weak evidence, ``joint_model`` for
  several with strong evidence, and ``cell_model`` for what fits none of these
- the compiled sweeps: ``gibbs``, ``count_sweeps``, ``count_blocks``, ``agreement_sweeps``,
  ``joint_sweeps``
- ``agreements``: evidence by how far records agree, for ``draw_model``
- ``chains``: noise levels, trading partners, and whether chains agree
- ``posteriors``, ``followed``: what the chains found: guesses, and their chances of success
"""
