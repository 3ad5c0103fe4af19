"""The model of a Gaussian mechanism: attacks between the curve of μ-GDP and chance.

- `model`: the prior, the likelihood of one base, and ε from μ.
- `walk`: the sampler; `_kernels` is its compiled part.
"""
