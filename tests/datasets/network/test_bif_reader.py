"""BIF files as many tools write them, and files that are refused."""

from __future__ import annotations

import string

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reconbench.datasets import DomainError
from reconbench.datasets.network import bif_reader
from reconbench.datasets.network.bif import as_baynet
from reconbench.datasets.network.bif_reader import BifNetwork, count_variables, read_bif

JAVABAYES = """
// Produced by BayesianNetworks package in JavaBayes
network "Dog-Problem" { //5 variables and 5 probability distributions
\tproperty "credal-set constant-density-bounded 1.1" ;
}variable  "light-on" { //2 values
\ttype discrete[2] {  "true"  "false" };
\tproperty "position = (218, 195)" ;
}
variable  "family-out" { type discrete[2] { "true""false" }; property observed true ; }
variable  "dog-out" { property x = (1, 2); type discrete [ 2 ] {  "true"  "false" }; }
probability (  "light-on"  "family-out" ) { //2 variable(s) and 4 values
\t(true) 0.6 0.4 ;
\t(false) 0.05 0.95 ;
}
probability (  "family-out" ) { table 0.15 0.85 ; }
probability (  "dog-out"  "light-on"  "family-out" ) {
\ttable 0.99 0.97 0.9 0.3 0.01 0.03 0.1 0.7 ; }"""

SPACED = """network unknown {
}
variable soil moisture {
    type discrete [ 3 ] { very low, high (over 5), a:b };
}
variable Age (years) {
  type discrete [ 2 ] { <5, 1.5-2 };
}
probability ( soil moisture ) {
    table 2e-1, .3, 5.0E-1 ;
}
probability ( Age (years) | soil moisture ) {
    ( very low ) 0.25, 0.75;
    property why = "no; reason" ;
    (high  (over 5)) 1., 0;
    default 0.5, 0.5;
}"""


def test_quoted_names_as_javabayes_writes_them() -> None:
    net = read_bif(JAVABAYES)
    assert net.name == "Dog-Problem"
    assert net.variables == ("light-on", "family-out", "dog-out")
    assert net.states[1] == ("true", "false") and net.parents == ((1,), (), (0, 1))
    assert net.cpts[0].tolist() == [[0.6, 0.4], [0.05, 0.95]]
    # P(dog-out = true | light-on, family-out), the second parent varying fastest.
    assert net.cpts[2][..., 0].tolist() == [[0.99, 0.97], [0.9, 0.3]]
    assert count_variables(JAVABAYES.replace("}variable", "}\nvariable")) == 3


def test_names_with_spaces_and_brackets_as_pgmpy_writes_them() -> None:
    net = read_bif(SPACED)
    assert net.variables == ("soil moisture", "Age (years)")
    assert net.states == (("very low", "high (over 5)", "a:b"), ("<5", "1.5-2"))
    assert net.cpts[0].tolist() == [0.2, 0.3, 0.5]
    assert net.cpts[1].tolist() == [[0.25, 0.75], [1, 0], [0.5, 0.5]]


def test_a_root_by_default_as_agrum_writes_it() -> None:
    text = SPACED.replace("table 2e-1", "default 2e-1")
    assert read_bif(text).cpts[0].tolist() == [0.2, 0.3, 0.5]


def test_quoted_words_may_hold_anything() -> None:
    text = r"""variable "} ; // {\"x\"}" { type discrete [ 3 ] { "/* a", "b, c", "" }; }
probability ( "} ; // {\"x\"}" ) { table 0.5 0.25 0.25; /* "odd" */ }"""
    net = read_bif(text)
    assert net.variables == ('} ; // {"x"}',) and net.states == (("/* a", "b, c", ""),)


def test_a_state_may_be_called_like_a_word_of_the_format() -> None:
    text = """variable network { type discrete [2] { table, default }; }
variable b { type discrete [2] { property, variable }; }
probability ( network ) { table 0.5 0.5; }
probability ( b | network ) { (table) 0.1 0.9; (default) 0.2 0.8; }"""
    assert read_bif(text).cpts[1].tolist() == [[0.1, 0.9], [0.2, 0.8]]


