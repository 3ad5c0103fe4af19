"""What the checks say, the import guard, the light imports and the documented examples."""

from __future__ import annotations

import math
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

import reconbench.bounds
from reconbench.bounds import _validate


def test_messages_name_argument_value_and_range() -> None:
    with pytest.raises(ValueError, match=r"^sigma must be > 0 \(inf allowed\), got 0$"):
        _validate.positive("sigma", 0)
    with pytest.raises(ValueError, match=r"^mu must be >= 0 \(inf allowed\), got -2$"):
        _validate.non_negative("mu", -2)
    with pytest.raises(ValueError, match=r"^delta must be in \[0, 1\), got 1$"):
        _validate.below_one("delta", 1)
    with pytest.raises(ValueError, match=r"^c must be strictly between 0 and 1, got 1.0$"):
        _validate.strictly_between_zero_and_one("c", 1.0)
    with pytest.raises(ValueError, match=r"^c must be a number, got 'half'$"):
        _validate.strictly_between_zero_and_one("c", "half")  # type: ignore[arg-type]


def test_good_values_come_back_as_floats() -> None:
    assert _validate.positive("x", math.inf) == math.inf
    assert isinstance(_validate.non_negative("x", 0), float)
    assert _validate.thresholds("v", [-2.5, 0.1, 3, math.inf], 4).tolist() == [0, 1, 3, 5]


def test_another_import_name_is_refused() -> None:
    with pytest.raises(ImportError, match=r"reconbench\.bounds"):
        runpy.run_path(str(Path(reconbench.bounds.__file__)), run_name="bounds")


def test_bounds_need_neither_torch_nor_pandas_nor_pgmpy() -> None:
    code = (
        "import sys, reconbench.bounds; "
        "sys.exit(bool({'torch', 'pandas', 'pgmpy', 'mpmath'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_documented_examples_run() -> None:
    text = (Path(__file__).parents[2] / "docs" / "ceilings.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert len(blocks) == 4
    for block in blocks:
        exec(compile(block, "docs/ceilings.md", "exec"), {})
