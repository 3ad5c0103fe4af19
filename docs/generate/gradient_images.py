"""Write docs/gradient-images.csv: errors of gradient inversion on made-up and on real images.

    reconbench run riess-fig4 && reconbench run riess-fig5
    reconbench run riess-fig4-images && reconbench run riess-fig5-images
    python docs/generate gradient_images results/riess-fig* --out docs/gradient-images.csv

One line per network, dimension, noise and kind of images: simulated and predicted quantiles of the
error, their ratio of means, and the p-value of the Kolmogorov-Smirnov test between the two.
``python docs/generate tables`` puts them into docs/gradients.md.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from generate.stored_points import Values, read_points
from reconbench.benchmarks.computations.computation import Point
from reconbench.benchmarks.suites.suite import find_suite
from reconbench.datasets.atomic_files import write_atomic

TABLE = Path(__file__).resolve().parents[1] / "gradient-images.csv"
SUITES = ("riess-fig4", "riess-fig5", "riess-fig4-images", "riess-fig5-images")
MADE_UP = "made-up"
SIGMAS = (0.001, 0.01, 0.1, 1.0, 10.0)
NUMBERS = ("seen-05", "seen-50", "seen-95", "law-05", "law-50", "law-95", "ratio", "ks")


def find_points() -> list[Point]:
    """What the table shows: MSE with known scales, at the noise that all figures have."""
    every = [point for name in SUITES for point in find_suite(name).points()]
    return [
        point
        for point in every
        if point.asked["scales"] == "known"
        and not point.asked["decibels"]
        and point.promise.asked["sigma"] in SIGMAS
    ]


def name_images(point: Point) -> str:
    return str(point.asked.get("images", [MADE_UP])[0])


def make_lines(found: Sequence[tuple[Point, Values]]) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {
                "images": name_images(point),
                "network": point.asked["network"],
                "dimension": point.asked["dimension"],
                "sigma": point.promise.asked["sigma"],
                **{name: values[name] for name in NUMBERS},
            }
            for point, values in found
        ]
    )


def show_table() -> str:
    """Ratios and the least p-value of every network and kind of images, from the data file."""
    lines = pd.read_csv(TABLE)
    shown = []
    for (dimension, network), alike in lines.groupby(["dimension", "network"], sort=False):
        for images, own in alike.groupby("images", sort=False):
            by_sigma = own.set_index("sigma")["ratio"]
            ratios = " | ".join(f"{by_sigma[sigma]:.3f}" for sigma in SIGMAS)
            least = own["ks"].min()
            shown.append(
                f"| {dimension:,} | `{network}` | {images} | {ratios} | {_describe_p(least)} |"
            )
    sigmas = " | ".join(f"σ = {sigma:g}" for sigma in SIGMAS)
    header = f"| N | network | images | {sigmas} | least p |"
    return "\n".join([header, "|--:|---|---|" + "--:|" * (len(SIGMAS) + 1), *shown])


def _describe_p(value: float) -> str:
    return "< 1e-6" if value < 1e-6 else f"{value:.2g}"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="docs/generate gradient_images", description=__doc__)
    parser.add_argument("stores", nargs="+", type=Path, help="output folders of `reconbench run`")
    parser.add_argument("--out", type=Path, required=True, help="the CSV file to write")
    chosen = parser.parse_args(arguments)
    try:
        lines = make_lines(read_points(find_points(), chosen.stores))
        text = lines.to_csv(index=False, float_format="%.5g", lineterminator="\n")
        write_atomic(chosen.out, text)
    except (ValueError, OSError) as error:
        sys.stderr.write(f"error: {error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
