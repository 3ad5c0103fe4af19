"""Attacks on synthetic tables, by whoever sees the table and nothing else of the release.

- ``learners``: what is trained on the table to answer for hidden columns
- ``raw``: their answers believed as they are, as the literature plays them
- ``table_marginals``, ``table_rap``: attacks on marginals, played on those of the table
- ``pooled``: a learner's answer pooled with the prior, as far as it can be trusted; all of them,
  and what ``cliques`` reads off the measured counts, in `stack`

Read ``sources`` first: what a table says beyond what all such tables say. ``imagined`` has the
tables from which ``weights`` are learnt, ``strategies`` also how to learn them where the mechanism
cannot be run, and ``pool`` makes the guess.
"""
