"""One notation for guarantees, in the units that people have: `laplace:scale=5,queries=15`.

- `kinds`: the closed vocabulary: every kind, its parameters, relation and guarantee. Read it first.
- `mechanism`: `parse_mechanism` reads a text, `parse_guarantee` its guarantee.
- `composition`: several parts together, in closed form or by privacy loss distributions.
- `curve_file`: trade-off curves from CSV files.
- `free_parameter`: solve for the one parameter given as `?`.
"""
