"""Print the tables of docs/rap.md: when should `rap` stop? Rules that see no truth, compared.

    python docs/generate stopping_sweep --reps 10 --seed 900

Every rule meets the same tables and releases, drawn from a seed that no shipped suite uses. One
descent of the converged attack serves the fixed numbers of steps, the discrepancy principle (stop
when the squared error has fallen to cells · noise_sd²) and, for comparison only, the best stop in
hindsight of each run, which looks at the truth. Descents are looked at in steps of a factor 1.2.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from math import inf, sqrt

import numpy as np
import numpy.typing as npt

from reconbench.attacks.rap.descent import Objective, batches
from reconbench.attacks.rap.problem import build_problem
from reconbench.attacks.rap.rap import Rap, RapMap, best_starts
from reconbench.benchmarks.game.play import Game, Round
from reconbench.benchmarks.game.random_streams import make_stream
from reconbench.mechanisms import MarginalsRelease

Floats = npt.NDArray[np.float64]

COLUMNS = (
    ("acs", "SEX"),
    ("acs", "AGEP"),
    ("acs", "SCHL"),
    ("fire", "ALS Unit"),
    ("fire", "Zipcode of Incident"),
)
EPSILONS = (1.0, 3.0, 10.0, inf)
FIXED = (10, 30, 100, 300, 1_000)
LEARNING_RATE = 0.05
REFERENCE = "simulated"
PLAYERS: Mapping[str, Rap | RapMap] = {
    REFERENCE: Rap(),
    "simulated, rate 0.02": Rap(learning_rate=0.02),
    "simulated, rate 0.1": Rap(learning_rate=0.1),
    "simulated, 64 worlds": Rap(worlds=64),
    "simulated, rate 0.02, 64 worlds": Rap(learning_rate=0.02, worlds=64),
    "rap-map": RapMap(),
    "rap-map, no entropy": RapMap(entropy=False),
}


def play_rules(
    dataset: str, column: str, epsilon: float, seed: int, reps: int
) -> dict[str, Floats]:
    """Successes of every rule in every repetition, of 100 records."""
    rounds = [
        Round.draw(Game(dataset, (column,), epsilon, seed=seed, rep=rep)) for rep in range(reps)
    ]
    views = [played.view for played in rounds]
    prior = np.array([float(played.successes(played.baseline[0])) for played in rounds])
    successes = {"prior": prior} | follow_descent(rounds, prior)
    for name, player in PLAYERS.items():
        guesses = player.reconstruct_many(views, make_streams(rounds))
        successes[name] = np.array(
            [
                float(played.successes(reconstruction.guess))
                for played, reconstruction in zip(rounds, guesses, strict=True)
            ]
        )
    return successes


def follow_descent(rounds: Sequence[Round], start: Floats) -> dict[str, Floats]:
    """Fixed numbers of steps, the discrepancy principle, and the best stop in hindsight."""
    problems = [
        build_problem(played.view, rng, 1)
        for played, rng in zip(rounds, make_streams(rounds), strict=True)
    ]
    steps = max(FIXED)
    looks = {*FIXED, *(round(1.2**j) for j in range(200) if 1.2**j < steps)}
    successes = {step: np.zeros(len(rounds)) for step in looks} | {0: start}
    errors = {step: np.zeros(len(rounds)) for step in (0, *looks)}
    for chosen, paths in batches(problems, Objective(), LEARNING_RATE):
        errors[0][chosen] = paths.losses()[:, 0, 0]
        for step in range(1, steps + 1):
            paths.step()
            if step not in looks:
                continue
            (column,), losses = best_starts(paths)
            for row, i in enumerate(chosen):
                view = rounds[i].view
                guess = view.reconstruction(view.metric.decide([column[row, 0]])).guess
                successes[step][i] = rounds[i].successes(guess)
                errors[step][i] = losses[row, 0]
    ordered = sorted(successes)
    noise = np.array([noise_energy(played) for played in rounds])
    discrepancy = successes[ordered[-1]].copy()
    for step in reversed(ordered):
        discrepancy = np.where(errors[step] <= noise, successes[step], discrepancy)
    rules = {
        f"{step} steps" + (" (converged)" if step == steps else ""): successes[step]
        for step in FIXED
    }
    hindsight = np.max(list(successes.values()), axis=0)
    return rules | {"discrepancy": discrepancy, "hindsight": hindsight}


def noise_energy(played: Round) -> float:
    """The squared error that the noise alone is expected to make."""
    release = played.view.release
    if not isinstance(release, MarginalsRelease):
        raise TypeError("the sweep plays releases of marginals")
    return release.cells * release.noise_sd**2


def make_streams(rounds: Sequence[Round]) -> list[np.random.Generator]:
    return [
        make_stream("stopping sweep", {"seed": played.game.seed, "rep": played.game.rep})
        for played in rounds
    ]


def format_tables(results: Mapping[tuple[str, float], Mapping[str, Floats]]) -> str:
    """Rules down, ε across (means over columns), then all games and the gap to the reference."""
    rules = list(next(iter(results.values())))
    lines = [
        "| rule | " + " | ".join(f"ε = {e:g}" for e in EPSILONS) + " | all | gap to `simulated` |",
        "|---|" + "---:|" * (len(EPSILONS) + 2),
    ]
    for rule in rules:
        means = [
            np.mean([game[rule] for (_, e), game in results.items() if e == epsilon])
            for epsilon in EPSILONS
        ]
        gaps = np.concatenate([game[rule] - game[REFERENCE] for game in results.values()])
        error = gaps.std(ddof=1) / sqrt(len(gaps))
        cells = [*(f"{mean:.1f}" for mean in means), f"{np.mean(means):.1f}"]
        lines.append(f"| {rule} | " + " | ".join(cells) + f" | {gaps.mean():+.1f} ± {error:.1f} |")
    lines += [
        "",
        "| column | ε | " + " | ".join(rules) + " |",
        "|---|---:|" + "---:|" * len(rules),
    ]
    for (column, epsilon), game in results.items():
        row = " | ".join(f"{game[rule].mean():.1f}" for rule in rules)
        lines.append(f"| {column} | {epsilon:g} | {row} |")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--reps", type=int, default=10, help="repetitions of each game, 2 or more")
    parser.add_argument("--seed", type=int, default=900, help="not 0: shipped suites use it")
    options = parser.parse_args(arguments)
    if options.reps < 2:
        parser.error(f"--reps must be at least 2, got {options.reps}")
    results = {
        (column, epsilon): play_rules(dataset, column, epsilon, options.seed, options.reps)
        for dataset, column in COLUMNS
        for epsilon in EPSILONS
    }
    sys.stdout.write(format_tables(results) + "\n")


if __name__ == "__main__":
    main()