GOOD = """variable a { type discrete [2] { x, y }; }
variable b { type discrete [2] { x, y }; }
probability ( a ) { table 0.5, 0.5; }
probability ( b | a ) { (x) 0.5, 0.5; (y) 0.5, 0.5; }
"""


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("(y) 0.5, 0.5;", "(y) -0.5, 1.5;", "'b' has a value that is not a probability"),
        ("(y) 0.5, 0.5;", "(y) 1e999, 0.5;", "'b' has a value that is not a probability"),
        ("(y) 0.5, 0.5;", "(y) nan, 0.5;", "holds something not a number: 'nan, 0.5'"),
        ("(y) 0.5, 0.5;", "(y) 0_5, 0.5;", "holds something not a number"),
        ("(y) 0.5, 0.5;", "(y) 0.5, 0.48;", "off by 0.02, at most 0.01 is allowed"),
        ("(y) 0.5, 0.5;", "(x) 0.5, 0.5;", r"'b' is given the row \(x\) twice"),
        ("(y) 0.5, 0.5;", "", "leaves out a combination of its parents: 1 of 2"),
        ("(y) 0.5, 0.5;", "(y) 0.5, 0.5", r"cannot read '\(y\) 0.5, 0.5' in 'b'"),
        ("(y) 0.5, 0.5;", "(y) 1;", "needs 2 numbers, got 1"),
        ("(y) 0.5, 0.5;", "(y, x) 0.5, 0.5;", "needs 1 parent states, got 2"),
        ("(y) 0.5, 0.5;", "(z) 0.5, 0.5;", "names unknown state 'z'"),
        ("(y)", "default 1 0; default", "given a default twice"),
        ("(x) 0.5, 0.5;", "table 1 1 0 0;", r"given the row \(y\) twice"),
        ("(y) 0.5, 0.5;", "table 1 1 0 0;", "given a table twice"),
        ("table 0.5, 0.5;", "table 0.5, 0.5; table 0.5, 0.5;", "'a' is given a table twice"),
        ("( b | a )", "( b | a, a )", "'b' has the parent 'a' twice"),
        ("( b | a )", "( b | c )", "names an undeclared variable, 'c'"),
        ("( b | a )", "( a | b )", "two probability blocks for 'a'"),
        ("( b | a )", "b | a", "cannot read 'probability 'b | a''"),
        ("( b | a )", "( b a | a )", "cannot read 'probability"),
        ("probability ( a ) { table", "probability ( a | b ) { default", "cyclic: 'a' -> 'b'"),
        ("( b | a ) { (x)", "( b | b ) { (x)", "cyclic: 'b' -> 'b'"),
        ("variable b", "variable a", "'a' is declared twice"),
        ("variable b", "variable c", "undeclared variable, 'b'"),
        ("variable b { type discrete [2]", "variable b { type discrete [3]", "3 are announced, 2"),
        ("{ x, y }", "{ x, x }", "2 are announced, 2 given, 1 of them different"),
        ("{ x, y }", "{ x }", "2 are announced, 1 given"),
        ("type discrete [2]", "type continuous [2]", "'a' is not of type discrete"),
        ("type discrete [2]", "type discrete [99999999999]", "'a' is not of type discrete"),
        ("}; }\nvariable b", "}; nonsense }\nvariable b", "cannot read 'nonsense' in variable 'a'"),
        ("{ x, y }", '{ "x, y }', "a quote is not closed"),
        ("variable b", "/* variable b", "a comment is not closed"),
        ("variable b", "/*/ variable b", "a comment is not closed"),
        ("variable b", "\0variable b", "holds a NUL character"),
        ("(y) 0.5, 0.5; }", "", "ends within a block"),
        ("variable a", "<BIF> variable a", "is not a BIF file: cannot read '<BIF> variable"),
        (GOOD, "", "declares no variable"),
        (GOOD, "{}", "is not a BIF file"),
        ("probability ( a ) { table 0.5, 0.5; }", "", "'a' has no probability block"),
    ],
)  # fmt: skip
def test_refusals(old: str, new: str, message: str) -> None:
    assert old in GOOD
    with pytest.raises(DomainError, match=message) as caught:
        as_baynet(read_bif(GOOD.replace(old, new, 1)))
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 300


def test_sizes_are_limited_before_memory_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    names = [f"v{i}" for i in range(9)]
    states = ", ".join(map(str, range(1000)))
    text = "".join(f"variable {n} {{ type discrete [1000] {{ {states} }}; }}\n" for n in names)
    text += "".join(f"probability ( {n} ) {{ default 1; }}\n" for n in names[1:])
    with pytest.raises(DomainError, match="more than 33,554,432 cells, counted up to 'v0'"):
        read_bif(text + f"probability ( v0 | {', '.join(names[1:])} ) {{ default 1; }}")
    monkeypatch.setattr(bif_reader, "MAX_PARENTS", 0)
    with pytest.raises(DomainError, match="'b' has 1 parents, more than the 0 allowed"):
        read_bif(GOOD)
    monkeypatch.setattr(bif_reader, "MAX_VARIABLES", 1)
    with pytest.raises(DomainError, match="has 2 variables, more than the 1 that are read"):
        read_bif(GOOD)


