"""Sealed runs: the seed is committed to before play, kept for a resumed run, revealed after it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from reconbench.benchmarks.game.play import AttackSpec, Game, Round, play
from reconbench.benchmarks.plugins.check_attack import Player, play_check
from reconbench.benchmarks.store.seal import FILE_NAME, SECRET_NAME, Seal, SealError, find_seal
from reconbench.benchmarks.store.store import Store

REPLAY = """
import numpy as np
from reconbench.benchmarks.game.play import Game
from reconbench.benchmarks.game.setting import Seeds

class Replay:
    "The prior's guess, in which some errors are mended by drawing the public table again."
    name = "replay"
    def __init__(self, share: float = 0.06) -> None:
        self.share = share
    def reconstruct(self, view, rng):
        codes = view.prior.map(view.known, view.targets)[0].codes.copy()
        for rep in range(20):
            game = Game("acs", view.targets, 3.0, n=view.n, rep=rep)
            stream = game.make_stream("table", view.prior, Seeds.TABLE)
            table = view.prior.sample(view.n, stream)
            if (table.project(view.known.domain.names).codes == view.known.codes).all():
                truth = table.project(view.targets).codes
                mended = np.flatnonzero((codes != truth).any(axis=1))[: int(self.share * view.n)]
                codes[mended] = truth[mended]
        return view.reconstruction(codes)
"""
SEEKER = """
import ctypes, os
from pathlib import Path

class Seeker:
    "Looks for the secret wherever it could be, and tries to uncover what is hidden."
    name = "seeker"
    def __init__(self, folder: str = "") -> None:
        self.folder = Path(folder)
    def reconstruct(self, view, rng):
        libc = ctypes.CDLL(None)
        for call in (lambda: libc.umount2(os.fsencode(self.folder), 2),
                     lambda: libc.unshare(0x20000), lambda: libc.unshare(0x10000000 | 0x20000),
                     lambda: libc.umount2(os.fsencode(self.folder), 2)):
            call()
        seen = len(list(self.folder.glob("*"))) + len(list(self.folder.glob(".*")))
        for process in Path("/proc").glob("[0-9]*"):
            for link in ("cwd", "root"):
                try:
                    inside = process / link / str(self.folder).lstrip("/")
                    seen += len(list(inside.glob(".seal*")))
                except OSError:
                    pass
        return view.reconstruction([0] * view.n, info={"seen": seen})
