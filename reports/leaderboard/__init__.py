"""The leaderboard of a suite.

- ``columns``: every column with its meaning; ``table``: the values of every row (`Leaderboard`).
- ``ranking``: order of rows, rank in a game, ranking over the suite.
- ``paired_differences``: attacks compared in one game; ``comparisons``: pairs over a whole suite.
- ``flags``: automatic warnings; ``alarms``: the worst of them in words; ``self_check``: whether the
  expected scores agree with what was drawn.
- ``printed_values``: what papers print for the same games.
- ``page``: the HTML page, with ``summary_text`` and ``glossary``; ``files``: CSV, Parquet, HTML.
"""
