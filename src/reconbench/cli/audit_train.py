"""`reconbench audit train`: train models, attack them, and estimate epsilon from the errors."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from reconbench.cli import audit_mcmc

if TYPE_CHECKING:
    from reconbench.attacks.membership import Counts
    from reconbench.benchmarks.audits.train import Population
    from reconbench.bounds import Guarantee, Relation
    from reconbench.mechanisms.training.algorithms import Training

HELP = """Train models, attack them, and estimate how private the training algorithm is.

For each of --bases challenge bases, a fresh table and a fresh record are drawn, --challenges models
are trained without the record and as many with it, and a membership attack tells them apart (LiRA
on the record's loss at false-positive rate --level, fitted on --shadows further models of each
kind). The posterior of epsilon follows from the attack's errors, as in `reconbench audit mcmc`.
Neighbours are tables with and without one record or, with --relation replace-one, tables with the
record and with another in its place. With --shadows 0, challenges serve as each other's shadow
models, as in the paper: half the work, but correlated decisions, whose chains mix badly.

\b
A1  fixed initial weights               A3  fixed, noise of sd --sigma on the trained weights
A2  random initial weights              A4  random, with that noise
dp-sgd  clipped gradients with noise (multiplier --sigma); its known guarantee is shown

The network has one hidden layer (--hidden 0: none) and predicts the column --label of --dataset
from the others. For images, give --images mnist (after `reconbench data fetch mnist`), or IDX files
with --images and --classes.
--model gdp takes the mechanism to be Gaussian and uses 19 levels of each base jointly; --model both
compares it with the paper's model at --level (`reconbench audit mcmc --help`).
--out writes the report, the counts, and the errors of the attacks at every level.

\b
Examples:
  reconbench audit train --algorithm A4 --sigma 0.1 --bases 20 --challenges 100
  reconbench audit train --algorithm A1 --label SCHL --size 199 --epochs 50 --out report
  reconbench audit train --algorithm dp-sgd --sigma 1 --hidden 0 --json
  reconbench audit train --algorithm A2 --images fashion-mnist
  reconbench audit train --algorithm A2 --images train-images-idx3-ubyte.gz \\
    --classes train-labels-idx1-ubyte.gz