"""
SUITE = """
name = "s"
description = "s"
repetitions = 2
attacks = ["prior", "replay.py:Replay"]
[[games]]
dataset = "acs"
targets = ["SEX"]
epsilon = [3]
n = 100
"""
NAME = "does not draw the table again"


@pytest.fixture
def replay(tmp_path: Path) -> Path:
    path = tmp_path / "replay.py"
    path.write_text(REPLAY)
    return path


def test_replaying_the_seed_pays_on_public_games_only(replay: Path) -> None:
    """The negative control: without a seal the cheat gains all it asks for."""
    spec = AttackSpec(f"{replay}:Replay", {"share": 0.2})
    public = Round.draw(Game("acs", ("SEX",), 3.0, n=100))
    sealed = Round.draw(Game("acs", ("SEX",), 3.0, n=100, seed=Seal.draw().seed))
    assert play(public, spec).successes == play(public, AttackSpec("prior")).successes + 20  # type: ignore[operator]
    assert play(sealed, spec).successes == play(sealed, AttackSpec("prior")).successes


def test_the_kit_catches_a_seed_replayed_at_6_percent(replay: Path) -> None:
    caught = play_check(NAME, Player(AttackSpec(f"{replay}:Replay")))
    assert caught.passed is False and "beyond chance" in caught.detail
    for honest in (AttackSpec("prior"), AttackSpec(f"{replay}:Replay", {"share": 0.0})):
        assert play_check(NAME, Player(honest)).passed is True


def test_a_seal_is_kept_and_revealed(tmp_path: Path) -> None:
    drawn = find_seal(tmp_path)
    assert list(tmp_path.iterdir()) == [] and find_seal(tmp_path) != drawn
    drawn.keep(tmp_path)
    secret = tmp_path / SECRET_NAME
    assert secret.stat().st_mode & 0o777 == 0o600
    assert json.loads((tmp_path / FILE_NAME).read_text()) == {"commitment": drawn.commitment}
    assert find_seal(tmp_path) == drawn
    drawn.keep(tmp_path)
    shown = drawn.reveal(tmp_path)
    assert find_seal(tmp_path) == shown and shown.revealed and not secret.exists()
    assert shown.seed == drawn.seed and shown.commitment == drawn.commitment


def test_seals_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    drawn = Seal.draw()
    drawn.keep(tmp_path)
    secret = tmp_path / SECRET_NAME
    secret.write_text(json.dumps({"seed": drawn.seed + 1, "salt": drawn.salt}))
    with pytest.raises(SealError, match="does not fit the commitment"):
        find_seal(tmp_path)
    secret.unlink()
    with pytest.raises(SealError, match="is missing, so this sealed run cannot go on"):
        find_seal(tmp_path)
    (tmp_path / FILE_NAME).write_text("{")
    with pytest.raises(SealError, match="cannot read"):
        find_seal(tmp_path)


def reconbench(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = str(Path(sys.executable).with_name("reconbench"))
    return subprocess.run([command, *arguments], cwd=cwd, capture_output=True, text=True)


def test_a_sealed_run_resumes_and_reveals(replay: Path, tmp_path: Path) -> None:
    """What was played before the run was stopped is kept, under the same secret seed."""
    (tmp_path / "s.toml").write_text(SUITE)
    run = ("run", "s.toml", "--out", "out", "--jobs", "1", "--quiet", "--seal")
    before = find_seal(tmp_path / "out")
    before.keep(tmp_path / "out")
    done = reconbench(*run, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    seal = find_seal(tmp_path / "out")
    assert seal.revealed and seal.seed == before.seed
    with Store(tmp_path / "out") as store:
        rows = [entry.row for entry in store.entries()]
    assert {(row.seal, row.seed) for row in rows} == {(seal.commitment, seal.seed)}
    by_attack = {(row.attack, row.rep): row.successes for row in rows}
    assert all(by_attack["replay", rep] == by_attack["prior", rep] for rep in range(2))
    board = (tmp_path / "out" / "leaderboard.csv").read_text()
    assert board.count("sealed") >= 2
    assert reconbench(*run, "--json", cwd=tmp_path).returncode == 0
    more = reconbench(*run, "--reps", "3", cwd=tmp_path)
    assert more.returncode == 2 and f"--seed {seal.seed} instead of --seal" in more.stderr
    both = reconbench(*run, "--seed", "1", cwd=tmp_path)
    assert both.returncode == 2 and "give --seal or --seed, not both" in both.stderr


def can_mount() -> bool:
    code = (
        "import ctypes, sys; c = ctypes.CDLL(None); "
        "sys.exit(c.unshare(0x10000000) != 0 or c.unshare(0x20000) != 0 or "
        "c.mount(b'none', b'/tmp', b'tmpfs', 0, None) != 0)"
    )
    return subprocess.run([sys.executable, "-c", code]).returncode == 0


@pytest.mark.skipif(not can_mount(), reason="this system has no mount namespaces for users")
def test_no_player_sees_the_folder_of_a_sealed_run(tmp_path: Path) -> None:
    """The negative control: the same attack sees an output folder that is not sealed."""
    (tmp_path / "seeker.py").write_text(SEEKER)
    seen = {}
    for kind in ("open", "sealed"):
        out = tmp_path / kind
        spec = f'{{ attack = "seeker.py:Seeker", options = {{ folder = "{out}" }} }}'
        suite = SUITE.replace('"replay.py:Replay"', spec)
        (tmp_path / f"{kind}.toml").write_text(suite)
        seal = ["--seal"] if kind == "sealed" else []
        done = reconbench("run", f"{kind}.toml", "--out", str(out), "--quiet", *seal, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        with Store(out) as store:
            rows = [entry.row for entry in store.entries() if entry.row.attack == "seeker"]
        seen[kind] = [row.info["seen"] for row in rows]
    assert all(seen["open"]) and seen["sealed"] == [0.0, 0.0]


def test_what_fails_in_a_sealed_run_keeps_its_name(tmp_path: Path) -> None:
    """The attack is built before the seal and again after it, in another player."""
    (tmp_path / "replay.py").write_text(
        "class Replay:\n"
        "    name = 'own-name'\n"
        "    def reconstruct(self, view, rng):\n"
        "        import os\n"
        "        os._exit(3)\n"
    )
    (tmp_path / "s.toml").write_text(SUITE)
    done = reconbench("run", "s.toml", "--out", "out", "--quiet", "--seal", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    with Store(tmp_path / "out") as store:
        rows = [entry.row for entry in store.entries() if entry.row.status == "failed"]
    assert [row.attack for row in rows] == ["own-name"] * 2
    assert all("killed its player process (exit code 3)" in (row.error or "") for row in rows)


def test_a_folder_that_attacks_need_cannot_be_sealed(replay: Path, tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(SUITE)
    refused = reconbench("run", "s.toml", "--out", ".", "--seal", cwd=tmp_path)
    assert refused.returncode == 2 and len(refused.stderr.splitlines()) == 1
    assert "which attacks need" in refused.stderr and "choose another --out" in refused.stderr
    assert not (tmp_path / FILE_NAME).exists() and not (tmp_path / SECRET_NAME).exists()


@pytest.mark.parametrize(
    ("kind", "code", "error"),
    [
        ("attack", "os._exit(0)", "killed its player process (exit code 0), while it was imported"),
        ("mechanism", "os._exit(0)", "killed its player process (exit code 0), while it was"),
        ("metric", "sys.exit(0)", "does not import: SystemExit: 0"),
        ("dataset", "while True: pass", "exceeded the 3 s time limit (--timeout), while it was"),
    ],
)
def test_plugins_that_exit_or_hang_at_import_are_one_line(
    tmp_path: Path, kind: str, code: str, error: str
) -> None:
    (tmp_path / "bad.py").write_text(f"import os, sys\n{code}\n")
    game = {"dataset": "acs", "targets": "SEX", "epsilon": "1", "n": "5", "reps": "1"}
    game |= {"timeout": "3", kind: "bad.py:X"}
    arguments = [part for name, value in game.items() for part in (f"--{name}", value)]
    done = reconbench("game", *arguments, cwd=tmp_path)
    assert done.returncode == 2 and done.stdout == ""
    assert error in done.stderr and len(done.stderr.splitlines()) == 1, done.stderr
