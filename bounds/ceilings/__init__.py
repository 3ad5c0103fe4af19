"""Ceilings on how many targets any attack reconstructs.

- `base`: what a bound is (`Bound`, `Targets`), and the base classes of ours.
- `swanberg`: Theorems 3.2 and 3.5 and Corollary 3.4 of Swanberg 2025.
- `conditional`: Theorem 3.3, and a lower bound, given the output.
- `profile`, `profile_recursion`: from the best prior guesses and a whole privacy profile.
- `fdp_recursion`: from whole priors and any trade-off curve.
- `fdp_program`: the same for targets of one prior; the least ceiling where that is uniform.
- `mean`, `prior_exact`, `prior_exact_sets`: on the expected number of targets.
- `tail_runs`: what is known of the values of a long prior that are not listed.
- `misfit`: for an attacker whose prior is not the data's.
- `programs`: linear programs and the recursion behind these.
- `compact_tail`: what a row stores of a run for Corollary 3.4.
"""
