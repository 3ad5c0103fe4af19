"""Risk of one target: the success and the advantage that a guarantee allows.

- `one_target`: the bounds of Kulynych 2025 and Swanberg 2025; advantages.
- `renyi`: reconstruction robustness from Rényi DP (Balle 2022, Guo 2023).
- `singling_out`: singling out and Narcissus resiliency.
- `leakage`: memorisation, unbiased reconstruction, bits of a secret.
- `generalisation`: losses on training records and on fresh ones.
- `report`: all bounds side by side, as `risk` and `compare-bounds` print them.
"""
