"""What docs/install.md says of installs, and the template package, from the built wheel."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import tomllib
from importlib.metadata import distribution, requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from .conftest import MakeEnvironment

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
LIGHT = PROJECT["dependency-groups"]["light"]
EXAMPLE = ROOT / "docs" / "examples" / "plugin-package"
MOST_BYTES = 560e6  # of the list alone; pip and setuptools are another 30 MB


def find_light_packages() -> set[str]:
    """The light list with all that its packages need, by their normalised names."""
    found: set[str] = set()
    ahead = [Requirement(each) for each in LIGHT]
    while ahead:
        needed = ahead.pop()
        name = canonicalize_name(needed.name)
        if name not in found and (needed.marker is None or needed.marker.evaluate({"extra": ""})):
            found.add(name)
            ahead += map(Requirement, requires(name) or ())
    return found


def test_the_light_list_is_the_dependencies_without_three() -> None:
    left_out = {Requirement(each).name for each in PROJECT["project"]["dependencies"]}
    left_out -= {Requirement(each).name for each in LIGHT}
    assert left_out == {"pandas", "pgmpy", "torch"}
    assert set(LIGHT) < set(PROJECT["project"]["dependencies"])


def test_the_page_gives_the_light_list() -> None:
    page = (ROOT / "docs" / "install.md").read_text(encoding="utf-8")
    first, second = re.findall(r"```text\n(.*?)```", page, re.DOTALL)[1].splitlines()
    assert shlex.split(first) == ["pip", "install", *LIGHT]
    assert second == "pip install --no-deps reconbench"


def test_the_light_list_is_small() -> None:
    packages = find_light_packages()
    assert "llvmlite" in packages and not packages & {"pandas", "pgmpy", "torch"}
    files = [file.locate() for name in packages for file in distribution(name).files or ()]
    size = sum(Path(str(file)).stat().st_size for file in files if Path(str(file)).is_file())
    assert 300e6 < size < MOST_BYTES


@pytest.mark.slow
def test_the_light_install_plays(wheel: Path, make_environment: MakeEnvironment) -> None:
    environment = make_environment(only=(*sorted(find_light_packages()), "pip"))
    environment.install(wheel)
    done = environment.call(
        "game --dataset acs --targets SEX --epsilon 1 --reps 1 --attack posterior --json",
        "game --dataset acs --targets SEX --epsilon 1 --reps 1 --json",
        "data sample acs -n 20",
        "ceiling --prior 0.5 --n 10 --epsilon 1",
    )
    assert [answer.code for answer in done] == [0, 0, 0, 0]
    played, skipped = (json.loads(answer.out) for answer in done[:2])
    assert played["status"] == "ok" and played["successes"] >= 0
    assert skipped["error"] == "rap needs torch: pip install torch"


def test_the_template_is_what_the_page_shows() -> None:
    page = (ROOT / "docs" / "plugins.md").read_text(encoding="utf-8")
    shown = dict(re.findall(r"^```python\n# (\w+\.py)\n(.*?)^```", page, re.M | re.S))
    files = sorted((EXAMPLE / "src" / "reconbench_mine").glob("*.py"))
    assert shown == {file.name: file.read_text() for file in files if file.name != "__init__.py"}
    project = re.findall(r"^```toml\n(\[project\]\n.*?)^```", page, re.M | re.S)
    assert (EXAMPLE / "pyproject.toml").read_text().endswith(project[-1])


@pytest.mark.slow
def test_the_template_package(
    wheel: Path, make_environment: MakeEnvironment, tmp_path: Path
) -> None:
    """Installed beside the wheel, outside of the repository: its own tests play a game."""
    copy = shutil.copytree(EXAMPLE, tmp_path / "copy", ignore=shutil.ignore_patterns("__pycache__"))
    environment = make_environment(without=("reconbench",))
    environment.install(wheel, copy)
    home = environment.run("-c", "import reconbench; print(reconbench.__file__)").strip()
    assert Path(home).is_relative_to(environment.python.parents[1])
    told = environment.run("-m", "pytest", "-q", "-p", "no:cacheprovider", copy / "tests")
    assert "6 passed" in told
