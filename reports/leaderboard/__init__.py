"""The leaderboard: table, ranking, page and files."""