@pytest.mark.parametrize("bad", ['"', '\\"', "/*", "//", "(", "variable ", '"\\'])
def test_what_is_never_closed_costs_linear_time(bad: str) -> None:
    """A quadratic scan of 400,000 characters would take minutes."""
    with pytest.raises(DomainError):
        read_bif("variable a { " + '"' + bad * (400_000 // len(bad)))


WORDS = st.text(string.printable.replace("\n", "").replace("\r", ""), min_size=1, max_size=12)
PLAIN = st.text(string.ascii_letters + string.digits + "_-.<>=+:/%$", min_size=1, max_size=8)


def _quote(word: str) -> str:
    escaped = word.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


@st.composite
def networks(draw: st.DrawFn) -> BifNetwork:
    """Small networks with odd names, zeros and any order of their variables."""
    words = WORDS.filter(lambda word: bool(word.strip()))
    names = draw(st.lists(words, min_size=1, max_size=4, unique=True))
    states = tuple(tuple(draw(st.lists(WORDS, min_size=1, max_size=3, unique=True))) for _ in names)
    order = draw(st.permutations(range(len(names))))
    parents: list[tuple[int, ...]] = [()] * len(names)
    for place, child in enumerate(order):
        parents[child] = (
            tuple(draw(st.lists(st.sampled_from(order[:place]), unique=True))) if place else ()
        )
    rng = np.random.default_rng(draw(st.integers(0, 1000)))
    cpts = []
    for child, given_ in enumerate(parents):
        shape = [len(states[p]) for p in (*given_, child)]
        weights = rng.integers(0, 3, size=shape) * rng.random(shape)
        weights[..., 0] += weights.sum(axis=-1) == 0
        cpts.append(weights / weights.sum(axis=-1, keepdims=True))
    return BifNetwork("odd", tuple(names), states, tuple(parents), tuple(cpts))


def _write(net: BifNetwork, style: int) -> str:
    """A BIF text: rows or tables, commas or spaces, line ends and comments of several tools."""
    comma, bar, end = (", ", " | ", "\n") if style & 1 else (" ", " ", "\r\n")
    lines = ["network odd {", "}", "// a comment"]
    names = [_quote(name) for name in net.variables]
    for name, states in zip(names, net.states, strict=True):
        listed = comma.join(map(_quote, states))
        lines += [f"variable {name} {{", f"type discrete[{len(states)}] {{{listed}}};", "}"]
    for child, given_ in enumerate(net.parents):
        head = bar.join([names[child], comma.join(names[p] for p in given_)][: 1 + bool(given_)])
        lines.append(f"probability ( {head} ) {{ /* numbers */")
        cpt = net.cpts[child]
        if style & 2 or not given_:
            lines.append(
                f"table {comma.join(map(repr, np.moveaxis(cpt, -1, 0).ravel().tolist()))};"
            )
        else:
            for at in np.ndindex(*cpt.shape[:-1]):
                context = comma.join(
                    _quote(net.states[p][code]) for p, code in zip(given_, at, strict=True)
                )
                lines.append(f"({context}) {comma.join(map(repr, cpt[at].tolist()))};")
        lines.append("property last one;}")
    return end.join(lines)


@settings(max_examples=150, deadline=None)
@given(net=networks(), style=st.integers(0, 3))
def test_odd_networks_come_back(net: BifNetwork, style: int) -> None:
    back = read_bif(_write(net, style))
    assert (back.variables, back.states, back.parents) == (net.variables, net.states, net.parents)
    assert all(np.array_equal(a, b) for a, b in zip(back.cpts, net.cpts, strict=True))
    as_baynet(back)


@settings(max_examples=200, deadline=None)
@given(junk=st.text('abxy01."\\/*(){}[],;| \n', max_size=60), at=st.integers(0, len(GOOD)))
def test_junk_is_refused_or_read_and_never_crashes(junk: str, at: int) -> None:
    for text in (junk, GOOD[:at] + junk + GOOD[at:]):
        try:
            as_baynet(read_bif(text))
        except DomainError as error:
            assert "\n" not in str(error)


@settings(max_examples=50, deadline=None)
@given(names=st.lists(PLAIN, min_size=2, max_size=5, unique=True))
def test_plain_words_need_no_quotes(names: list[str]) -> None:
    if any("//" in name or "/*" in name for name in names):
        return
    listed = ", ".join(names)
    numbers = ", ".join([repr(1 / len(names))] * len(names))
    text = f"variable v {{ type discrete [ {len(names)} ] {{ {listed} }}; }}\n"
    assert read_bif(text + f"probability ( v ) {{ table {numbers}; }}").states == (tuple(names),)
