"""`play`: the same numbers as the command, whatever form the arguments have."""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import reconbench as rb
from reconbench.benchmarks.store.export_import import read
from reconbench.datasets.network.pgmpy_bridge import to_pgmpy

FAST: dict[str, Any] = {"targets": "SEX", "epsilon": 3, "n": 40, "reps": 2}


def successes(result: rb.PlayResult) -> list[tuple[str, int | None]]:
    return [(row.attack, row.successes) for row in result.results]


def test_it_is_the_game_of_the_command(command: Callable[..., str]) -> None:
    out = command(
        "game", "--dataset", "acs", "--targets", "SEX", "--epsilon", 3, "--n", 40, "--reps", 2,
        "--attack", "prior", "--attack", "averaging", "--json",
    )  # fmt: skip
    printed = [json.loads(line) for line in out.splitlines()]
    result = rb.play("acs", attack="prior,averaging", **FAST)
    assert [row.successes for row in result.results] == [row["successes"] for row in printed]
    ceilings = result.rows["ceiling_thm35_0.95"].tolist()
    assert ceilings == [row["ceilings"]["thm35"]["0.95"] for row in printed]


def test_the_same_in_all_forms(tmp_path: Path, modest: type) -> None:
    acs = rb.load_prior("acs")
    assert isinstance(acs, rb.BayNet)
    path = tmp_path / "mine.bif"
    rb.save_prior(acs, path)
    wanted = successes(rb.play("acs", attack="averaging", known=None, **FAST))
    others = ", ".join(name for name in acs.domain.names if name != "SEX")
    forms: list[dict[str, Any]] = [
        {"dataset": acs},
        {"dataset": path},
        {"dataset": [str(path)]},
        {"attack": ["averaging"]},
        {"attack": ("averaging", {})},
        {"attack": {"attack": "averaging"}},
        {"attack": {"averaging"}},
        {"targets": ("SEX",)},
        {"targets": ["SEX"]},
        {"epsilon": "3"},
        {"epsilon": np.array([3.0])},
        {"epsilon": (np.float32(3),)},
        {"mechanism": "gaussian-marginals"},
        {"mechanism": rb.GaussianMarginals},
        {"mechanism": ("gaussian-marginals", {"k": 3})},
        {"mechanism": {"mechanism": "gaussian-marginals", "options": {}}},
        {"metric": rb.ExactMatch()},
        {"metric": ["exact"]},
        {"n": np.int64(40)},
        {"n": "40"},
        {"seed": 0},
        {"seed": np.int32(0)},
        {"progress": False},
    ]
    for changed in forms:
        given = {"dataset": "acs", "attack": "averaging", **FAST, **changed}
        assert successes(rb.play(**given)) == wanted, changed
    listed = [
        successes(rb.play("acs", attack="averaging", known=known, **FAST))
        for known in (others, others.split(", "), np.array(others.split(", ")))
    ]
    assert listed[0] == listed[1] == listed[2]
    limited = rb.play("acs", attack="averaging", **FAST, timeout=60)
    assert successes(limited) == wanted


def test_a_pgmpy_network_is_the_prior_that_it_holds(toy_net: rb.BayNet) -> None:
    model = to_pgmpy(toy_net, labels=True)
    theirs = rb.play(model, "c", epsilon=3, k=2, n=30, reps=1, attack="prior")
    ours = rb.play(rb.load_prior(model), "c", epsilon=3, k=2, n=30, reps=1, attack="prior")
    assert successes(theirs) == successes(ours)
    assert theirs.frame.dataset[0] == ours.frame.dataset[0]


def test_generators_draw_seeds() -> None:
    first, again, other = (
        rb.play("acs", attack="random", **FAST, seed=np.random.default_rng(seed))
        for seed in (1, 1, 2)
    )
    assert successes(first) == successes(again)
    assert {row.seed for row in first.results} != {row.seed for row in other.results}


def test_lists_are_games_and_tuples_are_hidden_at_once() -> None:
    result = rb.play(
        "acs", [("SEX", "MAR"), "MIL"], epsilon=[1, float("inf")], attack="prior", n=30, reps=1
    )
    games = {(row.targets, row.epsilon) for row in result.results}
    both, alone = ("SEX", "MAR"), ("MIL",)
    assert games == {(both, 1.0), (alone, 1.0), (both, np.inf), (alone, np.inf)}
    assert len(result.frame) == 4 and set(result.frame.targets) == {"SEX, MAR", "MIL"}
    assert repr(result) == "PlayResult(4 games, prior, 4 rows)"


def test_tables_are_fitted(people: pd.DataFrame) -> None:
    fitted = rb.fit(people)
    given: dict[str, Any] = {"targets": "MAR", "epsilon": 3, "n": 30, "reps": 1, "attack": "prior"}
    table = rb.Table.from_pandas(people, fitted.domain)
    results = [rb.play(data, **given) for data in (people, table, fitted)]
    assert len({tuple(successes(result)) for result in results}) == 1
    names = [result.frame.dataset[0] for result in results]
    assert names[0] == names[1] and names[0].startswith("table-")
    assert names[2].startswith("prior-")


