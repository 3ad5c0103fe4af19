"""Statistics of the results page: who is ahead, what is best possible, where the gap lies.

All functions start from the games of ``generate.results_data.split_games``. All attacks of a
repetition meet the same table and the same noise, so attacks are compared game by game. Games of
one repetition share their table across columns and budgets: tests over many cells (a cell is a
column at a budget) therefore treat a repetition as one block.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import nan, sqrt
from statistics import fmean
from typing import cast

import numpy as np
import pandas as pd

from reconbench.benchmarks.store.optimum import REFERENCES
from reconbench.reports.statistics import FLIPS, SEED, holm, sign_flip

REALISTIC, INFORMED = REFERENCES
LEVEL = 0.05
# Fewer expected hits or misses than this over all games make a cell too certain to be tested.
LEAST_EXPECTED = 5.0
LEAST_GAMES = 5
PARTS = ["attack", "threat", "bound"]


def select_attack(games: pd.DataFrame, adversary: str, attack: str) -> pd.DataFrame:
    """The games of one attack, by cell and repetition."""
    chosen = (games["adversary"] == adversary) & (games["attack"] == attack)
    return games[chosen].set_index(["cell", "rep"])


def compute_leads(games: pd.DataFrame, reference: str) -> pd.Series[float]:
    """Successes of the realistic reference less those of each other attack, game by game."""
    realistic = games[games["adversary"] == REALISTIC]
    successes = realistic.pivot(index=["cell", "rep"], columns="attack", values="success")
    ours = successes.pop(reference)
    leads = successes.rsub(ours, axis=0).melt(ignore_index=False, value_name="lead").dropna()
    return leads.set_index("attack", append=True)["lead"]


def compare_by_cell(leads: pd.Series[float]) -> pd.DataFrame:
    """Test every attack on every cell; ``adjusted`` by Holm over all of these comparisons.

    ``verdict`` is 1 where the reference is significantly ahead, −1 where it is behind, else 0.
    """
    by_cell = leads.groupby(["cell", "attack"])
    compared = pd.DataFrame(
        {
            "games": by_cell.size(),
            "mean": by_cell.agg(fmean),
            "error": by_cell.sem(),
            "p": by_cell.agg(sign_flip),
        }
    )
    compared["adjusted"] = holm(compared["p"].tolist())
    significant = compared["adjusted"] < LEVEL
    compared["verdict"] = np.where(significant, np.sign(compared["mean"]), 0).astype(int)
    return compared


def compare_over_cells(leads: pd.Series[float]) -> pd.DataFrame:
    """Test every attack over all cells at once, exact by flipping whole repetitions."""
    blocks = leads.groupby(["attack", "rep"])
    return pd.DataFrame(
        {
            "mean": leads.groupby("attack").agg(fmean),
            "error": blocks.mean().groupby("attack").sem(),
            "p": blocks.sum().groupby("attack").agg(sign_flip),
        }
    )


def calibrate(games: pd.DataFrame, adversary: str = REALISTIC) -> pd.DataFrame:
    """Compare what the best possible attack expected on a cell with what it got.

    Only games in which its computation converged count: the others have no expectation. ``z`` is
    Σ d / √Σ d² over the games' ``differences`` d of success and expectation, whose spread has both
    errors in it; NaN for a cell that is too certain or has too few games to be tested.
    """
    played = select_attack(games, adversary, REFERENCES[adversary])
    played = played[played["best"].notna() | ~played["converged"]]
    lines = {}
    for cell, group in played.groupby("cell"):
        trusted = group[group["converged"]]
        if not len(trusted):
            continue
        differences = (trusted["success"] - trusted["best"]).droplevel("cell")
        spread = sqrt((differences**2).sum())
        hits, targets = trusted["best"].sum(), trusted["n"].sum()
        tested = len(trusted) >= LEAST_GAMES and min(hits, targets - hits) >= LEAST_EXPECTED
        lines[cell] = {
            "games": len(group),
            "unconverged": len(group) - len(trusted),
            "expected": fmean(trusted["best"]),
            "expected_error": group["best_error"].iloc[0],
            "success": fmean(trusted["success"]),
            "success_error": trusted["success"].sem(),
            "differences": differences,
            "z": differences.sum() / spread if tested and spread > 0 else nan,
        }
    return pd.DataFrame.from_dict(lines, orient="index").rename_axis("cell")


@dataclass(frozen=True)
class ChiSquare:
    """Σ z² over cells: about their number if every expectation is right."""

    statistic: float
    cells: int
    p: float


def chi_square(calibrated: pd.DataFrame) -> ChiSquare:
    """Are all expectations right? p by flipping the signs of whole repetitions, seeded.

    A flip turns the differences of every cell in that repetition, so that what cells of one table
    have in common does not count as evidence. Exact for differences that spread alike to both
    sides; with a skewness of 1, 20 games per cell and 26 cells, 5 % become 8 %.
    """
    tested = calibrated[calibrated["z"].notna()] if len(calibrated) else calibrated
    if not len(tested):
        return ChiSquare(0.0, 0, 1.0)
    by_rep = pd.concat(list(tested["differences"]), axis=1).sort_index().fillna(0.0)
    scaled = by_rep.to_numpy() / np.sqrt((by_rep.to_numpy() ** 2).sum(axis=0))
    signs = np.random.default_rng(SEED).choice([-1.0, 1.0], size=(FLIPS, len(scaled)))
    statistic = float((scaled.sum(axis=0) ** 2).sum())
    flipped = ((signs @ scaled) ** 2).sum(axis=1)
    beyond = int((flipped >= statistic * (1 - 1e-12)).sum())
    return ChiSquare(statistic, len(tested), (1 + beyond) / (1 + FLIPS))


def compute_levels(games: pd.DataFrame, weak: str) -> pd.DataFrame:
    """Expected successes from the prior up to the published ceiling, by cell and repetition.

    ``weak`` is the attack in question, ``realistic`` and ``informed`` the best possible for each
    adversary, ``exact`` the prior-exact ceiling on the mean, ``published_50`` and ``_95`` those of
    Theorem 3.5. ``weak`` is as far below ``realistic`` as the attack is behind the reference in
    that game: the luck of the table, which both share, is left out. ``fallback`` says that
    ``realistic`` is the success of the reference attack, since its computation did not converge in
    all games.

    Only cells on which the weak attack and both references played, over their common games.
    """
    columns = ["prior", "published_50", "published_95", "success"]
    attack = select_attack(games, REALISTIC, weak)[columns].rename(columns={"success": "got"})
    ours = select_attack(games, REALISTIC, REFERENCES[REALISTIC])[["success", "best", "converged"]]
    ours["best"] = ours["best"].where(ours["converged"], ours["success"])
    other = select_attack(games, INFORMED, REFERENCES[INFORMED])[["best", "exact"]]
    other = other.rename(columns={"best": "informed"})
    levels = attack.join(ours, how="inner").join(other, how="inner").dropna()
    levels["fallback"] = ~levels["converged"].groupby("cell").transform("all").astype(bool)
    levels["realistic"] = levels["best"].mask(levels["fallback"], levels["success"])
    levels["attack"] = levels["success"] - levels["got"]
    levels["threat"] = levels["informed"] - levels["realistic"]
    levels["weak"] = levels["realistic"] - levels["attack"]
    return levels.drop(columns=["success", "best", "converged", "got"])


def split_gap(levels: pd.DataFrame) -> pd.DataFrame:
    """Split the gap between the weak attack and the published median ceiling, by cell.

    attack + threat + bound = gap, and bound = slack (left by the prior-exact ceiling) + avoidable
    (removed by it).
    """
    split = levels.groupby("cell").agg(fmean)
    split["fallback"] = split["fallback"].astype(bool)
    split["attack"] = split["realistic"] - split["weak"]
    split["threat"] = split["informed"] - split["realistic"]
    split["bound"] = split["published_50"] - split["informed"]
    split["slack"] = split["exact"] - split["informed"]
    split["avoidable"] = split["published_50"] - split["exact"]
    split["gap"] = split["published_50"] - split["weak"]
    split["largest"] = split[PARTS].idxmax(axis=1)
    return split


def estimate_block_error(values: pd.Series[float]) -> float:
    """The standard error of a mean over cells and repetitions, a repetition being one block."""
    return cast(float, values.groupby("rep").mean().sem())


def measure_tightness(games: pd.DataFrame) -> pd.DataFrame:
    """Compare the informed optimum with the prior-exact ceiling on the mean, by cell."""
    played = select_attack(games, INFORMED, REFERENCES[INFORMED]).dropna(subset="best")
    by_cell = played.assign(difference=played["best"] - played["exact"]).groupby("cell")
    tight = by_cell[["prior", "success", "best", "exact"]].agg(fmean)
    tight["games"] = by_cell.size()
    tight["difference"] = tight["best"] - tight["exact"]
    tight["share"] = tight["best"] / tight["exact"]
    tight["error"] = by_cell["difference"].sem()
    tight["z"] = tight["difference"] / tight["error"].where(tight["error"] > 0)
    return tight
