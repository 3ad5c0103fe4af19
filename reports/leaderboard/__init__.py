"""The leaderboard of a suite.

- ``columns``: every column with its meaning; ``table``: the values of every row (`Leaderboard`).
- ``ranking``: order of rows, rank in a game, ranking over the suite.
- ``paired_differences``: attacks compared in one game; ``comparisons``: pairs over a whole suite.
- ``flags``: automatic warnings; ``checks``: what must hold of every leaderboard, and alarms.
- ``printed_values``: what papers print for the same games.
- ``page``: the HTML page, with ``summary_text`` and ``glossary``; ``files``: CSV, Parquet, HTML.
"""
