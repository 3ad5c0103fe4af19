"""The tables of the results page, each with the sentences that it bears out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import isinf
from statistics import fmean

from reconbench.benchmarks.store.summary import REFERENCES, Outcomes
from reconbench.reports.statistics import (
    INFORMED,
    LEAST_EXPECTED,
    LEAST_GAMES,
    REALISTIC,
    BlockTest,
    Calibration,
    Cell,
    Comparison,
    Split,
    Tightness,
    block_tests,
    calibrations,
    chi_square,
    comparisons,
    holm,
    realistic,
    tightness,
)
from reconbench.reports.text.number_format import (
    budget,
    name,
    number,
    of,
    p_is,
    p_value,
    prose,
    signed,
    table,
    with_error,
)

LEVEL = 0.05
FAR = 1.96
REFERENCE = REFERENCES[REALISTIC]
# Attacks that fit the release and use the prior at most to start or to break ties.
FITS = ("rap", "linear")


def every_cell(parts: Sequence[Split], weak: str, names: Mapping[str, str]) -> list[str]:
    header = [
        "column",
        "ε",
        "prior",
        name(weak),
        "realistic optimum",
        "informed optimum",
        "prior-exact",
        "Theorem 3.5, 50 %",
        "95 %",
        "attack",
        "threat model",
        "bound: left by prior-exact",
        "bound: removed by it",
        "largest part",
    ]
    rows = []
    for each in parts:
        largest = max(names, key=lambda part: float(getattr(each, part)))
        levels = (each.informed, each.exact, each.published_50, each.published_95)
        sizes = (each.attack, each.threat, each.slack, each.avoidable)
        rows.append(
            [
                _column(each.cell),
                budget(each.cell.epsilon),
                number(each.prior),
                number(each.weak),
                f"{number(each.realistic)}{'*' if each.fallback else ''}",
                *(number(level) for level in levels),
                *(signed(size) for size in sizes),
                names[largest].removeprefix("the "),
            ]
        )
    return ["## Every column and budget", "", *table(header, rows)]


def against_others(found: Sequence[Outcomes]) -> list[str]:
    """Where the optimal attack is ahead of and behind the others, with noise."""
    every = comparisons(found, REFERENCE)
    behind = [each for each in every if _verdict(each) < 0]
    ahead = [each for each in every if _verdict(each) > 0]
    return [
        f"## `{REFERENCE}` against every other attack",
        "",
        prose(
            f"Paired by game. `{REFERENCE}` is significantly behind in "
            f"{of(len(behind), len(every), 'comparisons')}{_where(behind)} and significantly ahead "
            f"in {of(len(ahead), len(every), 'comparisons')} (exact sign-flip test, Holm over all "
            f"of them, family-wise {100 * LEVEL:.0f} %). {_lowest(every)}"
        ),
        "",
        prose(
            "Over all columns, with a repetition as one block: mean lead in records ± standard "
            "error, and the exact sign-flip p-value, Holm-corrected over the table."
        ),
        "",
        *_blocks(found),
        "",
        prose(
            f"Mean successes by column; ▲: `{REFERENCE}` is significantly ahead of the attack, ▼: "
            "significantly behind it."
        ),
        *_means(found, every, lambda epsilon: not isinf(epsilon)),
    ]


def without_noise(found: Sequence[Outcomes]) -> list[str]:
    """The games at ε = ∞."""
    games = [each for each in realistic(found) if isinf(each.epsilon)]
    if not games:
        return ["## No noise: ε = ∞", "", "No games without noise are in the data."]
    every = [each for each in comparisons(found, REFERENCE) if isinf(each.cell.epsilon)]
    ours = [each for each in games if each.attack == REFERENCE]
    perfect = sum(all(got == each.n for got in each.successes) for each in ours)
    behind = [each for each in every if _verdict(each) < 0]
    lower = [each for each in every if each.mean < 0]
    fits = [each for each in every if each.other in FITS]
    missed = [each for each in fits if each.mean < 0]
    means = {
        attack: fmean(fmean(e.successes) for e in games if e.attack == attack)
        for attack in dict.fromkeys(each.attack for each in games)
    }
    ranked = sorted(means, key=lambda attack: -means[attack])
    stated = [each for each in ours if each.best]
    lost = sum(len(each.unconverged) for each in stated)
    total = sum(len(each.reps) for each in stated)
    return [
        "## No noise: ε = ∞",
        "",
        prose(
            f"Means over columns: {', '.join(f'{name(a)} {number(means[a])}' for a in ranked)}. "
            f"`{REFERENCE}` reconstructs every record of every game in "
            f"{of(perfect, len(ours), 'columns')}; it is significantly behind in "
            f"{of(len(behind), len(every), 'comparisons')}{_where(behind)}, and has the lower "
            f"mean, however slightly, in {of(len(lower), len(every), 'comparisons')}, of those "
            f"against {' and '.join(name(each) for each in FITS)} in "
            f"{of(len(missed), len(fits), 'comparisons')}. The "
            f"computation of the best possible converged in {of(total - lost, total, 'games')}."
        ),
        *_means(found, every, isinf),
    ]


def calibration(found: Sequence[Outcomes]) -> list[str]:
    """What the optimal attack expected against what it got."""
    every = calibrations(found)
    noisy = [each for each in every if not isinf(each.cell.epsilon)]
    groups = {
        f"{REFERENCE}, with noise": noisy,
        f"{REFERENCE}, ε = ∞": [each for each in every if isinf(each.cell.epsilon)],
        REFERENCES[INFORMED]: calibrations(found, INFORMED),
    }
    header = [
        "cell",
        "games",
        "not converged",
        "best possible ± Monte Carlo error",
        "mean success ± standard error",
        "difference",
        "z",
    ]
    rows = [
        [
            _cell(each.cell),
            str(each.games),
            str(each.unconverged),
            with_error(each.expected, each.expected_error),
            with_error(each.success, each.success_error),
            signed(each.success - each.expected),
            "–" if each.z is None else signed(each.z),
        ]
        for each in every
    ]
    return [
        "## Best possible against mean success",
        "",
        prose(
            "If the posterior is right, the optimal attack gets on average what it expects. z "
            "compares the two game by game, so that it has both errors in it, over the games that "
            f"converged; cells without a z have fewer than {LEAST_EXPECTED:g} expected hits or "
            f"misses in all, or fewer than {LEAST_GAMES} games. Σ z² is about the number of cells "
            "if all expectations are right; its p-value flips whole repetitions, since games of "
            "one repetition share their table, and is a little too small where differences are "
            "skewed."
        ),
        "",
        *(_calibrated(label, group) for label, group in groups.items() if group),
        "",
        *table(header, rows),
    ]


def informed_optimum(found: Sequence[Outcomes]) -> list[str]:
    """The informed optimum against the ceiling that claims to be tight on binary columns."""
    every = tightness(found)
    binary = [each for each in every if each.cell.binary]
    others = [each for each in every if not each.cell.binary]
    above = [each for each in every if each.z is not None and each.z > FAR]
    header = [
        "cell",
        "values",
        "games",
        "prior",
        "mean success",
        "informed optimum",
        "prior-exact",
        "difference ± standard error",
        "z",
    ]
    rows = [
        [
            _cell(each.cell),
            "**2**" if each.cell.binary else str(each.cell.values),
            str(each.games),
            number(each.prior),
            number(each.success),
            number(each.optimum, 2),
            number(each.exact, 2),
            with_error(each.difference, each.error, 2),
            "–" if each.z is None else signed(each.z),
        ]
        for each in every
    ]
    return [
        "## Informed optimum against the prior-exact ceiling",
        "",
        prose(
            "On a binary column the [prior-exact ceiling](prior-exact.md) on the mean is the "
            "optimum of the informed adversary; on others it may lie above. Games of one column "
            "share tables across budgets, so the cells are not independent."
        ),
        "",
        prose(f"- Binary columns (**2**): {_tight(binary)}", indent="  "),
        prose(f"- Other columns: {_tight(others)}", indent="  "),
        prose(
            f"- The optimum stands above the ceiling by more than {FAR} standard errors in "
            f"{of(len(above), len(every), 'cells')}; were all of them equal, "
            f"{number(0.025 * len(every))} would by chance.",
            indent="  ",
        ),
        "",
        *table(header, rows),
    ]


def _tight(found: Sequence[Tightness]) -> str:
    tested = [each for each in found if each.z is not None]
    if not found:
        return "none in the data."
    far = sum(abs(each.z or 0.0) > FAR for each in tested)
    share = fmean(each.optimum / each.exact for each in found if each.exact)
    return (
        f"optimum − ceiling is {signed(fmean(each.difference for each in found), 2)} records on "
        f"average, from {signed(min(each.difference for each in found), 2)} to "
        f"{signed(max(each.difference for each in found), 2)}; the optimum is "
        f"{number(100 * share)} % of the ceiling; more than {FAR} standard errors from it in "
        f"{of(far, len(tested), 'cells')} ({number(0.05 * len(tested))} expected if equal)."
    )


def _calibrated(label: str, found: Sequence[Calibration]) -> str:
    test = chi_square(found)
    tested = [each.z for each in found if each.z is not None]
    far = sum(abs(z) > FAR for z in tested)
    lost, games = sum(each.unconverged for each in found), sum(each.games for each in found)
    converged = f"converged in {of(games - lost, games, 'games')}."
    if not tested:
        return prose(f"- {label}: no cell can be tested; {converged}", indent="  ")
    holds = test.p >= LEVEL
    says = "no sign that an expectation is off" if holds else "**the expectations do not hold**"
    return prose(
        f"- {label}: {says}: Σ z² = {number(test.statistic)} over {test.cells} of {len(found)} "
        f"cells, {p_is(test.p)}; beyond ±{FAR} in {of(far, len(tested), 'cells')} "
        f"({number(0.05 * len(tested))} expected); mean success − expectation "
        f"{signed(fmean(each.success - each.expected for each in found), 2)} records; {converged}",
        indent="  ",
    )


def _blocks(found: Sequence[Outcomes]) -> list[str]:
    budgets = sorted({each.epsilon for each in realistic(found)})
    tests: dict[str, list[BlockTest]] = {
        budget(epsilon): block_tests(found, REFERENCE, _at(epsilon)) for epsilon in budgets
    }
    tests["all"] = block_tests(found, REFERENCE)
    flat = [(label, test) for label, group in tests.items() for test in group]
    adjusted = holm([test.p for _, test in flat])
    cells = {
        (test.other, label): f"{with_error(test.mean, test.error)} ({p_value(p)})"
        for (label, test), p in zip(flat, adjusted, strict=True)
    }
    others = dict.fromkeys(test.other for _, test in flat)
    header = [f"`{REFERENCE}` less", *(f"ε = {each}" if each != "all" else each for each in tests)]
    return table(
        header,
        [[name(each), *(cells.get((each, label), "–") for label in tests)] for each in others],
    )


def _at(epsilon: float) -> Callable[[Cell], bool]:
    return lambda cell: cell.epsilon == epsilon


def _means(
    found: Sequence[Outcomes],
    every: Sequence[Comparison],
    chosen: Callable[[float], bool],
) -> list[str]:
    games = [each for each in realistic(found) if chosen(each.epsilon)]
    others = [a for a in dict.fromkeys(each.attack for each in games) if a != REFERENCE]
    verdicts = {(each.cell, each.other): _verdict(each) for each in every}
    by_cell: dict[Cell, dict[str, Outcomes]] = {}
    for each in games:
        by_cell.setdefault(Cell.of(each), {})[each.attack] = each
    lines = []
    for epsilon in sorted({cell.epsilon for cell in by_cell}):
        rows = [
            [
                _column(cell),
                *(_mean(attacks.get(attack), verdicts.get((cell, attack), 0)) for attack in others),
                _mean(attacks.get(REFERENCE), 0),
                _best(attacks.get(REFERENCE)),
            ]
            for cell, attacks in by_cell.items()
            if cell.epsilon == epsilon
        ]
        header = [f"ε = {budget(epsilon)}", *map(name, others), REFERENCE, "best possible"]
        lines += ["", *table(header, rows)]
    return lines


def _mean(each: Outcomes | None, verdict: int) -> str:
    if each is None or not each.successes:
        return "–"
    sign = {1: " ▲", 0: "", -1: " ▼"}[verdict]
    return f"{number(fmean(each.successes))}{sign}"


def _best(each: Outcomes | None) -> str:
    if each is None or not each.best:
        return "–"
    lost = f" ({len(each.unconverged)} not converged)" if each.unconverged else ""
    return f"{number(fmean(each.best))}{lost}"


def _verdict(each: Comparison) -> int:
    """1 if the reference is significantly ahead, −1 if behind, else 0."""
    if each.adjusted >= LEVEL or each.mean == 0:
        return 0
    return 1 if each.mean > 0 else -1


def _lowest(found: Sequence[Comparison]) -> str:
    lowest = min(found, key=lambda each: each.mean, default=None)
    if lowest is None or lowest.mean >= 0:
        return "Its mean is nowhere the lower one."
    return (
        f"Its largest deficit is {number(-lowest.mean, 2)} records ({_cell(lowest.cell)}, against "
        f"{name(lowest.other)}: {p_is(lowest.p)} before the correction, "
        f"{p_is(lowest.adjusted)} after it)."
    )


def _where(found: Sequence[Comparison]) -> str:
    if not found:
        return ""
    return f" ({'; '.join(f'{_cell(e.cell)}, against {name(e.other)}' for e in found)})"


def _column(cell: Cell) -> str:
    return name(f"{cell.dataset} {cell.column}")


def _cell(cell: Cell) -> str:
    return f"{_column(cell)}, ε = {budget(cell.epsilon)}"
