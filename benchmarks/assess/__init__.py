"""Assess your own table: what a release of it would reveal, and what safety would cost.

- ``assess``: plays the games of a question; start here
- ``assessment``: the question, its checks, and the answer
- ``exposure``: which kinds of record are guessed right, with small kinds suppressed
- ``accuracy``: errors of the released marginals
- ``max_epsilon``: the largest ε that keeps a risk, proved and measured
- ``report``: question, answer and source of the table, typed and as JSON
"""
