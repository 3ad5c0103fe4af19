"""Print docs/reproduction.md: the numbers that papers print, beside ours, and their errata.

    python docs/generate reproduction > docs/reproduction.md

The words are in ``templates/reproduction.md.j2``; the functions here compute what they name. What
follows from a guarantee and a prior is computed; games are read from a committed file, see
``generate.reproduction_games``. Needs the extra `reconbench[accounting]`. The output is the same
on every run.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.special import zeta

from generate.errata import ERRATA
from generate.own_data import list_own_figures
from generate.rendering import render
from generate.reproduction_games import describe_figures, read_games
from reconbench.attacks.metrics import WithinL1
from reconbench.benchmarks.computations.computation import Point
from reconbench.benchmarks.computations.gradient_errors import images, simulate
from reconbench.benchmarks.computations.guarantees import DISCRETISATION
from reconbench.benchmarks.game.play import AttackSpec, Game, Round, play
from reconbench.benchmarks.run.worker_tasks import one_thread
from reconbench.benchmarks.store.summary import summarise
from reconbench.benchmarks.suites.suite import find_suite
from reconbench.bounds import (
    ZCDP,
    Advantage,
    ApproxDP,
    GaussianDP,
    Guarantee,
    ReRoZCDP,
    UnifiedBound,
    beta,
    epsilon_protect,
    generalised_advantage,
    laplace_queries,
    laplace_queries_pure,
    leak_probability,
    strong_singling_out,
    theorem_3_5,
    worst_advantage,
    zcdp_rho,
)
from reconbench.bounds.audit import LdpAuditor, mcmc
from reconbench.bounds.gradients import GradientError, identification_sigma, risk_corridor
from reconbench.bounds.guarantees.composed import dp_sgd
from reconbench.bounds.rad import dp_sgd_sigma
from reconbench.datasets.shipped import acs
from reconbench.mechanisms.gradient_steps import GradientStep, OptimalNetwork

DELTA = 1e-5
# Simulated errors of figures 4 and 5 of Riess 2026: how many, and the norm of their records.
SAMPLES, NORM = 500, 1.01
# Rows of the attacker's layer in figure 2 of Riess 2026; 25 is what its theorem asks for here.
ROWS = (1, 25, 1000)
# Trainings behind figure 3 of Guerra-Balboa 2026 on this page.
TRAININGS = 200
DIGITS_9 = 1e-9
NAMES = 0.00545
# SST-2 has 67,349 sentences: batches of 256 make 264 steps per pass, for three passes.
SAMPLING, STEPS = 256 / 67_349, 3 * 264
NOISE = (0.5715, 0.6072, 0.6366, 0.6945, 0.7498)
RISKS = (0.1, 0.15, 0.25)
PERCENTILES = (0.05, 0.5, 0.95)
# What imputation guesses for table 1 of Guerra-Balboa 2026.
IMPUTED = (("acs", "RAC1P"), ("fire", "Priority"))
# Section 4.1 of Yildirim 2025: errors of ten strong attacks in 1,000 challenges each.
STRONG = (
    (40, 250), (50, 200), (60, 150), (100, 100), (100, 120),
    (110, 100), (120, 100), (200, 80), (200, 70), (200, 60),
)  # fmt: skip

Values = dict[str, Any]


def swanberg() -> Values:
    """Swanberg 2025, sections 3.2, 5 and 6."""
    passwords = {
        s: {
            "protect": epsilon_protect(prior),
            "at_1": extraction_advantage(prior, 1.0),
            "at_10": extraction_advantage(prior, 10.0),
        }
        for s, prior in ((s, zipf_prior(s, 10**9)) for s in (1.1, 1.2))
    }
    return {
        "digits_protect": epsilon_protect(DIGITS_9),
        "digits_leak": leak_probability(9 * math.log2(10), 17.0),
        "digits_at_10": extraction_advantage(DIGITS_9, 10.0),
        "passwords": passwords,
        "zipf_digit": zipf_prior(1.1, 10),
        "names": {
            "prior": NAMES,
            "protect": epsilon_protect(NAMES),
            "at_5": extraction_advantage(NAMES, 5.0),
            "at_10": extraction_advantage(NAMES, 10.0),
        },
        "sex": theorem_3_5(np.full(100, 0.56), ApproxDP(1.0, DELTA)),
        "age": acs_age(),
    }


def acs_age() -> Values:
    """The 5 % ceiling of AGEP within 1 on our own extract: another state, so another prior."""
    prior = acs()
    table = prior.sample(2_000, np.random.default_rng(0))
    known = table.project([name for name in prior.domain.names if name != "AGEP"])
    _, best = WithinL1(1).best_guess(prior, known, ["AGEP"])
    ceilings = [theorem_3_5(each, ApproxDP(1.0, DELTA))[0.05] for each in best.reshape(20, 100)]
    return {"ceiling": np.median(ceilings), "prior": best.mean()}


def zipf_prior(s: float, values: int) -> float:
    """The largest probability of a Zipf distribution: 1/Σ k^−s, by Hurwitz zeta functions."""
    return 1 / float(zeta(s, 1) - zeta(s, values + 1))


def extraction_advantage(prior: float, epsilon: float, delta: float = DELTA) -> float:
    """(β + δ − p)/(1 − p): Swanberg 2025, Corollary 3.4 for one target, section 5.3."""
    return float(generalised_advantage(float(beta(prior, epsilon)) + delta, prior))


def kulynych() -> Values:
    """Kulynych 2025, sections 1 and 4, appendix G."""
    rho, baseline = zcdp_rho(10.6, 1e-10), Advantage(np.array([0.1]), UnifiedBound())
    return {
        "census": {
            "rho": rho,
            "standard": ApproxDP(10.6, 1e-10).total_variation(),
            "renyi": worst_advantage(ReRoZCDP(), ZCDP(rho))[0],
            "theirs": ZCDP(rho).gaussian().total_variation(),
        },
        "status": disease_status(1e-4, ZCDP(rho).gaussian()),
        "levels": census_levels(),
        "grid": DISCRETISATION,
        "queries": [
            laplace_queries(baseline, 0.2, 5.0).queries,
            laplace_queries_pure(baseline, 0.2, 5.0).queries,
        ],
        "steps": STEPS,
        "dp_sgd_epsilons": [
            dp_sgd(sigma, SAMPLING, STEPS, discretisation=5e-4).epsilon_at(DELTA) for sigma in NOISE
        ],
        "saved_dp_sgd": saved_dp_sgd(),
        "saved_gaussian": [saved_gaussian(risk) for risk in RISKS],
        "text": trained_models("kulynych-fig1"),
        "images": trained_models("kulynych-fig7"),
        "baselines": census_baselines(),
    }


def disease_status(prevalence: float, guarantee: Guarantee) -> Values:
    """The advantage on a yes/no status in percentage points; its baseline is 1 − prevalence.

    Kulynych 2025, Definition 3.4: the baseline is the success of the best guess, here "no".
    """
    baseline = 1 - prevalence
    # 1 − R_f(π) − (1 − π) = π δ(log((1 − π)/π)), without the cancellation
    binary = prevalence * guarantee.delta_at(math.log1p(-prevalence) - math.log(prevalence))
    gain = {
        "binary": binary,
        "f_dp": prevalence - float(guarantee.tradeoff(baseline)),
        "singling_out": float(strong_singling_out(prevalence, guarantee, 1)) - prevalence,
    }
    return {name: 100 * value for name, value in gain.items()}


def census_levels() -> list[tuple[str, float]]:
    """The least and the most that is saved at the eight levels, against the bound from zCDP."""
    saved = []
    for point in find_suite("kulynych-fig4").points():
        risk = point.row().ceilings
        saved.append((point.label, 1 - risk["f-dp"]["mean"] / risk["rero-zcdp"]["mean"]))
    return [choose(saved, key=lambda level: level[1]) for choose in (min, max)]


def saved_dp_sgd() -> list[float]:
    """The share of noise that DP-SGD saves at worst-case advantages, against the Rényi bound."""
    every = find_suite("kulynych-fig1").points()
    found = {point.risk: point.row().ceilings for point in every if point.kind == "training-noise"}
    return [1 - found[risk]["f-dp"]["mean"] / found[risk]["rero-rdp"]["mean"] for risk in RISKS]


def trained_models(suite: str) -> Values:
    """Accuracies at a risk by bound, and of the published runs, with the risk of the noisiest."""
    every = [point for point in find_suite(suite).points() if point.kind == "training-risk"]
    runs = [point for point in every if point.risk is None]
    noisiest = max(runs, key=lambda point: point.asked["noise"])
    return {
        "at": {
            point.risk: {name: each["mean"] for name, each in point.row().ceilings.items()}
            for point in every
            if point.risk is not None
        },
        "accuracies": [point.asked["accuracy"] for point in runs],
        "noisiest": noisiest.asked["accuracy"],
        "noisiest_risk": noisiest.row().ceilings["rero-rdp"]["mean"],
    }


def census_baselines() -> dict[str, float]:
    """The most that is saved at any level, against the bound from zCDP, by baseline (figure 9)."""
    saved: dict[str, list[float]] = {}
    for point in find_suite("kulynych-fig9").points():
        risk = point.row().ceilings
        saved.setdefault(str(point.options["baseline"]), []).append(
            1 - risk["f-dp"]["mean"] / risk["rero-zcdp"]["mean"]
        )
    return {baseline: max(shares) for baseline, shares in saved.items()}


def saved_gaussian(risk: float) -> float:
    """The share of plain Gaussian noise that is saved, against the bound from zCDP."""

    def ours(sigma: float) -> float:
        return GaussianDP(1 / sigma).total_variation()

    def zcdp(sigma: float) -> float:
        return worst_advantage(ReRoZCDP(), GaussianDP(1 / sigma))[0]

    return 1 - _noise(ours, risk, 40.0) / _noise(zcdp, risk, 40.0)


def _noise(advantage: Callable[[float], float], risk: float, most: float = 2.0) -> float:
    """The noise at which the advantage is the risk."""
    return float(brentq(lambda sigma: advantage(sigma) - risk, 0.4, most, xtol=1e-4))


def guerra_balboa() -> Values:
    """Guerra-Balboa 2026, Example 5.5, section 7 and table 1."""
    return {
        "sigma": dp_sgd_sigma(0.1, steps=100, m=10, relation="add-remove"),
        "cap": {
            confidence: LdpAuditor().cap(10**6, confidence) for confidence in (0.98, 0.99, 0.995)
        },
        "imputed": [imputed(dataset, column) for dataset, column in IMPUTED],
        "training": trained(27.0),
    }


def trained(noise: float) -> Values:
    """Figure 3 at one noise multiplier, from fewer trainings than the suite has."""
    ((name, curve),) = find_suite("rad-fig3").computations()
    fewer = curve.model_copy(update={"noise": [noise], "samples": TRAININGS})
    points = list(fewer.points(name))
    return {
        "noise": noise,
        "epsilon": points[0].promise.epsilon,
        "samples": TRAININGS,
        "known": {point.asked["known"]: read_values(point) for point in points},
    }


def read_values(point: Point) -> dict[str, float]:
    """The values of a computed row, by name with ``_`` for signs."""
    return {name.replace("-", "_"): value["mean"] for name, value in point.row().ceilings.items()}


def imputed(dataset: str, column: str) -> Values:
    """Success rate and advantage of an attack that does not look at the release."""
    game = Game(dataset, (column,), epsilon=10.0, advantage=2)
    blind = AttackSpec("imputation", {"records": 2_000})
    with one_thread():
        (found,) = summarise([play(Round.draw(game.repeat(rep)), blind) for rep in range(3)])
    success = (found.success or 0) / game.n
    return {"dataset": dataset, "column": column, "success": success, "rad": found.rad}


def yildirim() -> Values:
    """Yildirim 2025, section 4.1, by integration over (ε, s); prior of variance 10."""
    attacks = mcmc.Counts.of([(x, 1_000, y, 1_000) for x, y in STRONG])
    one = mcmc.Counts.of([(200, 500, 200, 500)])
    strong, single = {}, {}
    for delta in (0.01, 0.0):
        posterior = mcmc.grid_posterior(attacks, delta, cells=200, strength_cells=100)
        strong[delta] = {
            "epsilon": posterior.epsilon_quantile(PERCENTILES),
            "strength": posterior.strength_quantile(PERCENTILES),
        }
    for strength in (0.5, 0.9, 0.99):
        prior = mcmc.Prior(strength=mcmc.FixedStrength(strength))
        single[strength] = mcmc.grid_posterior(one, 0.01, prior).epsilon_quantile(PERCENTILES)
    return {"strong": strong, "single": single}


def riess() -> Values:
    """Riess 2026, figures 1 to 5 in numbers."""
    sigma = identification_sigma(0.1, 11)
    (corridor,) = risk_corridor(1.0, 1, 10)
    return {
        "sigma": sigma,
        "crossing": sigma**2 * float(GradientError.of(1, 1.0).mse_quantile(0.1)),
        "corridor": corridor,
        "rows": {
            point.asked["rows"]: read_values(point)
            for point in find_suite("riess-fig2").points()
            if point.asked["rows"] in ROWS
        },
        "fits": [fit_errors(figure, dimension) for figure, dimension in ((4, 4), (5, 3072))],
    }


def fit_errors(figure: int, dimension: int) -> Values:
    """Kolmogorov-Smirnov tests of simulated errors against the law, and against wrong laws."""
    rng = np.random.default_rng(0)
    step = GradientStep(OptimalNetwork(), 0.1)
    errors = simulate(images(SAMPLES, dimension, NORM, rng), step, rng)
    wrong = [GradientError.of(dimension, 0.1 * factor, NORM) for factor in (0.9, 1.1)]
    return {
        "figure": figure,
        "dimension": dimension,
        "samples": SAMPLES,
        "p": errors.p_value(),
        "p_off": max(1e-12, *(replace(errors, law=law).p_value() for law in wrong)),
    }


def render_page() -> str:
    """The whole page, as Markdown."""
    papers = (swanberg, kulynych, guerra_balboa, yildirim, riess)
    return render(
        "reproduction.md.j2",
        **{paper.__name__: paper() for paper in papers},
        **describe_figures(read_games()),
        own_data=list_own_figures(),
        errata=ERRATA,
    )


def main() -> None:
    sys.stdout.write(render_page())


if __name__ == "__main__":
    main()
