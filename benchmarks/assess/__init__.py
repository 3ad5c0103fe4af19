"""Assess your own table: what a release of it would reveal, and what safety would cost.

- ``question``: what is asked, and its checks
- ``assess``: plays the games of a question; start here
- ``games``: on the owner's own table and on drawn ones, and those that were played before
- ``reference``: which attack the statements are about
- ``budgets``: the numbers of one ε, from the games played at it
- ``record_table``: the risk of every single record
- ``exposure``: which kinds of record are guessed right, with small kinds suppressed
- ``accuracy``, ``table_distance``: errors of released marginals and of synthetic tables
- ``zcdp_budgets``: budgets that are stated as ρ
- ``max_epsilon``: the largest ε that keeps a risk, proved and measured
- ``assessment``: the answer; ``report``: question, answer and source of the table, also as JSON
- ``published``: assessments of what is out already; ``rows_report``: that without a truth, as JSON
"""
