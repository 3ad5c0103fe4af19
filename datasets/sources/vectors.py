"""Records as rows of numbers, from files of the user's own: images and numeric tables.

An array in NumPy's format (.npy, without pickled objects), numbers with a header line (.csv), or
images of unsigned bytes in IDX format, the format of MNIST, which are scaled to [0, 1].
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt

from reconbench.datasets.domain import DomainError
from reconbench.datasets.sources.idx import IdxError, read_idx
from reconbench.missing_package import needed_by

Floats = npt.NDArray[np.float64]


def read_vectors(path: Path) -> Floats:
    """Read one record per row; the axes of images after the first are laid out side by side."""
    if not path.is_file():
        raise DomainError(f"no file {path}; give records as .npy, .csv or IDX images")
    try:
        records = np.asarray(_read(path), dtype=np.float64)
    except (ValueError, TypeError, OSError) as error:
        reason = " ".join(str(error).split())[:200]
        raise DomainError(f"cannot read records from {path}: {reason}") from None
    if records.ndim < 2 or not records.size:
        raise DomainError(f"{path} must hold one record per row, got shape {records.shape}")
    if not np.isfinite(records).all():
        raise DomainError(f"{path} holds missing or infinite numbers; leave these records out")
    return records.reshape(len(records), -1)


def _read(path: Path) -> npt.NDArray[np.generic]:
    if path.suffix == ".npy":
        return np.asarray(np.load(path, allow_pickle=False))
    if path.suffix == ".csv":
        with needed_by("reading records from a CSV file", "pandas", instead="give a .npy"):
            import pandas as pd

        return pd.read_csv(path).to_numpy()
    try:
        return read_idx(path, 3) / 255
    except IdxError as error:
        raise ValueError(f"{error}; give a .npy, a .csv or IDX images") from None
