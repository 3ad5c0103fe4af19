"""Which processor-specific code computes here: why the last bits of a row may differ elsewhere."""

from __future__ import annotations

import sys
from functools import cache

import numpy as np


def read_kernels() -> dict[str, str]:
    """The instruction sets of BLAS and numpy, and of torch if it is loaded already."""
    return dict(_read_kernels("torch" in sys.modules))


@cache
def _read_kernels(with_torch: bool) -> dict[str, str]:
    from threadpoolctl import threadpool_info

    blas = {
        f"{library['internal_api']} {library.get('architecture', 'unknown')}"
        for library in threadpool_info()
        if library["user_api"] == "blas"
    }
    kernels = {"blas": ", ".join(sorted(blas))}
    found = np.show_config(mode="dicts").get("SIMD Extensions", {}).get("found")
    if found:
        kernels["numpy"] = str(found[-1])
    if with_torch:
        import torch

        kernels["torch"] = torch.backends.cpu.get_cpu_capability()
    return kernels
