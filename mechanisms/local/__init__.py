"""Local reports: every record is randomised before it leaves its owner.

- ``reports``: the mechanisms grr, oue and ss, their reports and samplers
- ``_subsets``: uniform subsets, compiled
"""
