"""Add up what each noisy marginal says about a record's own cell."""

import numpy as np


class Votes:
    """The prior, corrected by the noisy counts of the record's own cells."""

    name = "votes"

    def __init__(self, trust: float = 1.0) -> None:
        self.trust = trust

    def skip(self, view):
        return None if len(view.targets) == 1 else "one target column at a time"

    def reconstruct(self, view, rng: np.random.Generator):
        release, names = view.release, view.release.domain.names
        hidden = names.index(view.targets[0])
        votes = np.log(view.prior.conditional(view.known, view.targets) + 1e-12)
        for columns, answer in zip(release.workload, release.answers, strict=True):
            if hidden in columns:
                cell = tuple(view.known.column(names[i]) for i in columns if i != hidden)
                counts = np.moveaxis(answer, columns.index(hidden), -1)[cell]
                votes += self.trust * counts / (release.noise_sd + 1.0) ** 2
        return view.reconstruction(votes.argmax(axis=1))
