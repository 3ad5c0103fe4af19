"""Games small enough to enumerate, and a browser, shared by the rooms' tests."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

# One thread a test process: several processes with several threads each only wait for each other.
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")
# No test sees what was fetched on this machine: the folder does not exist.
os.environ["RECONBENCH_CACHE"] = str(Path(tempfile.gettempdir()) / f"no-cache-{os.getpid()}")

import numpy as np
import pytest

from reconbench.attacks import AttackerView, ExactMatch, Metric
from reconbench.attacks.marginals.measured import find_measurements
from reconbench.benchmarks.game.result import Result
from reconbench.datasets import Attribute, BayNet, Domain, Table
from reconbench.datasets.sources.packages import images as image_sources
from reconbench.mechanisms import GaussianMarginals
from reconbench.mechanisms.marginals import marginal_counts

if TYPE_CHECKING:
    from playwright.sync_api import Browser

CHROMIUM_FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of the tree, built from a copy: leftovers of another build would get into it."""
    folder = tmp_path_factory.mktemp("wheel")
    kept_out = shutil.ignore_patterns(".*", "build", "results", "site", "*.egg-info", "__pycache__")
    root = Path(__file__).resolve().parent.parent
    source = shutil.copytree(root, folder / "source", symlinks=True, ignore=kept_out)
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder)]
    subprocess.run([*command, str(source)], check=True, capture_output=True)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="session")
def toy_net() -> BayNet:
    """Five correlated columns: a chain a → b → c with d a child of a and c, and e alone."""
    rng = np.random.default_rng(11)
    sizes = {"a": 3, "b": 2, "c": 4, "d": 2, "e": 3}
    domain = Domain(
        tuple(
            Attribute(name, tuple(f"{name}{v}" for v in range(size)), ordinal=name == "c")
            for name, size in sizes.items()
        )
    )
    parents = ((), (0,), (1,), (0, 2), ())
    shape = [tuple(domain.sizes[p] for p in group) for group in parents]
    cpts = tuple(
        rng.dirichlet(np.ones(size), size=where)
        for size, where in zip(domain.sizes, shape, strict=True)
    )
    return BayNet(domain, parents, cpts, domain.names)


@pytest.fixture(scope="session")
def make_view(toy_net: BayNet) -> Callable[..., tuple[AttackerView, Table]]:
    """A played release of the toy network, and the truth that the view does not hold."""

    def make(
        targets: tuple[str, ...] = ("c",),
        epsilon: float = 3.0,
        n: int = 30,
        k: int = 3,
        seed: int = 0,
        metric: Metric | None = None,
        left_out: tuple[str, ...] = (),
    ) -> tuple[AttackerView, Table]:
        rng = np.random.default_rng(seed)
        table = toy_net.sample(n, rng)
        table = table.project([name for name in toy_net.domain.names if name not in left_out])
        mechanism = GaussianMarginals.for_budget(table.domain, targets, epsilon, 1e-5, k=k)
        known = table.project([name for name in table.domain.names if name not in targets])
        view = AttackerView(
            mechanism.release(table, rng),
            mechanism,
            known,
            targets,
            toy_net,
            metric or ExactMatch(),
        )
        return view, table.project(targets)

    return make


@pytest.fixture(scope="session")
def enumerate_tables() -> Callable[[AttackerView], tuple[np.ndarray, np.ndarray]]:
    """Every hidden table of a small game, as the numbers of its joint values, (tables, n), and its
    posterior given noisy counts."""

    def enumerate_all(view: AttackerView) -> tuple[np.ndarray, np.ndarray]:
        measured = find_measurements(view.release, view.n)
        assert measured is not None
        values = np.array(list(np.ndindex(view.target_domain.sizes)))
        prior = view.prior.conditional(view.known, view.targets).reshape(view.n, -1)
        tables = np.array(list(np.ndindex((len(values),) * view.n)))
        with np.errstate(divide="ignore"):
            heights = np.log(prior[np.arange(view.n), tables]).sum(axis=1)
        for t, choice in enumerate(tables):
            table = view.known.join(Table(view.target_domain, values[choice]))
            table = table.project(measured.domain.names)
            sets = zip(measured.sets, measured.answers, measured.noise_sds, strict=True)
            for columns, answer, sd in sets:
                error = ((marginal_counts(table, columns) - answer) ** 2).sum()
                heights[t] -= error / (2 * sd**2) if sd > 0 else (np.inf if error > 0 else 0.0)
        weights = np.exp(heights - heights.max())
        return tables, weights / weights.sum()

    return enumerate_all


@pytest.fixture
def by_chains(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sample also those games that are small enough for an exact posterior."""
    from reconbench.attacks.posterior import elimination

    monkeypatch.setattr(elimination, "MOST_STEPS", 0)


@pytest.fixture(scope="session")
def drop_scores() -> Callable[[Result], Result]:
    """A row as of before expected scores, for tests that change what it reconstructed."""

    def drop(row: Result) -> Result:
        return replace(
            row,
            expected_successes=None,
            expected_successes_se=None,
            expected_baseline=None,
            scored_by="",
            best_possible=None,
            best_possible_se=None,
            best_possible_converged=None,
            best_successes=None,
        )

    return drop


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Headless Chromium; a CI without one fails, elsewhere its tests are left out."""
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    if path is None:
        reason = "no Chromium found: `apt-get install chromium`, or `make test` as root on Debian"
        if os.environ.get("CI", "").lower() == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=path, args=list(CHROMIUM_FLAGS))
        yield started
        started.close()


@pytest.fixture
def idx_files() -> dict[str, bytes]:
    """300 made-up images of 8 × 8 pixels in ten classes that a network can tell, as IDX files."""
    rng = np.random.default_rng(3)
    classes = rng.integers(0, 10, 300)
    patterns = rng.integers(0, 200, (10, 8, 8))
    pixels = np.minimum(patterns[classes] + rng.integers(0, 56, (300, 8, 8)), 255)
    contents = {}
    for name, values in (("train-images-idx3-ubyte", pixels), ("train-labels-idx1-ubyte", classes)):
        head = bytes([0, 0, 8, values.ndim]) + np.array(values.shape, ">u4").tobytes()
        contents[name] = head + values.astype(np.uint8).tobytes()
    return contents


@pytest.fixture
def small_mnist(
    idx_files: dict[str, bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Path]:
    """A cache of one's own, still empty, and a source ``mnist`` that is these made-up images."""
    source = image_sources.MNIST
    payloads = [
        replace(payload, sha256=hashlib.sha256(idx_files[payload.name]).hexdigest())
        for payload in source.payloads
    ]
    changed = replace(source, images=payloads[0], labels=payloads[1])
    monkeypatch.setattr(image_sources, "IMAGE_SOURCES", {"mnist": changed})
    monkeypatch.setenv("RECONBENCH_CACHE", str(tmp_path / "cache"))
    image_sources.load_images.cache_clear()
    yield tmp_path / "cache"
    image_sources.load_images.cache_clear()