def test_attacks_in_memory(modest: Any, tmp_path: Path) -> None:
    """A class, an object and a file of the same attack get the same; objects stay as they were."""
    result = rb.play("acs", attack=["prior", modest, modest(0.5)], **FAST)
    by_attack: dict[str, list[int | None]] = {}
    for row in result.results:
        key = f"{row.attack} {dict(row.attack_options)}"
        by_attack.setdefault(key, []).append(row.successes)
    assert set(by_attack) == {"prior {}", "modest {}", "modest {'doubt': 0.5}"}
    assert len({tuple(hits) for hits in by_attack.values()}) == 1
    assert len(result.frame) == 3

    class Learner(modest):  # type: ignore[misc]
        name = "learner"
        seen = 0

        def __init__(self) -> None:
            super().__init__()
            self.calls: list[int] = []

        def reconstruct(self, view: rb.AttackerView, rng: np.random.Generator) -> Any:
            assert self.calls == []
            self.calls.append(1)
            return super().reconstruct(view, rng)

    kept = Learner()
    rb.play("acs", attack=kept, **FAST)
    assert kept.calls == []


def test_shipped_classes_are_their_names(modest: Any) -> None:
    from reconbench.attacks.marginals.linear import Linear

    specs = rb.play("acs", attack=[Linear(prior_weight=0.5)], **FAST).results
    assert {(row.attack, dict(row.attack_options)["prior_weight"]) for row in specs} == {
        ("linear", 0.5)
    }


class Grumpy(rb.GaussianMarginals):
    """Gaussian marginals under another name."""

    name = "grumpy"


def test_mechanisms_and_priors_in_memory(toy_net: rb.BayNet) -> None:
    class Shouting:
        """A prior that is no network."""

        domain, visit_order = toy_net.domain, toy_net.visit_order
        sha256, sample = toy_net.sha256, toy_net.sample
        conditional, log_evidence, map = toy_net.conditional, toy_net.log_evidence, toy_net.map

    result = rb.play(Shouting(), "c", epsilon=3, k=2, n=20, mechanism=Grumpy, attack="prior")
    assert {row.mechanism for row in result.results} == {"grumpy"}
    assert {row.dataset for row in result.results} == {"here:Shouting"}


def test_a_skipped_game_says_why() -> None:
    result = rb.play("acs", "SEX", epsilon=3, n=30, reps=2, attack=["prior", "extraction"])
    assert "extraction skipped 2 rows: " in result.summary()
    assert "<svg" in result._repr_html_()


class Broken:
    """It cannot answer."""

    name = "broken"

    def reconstruct(self, view: object, rng: object) -> None:
        raise KeyError("nothing here")


def test_a_failure_is_raised(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="attack 'broken' failed: KeyError") as caught:
        rb.play("acs", attack=["prior", Broken], **FAST)
    # the traceback leads to the line that raised
    assert isinstance(caught.value.__cause__, KeyError)
    with pytest.raises(ValueError, match="the rows that are finished are kept in"):
        rb.play("acs", attack=["prior", Broken], out=tmp_path / "out", **FAST)
    assert {entry.row.attack for entry in read(tmp_path / "out")} == {"prior", "broken"}


class Stopping:
    """The user loses patience during its second game."""

    name = "stopping"
    games = 0

    def reconstruct(self, view: rb.AttackerView, rng: object) -> rb.Reconstruction:
        type(self).games += 1
        if self.games > 1:
            raise KeyboardInterrupt
        return view.reconstruction([0] * view.n)


@pytest.fixture
def fresh() -> Iterator[None]:
    Stopping.games = 0
    yield


@pytest.mark.usefixtures("fresh")
def test_an_interrupt_keeps_what_is_finished() -> None:
    with pytest.raises(rb.Interrupted, match="stopped after 3 of 4 rows") as caught:
        rb.play("acs", attack=["prior", Stopping], **FAST)
    result = caught.value.result
    assert result is not None and len(result.results) == 3 and result.missing == 1
    assert "1 row not played" in result.summary() and "1 not played" in repr(result)
    assert isinstance(caught.value, KeyboardInterrupt)


@pytest.mark.usefixtures("fresh")
def test_an_interrupt_leaves_a_store(tmp_path: Path) -> None:
    with pytest.raises(rb.Interrupted, match="the same call goes on there"):
        rb.play("acs", attack=["prior", Stopping], out=tmp_path, **FAST)
    assert len(read(tmp_path)) == 3


