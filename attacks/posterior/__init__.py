"""The Bayes-optimal attack on Gaussian marginals, by Markov chain Monte Carlo.

- ``posterior``: the attack: annealing, parallel tempering, and when to stop; read this first
- ``gram_model``, ``draw_model``, ``cell_model``: the posterior in a form that can be swept, by size
  and evidence of the game
- ``gibbs``, ``agreement_sweeps``: the compiled sweeps
- ``agreements``: evidence by how far records agree, for ``draw_model``
- ``chains``: noise levels, trading partners, and whether chains agree
- ``posteriors``, ``followed``: what the chains found: guesses, and their chances of success
"""
