"""`reconbench.bounds` needs numpy and scipy alone: everything else is blocked in a subprocess."""

from __future__ import annotations

import subprocess
import sys

import pytest

BLOCKED = ("numba", "torch", "pgmpy", "pandas", "dp_accounting", "arviz_stats", "pydantic")
SCRIPT = """
import sys
from importlib.abc import MetaPathFinder

class Block(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {blocked!r}:
            raise ModuleNotFoundError(f"{{name}} is blocked here", name=name)

sys.meta_path.insert(0, Block())
{code}
assert not set({blocked!r}) & set(sys.modules)
"""


def run(code: str) -> subprocess.CompletedProcess[str]:
    script = SCRIPT.format(blocked=BLOCKED, code=code)
    return subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)


@pytest.mark.parametrize(
    "module", ["", ".rad", ".audit", ".audit.mcmc", ".gradients", ".risk", ".ceilings"]
)
def test_importable_with_numpy_and_scipy_alone(module: str) -> None:
    done = run(f"import reconbench.bounds{module}")
    assert done.returncode == 0, done.stderr


def test_a_ceiling_needs_no_more() -> None:
    code = "from reconbench.bounds import ApproxDP, theorem_3_5\n"
    done = run(code + "assert theorem_3_5([0.5] * 10, ApproxDP(1.0, 1e-5))[0.95] <= 10")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    "module", ["reconbench.bounds.audit.mcmc._kernels", "reconbench.attacks.rap.rap"]
)
def test_the_block_is_real(module: str) -> None:
    """The negative control: what does need one of them cannot be imported."""
    done = run(f"import {module}")
    assert done.returncode != 0 and "is blocked here" in done.stderr
