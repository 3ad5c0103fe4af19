"""Figures.

- ``svg``: draws static figures (panels, axes, marks, legend); start here for a new figure
- ``bound_curves``: bounds as curves over the baseline
- ``roles``: the colours and shapes of attacks, and of what attacks are measured against
- ``overview``: the first picture of a leaderboard; ``computed_overview`` where no attack played
- ``static_overview``: the first of these as one SVG file
- ``charts``: the leaderboard's interactive figures: their rows and what they show
- ``chart_specs``: how a chart becomes a Vega-Lite specification
- ``export``: the leaderboard's figures as SVG, PNG, PDF and CSV files
"""
