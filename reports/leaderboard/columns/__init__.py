"""The columns of a leaderboard.

- ``dictionary``: every column in order, and which of them some rows need
- ``scores``: which guesses were right, by the attack's scores and by rarity
- ``worlds``: records of the table against records that were not in it
"""