"""

COUNTS, ERRORS = "counts.csv", "errors.csv"
HEADER = ("X", "N0", "Y", "N1")
DP_SGD = "dp-sgd"


def train(
    algorithm: Annotated[str, typer.Option(help="A1, A2, A3, A4 or dp-sgd.")],
    sigma: Annotated[float, typer.Option(help="Noise for A3, A4 and dp-sgd.")] = 0.1,
    dataset: Annotated[str, typer.Option(help="Prior from which tables are drawn.")] = "acs",
    label: Annotated[str, typer.Option(help="The column to predict.")] = "MAR",
    images: Annotated[
        Path | None, typer.Option(help="IDX file with images, or mnist or fashion-mnist.")
    ] = None,
    classes: Annotated[Path | None, typer.Option(help="IDX file with their classes.")] = None,
    bases: Annotated[int, typer.Option(help="Number of challenge bases.")] = 20,
    challenges: Annotated[int, typer.Option(help="Models per base, each without and with.")] = 100,
    shadows: Annotated[int, typer.Option(help="Shadow models per base; 0: the challenges.")] = 100,
    size: Annotated[int, typer.Option(help="Records in a table without the record.")] = 999,
    epochs: Annotated[int, typer.Option(help="Passes over the table.")] = 200,
    hidden: Annotated[int, typer.Option(help="Hidden units; 0 is logistic regression.")] = 128,
    level: Annotated[
        float, typer.Option(help="Target false-positive rate: 0.01, 0.02, … 0.99.")
    ] = 0.1,
    relation: Annotated[
        audit_mcmc.RelationName, typer.Option(help="Neighbouring relation of the attacked tables.")
    ] = audit_mcmc.RelationName.ADD_REMOVE,
    delta: Annotated[float, typer.Option(help="The delta of the guarantee.")] = 1e-2,
    model: Annotated[
        audit_mcmc.ModelName, typer.Option(help="What attacks on the mechanism can do.")
    ] = audit_mcmc.ModelName.REGION,
    iterations: Annotated[int, typer.Option(help="Draws kept per chain.")] = 10_000,
    seed: Annotated[int, typer.Option(min=0, help="Random seed.")] = 0,
    jobs: Annotated[int | None, typer.Option(min=1, help="Threads; default: all cores.")] = None,
    out: Annotated[Path | None, typer.Option(help="Folder for the counts and the report.")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for programs.")] = False,
) -> None:
    import numpy as np

    from reconbench.benchmarks.audits.train import (
        JOINT_LEVELS,
        TrainingAudit,
        check_level,
        collect,
        counts_at,
        counts_of_levels,
    )
    from reconbench.benchmarks.run.runner import available_cores
    from reconbench.bounds import Relation
    from reconbench.bounds.audit.mcmc import GdpPrior, Prior, Settings, prior_sensitivity
    from reconbench.bounds.audit.mcmc.counts import MOST_ATTACKS
    from reconbench.bounds.audit.mcmc.document import document, figures

    # Check everything before hours of training.
    audit = TrainingAudit(
        _population(dataset, label, images, classes),
        _training(algorithm, sigma, size, epochs, hidden),
        bases,
        challenges,
        shadows,
        size,
        seed,
        Relation(relation.value),
    )
    settings = Settings(iterations=iterations)
    check_level(level)
    promised = _promised(audit.training, audit.relation, audit_mcmc.check_delta(delta, model))
    audit_mcmc.check_likelihood(audit.likelihood, model)
    if model is not audit_mcmc.ModelName.REGION and bases * len(JOINT_LEVELS) > MOST_ATTACKS:
        raise ValueError(
            f"--bases must be at most {MOST_ATTACKS // len(JOINT_LEVELS)} for --model "
            f"{model.value}, got {bases}: it uses {len(JOINT_LEVELS)} levels of each"
        )
    if out is not None:
        audit_mcmc.make_folder(out)

    def progress(done: int) -> None:
        if not quiet:
            typer.echo(f"{algorithm}: challenge base {done} of {bases} attacked", err=True)

    errors = collect(audit, jobs or available_cores(), progress)
    counts = counts_at(errors, level)
    rng = np.random.default_rng(seed)
    fitted = []
    for name in audit_mcmc.models_of(model):
        gaussian = name is audit_mcmc.ModelName.GDP
        fitted.append(
            audit_mcmc.fit(
                counts_of_levels(errors) if gaussian else counts,
                delta,
                GdpPrior() if gaussian else Prior(),
                audit.likelihood,
                audit.relation,
                settings,
                rng,
            )
        )
    found, check = fitted[0]
    priors = [] if out is None else prior_sensitivity(found.run, settings, rng)
    report = {
        "algorithm": algorithm,
        "training": repr(audit.training),
        "promised": promised,
        **document(
            found,
            check,
            other_model=fitted[1] if len(fitted) > 1 else None,
            other_priors=priors,
        ),
    }
    if out is not None:
        _write(out / COUNTS, HEADER, counts.columns.tolist())
        _write(out / ERRORS, ("base", "level", *HEADER), _levels(errors))
        data = figures(found)
        data["region"]["curves"] = _curves(errors)
        audit_mcmc.write_report(out, report, data)
    audit_mcmc.print_report(report, as_json=as_json)


def _population(dataset: str, label: str, images: Path | None, classes: Path | None) -> Population:
    from reconbench.benchmarks.audits.train import FromImages, FromPrior, FromRecords
    from reconbench.datasets.sources.idx import read_images
    from reconbench.datasets.sources.packages.images import IMAGE_SOURCES, load_images
    from reconbench.mechanisms.training.algorithms import Records

    if str(images) in IMAGE_SOURCES and classes is None:
        load_images(str(images))
        return FromImages(str(images))
    if (images is None) != (classes is None):
        raise ValueError(
            "--images and --classes go together; give both, neither, or for --images a fetched "
            f"source ({', '.join(IMAGE_SOURCES)})"
        )
    if images is None or classes is None:
        return FromPrior(dataset, label)
    pixels, labels = read_images(images, classes)
    return FromRecords(Records.of_vectors(pixels, labels, int(labels.max()) + 1))


def _training(algorithm: str, sigma: float, size: int, epochs: int, hidden: int) -> Training:
    from reconbench.benchmarks.audits import train
    from reconbench.mechanisms.training.algorithms import DpSgd, Network

    if algorithm != DP_SGD:
        return train.algorithm(algorithm, sigma, epochs=epochs, hidden=hidden)
    batch = min(100, size)
    steps = max(epochs * size // batch, 1)
    return DpSgd(size, sigma, Network(hidden), steps=steps, batch=batch)


def _promised(training: Training, relation: Relation, delta: float) -> float | None:
    """The epsilon that an algorithm guarantees for these neighbours, if it is finite."""
    from reconbench.bounds import Relation, as_replace_one

    guarantee: Guarantee | None = getattr(training, "guarantee", None)
    if guarantee is None:
        return None
    if relation is Relation.REPLACE_ONE:
        guarantee = as_replace_one(guarantee)
    epsilon = float(guarantee.epsilon_at(delta))
    return epsilon if math.isfinite(epsilon) else None


def _levels(errors: Sequence[Counts]) -> list[list[float]]:
    """One line per base and level: the base, the level, X, N0, Y and N1."""
    return [
        [base, level, x, each.out, y, each.in_]
        for base, each in enumerate(errors, start=1)
        for level, x, y in zip(each.levels, each.false_positives, each.false_negatives, strict=True)
    ]


def _curves(errors: Sequence[Counts]) -> list[dict[str, float]]:
    """The error rates of each base, from level to level."""
    return [
        {"base": base, "order": level, "alpha": x / n0, "beta": y / n1}
        for base, level, x, n0, y, n1 in _levels(errors)
    ]


def _write(path: Path, header: Sequence[str], lines: Sequence[Sequence[float]]) -> None:
    from reconbench.datasets.atomic_files import write_atomic

    text = io.StringIO(newline="")
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(header)
    rows.writerows(lines)
    write_atomic(path, text.getvalue())
