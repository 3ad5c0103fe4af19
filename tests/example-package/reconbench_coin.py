"""An attack in a package of its own: trust the prior, or flip a coin."""

import numpy as np


class Coin:
    """The prior's guess for some records, a random one for the others."""

    name = "coin"

    def __init__(self, trust: float = 0.5) -> None:
        self.trust = trust

    def reconstruct(self, view, rng: np.random.Generator):
        guess, _ = view.metric.best_guess(view.prior, view.known, view.targets)
        random = rng.integers(0, guess.domain.sizes, size=guess.codes.shape)
        trusted = rng.random((view.n, 1)) < self.trust
        return view.reconstruction(np.where(trusted, guess.codes, random))
