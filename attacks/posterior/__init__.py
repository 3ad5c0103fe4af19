"""The Bayes-optimal attack on Gaussian marginals, by Markov chain Monte Carlo."""
