"""Figures.

- ``svg``: draws static figures (panels, axes, marks, legend); start here for a new figure
- ``series``: lines with marks and labels at their ends; ``spreads``: quantiles as boxes on bands
- ``bound_curves``: bounds as curves over the baseline
- ``labelled_lines``: curves over a parameter, each named at its end
- ``computed``: suites of computations, with the axes of the papers; ``computed_curves`` says which
  values stand in which panel
- ``roles``: the colours and shapes of attacks, and of what attacks are measured against
- ``overview``: the first picture of a leaderboard
- ``static_overview``: the first of these as one SVG file
- ``charts``: the leaderboard's interactive figures: their rows and what they show
- ``chart_specs``: how a chart becomes a Vega-Lite specification
- ``export``: the leaderboard's figures as SVG, PNG, PDF and CSV files
"""
