"""Sections 5.5 and 5.7: kACTUS against the systems of the literature, at equal k and at equal loss. Every table is Adult; cases are Q-sets, k, learners.

TDS and TDR recode whole columns, so the tested half is recoded alike, as in the paper's section 5.2: whatever is published is a category, in both
halves. kADET is the tree itself, which sees the tested half as it is, and so does whoever learns from kACTUS.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from functools import cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from experiments.data import data_path
from experiments.kisilevich_2010.folds import BAYES, PROTOCOLS, SECRET, TREE, Points, forget, half_of, learned, run
from experiments.kisilevich_2010.printing import print_table, published
from experiments.kisilevich_2010.ranks import ranked
from experiments.kisilevich_2010.sets import CLASS, Q_SETS, Data, adult
from shoal import Table, cell
from shoal.hierarchy import Hierarchy
from shoal.kernels.trees.anonymous import grow_anonymous, reached
from shoal.measures import NCP
from shoal.methods import Kactus, Kadet, Tdr, Tds
from shoal.methods.kadet import Questions
from shoal.randomness import rng_for
from shoal.release import Release
from shoal.runs.learning import combined_f_test, matrices
from shoal.runs.recipe import apply_steps

Trees = Literal["generalization", "suppression", "suppression, numbers too"]
GIVEN = ("workclass", "education", "marital-status", "occupation", "race", "sex", "native-country")
RELATIONSHIP = Hierarchy(  # which comes with none; the inventors of TDS had one that we do not have
    (
        *(("Husband", "spouse"), ("Wife", "spouse"), ("Own-child", "relative"), ("Other-relative", "relative")),
        *(("Unmarried", "alone"), ("Not-in-family", "alone")),
    )
)
NUMBERS = ("age", "education-num", "capital-gain", "capital-loss", "hours-per-week")  # that have few values; the others are fnlwgt
RIVALS = ("TDS", "TDR", "kADET")
LEARNERS = {"C4.5": TREE, "NB": BAYES}
LEAKING = list(PROTOCOLS)[-1]
LEVEL = 0.05
OFTEN = (5, 100, 1000)  # k at which 14/14 is run by as many repeats as are asked for; all else by one
FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class Found:
    """A method's accuracies by learner, in per cent by repeat and fold, and its NCP by repeat and fold."""

    accuracy: dict[str, FloatArray]
    ncp: FloatArray


@cache
def with_trees(quasi: str, trees: Trees, every: int) -> Data:
    """Adult with the hierarchies of its categories; or without, so that a category is its values, or nothing."""
    data = adult(quasi, every=every)
    known = Q_SETS[quasi]
    if trees == "generalization":
        paths = {c: data_path("adult", "hierarchies", f"adult_hierarchy_{c}.csv") for c in GIVEN if c in known}
        found = {c: Hierarchy.of(path) for c, path in paths.items()}
        roles = replace(data.roles, hierarchies=found | ({"relationship": RELATIONSHIP} if "relationship" in known else {}))
    elif trees == "suppression":
        roles = data.roles
    else:  # no number is cut, and fnlwgt, whose values are of few records each, is shown to nobody
        left = tuple(c for c in known if c != "fnlwgt")
        roles = replace(data.roles, quasi=left, nominal=(*data.roles.nominal, *(c for c in NUMBERS if c in left)), other=(), left_out=())
        table = data.table.without(("fnlwgt",))
        return Data(f"{data.name}, {trees}", data.halves, table, roles.check(table))
    return Data(f"{data.name}, {trees}", data.halves, data.table, roles.check(data.table))


def rival(name: str, data: Data, k: int, repeats: int) -> Found:
    """One of the literature's systems on both halves of each repeat."""
    learners = {"C4.5": TREE} if name == "kADET" else LEARNERS
    accuracy = {one: np.zeros((repeats, 2)) for one in learners}
    ncp = np.full((repeats, 2), np.nan)
    for repeat, fold in np.ndindex(repeats, 2):
        print(f"  {data.name}: {name}, k = {k}, repeat {repeat + 1}".ljust(110), end="\r", file=sys.stderr, flush=True)
        half = half_of(data.halves, data, repeat)
        train, test = np.flatnonzero(half == fold), np.flatnonzero(half != fold)
        private = tuple(c for c in data.features if c not in data.roles.quasi)
        method = {"TDS": Tds(k=k), "TDR": Tdr(k=k), "kADET": Kadet(k=k, private=private or None)}[name]
        plain, tested = data.table.take(train), data.table.take(test)
        if name == "kADET":
            accuracy["C4.5"][repeat, fold] = 100 * _own(data, k, train, test, len(data.roles.quasi), private)
            if repeat:
                continue  # the release is for its NCP alone
        release = apply_steps(plain, data.roles, [method], int(rng_for(SECRET, "fold", repeat, fold).integers(0, 2**62)))
        ncp[repeat, fold] = NCP().measure(plain, release, data.roles).value or 0.0
        if name == "kADET":
            continue
        points = _recoded(data, plain, tested, release)
        for one, learner in learners.items():
            accuracy[one][repeat, fold] = 100 * learned(points, learner)
    return Found(accuracy, ncp)


