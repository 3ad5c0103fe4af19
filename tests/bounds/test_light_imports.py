"""`reconbench.bounds` needs numpy and scipy alone: everything else is blocked in a subprocess."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import reconbench.bounds

FOLDER = Path(str(reconbench.bounds.__file__)).parent
BLOCKED = ("numba", "torch", "pgmpy", "pandas", "sklearn", "dp_accounting", "arviz_stats")
BLOCKED += ("pydantic", "jinja2", "typer", "rich", "threadpoolctl")
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


def test_every_module_is_importable_with_numpy_and_scipy_alone() -> None:
    paths = [path.relative_to(FOLDER).with_suffix("") for path in FOLDER.rglob("*.py")]
    names = [".".join(("reconbench.bounds", *path.parts)) for path in paths]
    assert len(names) > 50
    done = run("\n".join(f"import {name}" for name in names if not name.endswith("__init__")))
    assert done.returncode == 0, done.stderr


def test_formulas_need_no_more() -> None:
    code = (
        "from reconbench.bounds import ApproxDP, theorem_3_5\n"
        "assert theorem_3_5([0.5] * 10, ApproxDP(1.0, 1e-5))[0.95] <= 10\n"
        "from reconbench.bounds.audit.mcmc import Counts, grid_posterior\n"
    )
    done = run(code)
    assert done.returncode == 0, done.stderr


def test_what_needs_a_package_names_it() -> None:
    """The negative control, too: the block is real."""
    code = (
        "from reconbench.bounds.guarantees.subsampled_renyi import dp_sgd_renyi\n"
        "from reconbench.bounds.audit.mcmc._kernels import next_word\n"
        "from reconbench.bounds.audit.mcmc.diagnostics import by_arviz\n"
        "for call in (lambda: next_word(1, 2, 3, 4), lambda: by_arviz(None),\n"
        "             lambda: dp_sgd_renyi(1.0, 0.1, 10, [2.0])):\n"
        "    try:\n"
        "        call()\n"
        "    except ValueError as error:\n"
        "        print(error)\n"
    )
    assert run(code).stdout.splitlines() == [
        "compiled code needs numba: pip install numba",
        "a diagnosis by ArviZ needs arviz-stats: pip install 'reconbench[arviz]'",
        "Rényi accounting of DP-SGD needs dp-accounting: pip install 'reconbench[accounting]'",
    ]
