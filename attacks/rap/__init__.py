"""Relaxed adaptive projection (RAP): hidden columns fitted to released marginals by descent.

- ``rap``: the attacks rap, rap-converged and rap-map; read this first
- ``confidence_ranked``: many fits from random starts, and how far they agree
- ``problem``: what a view's descent needs: real and simulated tables, and the starts
- ``descent``: what is minimised, on many tables at once; ``paths``: by Adam, with torch
- ``marginal_fit``: the squared error of relaxed records and its gradient
- ``hidden_products``: its linear part, for all sets of hidden columns at once
"""