def _own(data: Data, k: int, train: NDArray[np.int64], test: NDArray[np.int64], public: int, private: tuple[str, ...]) -> float:
    """kADET's own tree on rows that it has not seen."""
    asked, labels = Questions.of(data.table, data.roles, (*data.roles.quasi, *private)), data.table.codes(CLASS)
    tree = grow_anonymous(asked.codes[train], asked.columns, np.arange(len(asked.columns)) < public, labels[train], k)
    return float((tree.counts.argmax(axis=1)[reached(tree, asked.codes[test], asked.columns)] == labels[test]).mean())


def _recoded(data: Data, plain: Table, tested: Table, release: Release) -> Points:
    """Both halves with what each value is published as."""
    source = plain.take(release.source_row)
    others = [c for c in data.features if c not in data.roles.quasi]
    train, test, nominal = (
        matrices(source, tested, others, data.table, data.roles)
        if others
        else (np.zeros((len(source), 0)), np.zeros((len(tested), 0)), np.zeros(0, np.bool_))
    )
    left, right = [train], [test]
    for column in data.roles.quasi:
        texts = release.table.column(column).to_pylist()
        each = sorted(set(texts), key=lambda text: text or "")
        number = {text: float(i) for i, text in enumerate(each)}
        known = dict(zip(source.column(column).to_pylist(), texts))
        values = tested.levels(column).to_pylist()
        code = np.array([number[known[v]] if v in known else _covering(str(v), each, number) for v in values])
        alone = each == [cell.SUPPRESSED]
        left.append(np.array([np.nan if alone else number[text] for text in texts])[:, None])
        right.append((np.full(len(values), np.nan) if alone else code)[tested.codes(column)][:, None])
    labels = {text: i for i, text in enumerate(data.table.levels(CLASS).to_pylist())}
    answers = [np.array([labels[v] for v in table.column(CLASS).to_pylist()]) for table in (release.table, tested)]
    categories = np.concatenate([nominal, np.ones(len(data.roles.quasi), np.bool_)])
    return np.hstack(left), np.hstack(right), categories, answers[0], answers[1]


def _covering(value: str, cells: list[str | None], number: dict[str | None, float]) -> float:
    """What a value that the protected half does not have is published as: the cell that allows it, or the interval below it, or `*`."""
    own, below = cell.to_number(value), []
    for text in cells:
        one = cell.read(text)
        low = one.interval[0] if one.interval else cell.to_number(text) if one.single and text else None
        if value in one.values:
            return number[text]
        if own is not None and low is not None and low <= own:
            below.append((low, number[text]))
    return max(below)[1] if below else number.get(cell.SUPPRESSED, np.nan)


