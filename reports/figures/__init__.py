"""Figures.

- ``svg``: draws static figures (panels, axes, marks, legend); start here for a new figure
- ``bound_curves``: bounds as curves over the baseline
- ``charts``: the leaderboard's interactive figures: their rows and what they show
- ``export``: the leaderboard's figures as SVG, PNG, PDF and CSV files
"""
