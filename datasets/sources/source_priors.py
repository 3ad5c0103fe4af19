"""A prior of a public source, fitted as the shipped prior of that source was."""

from __future__ import annotations

from typing import Any

from reconbench.datasets.network.baynet import BayNet
from reconbench.datasets.network.fit import Independent, StructureSearch, fit, score_held_out
from reconbench.datasets.shipped.recipes import RECIPES
from reconbench.datasets.table import Table

# Fewer records cannot be split to score a fit.
LEAST_SCORED = 10
_SHARED = ("source", "licence")


def fit_source(table: Table, name: str, extract: str) -> tuple[BayNet, dict[str, Any]]:
    """The network of a table of a source, and its card; ``extract`` says what the records are."""
    recipe = next(recipe for recipe in RECIPES if recipe.name == name)
    net = fit(table, recipe.search, recipe.smoothing)
    rivals: dict[str, StructureSearch] = {"fitted": recipe.search, "independent": Independent()}
    large = len(table) >= LEAST_SCORED
    scores = score_held_out(table, rivals, recipe.smoothing) if large else {}
    card: dict[str, Any] = {
        "title": f"{name.upper()}: {extract}",
        **{key: recipe.provenance[key] for key in _SHARED},
        "extract": extract,
        "records": len(table),
        "columns": len(table.domain),
        "data_sha256": table.sha256(),
        "fitting": {"structure": repr(recipe.search), "smoothing": recipe.smoothing},
        "held_out": {
            "mean_log_likelihood_nats": {key: round(score, 4) for key, score in scores.items()}
        },
    }
    return net, card
