"""Computations of the reconstruction advantage (RAD), after Guerra-Balboa 2026.

- ``bounds``: exact values and bounds, figures 1 and 2;
- ``training``: the optimal attack on DP-SGD beside its bounds, figure 3;
- ``audits``: ε as audits of local reports see it, figure 5.
"""
