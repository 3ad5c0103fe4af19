"""Synthetic tables: generators fitted to noisy measurements.

Read ``release`` and ``synthesizer`` first: what all of them release, and what they have in common.

- ``pgm``: a fixed list of marginals (``structure`` chooses them); ``mst``, ``aim`` and
  ``privbayes`` choose theirs under the budget (``selection``).
- ``opendp_adapter``: MST and AIM of OpenDP (extra ``synth-opendp``).
- ``graphical``: the models that are fitted.
"""
