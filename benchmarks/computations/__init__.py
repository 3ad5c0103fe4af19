"""Computations: numbers of papers that follow from a guarantee and a baseline, without a game.

A suite asks for them in ``[[curves]]`` blocks. Read ``computation`` first: what a kind of
computation declares, and how its points become rows of the result store.

- ``computation``: the base class ``Computation``, ``Point`` and ``Promise``;
- ``guarantees``: the guarantees that a block can name;
- ``risk``: bounds on one target, worst-case advantage, singling out;
- ``training``: the risk of models trained with DP-SGD, by noise and by accuracy;
- ``budgets``: how many queries, and which ε, a risk allows;
- ``rad``: reconstruction advantage (RAD), computed, simulated and audited;
- ``gradients``: noise, risk and corridor of gradient inversion; ``gradient_errors`` and
  ``gradient_rows``: simulations;
- ``mcmc``: the posterior of ε from counts of errors; ``mcmc_train``: from attacks on models;
- ``kinds``: all kinds by name, and what their values mean;
- ``axes``: what figures of each kind draw across and up.
"""
