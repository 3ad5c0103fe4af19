"""What an assessment says, in words: sections that the page and the Markdown report have in common.

Everything is computed from the JSON document of an assessment (``reconbench-assessment/1``). Names
and labels are foreign text: ``say`` makes them safe for whatever they are put into.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from reconbench.reports.text.document import Grid, Section
from reconbench.reports.text.number_format import budget, listed, number, signed

Document = Mapping[str, Any]
Say = Callable[[str], str]

OPTIMAL = "posterior"
LONGEST = 60
MOST_NAMES = 8
TOP_KINDS = 12
SCOPES = {
    "mean": "No attack, on average over your records (proved)",
    "worst-record": "No attack, on any single one of your records (proved)",
    "any-prior": "No attack, on any record, whatever is known of it beforehand (proved)",
    "real": "The best attack, on your table (measured)",
    "fresh": "The best attack, on tables drawn from the prior (measured)",
}


def sections(document: Document, say: Say) -> list[Section]:
    """All but the headlines, in the order of a report."""
    return [
        _learned(document, say),
        _exposed(document, say),
        *([_kept(document)] if document["proved"] else []),
        _cost(document),
        Section("What was assumed", points=tuple(_assumptions(document, say))),
        Section("How this was made", grids=(_made(document, say),)),
    ]


def headlines(document: Document, say: Say) -> list[str]:
    """The report in a few sentences."""
    row, n = asked(document), document["source"]["records"]
    at = _attack(row, OPTIMAL)["real"]
    gain = at["value"] - row["prior_real"]
    found = [
        f"Without any release, an attacker who knows {names(document['known'], say)} of every "
        f"record, and how such records are distributed, guesses {_goal(document, say)} right for "
        f"{percent(row['prior_real'])} of your {n:,} records.",
        f"{_released(document, say)}, the best attack we know gets {percent(at['value'])} right on "
        f"your table: {_gained(gain, n, at['margin'])}",
    ]
    if row["ceiling"]:
        found.append(
            f"No attack can expect to gain more than {number(100 * row['ceiling']['gain'])} "
            "percentage points over guessing without the release: this is proved, for hidden "
            "values that follow the prior."
        )
    else:
        found.append(
            "No guarantee of the noise was stated, so there is no ceiling: a better informed "
            "attacker might get more."
        )
    found += _kept_in_short(document)
    cost = row["accuracy"]
    found.append(
        f"A released count is off by {_count(cost['cell_error'])} on average; the typical cell "
        f"that is not empty holds {_count(cost['typical_cell'])}."
    )
    return found


def asked(document: Document) -> Any:
    """The budget that was asked about."""
    epsilon = document["question"]["epsilon"]
    return next(each for each in document["budgets"] if each["epsilon"] == epsilon)


def names(found: Sequence[str], say: Say, most: int = MOST_NAMES) -> str:
    shown = [say(brief(name)) for name in found[:most]]
    left = len(found) - len(shown)
    return listed([*shown, *([f"{left} more"] if left else [])])


def brief(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def percent(share: float) -> str:
    return f"{number(100 * share)} %"


def epsilon_of(value: Any) -> str:
    return "not stated" if value is None else budget(float(value))


def _gained(gain: float, n: int, margin: float | None) -> str:
    if abs(gain) < 0.0005:
        return "as many as without the release."
    more = "more" if gain > 0 else "fewer"
    text = (
        f"{number(100 * abs(gain))} percentage points {more}, about {abs(gain) * n:,.0f} records."
    )
    if margin is None or abs(gain) > margin:
        return text
    return f"{text} That is within chance: ± {number(100 * margin)} points from noise to noise."


def _goal(document: Document, say: Say) -> str:
    targets, metric = document["targets"], document["question"]["metric"]
    if metric != "exact":
        steps = metric.partition(":")[2]
        return f"{names(targets, say)} (off by at most {steps} on its scale)"
    return names(targets, say) if len(targets) == 1 else f"all of {names(targets, say)}"


def _released(document: Document, say: Say) -> str:
    row, question = asked(document), document["question"]
    marginals = f"{question['k']}-way marginals"
    if document["source"]["release"]:
        return f"With the {marginals} in {say(brief(document['source']['release']))}"
    return f"With {marginals} released at ε = {epsilon_of(row['epsilon'])}"


def _attack(row: Any, name: str) -> Any:
    return next(each for each in row["attacks"] if each["attack"] == name)


def _share(mean: Any) -> str:
    if mean is None:
        return "–"
    margin = "" if mean["margin"] is None else f" ± {number(100 * mean['margin'])}"
    return f"{number(100 * mean['value'])}{margin}"


def _count(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _learned(document: Document, say: Say) -> Section:
    rows, played = [], bool(asked(document)["attacks"][0]["fresh"])
    others = [
        each["attack"]
        for each in document["budgets"][0]["attacks"]
        if each["attack"] not in ("prior", OPTIMAL)
    ]
    for row in document["budgets"]:
        best, ceiling = _attack(row, OPTIMAL), row["ceiling"]
        rows.append(
            (
                epsilon_of(row["epsilon"]),
                number(100 * row["prior_real"]),
                _share(best["real"]),
                signed(100 * (best["real"]["value"] - row["prior_real"])),
                *(_share(_attack(row, name)["real"]) for name in others),
                *([_share(row["fresh_gain"])] if played else []),
                *((number(100 * ceiling[key]) for key in ("gain", "high")) if ceiling else "––"),
                *_sure(row),
            )
        )
    header = (
        "ε",
        "guessed without a release, %",
        "best attack, %",
        "its gain, points",
        *(f"{say(name)}, %" for name in others),
        *(["gain on drawn tables, points"] if played else []),
        "no attack gains more, points",
        "no attack passes in 95 % of runs, %",
        "90 % sure of, records",
        "of these right",
    )
    place = [row["epsilon"] for row in document["budgets"]].index(asked(document)["epsilon"])
    unsure = [
        epsilon_of(row["epsilon"])
        for row in document["budgets"]
        if _attack(row, OPTIMAL)["converged"] is False
    ]
    doubts = (
        f"The best attack had not converged at ε = {listed(unsure)}: a better one may exist.",
    )
    return Section(
        "What an attacker learns, budget by budget",
        (
            "Percent of your records that are guessed right. A smaller ε means more noise. The "
            "gain over guessing without a release is what the release gives away; the rest an "
            "attacker has anyway, from the known columns."
            + (
                " Drawn tables are made up from the prior: they tell what to expect of a table "
                "like yours, without its luck."
                if played
                else ""
            ),
            "An attacker does not know which guesses are right, but is surer of some than of "
            "others: the last two columns count the records of which the attacker is at least "
            "90 % sure.",
            *(doubts if unsure else ()),
        ),
        grids=(Grid(header, tuple(rows), marked=place),),
    )


def _sure(row: Any) -> tuple[str, str]:
    found = row["sure"]
    if found["records"] is None:
        return "too few", "–"
    right = "–" if found["right"] is None else percent(found["right"])
    return f"{found['records']:,.0f}", right


def _exposed(document: Document, say: Say) -> Section:
    found, threshold = document["exposure"], document["question"]["threshold"]
    at = epsilon_of(asked(document)["epsilon"])
    known = [kind for column in found["by_known"] for kind in column["shown"]]
    known.sort(key=lambda kind: -_gain(kind))
    moved = any(_gain(kind) for kind in known)
    grids = []
    if len(found["columns"]) > 1:
        alone = tuple(
            (say(brief(each["column"])), *_before_and_after(each)) for each in found["columns"]
        )
        header = ("target column", *_SHARES)
        grids.append(Grid(header, alone, "Each target column on its own, most exposed first"))
    grids += [_kinds(column, say) for column in found["by_target"]]
    if moved:
        rows = tuple(_kind(kind, say, with_column=True) for kind in known[:TOP_KINDS])
        caption = f"By what is known of a record: the {len(rows)} most exposed kinds"
        grids.append(Grid(("column", "label", "records", *_SHARES), rows, caption, left=2))
    return Section(
        "Which records are most exposed",
        (
            f"On your own table, at ε = {at}: percent of the records of a kind that are guessed "
            "right, without the release and with it. Most exposed is where the release adds most.",
            f"Kinds of fewer than {threshold} records are not shown, nor are others where they "
            "would give those away by subtraction. Where many kinds are compared, those on top are "
            f"partly there by chance{': mind the ±' if document['question']['reps'] > 1 else ''}.",
            *(() if moved else ("At this ε, no kind of record gains or loses anything.",)),
        ),
        grids=tuple(grids),
        more=tuple(_kinds(column, say) for column in found["by_known"]),
        more_title="All known columns",
    )


_SHARES = ("without, %", "with, %", "gain, points")


def _gain(each: Any) -> float:
    return float(each["attack"]["value"] - each["prior"])


def _before_and_after(each: Any) -> tuple[str, str, str]:
    return number(100 * each["prior"]), _share(each["attack"]), signed(100 * _gain(each))


def _kind(kind: Any, say: Say, *, with_column: bool) -> tuple[str, ...]:
    column = (say(brief(kind["column"])),) if with_column else ()
    label = say(brief(kind["label"]))
    return (*column, label, f"{kind['records']:,}", *_before_and_after(kind))


def _kinds(column: Any, say: Say) -> Grid:
    rows = [_kind(kind, say, with_column=False) for kind in column["shown"]]
    if column["hidden_labels"]:
        labels = f"{column['hidden_labels']} labels, not shown"
        rows.append((labels, f"{column['hidden_records']:,}", "", "", ""))
    caption = f"By {say(brief(column['column']))}"
    return Grid(("label", "records", *_SHARES), tuple(rows), caption)


def _kept(document: Document) -> Section:
    question = document["question"]
    rows = [(SCOPES[each["scope"]], _proved(each)) for each in document["proved"]]
    rows += [(SCOPES[each["scope"]], _measured(each)) for each in document["measured"]]
    return Section(
        "The largest ε that keeps your limit",
        (
            f"Your limit: {_limit(question)}. Proved answers hold whatever the attack, for hidden "
            "values that follow the prior. Measured ones are what the best attack reached in play; "
            "between two ε that were tried they are read off a straight line.",
            "Mostly a proved answer is the smaller one, and the safe choice. Where a measured one "
            "is smaller, your table departs from the prior, by chance or because the prior fits "
            "badly: then take that.",
        ),
        grids=(Grid(("who must keep it", "largest ε"), tuple(rows)),),
    )


def _limit(question: Any) -> str:
    most = question["max_risk"]
    if question["measure"] == "share":
        return f"at most {percent(most)} of the records guessed right"
    return f"at most {number(100 * most)} percentage points more guessed right than without"


def _proved(each: Any) -> str:
    if each["epsilon"] is None:
        return "none keeps it"
    value = float(each["epsilon"])
    # rounded down: what is printed must keep the limit, too
    return "any" if value == float("inf") else f"{_down(value)}"


def _down(value: float, digits: int = 3) -> str:
    text = f"{value:.{digits}g}"
    if float(text) <= value:
        return text
    step = 10.0 ** (int(f"{value:e}".partition("e")[2]) - digits + 1)
    return f"{float(text) - step:.{digits}g}"


def _measured(each: Any) -> str:
    if each["keeps"] is None:
        return f"less than {epsilon_of(each['passes'])} (the smallest that was tried)"
    if each["keeps"] == "inf":
        return "without limit (it was kept even without noise)"
    if each["passes"] is None:
        return f"{epsilon_of(each['keeps'])} or more (kept at every ε that was tried)"
    between = f"between {epsilon_of(each['keeps'])} and {epsilon_of(each['passes'])}"
    return between if each["about"] is None else f"about {_down(each['about'], 2)} ({between})"


_DEPARTS = (
    " The measured one is smaller: your table departs from the prior, by chance or because the "
    "prior fits badly. Take the smaller one."
)


def _kept_in_short(document: Document) -> list[str]:
    if not document["proved"]:
        return []
    proved, measured = _proved(document["proved"][0]), document["measured"][0]
    limit = _limit(document["question"])
    sure = (
        f"No ε is proved to keep your limit ({limit})"
        if document["proved"][0]["epsilon"] is None
        else f"Your limit ({limit}) is proved to be kept, on average over your records, "
        + (f"up to ε = {proved}" if proved != "any" else "at every ε")
        + _each_kept(document)
    )
    played = "Measured with the best attack on your table, the largest ε is"
    reached = measured["about"] or measured["passes"]
    proved_up_to = float(document["proved"][0]["epsilon"] or 0)
    smaller = reached is not None and float(reached) < proved_up_to
    return [f"{sure}. {played} {_measured(measured)}.{_DEPARTS if smaller else ''}"]


def _each_kept(document: Document) -> str:
    """The same limit for every single record, where it makes a difference."""
    single = next((each for each in document["proved"] if each["scope"] == "worst-record"), None)
    if single is None or single["epsilon"] in (None, "inf"):
        return ", but at none on every single one" if single and single["epsilon"] is None else ""
    return f", and on every single one up to ε = {_proved(single)}"


def _cost(document: Document) -> Section:
    rows = tuple(
        (
            epsilon_of(row["epsilon"]),
            _count(row["accuracy"]["cell_error"]),
            f"{row['accuracy']['relative']:.3g} ×",
            f"{row['accuracy']['distance']:.3g}",
            f"{row['accuracy']['cleaned']:.3g}",
        )
        for row in document["budgets"]
    )
    typical = _count(asked(document)["accuracy"]["typical_cell"])
    header = (
        "ε",
        "mean error of a count",
        f"of the typical cell ({typical})",
        "marginal's error, as released",
        "marginal's error, cleaned",
    )
    return Section(
        "What it costs in accuracy",
        (
            "The mean error of a count is the expected absolute noise on one cell of a marginal; "
            f"the typical cell is the median of those that are not empty, {typical} records. The "
            "error of a marginal is its total variation distance from the exact one: the share of "
            "records that would have to move to another cell. As released it may pass 1; cleaned "
            "means that negative counts were set to 0 and the rest scaled to the total.",
        ),
        grids=(
            Grid(
                header,
                rows,
                marked=[each["epsilon"] for each in document["budgets"]].index(
                    asked(document)["epsilon"]
                ),
            ),
        ),
    )


def _assumptions(document: Document, say: Say) -> list[str]:
    source, question, mechanism = (document[key] for key in ("source", "question", "mechanism"))
    covered = any(each["scope"] == "any-prior" for each in document["proved"])
    found = [
        "The prior was fitted to this very table, and the attacker is granted it. It is itself a "
        "summary of your records and gives some of them away; its budget is not counted here. Do "
        "not publish it. A real attacker knows the distribution from elsewhere, and less well: as "
        "a rule guesses fewer records right, without the release and with it, but may gain more by "
        "the release than is said here, since the prior has told part of it before."
        if source["fitted"]
        else f"The prior was read from {say(brief(source['prior']))}, and the attacker is granted "
        "it. If it was made from your records it gives some of them away: do not publish it.",
        "The attacker knows the known columns of every record without error, how the noise was "
        "made, and nothing else of the hidden columns. Whoever knows more gets more: "
        + (
            "the answer “whatever is known of it beforehand” covers that, and any other prior."
            if covered
            else "with --max-risk and --measure advantage, one of the answers covers that, and any "
            "other prior."
        ),
        f"Released is every {question['k']}-way marginal of the known and target columns that has "
        f"a target: {mechanism['marginals']:,} marginals with {mechanism['cells']:,} cells. Other "
        "releases from the same records add to the risk.",
        f"Neighbouring tables: {mechanism['relation']}; what is protected is {mechanism['unit']}. "
        + (
            f"The whole release is (ε, δ)-DP with δ = {question['delta']:g}, by Gaussian noise of "
            "which μ-GDP accounting is exact."
            if asked(document)["epsilon"] is not None
            else "No guarantee was stated, and none is assumed; the noise is taken to be Gaussian, "
            "independent, and as large as stated."
        ),
        "The best attack is the optimal one for an attacker who believes the prior. Ceilings hold "
        "for hidden values that are drawn from the prior given the known columns; one fixed table "
        "may lie above them by chance, or because the prior does not describe it.",
        "± is a 95 % interval over repetitions of the noise (and, for drawn tables, of the table). "
        "It says nothing of another table."
        if question["reps"] > 1
        else "The noise was drawn once: another draw gives away a little more or less, and how "
        "much is not said here.",
    ]
    if source["left_out"]:
        found.append(
            f"Left out, as neither known nor wanted: {names(source['left_out'], say)}. They are in "
            "no marginal here."
        )
    return found


def _made(document: Document, say: Say) -> Grid:
    source, question = document["source"], document["question"]
    row = asked(document)
    rows = [
        ("table", say(brief(source["table"]))),
        ("records", f"{source['records']:,}"),
        ("targets", names(document["targets"], say, most=100)),
        ("known columns", names(document["known"], say, most=100)),
        ("guarantee", row["guarantee"]),
        ("noise on a count, sd", f"{row['noise_sd']:.4g}"),
        ("columns in a marginal (k)", f"{question['k']}"),
        ("metric", question["metric"]),
        ("attacks", listed([say(name) for name in question["attacks"]])),
        ("repetitions", f"{question['reps']}"),
        ("seed", f"{question['seed']}"),
        ("kinds shown from", f"{question['threshold']} records"),
        ("versions", ", ".join(f"{name} {text}" for name, text in document["versions"].items())),
    ]
    if source["release"]:
        rows.insert(1, ("release", say(brief(source["release"]))))
    return Grid(("", ""), tuple(rows), left=2)
