"""What a mechanism promises, as a trade-off curve with its neighbouring relation.

- `guarantee`: the `Guarantee` protocol, and pure, (ε, δ) and Gaussian DP. Read this first.
- `relation`: replace-one and add-or-remove-one.
- `laplace`, `randomised_response`, `renyi`: other noise and other accounting.
- `privacy_profile`, `tabulated`, `polyline`: curves given by points.
- `notation`: all of them by text, such as `dp-sgd:noise=1,rate=0.004,steps=792`.
- `composed`: several releases, by `loss_distribution`: privacy losses on a grid.
- `subsampled_renyi`: the Rényi guarantee of DP-SGD (needs dp-accounting).
"""
