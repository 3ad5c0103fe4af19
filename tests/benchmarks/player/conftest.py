"""A zoo of hostile attacks, each in a file of its own, and what its row must say."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

HEAD = """
import ctypes, gc, locale, os, signal, subprocess, sys, threading, time
import numpy as np

class Attack:
    name = "NAME"
    def reconstruct(self, view, rng):
        return view.reconstruction(rng.integers(0, 2, (view.n, len(view.targets))))
    def honest(self, view, rng):
        return Attack.reconstruct(self, view, rng)
"""
PLAYS = "class X(Attack):\n    def reconstruct(self, view, rng):\n"
THEN_PLAYS = "\n        return self.honest(view, rng)\n"

# What stands in the place of X, and how its row ends; None if it plays like an honest attack.
IMPORTS: dict[str, tuple[str, str | None]] = {
    "exit-at-import": ("sys.exit(0)", "does not import: SystemExit: 0"),
    "hard-exit-at-import": ("os._exit(0)", "killed its player process (exit code 0)"),
    "hang-at-import": ("while True: pass", "exceeded the 2 s time limit (--timeout)"),
    "interrupt-at-import": ("raise KeyboardInterrupt", "KeyboardInterrupt"),
    "base-exception-at-import": ("raise BaseException('base')", "BaseException: base"),
    "kill-parent-at-import": ("os.kill(os.getppid(), 9); os._exit(9)", "player process"),
}
CLASSES: dict[str, tuple[str, str | None]] = {
    "hang-at-construct": (
        "class X(Attack):\n    def __init__(self):\n        time.sleep(1000)",
        "exceeded the 2 s time limit",
    ),
    "hang-in-skip": (
        "class X(Attack):\n    def skip(self, view):\n        time.sleep(1000)",
        "exceeded the 2 s time limit",
    ),
    "exit-in-skip": (
        "class X(Attack):\n    def skip(self, view):\n        os._exit(0)",
        "killed its player process (exit code 0)",
    ),
    "skip-is-an-object": (
        "class R:\n    def __str__(self):\n        return 'x' * 10**7\n"
        "class X(Attack):\n    def skip(self, view):\n        return R()",
        "more than any answer has",
    ),
    "name-is-a-trap": (
        "class N(str):\n    def __reduce__(self):\n        return (os.system, ('false',))\n"
        "class X(Attack):\n    name = N('name-is-a-trap')",
        None,
    ),
}
BODIES: dict[str, tuple[str, str | None]] = {
    "hang": ("time.sleep(1000)", "exceeded the 2 s time limit (--timeout)"),
    "base-exception": ("raise BaseException('base')", "failed: BaseException: base"),
    "interrupt": ("raise KeyboardInterrupt('mine')", "failed: KeyboardInterrupt: mine"),
    "system-exit": ("raise SystemExit(0)", "failed: SystemExit: 0"),
    "hard-exit": ("os._exit(0)", "killed its player process (exit code 0)"),
    "kill-itself": ("os.kill(os.getpid(), 9)", "killed its player process (signal 9"),
    "kill-group": ("os.killpg(0, 9)", "killed its player process (signal 9"),
    "recursion": ("return self.reconstruct(view, rng)", "failed: RecursionError"),
    "close-everything": ("os.closerange(0, 100)", "player process"),
    "memory": ("kept = np.ones(2**30)", "exceeded the 1 GiB memory limit"),
    "nan": ("return view.reconstruction(np.full(view.n, np.nan))", "codes must be integers"),
    "objects": ("return view.reconstruction(np.array([self] * view.n))", "must be integers"),
    "huge-array": ("return view.reconstruction(np.zeros((10**5, 3), int))", "must have shape"),
    "outside-the-domain": ("return view.reconstruction([7] * view.n)", "outside the domain"),
    "text": ("return 'guesses'", "must return a Reconstruction, got str"),
    "infinite-scores": (
        "return view.reconstruction([0] * view.n, [np.inf] * view.n)",
        "scores must be",
    ),
    "much-info": (
        "return view.reconstruction([0] * view.n, info={str(i): i for i in range(10**5)})",
        "more than any answer has",
    ),
    "deep-json": (
        "import json\n        json.dumps = lambda *a, **k: '[' * 60000" + THEN_PLAYS,
        "sent a message that is not JSON",
    ),
    "pickle-bomb": (
        "import json, pickle\n"
        "        class B:\n            def __reduce__(self):\n"
        "                return (os.system, ('false',))\n"
        "        json.dumps = lambda *a, **k: pickle.dumps(B()).decode('latin1')" + THEN_PLAYS,
        "sent a message that is not JSON",
    ),
    "forged-answer": (
        "import reconbench.benchmarks.player.serve as serve\n"
        "        serve.encode_answers = lambda answers: ([{'state': ['1'] * 4}], "
        "[np.full(view.n, 9)])" + THEN_PLAYS,
        "outside the domain",
    ),
    "long-answer": (
        "import reconbench.benchmarks.player.serve as serve\n"
        "        serve.encode_answers = lambda answers: ([{'state': ['1'] * 4}], "
        "[np.zeros(10**6, int)])" + THEN_PLAYS,
        "more than any answer has",
    ),
    "flood-stdout": ("print('x' * 10**7)" + THEN_PLAYS, None),
    "flood-stderr": ("os.write(2, b'y' * 10**6)" + THEN_PLAYS, None),
    "kill-parent": ("os.kill(os.getppid(), 9); time.sleep(0.2)" + THEN_PLAYS, None),
    "leave-children": (
        "for _ in range(8):\n"
        "            subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(999)  #MARK']"
        ", start_new_session=True, env={})" + THEN_PLAYS,
        None,
    ),
    "leave-threads": (
        "threading.Thread(target=time.sleep, args=(999,)).start()" + THEN_PLAYS,
        None,
    ),
    "torch-default": (
        "import torch\n        torch.set_default_dtype(torch.float64)" + THEN_PLAYS,
        None,
    ),
    "numpy-errors": ("np.seterr(all='raise'); np.random.seed(1)" + THEN_PLAYS, None),
    "patch-successes": (
        "from reconbench.benchmarks.game.round import Round\n"
        "        Round.successes = lambda self, guess: 2 * len(guess)\n"
        "        Round.hits = lambda self, guess: np.ones(2 * len(guess), bool)" + THEN_PLAYS,
        None,
    ),
    "patch-numpy": (
        "np.cumsum = np.sum = lambda *a, **k: 0\n"
        "        type(view.metric).score = lambda *a: np.ones(view.n, bool)" + THEN_PLAYS,
        None,
    ),
    "surroundings": (
        "os.chdir('/'); os.environ.clear(); os.umask(0)\n"
        "        locale.setlocale(locale.LC_ALL, 'C')" + THEN_PLAYS,
        None,
    ),
    "peek-gc": (
        "from reconbench.benchmarks.game.round import Round\n"
        "        rounds = [x for x in gc.get_objects() if type(x) is Round]\n"
        "        assert not rounds" + THEN_PLAYS,
        None,
    ),
    "peek-frames": (
        "frame = sys._getframe()\n"
        "        while frame:\n"
        "            assert 'truth' not in frame.f_locals and 'round_' not in frame.f_locals\n"
        "            frame = frame.f_back" + THEN_PLAYS,
        None,
    ),
    "peek-environment": (
        "assert 'RECONBENCH_TEST_SECRET' not in os.environ" + THEN_PLAYS,
        None,
    ),
}


@pytest.fixture(scope="session")
def mark() -> str:
    return f"zoo-mark-{os.getpid()}"


@pytest.fixture(scope="session")
def zoo(tmp_path_factory: pytest.TempPathFactory, mark: str) -> dict[str, tuple[Path, str | None]]:
    """The file of each hostile attack, and how its row ends."""
    folder = tmp_path_factory.mktemp("zoo")
    codes = {name: (f"{code}\nclass X(Attack): ...", end) for name, (code, end) in IMPORTS.items()}
    codes |= CLASSES
    codes |= {name: (PLAYS + f"        {code}", end) for name, (code, end) in BODIES.items()}
    codes["honest"] = ("class X(Attack): ...", None)
    found = {}
    for name, (code, end) in codes.items():
        path = folder / f"{name.replace('-', '_')}.py"
        path.write_text((HEAD + code).replace("NAME", name).replace("MARK", mark))
        found[name] = path, end
    return found
