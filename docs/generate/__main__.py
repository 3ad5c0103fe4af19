"""Make a page or a figure of the documentation: python docs/generate NAME [ARGUMENTS]."""

import ast
import runpy
import sys
from pathlib import Path

HOME = Path(__file__).resolve().parent


def scripts() -> dict[str, str]:
    """The first line of the docstring of every module that can be run, by name."""
    found = {}
    for path in sorted(HOME.glob("[!_]*.py")):
        text = path.read_text(encoding="utf-8")
        if '__name__ == "__main__"' in text:
            found[path.stem] = (ast.get_docstring(ast.parse(text)) or "").partition("\n")[0]
    return found


def main() -> None:
    names = scripts()
    if len(sys.argv) < 2 or sys.argv[1] not in names:
        width = max(map(len, names))
        usage = "usage: python docs/generate NAME [ARGUMENTS], with NAME one of"
        for name, about in names.items():
            usage += f"\n  {name:{width}}  {about}"
        if len(sys.argv) > 1:
            sys.exit(f"error: no script {sys.argv[1]!r}\n{usage}")
        print(usage)
        return
    sys.path.insert(0, str(HOME.parent))
    del sys.argv[0]
    runpy.run_module(f"generate.{sys.argv[0]}", run_name="__main__")


main()