def test_a_folder_is_the_one_of_the_command(tmp_path: Path, modest: Any) -> None:
    out = tmp_path / "out"
    first = rb.play("acs", attack=["prior", modest], out=out, **FAST)
    files = {path.name for path in out.iterdir()}
    assert {"results.sqlite", "leaderboard.csv", "leaderboard.html"} <= files
    assert first.folder == out and len(read(out)) == 4
    again = rb.play("acs", attack=["prior", modest], out=out, **FAST)
    assert successes(again) == successes(first)
    # what is in memory is played anew, since nobody knows its code
    stored = [entry.row.attack for entry in read(out)]
    assert stored.count("prior") == 2 and stored.count("modest") == 4
    saved = rb.play("acs", attack=["prior", modest], **FAST).save(tmp_path / "saved")
    assert saved == tmp_path / "saved" / "leaderboard.html" and saved.is_file()
    left, right = (pd.read_csv(p / "leaderboard.csv") for p in (out, tmp_path / "saved"))
    columns = ["dataset", "epsilon", "attack", "success", "baseline"]
    assert left[columns].equals(right[columns])


def test_a_result_shows_itself(tmp_path: Path) -> None:
    result = rb.play("acs", attack=["prior", "averaging"], **FAST)
    sentences = result.summary().splitlines()
    assert "guessed hidden columns of every record from a noisy release" in sentences[0]
    assert "<" not in result.summary() and "No row raised an alarm." in sentences[-1]
    assert result.alarms == []
    assert len(result.frame) == 2 and len(result.rows) == 4
    for column in ("dataset", "targets", "epsilon", "attack", "success", "baseline_expected"):
        assert column in result.frame.columns
    assert not result.frame.isna().all().any()
    page = result._repr_html_()
    assert "<svg" in page and "<table" in page and "<script" not in page
    figure = result.plot()
    assert figure._repr_svg_().startswith("<svg") and "Figure(" in repr(figure)
    for ending, start in (("svg", b"<svg"), ("png", b"\x89PNG"), ("pdf", b"%PDF")):
        figure.save(tmp_path / f"x.{ending}")
        assert (tmp_path / f"x.{ending}").read_bytes().startswith(start)
    assert "success" in result.list_figures()
    assert result.plot("success").svg.startswith("<svg")
    with pytest.raises(ValueError, match="figure must be one of overview, success"):
        result.plot("succes")


def test_figures_without_the_extra(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    figure = rb.risk(0.1, epsilon=1).plot()
    figure.save(tmp_path / "x.svg")
    with pytest.raises(ValueError, match=r"pip install 'reconbench\[figures\]'"):
        figure.save(tmp_path / "x.png")


def test_names_are_text_on_the_page() -> None:
    class Sly:
        name = "<script>alert(1)</script>"

        def reconstruct(self, view: rb.AttackerView, rng: object) -> rb.Reconstruction:
            return view.reconstruction([0] * view.n)

    result = rb.play("acs", attack=["prior", Sly], **FAST)
    assert "<script" not in result._repr_html_() and "<script" not in result.plot().svg


def test_progress(capsys: pytest.CaptureFixture[str]) -> None:
    rb.play("acs", attack="prior", **FAST)
    assert capsys.readouterr().err == ""
    rb.play("acs", attack="prior", **FAST, progress=True)
    assert "play: 2 of 2" in capsys.readouterr().err


def test_progress_in_a_notebook(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shell = type("ZMQInteractiveShell", (), {})()
    kernel = type("IPython", (), {"get_ipython": staticmethod(lambda: shell)})
    monkeypatch.setitem(sys.modules, "IPython", kernel)
    rb.play("acs", attack="prior", **FAST)
    assert "play: 2 of 2" in capsys.readouterr().err


def test_a_call_leaves_nothing_behind(modest: Any) -> None:
    from reconbench.benchmarks.plugins import in_memory

    rb.play("acs", attack=modest, **FAST)
    assert in_memory._held == {}


def test_suites(tmp_path: Path, modest: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    suite = tmp_path / "mine.toml"
    suite.write_text(
        'name = "mine"\ndescription = "x"\nattacks = ["prior"]\nrepetitions = 1\n'
        '[[games]]\ndataset = "acs"\ntargets = ["SEX"]\nepsilon = [1]\nn = 30\n'
    )
    monkeypatch.chdir(tmp_path)
    result = rb.run(suite, attack=[modest, Broken])
    assert result.folder == Path("results/mine") and len(result.frame) == 3
    assert "1 row failed; the first: attack 'broken'" in result.summary()
    assert "1 failed" in repr(result) and (result.folder / "leaderboard.html").is_file()
    other = rb.run(suite, targets=["MAR", "MIL"], epsilon="1,3", reps=2, seed=4)
    assert len(other.results) == 8 and {row.seed for row in other.results} == {4}
    assert other.folder == Path("results/mine-targets-MAR-MIL-epsilon-1-3")


def test_replaced_data_is_fitted(
    people: pd.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = rb.run("smoke", dataset=people, targets="MAR", n=20, reps=1, out="out")
    assert {row.dataset for row in result.results} == {result.frame.dataset[0]}
    assert (tmp_path / "out" / result.frame.dataset[0]).is_file()


def test_computations_show_themselves(tmp_path: Path) -> None:
    result = rb.run("kulynych-fig4", out=tmp_path)
    assert repr(result) == "PlayResult(computations, 8 rows)"
    assert result.plot().svg.startswith("<svg") and "No attack was played" in result.summary()
    assert "<svg" in result._repr_html_()
