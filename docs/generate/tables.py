"""Write the tables of the documentation that follow from the code: columns, bounds, tightness.

Each table stands in its page between ``<!-- table: NAME -->`` and ``<!-- end -->``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np

from reconbench.benchmarks.store.summary import declared_bounds
from reconbench.bounds import (
    FdpProgram,
    FdpRecursion,
    GaussianDP,
    Profile,
    ProfileRecursion,
    gaussian_mu,
)
from reconbench.datasets.atomic_files import write_atomic
from reconbench.reports.leaderboard.columns import DICTIONARY

DOCS = Path(__file__).resolve().parents[1]


def list_columns() -> str:
    """Every column of leaderboard.csv with its meaning."""
    lines = [f"| `{column.name}` | {column.meaning} |" for column in DICTIONARY.values()]
    return "\n".join(["| column | meaning |", "|---|---|", *lines])


def list_bounds() -> str:
    """Every bound on many targets, with what it declares."""
    lines = [
        f"| `{bound.name}` | {bound.reference} | {bound.kind} | {bound.scope} | "
        f"{'yes' if bound.proved else 'no'} | {bound.statement} |"
        for bound in declared_bounds().values()
    ]
    header = ["| name | reference | about | holds for | proved as shipped | statement |"]
    return "\n".join([*header, "|---|---|---|---|---|---|", *lines])


def compare_with_the_least() -> str:
    """Ceilings of 100 targets with uniform priors beside the least that any proof can have."""
    lines = []
    for values, epsilon in ((2, 1.0), (2, 3.0), (4, 3.0)):
        guarantee = GaussianDP(gaussian_mu(epsilon, 1e-5))
        priors = np.full((100, values), 1 / values)
        for confidence in (0.5, 0.95):
            program = FdpProgram(priors, guarantee)
            others = (
                Profile(priors[:, 0], guarantee),
                ProfileRecursion(priors[:, 0], guarantee),
                FdpRecursion(priors, guarantee),
            )
            ceilings = " | ".join(str(bound.ceiling(confidence)) for bound in (*others, program))
            least = "yes" if program.is_least(confidence) else "not shown"
            lines.append(
                f"| {values} | {epsilon:g} | {100 * confidence:g} % | {ceilings} | {least} |"
            )
    header = [
        "| values | ε | confidence | `profile` | `profile-recursion` | `fdp-recursion` | "
        "`fdp-program` | least possible |"
    ]
    return "\n".join([*header, "|---|---|---|---|---|---|---|---|", *lines])


TABLES: Mapping[str, tuple[str, Callable[[], str]]] = {
    "columns": ("leaderboard.md", list_columns),
    "bounds": ("ceilings.md", list_bounds),
    "tightness": ("ceilings.md", compare_with_the_least),
}


def fill_tables(page: str, text: str) -> str:
    """A page with its tables as they are now."""
    for name, (home, make) in TABLES.items():
        if home == page:
            parts = re.split(
                f"(?<=<!-- table: {name} -->).*?(?=<!-- end -->)", text, flags=re.DOTALL
            )
            if len(parts) != 2:
                raise ValueError(f"docs/{page} must have one place for the table {name!r}")
            text = f"{parts[0]}\n{make()}\n{parts[1]}"
    return text


def main() -> None:
    for page in {home for home, _ in TABLES.values()}:
        path = DOCS / page
        write_atomic(path, fill_tables(page, path.read_text(encoding="utf-8")))


if __name__ == "__main__":
    main()
