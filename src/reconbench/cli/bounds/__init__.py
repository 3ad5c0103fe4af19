"""The bounds on their own: `ceiling`, `risk`, `compare-bounds` and `calibrate`.

- `commands`: the first three.
- `calibrate`: bounds read backwards.
- `guarantee_options`: the options that state a guarantee, shared by the first three.
"""
