"""The options that state a prior, and what an attacker knows besides the release."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]

PriorFile = Annotated[
    Path | None, typer.Option(help="CSV file with a column `prior`, or p0, p1, ...")
]
Values = Annotated[int | None, typer.Option("--values", help="So many values, equally likely.")]
PriorList = Annotated[
    str | None,
    typer.Option("--prior", metavar="P0,P1,...", help="The probability of each value."),
]
KnowledgeName = Annotated[
    str | None,
    typer.Option(
        "--knowledge",
        metavar="none|any|all|FILE",
        help="What the attacker knows of the target without the release: nothing, unknown, the "
        "value itself, or a CSV file whose column `group` has the group of each value.",
    ),
]
Within = Annotated[
    float | None,
    typer.Option("--within", help="The largest error of a guess that counts; default: 0, exact."),
]
KNOWLEDGE = ("none", "any", "all")
PROBABILITY, GROUP = "probability", "group"


def read_one_prior(values: int | None, prior: str | None, path: Path | None) -> int | Floats:
    """The prior of one secret: a number of equally likely values, or their probabilities."""
    import numpy as np

    from reconbench.bounds.prior_file import read_number, read_priors, read_rows
    from reconbench.bounds.rad.secret import MOST_VALUES

    if [values, prior, path].count(None) != 2:
        raise ValueError("give one of --values, --prior and --prior-file")
    if values is not None:
        if not 2 <= values <= MOST_VALUES:
            raise ValueError(f"--values must be in [2, {MOST_VALUES:,}], got {values:,}")
        return values
    if prior is not None:
        return parse_prior(prior)
    assert path is not None
    rows = read_rows(path, "one row per value")
    if PROBABILITY in rows[0]:
        return np.array([read_number(path, row[PROBABILITY]) for row in rows])
    _, whole = read_priors(path)
    if whole is None or len(whole) != 1:
        raise ValueError(
            f"{path} must have one prior: a column `{PROBABILITY}` with one row per value, or one "
            "row with columns p0, p1, ..."
        )
    return np.asarray(whole[0], dtype=np.float64)


def read_baseline(
    baseline: float | None, values: int | None, prior: str | None
) -> tuple[float, Floats | None]:
    """The success of the best guess, and the whole prior where its values are not as likely."""
    if [baseline, values, prior].count(None) != 2:
        raise ValueError("give one of --baseline, --values and --prior")
    if baseline is not None:
        return baseline, None
    masses = read_one_prior(values, prior, None)
    # The worst prior with a baseline of 1/m is m equally likely values.
    return (1 / masses, None) if isinstance(masses, int) else (float(masses.max()), masses)


def parse_prior(text: str) -> Floats:
    """The probabilities in a comma-separated text."""
    import numpy as np

    try:
        return np.array([float(piece) for piece in text.split(",")])
    except ValueError:
        raise ValueError(
            f"--prior must be probabilities separated by commas, as in 0.5,0.3,0.2, got "
            f"{text[:100]!r}"
        ) from None


def read_knowledge(known: str | None, size: int) -> str | list[str]:
    """A name of `KNOWLEDGE`, or the group of each of `size` values from a file."""
    from reconbench.bounds.prior_file import read_rows

    if known is None or known in KNOWLEDGE:
        return known or "none"
    path = Path(known)
    if not path.is_file():
        raise ValueError(
            f"--knowledge must be none, any, all or a CSV file with a column `{GROUP}`, got "
            f"{known!r}, which is none of them"
        )
    rows = read_rows(path, "one row per value")
    if GROUP not in rows[0]:
        raise ValueError(f"{path} must have a column `{GROUP}`, one row per value")
    if len(rows) != size:
        raise ValueError(
            f"{path} must have one row for each of the {size:,} values, got {len(rows):,}"
        )
    return [str(row[GROUP]) for row in rows]
