"""The Bayes-optimal attack on Gaussian marginals, by Markov chain Monte Carlo.

- ``posterior``: the attack: annealing, parallel tempering, and when to stop; read this first
- ``gram_model``, ``cell_model``, ``count_model``: the posterior in a form that can be swept, by
  size of the game
- ``gibbs``, ``count_sweeps``, ``count_blocks``: the compiled sweeps
- ``chains``: noise levels, trading partners, and whether chains agree
- ``posteriors``: what the chains found: guesses, and their chances of success
"""
