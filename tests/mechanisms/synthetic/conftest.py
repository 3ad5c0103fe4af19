from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest

from reconbench.mechanisms.synthetic.graphical.markov_model import MarkovModel

Floats = npt.NDArray[np.float64]


@pytest.fixture(scope="session")
def enumerate_joint() -> Callable[[MarkovModel], Floats]:
    """The probabilities of all records: Π cliques / Π separators."""

    def enumerate_(model: MarkovModel) -> Floats:
        joint, sizes = np.ones(model.domain.sizes), model.domain.sizes

        def lay_out(value: Floats, columns: tuple[int, ...]) -> Floats:
            return value.reshape([sizes[v] if v in columns else 1 for v in range(len(sizes))])

        for clique, separator, cells in zip(
            model.tree.cliques, model.tree.separators, model.marginals, strict=True
        ):
            shared = model.marginal(separator) if separator else np.ones(())
            joint = joint * lay_out(cells, clique) / lay_out(shared, separator)
        return joint

    return enumerate_
