"""Make a page or a figure of the documentation: python docs/generate NAME [ARGUMENTS]."""

import runpy
import sys
from pathlib import Path

HOME = Path(__file__).resolve().parent


def main() -> None:
    names = sorted(path.stem for path in HOME.glob("*.py") if "__main__" in path.read_text())
    names.remove("__main__")
    if len(sys.argv) < 2 or sys.argv[1] not in names:
        sys.exit(f"usage: python docs/generate NAME [ARGUMENTS]; NAME is one of {', '.join(names)}")
    sys.path.insert(0, str(HOME.parent))
    del sys.argv[0]
    runpy.run_module(f"generate.{sys.argv[0]}", run_name="__main__")


main()
