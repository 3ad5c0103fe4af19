"""The leaderboard of a suite.

- ``columns``: every column with its meaning; ``table``: the values of every row (`Leaderboard`).
- ``ranking``: order of rows, rank in a game, ranking over the suite; ``paired_tests``: comparisons.
- ``flags``: automatic warnings; ``printed_values``: what papers print for the same games.
- ``page``: the HTML page, with ``summary_text`` and ``glossary``; ``files``: CSV, Parquet, HTML.
"""