def compared(trees: Trees, ks: tuple[int, ...], repeats: int, every: int) -> None:
    """kACTUS and the three, case by case; means, significant cases, ranks; and accuracy at equal loss."""
    rows: list[list[object]] = []
    gaps: dict[tuple[str, str, str], list[float]] = {}
    sure: dict[tuple[str, str], list[int]] = {}
    ranks: list[list[float]] = []
    equal: dict[str, list[float]] = {name: [] for name in RIVALS}
    out_of_reach = dict.fromkeys(RIVALS, 0)
    for quasi in Q_SETS:
        data, plain = with_trees(quasi, trees, every), adult(quasi, every=every)
        curve: list[tuple[float, float]] = []
        others: dict[str, list[tuple[float, float]]] = {name: [] for name in RIVALS}
        for k in ks:
            many = repeats if quasi == "14/14" and k in OFTEN else 1
            found = {name: rival(name, data, k, many) for name in RIVALS}
            for label, learner in LEARNERS.items():
                ours = run(plain, Kactus(k=k), range(many), learner)
                leaking = run(plain, Kactus(k=k), range(1), learner, LEAKING)
                before = float(run(plain, None, range(many), learner).accuracy.mean())
                cells = [float(found[n].accuracy[label].mean()) if label in found[n].accuracy else "" for n in RIVALS]
                rows.append([quasi, k, label, before, float(ours.accuracy.mean()), float(leaking.accuracy.mean()), *cells])
                for name in RIVALS:
                    if label not in found[name].accuracy:
                        continue
                    difference = ours.accuracy - found[name].accuracy[label]
                    gaps.setdefault((name, label, "in-fold"), []).append(float(difference.mean()))
                    other = (leaking.accuracy - found[name].accuracy[label][:1]).mean()
                    gaps.setdefault((name, label, LEAKING), []).append(float(other))
                    if many > 1:
                        told = combined_f_test(difference)[1] < LEVEL
                        counts = sure.setdefault((name, label), [0, 0, 0])
                        counts[0] += 1
                        counts[1] += bool(told and difference.mean() > 0)
                        counts[2] += bool(told and difference.mean() < 0)
                if label == "C4.5":
                    curve.append((ours.ncp, float(ours.accuracy.mean())))
                    ranks.append([float(ours.accuracy.mean()), *(float(found[n].accuracy["C4.5"].mean()) for n in RIVALS)])
                    for name in RIVALS:
                        others[name].append((float(np.nanmean(found[name].ncp)), float(found[name].accuracy["C4.5"].mean())))
            rows.append([quasi, k, "NCP", 0.0, curve[-1][0], "", *(others[n][-1][0] for n in RIVALS)])
        forget(plain)
        curve.sort()
        for name in RIVALS:
            for ncp, accuracy in others[name]:
                if trees == "suppression, numbers too" or not curve[0][0] <= ncp <= curve[-1][0]:
                    out_of_reach[name] += 1
                else:
                    equal[name].append(float(np.interp(ncp, *zip(*curve))) - accuracy)
    heads = ["quasi", "k", "", "original", "kactus", "kactus, as the paper", *RIVALS]
    folds = f"14/14 at k = 5, 100, 1000 by {repeats}x2 folds, all else by 1x2" if repeats > 1 else "1x2 folds"
    print_table(f"{trees}: accuracy, and NCP; {folds}", heads, rows, 3)
    _summed(trees, gaps, sure)
    if trees != "suppression, numbers too":
        _at_equal_loss(equal, out_of_reach)
    _ranked(ranks)


def _summed(trees: Trees, gaps: dict[tuple[str, str, str], list[float]], sure: dict[tuple[str, str], list[int]]) -> None:
    said = {r["data"]: r for r in published() if r["table"] == ("5.5" if trees == "generalization" else "5.7")}
    averages = {r["data"]: r for r in published() if r["table"] == "abstract"}
    rows: list[list[object]] = []
    for name in RIVALS:
        learners = [label for label in LEARNERS if (name, label, "in-fold") in gaps]
        for label in learners:
            for protocol in ("in-fold", LEAKING):
                one = gaps[name, label, protocol]
                rows.append([name, label, protocol, float(np.mean(one)), f"{sum(g > 0 for g in one)} of {len(one)}", "", ""])
        for protocol in ("in-fold", LEAKING):
            ours = float(np.mean([g for label in learners for g in gaps[name, label, protocol]]))
            theirs = float(averages[f"kACTUS over {name}, {'with' if trees == 'generalization' else 'without'} trees"]["value"])
            rows.append([name, "all", protocol, ours, "", theirs, f"{ours - theirs:+.2f}"])
    heads = ["kACTUS over", "learner", "kACTUS by", "mean, points", "ahead in", "published", "difference"]
    print_table(f"{trees}: mean difference at equal k", heads, rows, 2)
    if sure:
        cells: list[list[object]] = []
        for name in RIVALS:
            each = [counts for (one, _), counts in sure.items() if one == name]
            tested, better, worse = np.sum(each, axis=0).tolist()
            published_cases = said[f"cases of kACTUS over {name}"]
            cells.append([name, f"{better} and {worse} of {tested}", f"{published_cases['value']} of {published_cases['k']}"])
        print_table(
            "14/14, k = 5, 100, 1000: kACTUS significantly better and worse (combined 5x2 F-test)",
            ["than", "ours", "published, all Q-sets"],
            cells,
            0,
        )


def _at_equal_loss(equal: dict[str, list[float]], out_of_reach: dict[str, int]) -> None:
    rows: list[list[object]] = [
        [name, float(np.mean(one)) if one else "", f"{sum(g > 0 for g in one)} of {len(one)}", out_of_reach[name]]
        for name, one in equal.items()
    ]
    heads = ["kACTUS over", "mean, points", "ahead in", "cases outside kACTUS's NCP"]
    print_table("C4.5 at equal NCP: kACTUS in-fold, interpolated over k at the NCP that the other has", heads, rows, 2)


def _ranked(accuracy: list[list[float]]) -> None:
    found = ranked(("kactus", *RIVALS), np.array(accuracy))
    rows: list[list[object]] = [[name, rank] for name, rank in found.ranks.items()]
    title = (
        f"Ranks over {found.cases} cases, C4.5, equal k: Friedman, adjusted, F = {found.f:.2f}, p = {found.p_value:.2g}; "
        f"Bonferroni-Dunn difference {found.critical:.2f}"
    )
    print_table(title, ["method", "mean rank"], rows, 2)
