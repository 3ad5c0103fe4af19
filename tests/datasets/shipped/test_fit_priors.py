"""A prior can be fitted again: the same raw file gives the same bytes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np

from reconbench.datasets import Table
from reconbench.datasets.network.bif import load_prior
from reconbench.datasets.shipped import contraceptive
from reconbench.datasets.shipped.fit_priors import measure_furthest_pair

COMMAND = (sys.executable, "-m", "reconbench.datasets.shipped.fit_priors")
# A text in the file for every code of a column: the numbers that its brackets start with.
FIRST = {"wife_age": range(15, 50, 5), "children": (0, 1, 2, 3, 4, 5, 6, 8)}
FROM_ZERO = ("wife_religion", "wife_working", "media_exposure")


def write_sample(path: Path, records: int) -> Table:
    """A raw file of records drawn from the shipped network."""
    table = contraceptive().sample(records, np.random.default_rng(0))
    columns = []
    for name in table.domain.names:
        codes = table.column(name)
        texts = FIRST.get(name, range(name not in FROM_ZERO, 9))
        columns.append([str(texts[code]) for code in codes])
    header = "".join(f"@attribute {name} integer\n" for name in table.domain.names)
    rows = "\n".join(",".join(row) for row in zip(*columns, strict=True))
    path.write_text(f"@relation contraceptive\n{header}@data\n{rows}\n")
    return table


def test_the_same_file_gives_the_same_bytes(tmp_path: Path) -> None:
    table = write_sample(tmp_path / "contraceptive.dat", 800)
    outs = [tmp_path / "one", tmp_path / "two"]
    for out in outs:
        out.mkdir()
        options = ("--extracts", str(tmp_path), "--only", "contraceptive", "--out", str(out))
        done = subprocess.run([*COMMAND, *options], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    for name in ("contraceptive.bif", "contraceptive.json"):
        assert (outs[0] / name).read_bytes() == (outs[1] / name).read_bytes()
    card = json.loads((outs[0] / "contraceptive.json").read_text())["card"]
    assert card["records"] == 800
    counts = {
        name: np.bincount(table.column(name), minlength=size).tolist()
        for name, size in zip(table.domain.names, table.domain.sizes, strict=True)
    }
    assert card["counts"] == counts
    assert load_prior(outs[0] / "contraceptive.bif").domain == table.domain


def test_a_missing_raw_file_is_named(tmp_path: Path) -> None:
    options = ("--extracts", str(tmp_path), "--only", "german", "--out", str(tmp_path))
    done = subprocess.run([*COMMAND, *options], capture_output=True, text=True)
    assert done.returncode == 2 and "german.data; fit the others with --only" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_the_furthest_pair_is_found() -> None:
    """Independent columns, and two that are copies of each other in the data."""
    net = contraceptive()
    codes = net.sample(4_000, np.random.default_rng(1)).codes
    near = measure_furthest_pair(net, Table(net.domain, codes))
    assert near["divergence_nats"] < 0.02
    names = net.domain.names
    first, second = names.index("wife_education"), names.index("standard_of_living")
    codes = codes.copy()
    codes[:, second] = codes[:, first]
    far = measure_furthest_pair(net, Table(net.domain, codes))
    assert far["columns"] == [names[first], names[second]] and far["divergence_nats"] > 0.5
