"""Write the tables of the documentation that follow from the code: columns, bounds, data sets.

Each table stands in its page between ``<!-- table: NAME -->`` and ``<!-- end -->``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np

from generate import gradient_images
from reconbench.benchmarks.store.tightest import declared_bounds
from reconbench.bounds import (
    FdpProgram,
    FdpRecursion,
    GaussianDP,
    Profile,
    ProfileRecursion,
    Relation,
    gaussian_mu,
)
from reconbench.bounds.guarantees.notation.kinds import KINDS
from reconbench.datasets.atomic_files import write_atomic
from reconbench.datasets.cards import read_card
from reconbench.datasets.shipped.recipes import RECIPES
from reconbench.datasets.standard_networks import NETWORKS, PREFIX
from reconbench.reports.leaderboard.columns.dictionary import DICTIONARY

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


def list_kinds() -> str:
    """Every kind of the notation for guarantees, with its parameters and its relation."""
    lines = []
    for kind in KINDS.values():
        named = [
            f"`{parameter.name}` {parameter.meaning}"
            + ("" if parameter.required else f" (default {parameter.default:g})")
            for parameter in kind.parameters
        ]
        if kind.file:
            named.insert(0, "the path of the file")
        only = " only" if kind.only is Relation.REPLACE_ONE else ""
        relation = "replace-one" if kind.relation is Relation.REPLACE_ONE else "add-remove"
        lines.append(f"| `{kind.name}` | {kind.meaning} | {'; '.join(named)} | {relation}{only} |")
    header = ["| kind | what it is | parameters | relation by default |"]
    return "\n".join([*header, "|---|---|---|---|", *lines])


def list_networks() -> str:
    """Every standard network with its sizes, its suggested game and its authors."""
    lines = []
    for name in NETWORKS:
        card = read_card(f"{PREFIX}{name}")
        (target,) = card["game"]["targets"]
        known = len(card["game"].get("known", ())) or "all others"
        lines.append(
            f"| `bn:{name}` | {card['title']} | {card['columns']:,} | {card['labels']:,} | "
            f"{card['cells']:,} | {card['zeros'] / card['cells']:.0%} | `{target}` | {known} | "
            f"{card['citation']} |"
        )
    header = [
        "| name | about | columns | labels | cells of all tables | of them 0 | suggested target | "
        "known columns | original citation |"
    ]
    return "\n".join([*header, "|---|---|--:|--:|--:|--:|---|--:|---|", *lines])


def list_shipped() -> str:
    """Every shipped prior of tables of people or calls, as its card says."""
    lines = []
    for name in (recipe.name for recipe in RECIPES):
        facts = read_card(name)
        scores = facts["held_out"]["mean_log_likelihood_nats"]
        lines.append(
            f"| `{name}` | {facts['title']} | {facts['columns']} | {facts['records']:,} | "
            f"{facts['licence']} | {scores['shipped']:.2f} | {scores['hill_climb_bic']:.2f} | "
            f"{scores['chow_liu']:.2f} | {scores['independent']:.2f} |"
        )
    header = (
        "| name | what it is | columns | records | licence of the data | shipped | hill climbing | "
        "Chow-Liu | independent |"
    )
    return "\n".join([header, "|---|---|---|---|---|---|---|---|---|", *lines])


def list_raw_files() -> str:
    """The raw file behind every shipped prior: where it came from, and its hash."""
    lines = []
    for recipe in RECIPES:
        facts = read_card(recipe.name)
        hashes = facts.get("files_sha256", {recipe.files[0]: facts["data_sha256"]})
        for file, digest in hashes.items():
            origin = facts.get("raw_file", "an extract of the source, as codes").split("; ")[0]
            lines.append(f"| `{recipe.name}` | `{file}` | {origin} | `{digest}` |")
    return "\n".join(
        ["| name | file | where it was found | SHA-256 |", "|---|---|---|---|", *lines]
    )


def list_attributions() -> str:
    """Source, licence and attribution of every shipped prior's data."""
    lines = []
    for name in (recipe.name for recipe in RECIPES):
        facts = read_card(name)
        lines += [
            f"**{facts['title']}** (`{name}`). Source: {facts['source']}.",
            f"Licence: {facts['licence']}.",
            facts.get("attribution", ""),
            "",
        ]
    return "\n".join(lines).replace("\n\n\n", "\n\n")


TABLES: Mapping[str, tuple[str, Callable[[], str]]] = {
    "columns": ("leaderboard.md", list_columns),
    "bounds": ("ceilings.md", list_bounds),
    "kinds": ("guarantees.md", list_kinds),
    "tightness": ("ceilings.md", compare_with_the_least),
    "networks": ("data.md", list_networks),
    "shipped": ("data.md", list_shipped),
    "raw-files": ("data.md", list_raw_files),
    "attributions": ("data-licences.md", list_attributions),
    "gradient-images": ("gradients.md", gradient_images.show_table),
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
