"""The numbers that papers print, beside ours: writes docs/reproduction.md.

    python docs/generate reproduction > docs/reproduction.md

What follows from a guarantee and a prior is computed; games are read from a committed file, see
``generate.reproduction_games``. Needs the extra `reconbench[accounting]`. The output is the same
on every run.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.optimize import brentq
from scipy.special import zeta

from generate import reproduction_riess
from generate.reproduction_errata import errata
from generate.reproduction_games import committed, section
from reconbench.bounds import (
    ZCDP,
    Advantage,
    ApproxDP,
    GaussianDP,
    ReRoRenyi,
    ReRoZCDP,
    UnifiedBound,
    beta,
    epsilon_protect,
    generalised_advantage,
    laplace_queries,
    laplace_queries_pure,
    leak_probability,
    theorem_3_5,
    worst_advantage,
    zcdp_rho,
)
from reconbench.bounds.audit import LdpAuditor, mcmc
from reconbench.bounds.guarantees.composed import dp_sgd, dp_sgd_renyi
from reconbench.bounds.rad import dp_sgd_sigma

DELTA = 1e-5
DIGITS_9 = 1e-9
# SST-2 has 67,349 sentences: batches of 256 make 264 steps a pass, for three passes.
SAMPLING, STEPS = 256 / 67_349, 3 * 264
NOISE = (0.5715, 0.6072, 0.6366, 0.6945, 0.7498)
ORDERS = 1 + np.geomspace(0.05, 200, 120)
# What imputation guesses for table 1 of Guerra-Balboa 2026.
IMPUTED = (("acs", "RAC1P"), ("fire", "Priority"))


@dataclass(frozen=True)
class Row:
    """One printed number and ours."""

    quantity: str
    printed: str
    ours: str
    note: str = ""

    def markdown(self) -> str:
        return f"| {self.quantity} | {self.printed} | {self.ours} | {self.note} |"


def swanberg() -> list[Row]:
    """Swanberg 2025, sections 3.2, 5 and 6."""
    names = 0.00545
    return [
        Row(
            "ε_protect (generalised advantage ≤ 0.05, δ = 1e-5), 9 uniform digits",
            "17.8",
            f"{epsilon_protect(DIGITS_9):.3f}",
        ),
        Row(
            "chance to reconstruct 9 uniform digits at ε = 17",
            "very low",
            f"{leak_probability(9 * math.log2(10), 17.0):.4f}",
        ),
        *_passwords(),
        Row(
            "Zipf s = 1.1 over 10 digits: largest prior",
            "38.0 % (the attack)",
            f"{zipf_prior(1.1, 10):.4f}",
            "at ε = 1 the attack hardly beats always guessing the likeliest digit",
        ),
        Row(
            "names: ε_protect",
            "2.37",
            f"{epsilon_protect(names):.3f}",
            f"for a largest prior of {names}; 0.00544 to 0.005455 fit both (inferred)",
        ),
        Row("names: advantage at ε = 5", "0.45", f"{extraction_advantage(names, 5.0):.3f}"),
        Row(
            "advantage at ε = 10: password (s = 1.1, 1.2), name, uniform",
            "≈1, ≈1, ≪0.05",
            f"{extraction_advantage(zipf_prior(1.1, 10**9), 10.0):.4f}, "
            f"{extraction_advantage(zipf_prior(1.2, 10**9), 10.0):.4f}, "
            f"{extraction_advantage(names, 10.0):.3f}, "
            f"{extraction_advantage(DIGITS_9, 10.0):.0e}",
        ),
        _acs_sex(),
        _acs_age(),
    ]


def _passwords() -> list[Row]:
    rows = []
    for s, note in ((1.1, "the stated s"), (1.2, "the likely setting (inferred)")):
        prior = zipf_prior(s, 10**9)
        rows.append(
            Row(
                f"Zipf passwords, s = {s}: ε_protect; likeliest one's advantage at ε = 1",
                "0.25; 0.24",
                f"{epsilon_protect(prior):.4f}; {extraction_advantage(prior, 1.0):.4f}",
                note,
            )
        )
    return rows


def _acs_sex() -> Row:
    found = theorem_3_5(np.full(100, 0.56), ApproxDP(1.0, DELTA))
    return Row(
        "ACS SEX, ε = 1: 95 % ceiling of 100 targets with prior 56",
        "84",
        str(found[0.95]),
        f"5 %: {found[0.05]}, 50 %: {found[0.5]}",
    )


def _acs_age() -> Row:
    # Our own extract: another state, so another prior.
    from reconbench.attacks.metrics import WithinL1
    from reconbench.datasets.shipped import acs

    prior, metric = acs(), WithinL1(1)
    table = prior.sample(2_000, np.random.default_rng(0))
    known = table.project([name for name in prior.domain.names if name != "AGEP"])
    _, best = metric.best_guess(prior, known, ["AGEP"])
    games = best.reshape(20, 100)
    ceilings = [theorem_3_5(priors, ApproxDP(1.0, DELTA))[0.05] for priors in games]
    return Row(
        "ACS AGEP within 1, ε = 1: ceiling at 5 %",
        "82",
        f"{np.median(ceilings):.0f}",
        f"Theorem 3.5 on our Montana prior (expected prior success {100 * best.mean():.0f} of 100, "
        "median of 20 tables); the paper has California",
    )


def kulynych() -> list[Row]:
    """Kulynych 2025, sections 1 and 4, appendix G."""
    rho = zcdp_rho(10.6, 1e-10)
    census, gaussian = ZCDP(rho), ZCDP(rho).gaussian()
    rare = float(UnifiedBound().success(1e-4, gaussian)) - 1e-4
    queries = Advantage(np.array([0.1]))
    return [
        Row(
            "census, states (ε = 10.6, δ = 1e-10): worst-case advantage, standard / RDP / theirs",
            ">99 / 73 / 52 pp",
            f"{100 * ApproxDP(10.6, 1e-10).total_variation():.3f} / "
            f"{100 * worst_advantage(ReRoZCDP(), census)[0]:.2f} / "
            f"{100 * gaussian.total_variation():.2f} pp",
            f"ρ = {rho:.4f} by ε = ρ + 2√(ρ log 1/δ), μ = √(2ρ)",
        ),
        Row("the same at baseline 1e-4", "<0.001 pp", f"**{100 * rare:.2f} pp**", "erratum, below"),
        _census_levels(),
        Row(
            "Laplace scale 5, baseline 0.1, advantage ≤ 0.2: queries, theirs against standard",
            "15 against 5",
            f"{laplace_queries(queries, 0.2, 5.0).queries} against "
            f"{laplace_queries_pure(queries, 0.2, 5.0).queries}",
        ),
        Row(
            "GPT-2 with DP-SGD, δ = 1e-5: ε",
            "3.95 3.2 2.7 1.9 1.45",
            " ".join(f"{_epsilon(sigma):.3f}" for sigma in NOISE),
            f"q = 256/67,349, {STEPS} steps (inferred: batch 256 of SST-2, 3 epochs)",
        ),
        Row(
            "noise saved at equal worst-case advantage 0.1 / 0.15 / 0.25, DP-SGD",
            "≈20 %",
            " / ".join(f"{100 * _saved_dp_sgd(risk):.0f} %" for risk in (0.1, 0.15, 0.25)),
            "against Balle's Rényi bound at its best order",
        ),
        Row(
            "the same, plain Gaussian noise",
            "–",
            " / ".join(f"{100 * _saved_gaussian(risk):.0f} %" for risk in (0.1, 0.15, 0.25)),
        ),
    ]


def _census_levels() -> Row:
    """What is saved at the eight levels of the suite, against the bound from zCDP."""
    from reconbench.benchmarks.suites.suite import find_suite

    saved = {}
    for point in find_suite("kulynych-fig4").points():
        risk = point.row().ceilings
        saved[point.label] = 1 - risk["f-dp"]["mean"] / risk["rero-zcdp"]["mean"]
    least, most = (choose(saved, key=saved.__getitem__) for choose in (min, max))
    return Row(
        "figure 4, census, eight levels: less worst-case risk than by zCDP",
        "up to 33 %",
        f"{100 * saved[least]:.1f} % ({least}) to {100 * saved[most]:.1f} % ({most})",
        "suite `kulynych-fig4`; grows to 34.2 % as ρ falls, whatever the allocation",
    )


def guerra_balboa() -> list[Row]:
    """Guerra-Balboa 2026, Example 5.5, section 7 and table 1."""
    sigma, trials = dp_sgd_sigma(0.1, steps=100, m=10), 10**6
    return [
        Row(
            "Example 5.5: noise multiplier of full-batch DP-SGD, m = 10, γ ≤ 0.1, T = 100",
            "22",
            f"{sigma:.2f}",
            f"at the printed μ = √T/σ, one record against none; {2 * sigma:.1f} when one record "
            "replaces another, which RAD is about",
        ),
        Row(
            "figure 5: where LDP-Auditor stops, 10^6 trials",
            "≈12.25",
            f"{LdpAuditor().cap(trials, 0.99):.3f}",
            f"its lower bound at 99 %; {LdpAuditor().cap(trials, 0.98):.3f} at 98 %. "
            "[The audit](audit.md) has played values, and those of RAD, which goes on",
        ),
        Row(
            "table 1: imputation, success rate (ReRo); advantage (RAD)",
            "Census 0.81; 0, Texas 0.73; 0",
            ", ".join(_imputed(dataset, target) for dataset, target in IMPUTED),
            "another survey and another column; suite `rad-imputation` plays more",
        ),
    ]


PERCENTILES = (0.05, 0.5, 0.95)
# Section 4.1 of Yildirim 2025: errors of ten strong attacks in 1,000 challenges each.
STRONG = (
    (40, 250), (50, 200), (60, 150), (100, 100), (100, 120),
    (110, 100), (120, 100), (200, 80), (200, 70), (200, 60),
)  # fmt: skip


def yildirim() -> list[Row]:
    """Yildirim 2025, section 4.1, by integration over (ε, s); prior of variance 10."""
    strong = mcmc.Counts.of([(x, 1_000, y, 1_000) for x, y in STRONG])
    one = mcmc.Counts.of([(200, 500, 200, 500)])
    rows = []
    for delta in (0.01, 0.0):
        found = mcmc.grid_posterior(strong, delta, cells=200, strength_cells=100)
        epsilon, s = found.epsilon_quantile(PERCENTILES), found.strength_quantile(PERCENTILES)
        rows.append(
            Row(
                f"section 4.1, ten strong attacks, δ = {delta:g}: 90 % intervals of ε and s",
                "figure 3",
                f"ε {_interval(epsilon)}; s {_interval(s)}",
                "N(0, 10) taken as a variance of 10; the figure prints no numbers",
            )
        )
    for strength in (0.5, 0.9, 0.99):
        prior = mcmc.Prior(strength=mcmc.FixedStrength(strength))
        found = mcmc.grid_posterior(one, 0.01, prior)
        rows.append(
            Row(
                f"one attack, X = Y = 0.4 N, N = 500, s = {strength:g}: 90 % interval of ε",
                "figure 2",
                _interval(found.epsilon_quantile(PERCENTILES)),
            )
        )
    return rows


def _interval(found: npt.NDArray[np.float64]) -> str:
    return f"[{found[0]:.2f}, {found[2]:.2f}], median {found[1]:.2f}"


def _imputed(dataset: str, target: str) -> str:
    from reconbench.benchmarks.game.play import AttackSpec, Game, Round, play
    from reconbench.benchmarks.run.worker_tasks import one_thread
    from reconbench.benchmarks.store.summary import summarise

    game = Game(dataset, (target,), epsilon=10.0, advantage=2)
    blind = AttackSpec("imputation", {"records": 2_000})
    with one_thread():
        (found,) = summarise([play(Round.of(game.at(rep)), blind) for rep in range(3)])
    return f"{dataset.upper()} {target} {(found.success or 0) / game.n:.2f}; {found.rad:g}"


def zipf_prior(s: float, values: int) -> float:
    """The largest probability of a Zipf distribution: 1/Σ k^−s, by Hurwitz zeta functions."""
    return 1 / float(zeta(s, 1) - zeta(s, values + 1))


def extraction_advantage(prior: float, epsilon: float, delta: float = DELTA) -> float:
    """(β + δ − p)/(1 − p): Swanberg 2025, Corollary 3.4 for one target, section 5.3."""
    return float(generalised_advantage(float(beta(prior, epsilon)) + delta, prior))


def _epsilon(sigma: float) -> float:
    return dp_sgd(sigma, SAMPLING, STEPS, discretisation=5e-4).epsilon_at(DELTA)


def _saved_dp_sgd(risk: float) -> float:
    def ours(sigma: float) -> float:
        return dp_sgd(sigma, SAMPLING, STEPS, discretisation=1e-3).total_variation()

    def renyi(sigma: float) -> float:
        return worst_advantage(ReRoRenyi(), dp_sgd_renyi(sigma, SAMPLING, STEPS, ORDERS))[0]

    return 1 - _noise(ours, risk) / _noise(renyi, risk)


def _saved_gaussian(risk: float) -> float:
    def ours(sigma: float) -> float:
        return GaussianDP(1 / sigma).total_variation()

    def zcdp(sigma: float) -> float:
        return worst_advantage(ReRoZCDP(), GaussianDP(1 / sigma))[0]

    return 1 - _noise(ours, risk, 40.0) / _noise(zcdp, risk, 40.0)


def _noise(advantage: Callable[[float], float], risk: float, most: float = 2.0) -> float:
    """The noise at which the advantage is the risk."""
    return float(brentq(lambda sigma: advantage(sigma) - risk, 0.4, most, xtol=1e-4))


def page() -> str:
    """The whole page, as Markdown."""
    head = ["| quantity | printed | ours | note |", "|---|---|---|---|"]
    return "\n".join(
        [
            "# Reproduction and errata",
            "",
            "Generated by `python docs/generate reproduction > docs/reproduction.md`; a",
            "test holds this page against the script.",
            "",
            "## Swanberg et al. 2025, *Beyond the Worst Case*",
            "",
            *head,
            *(row.markdown() for row in swanberg()),
            "",
            "### Figures 4 to 7: attacks on noisy marginals",
            "",
            *section(committed()),
            "",
            "## Kulynych et al. 2025, *Unifying Re-Identification, …*",
            "",
            *head,
            *(row.markdown() for row in kulynych()),
            "",
            "## Guerra-Balboa et al. 2026, *Understanding Disclosure Risk in DP, …*",
            "",
            *head,
            *(row.markdown() for row in guerra_balboa()),
            "",
            "Figures 1, 2, 4, 5 and 6 are the suites `rad-bounds`, `rad-laplace` and `rad-ldp`;",
            "[Reconstruction advantage](rad.md) has what they show.",
            "",
            "## Yıldırım et al. 2025, *MCMC for Bayesian Estimation of DP from MIAs*",
            "",
            *head,
            *(row.markdown() for row in yildirim()),
            "",
            "Figures 2 to 5 and the pattern of table 1 are the suite `mcmc`; [ε from membership",
            "attacks](mcmc.md) has what it shows.",
            "",
            "## Riess et al. 2026, *From Mean to Extreme*",
            "",
            *reproduction_riess.section(),
            "",
            "## Errata",
            "",
            *errata(),
            "",
            *reproduction_riess.errata(),
        ]
    )


def main() -> None:
    sys.stdout.write(page())


if __name__ == "__main__":
    main()
