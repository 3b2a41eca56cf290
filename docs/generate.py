"""Fill the generated parts of the pages.

python docs/generate.py                  the parameter tables and the schema of certificates, from the classes themselves
python docs/generate.py --check          changes nothing; fails when one of them is out of date
python docs/generate.py --census FILE    also the measured figures, which need the Census file (1,080 records, 13 columns)
python docs/generate.py --reuters FOLDER also those of collections, which need Reuters' eight classes (r8-train-all-terms.txt, r8-test-all-terms.txt)
python docs/generate.py --adult FILE     also those of releases to learn from, which need the Adult file (30,162 complete records, 9 columns), and
                                         beside it, in the folder hierarchies, a tree for each column (adult_hierarchy_age.csv, ...)
python docs/generate.py ... --only NAME,NAME   measured figures on the pages of these names, and on no other
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import numpy as np

import shoal
from shoal.certificate import schema
from shoal.example import EDUCATION
from shoal.registry import Kind, known, make
from shoal.runs.learning import learn

DOCS = Path(__file__).resolve().parent
SCHEMA = DOCS / "certificate.schema.json"
KINDS: tuple[Kind, ...] = get_args(Kind)
SEED = 1

# What each method is measured with. The first row of a page's table is the one its prose speaks of.
METHOD_RUNS: dict[str, Sequence[dict[str, Any]]] = {
    "mdav": [{"k": 5}, {"k": 3}, {"k": 10}, {"k": 5, "refine": "swap"}],
    "mdav-large": [{"k": 5}, {"k": 3}, {"k": 10}],
    "v-mdav": [{"k": 5}, {"k": 5, "gamma": 1.1}],
    "individual-ranking": [{"k": 5}, {"k": 5, "grouping": "optimal"}, {"k": 50}],
    "z-projection": [{"k": 5}, {"k": 5, "grouping": "optimal"}],
    "pca-projection": [{"k": 5}, {"k": 5, "grouping": "optimal"}],
    "c-tca": [{"k": 5}, {"k": 3}, {"k": 10}, {"k": 5, "units": "kohonen", "refine": "none", "coding": "prototype"}],
    "k-tca": [{"views": 2}, {"views": 1}, {"views": 2, "coding": "prototype"}],
    "kde": [{"smoothing": 1.0}, {"smoothing": 0.5}, {"smoothing": 0.25}],
    "rank-swapping": [{"p": 10}, {"p": 5}, {"p": 20}],
    "noise": [{"p": 0.1}, {"p": 0.5}, {"p": 0.1, "correlation": "data"}, {"p": 0.5, "correlation": "data"}],
    "top-coding": [{"percentile": 95}, {"percentile": 80}, {"percentile": 95, "replacement": "mean"}],
    "bottom-coding": [{"percentile": 5}, {"percentile": 20}, {"percentile": 5, "replacement": "mean"}],
    "rounding": [{"base": 1000}, {"base": 10000}, {"base": 1000, "rule": "random"}],
}
LEARNING_RUNS: dict[str, Sequence[dict[str, Any]]] = {
    "mondrian": [{"k": 10}, {"k": 5}, {"k": 100}, {"k": 10, "l": 2}],
    "infogain-mondrian": [{"k": 10}, {"k": 5}, {"k": 100}, {"k": 10, "l": 2}],
    "balanced-mondrian": [{"k": 10}, {"k": 5}, {"k": 100}, {"k": 10, "l": 2}],
    "kactus": [{"k": 10}, {"k": 5}, {"k": 100}, {"k": 10, "l": 2}, {"k": 10, "publish": "mean"}],
    "kactus-refined": [{"k": 10}, {"k": 5}, {"k": 100}, {"k": 10, "l": 2}],
    "anti-unification": [{"k": 5}, {"k": 5, "conditions": ">,<", "passes": "until-nothing"}, {"k": 30}],
    "anti-unification-safe": [
        {"k": 10},
        {"k": 5},
        {"k": 100},
        {"k": 10, "l": 2},
        {"k": 10, "publish": "counts"},
        {"k": 10, "order": "fewest-first"},
    ],
    "local-recoding": [{"k": 10}, {"k": 5}, {"k": 100}, {"k": 10, "l": 2}],
    "recoding": [{"k": 10, "suppress": 0.05}, {"k": 5, "suppress": 0.05}, {"k": 10}, {"k": 10, "l": 2, "suppress": 0.05}],
    "datafly": [{"k": 10, "suppress": 0.05}, {"k": 5, "suppress": 0.05}, {"k": 10}],
    "incognito": [{"k": 10, "suppress": 0.05}, {"k": 5, "suppress": 0.05}, {"k": 10}],
    "local-suppression": [{"k": 10}, {"k": 5}, {"k": 5, "subsets": 3}, {"k": 10, "rule": "wildcard"}, {"k": 5, "rule": "wildcard"}],
    "tds": [{"k": 10}, {"k": 5}, {"k": 100}, {"k": 10, "hierarchies": "none"}],
    "tdr": [{"k": 10}, {"k": 5}, {"k": 100}, {"k": 10, "hierarchies": "none"}],
    "kadet": [{"k": 10}, {"k": 5}, {"k": 100}, {"k": 10, "hierarchies": "none"}],
    "recode": [{"columns": ("age",), "cuts": (0, 25, 35, 45, 55, 65, 91)}, {"columns": ("age",), "cuts": (0, 40, 91)}],
}
ALONG = dict.fromkeys(("local-recoding", "recoding", "datafly", "incognito"), "all")  # measured with Adult's hierarchies
ALONG |= dict.fromkeys(("tds", "tdr", "kadet"), "categories")  # which cut ages by themselves
TARGET = "salary-class"  # of Adult; the other eight columns are quasi-identifiers
CENSUS_RELEASES: tuple[tuple[str, dict[str, Any]], ...] = (("mdav", {"k": 5}), ("rank-swapping", {"p": 10}), ("noise", {"p": 0.1}))
PATIENT_RELEASES: tuple[tuple[str, dict[str, Any]], ...] = (("mdav", {"k": 5}), ("mdav", {"k": 25}))
PATIENT_ROLES = shoal.Roles(
    quasi=("age", "sex", "zip", "education", "income", "visits"),
    confidential=("diagnosis",),
    identifier=("name",),
    ordinal={"education": EDUCATION},
    target="diagnosis",
)
HOUSEHOLD_RELEASES = (
    ("mondrian", {"k": 5}, 0),
    ("mdav", {"k": 5}, 0),
    ("mondrian", {"k": 50}, 0),
    ("mondrian", {"k": 50}, 5),
)
SURVEY_ROLES = shoal.Roles(
    quasi=("AGE15X", "sex", "region"), confidential=("DIABDX",), weight=("weight",), household=("household_id",), identifier=("person_id",)
)


def page_of(kind: Kind, name: str) -> Path:
    """Where the page of a registered name is."""
    family, _, what = kind.rpartition("-")
    return DOCS / (f"{family}s" if family else "") / f"{what}s" / f"{name}.md"


def parameter_table(cls: type[Any]) -> str:
    """The class's own account of its parameters, as Markdown."""
    rows = cls.reference()
    if not rows:
        return "It has no parameters."
    cells = [(f"`{name}`", of, f"`{default}`" if default else "absent", text) for name, of, default, text in rows]
    return _table(("parameter", "kind", "default", "what it is"), cells)


def filled(text: str, marker: str, content: str) -> str:
    """A page with what stands between <!-- marker --> and <!-- /marker --> replaced."""
    begin, end = f"<!-- {marker} -->", f"<!-- /{marker} -->"
    if text.count(begin) != 1 or text.count(end) != 1:
        raise SystemExit(f"A page needs {begin} and {end}, each once.")
    return re.sub(f"{re.escape(begin)}.*?{re.escape(end)}", lambda _: f"{begin}\n\n{content}\n\n{end}", text, flags=re.DOTALL)


def out_of_date() -> list[Path]:
    """Pages whose parameter table is not what the class says, or that are missing; and the schema, likewise."""
    found = [] if SCHEMA.exists() and SCHEMA.read_text(encoding="utf-8") == schema_text() else [SCHEMA]
    for kind, name, cls in _registered():
        page = page_of(kind, name)
        if not page.exists() or filled(text := page.read_text(encoding="utf-8"), "parameters", parameter_table(cls)) != text:
            found.append(page)
    return found


def fill_parameters(only: Sequence[str] = ()) -> None:
    """Write every parameter table."""
    for kind, name, cls in _registered():
        if only and name not in only:
            continue
        page = page_of(kind, name)
        page.write_text(filled(page.read_text(encoding="utf-8"), "parameters", parameter_table(cls)), encoding="utf-8")


def schema_text() -> str:
    """The JSON schema of certificates, as the types themselves say it."""
    return json.dumps({"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "Certificate", **schema()}, indent=2) + "\n"


def fill_measured(census_file: Path, only: Collection[str] = ()) -> None:
    """Write every table of measured figures, or those of some names. Everything runs with seed 1, and the intruder knows every record and quasi-identifier."""
    census = shoal.read_table(census_file)
    census_roles = shoal.Roles(quasi=census.columns)
    for name in _asked(METHOD_RUNS, only):
        runs = METHOD_RUNS[name]
        rows = [_method_row(census, shoal.protect(census, name, roles=census_roles, seed=SEED, **run), run) for run in runs]
        heads = (
            "parameters",
            "smallest class",
            "unique",
            "IL1s",
            "SSE / SST",
            "distance linkage",
            "probabilistic linkage",
            "interval disclosure",
        )
        _fill("method", name, _table(heads, rows))
        _fill_readme(name, f"{rows[0][0]}: {rows[0][3]}, {rows[0][5]}")
    measures, attacks = _asked(known("measure"), only), _asked(known("attack"), only)
    if not measures and not attacks:
        return
    releases = [
        (f"Census, {_said(name, run)}", census, shoal.protect(census, name, roles=census_roles, seed=SEED, **run))
        for name, run in CENSUS_RELEASES
    ]
    patients = shoal.invented_patients(1000)
    roles = PATIENT_ROLES.check(patients)
    as_it_is = shoal.Release.given(patients.without(roles.identifier), np.arange(len(patients)), roles)
    releases.append(("patients, names removed, else as they are", patients, as_it_is))
    releases += [
        (f"patients, {_said(name, run)}", patients, shoal.protect(patients, name, roles=PATIENT_ROLES, seed=SEED, **run))
        for name, run in PATIENT_RELEASES
    ]
    scores = [(label, shoal.measure(table, release)) for label, table, release in releases]
    for name in measures:
        if name in ("ncp", "unique-households"):  # a perturbed value counts 0, and nobody lives together: other releases are shown
            continue
        _fill("measure", name, _table(("release", "value"), [(label, _number(by_name[name].value)) for label, by_name in scores]))
    results = [(label, shoal.attack(table, release, seed=SEED)) for label, table, release in releases]
    for name in attacks:
        if name == "household-linkage":
            continue
        rows = [
            (label, f"{one.rate:.1%}", f"{one.interval[0]:.1%} to {one.interval[1]:.1%}", f"{one.chance:.2%}")
            for label, one in ((label, by_name[name]) for label, by_name in results)
        ]
        _fill("attack", name, _table(("release", "hits", "95 % interval", "blind guessing"), rows))


def fill_households() -> None:
    """The two pages about households. Seed 1; the intruder knows everybody."""
    survey = shoal.invented_survey(3000)
    shares, rows = [], []
    for name, run, k in HOUSEHOLD_RELEASES:
        roles = replace(SURVEY_ROLES, link={"household": k} if k else {})
        release = shoal.protect(survey, make("method", name, run), roles=roles, seed=SEED)
        label = f"survey, {_said(name, run)}{f', household={k}' if k else ''}"
        told = shoal.measure(survey, release, "unique-households")["unique-households"]
        shares.append((label, f"{told.details['households']:,}", _number(told.value)))
        one = shoal.attack(survey, release, "household-linkage", seed=SEED)["household-linkage"]
        rows.append((label, f"{one.rate:.1%}", f"{one.interval[0]:.1%} to {one.interval[1]:.1%}", f"{one.chance:.2%}"))
    _fill("measure", "unique-households", _table(("release", "households with a number", "value"), shares))
    _fill("attack", "household-linkage", _table(("release", "hits", "95 % interval", "blind guessing"), rows))


def fill_learned(adult_file: Path, only: Collection[str] = ()) -> None:
    """The pages of methods whose releases are learnt from, and of what their cells leave open. Seed 1; the intruder knows 2,000 records."""
    adult = shoal.read_table(adult_file)
    quasi = tuple(column for column in adult.columns if column != TARGET)
    plain = shoal.Roles(quasi=quasi, confidential=(TARGET,), target=TARGET)
    trees = {column: adult_file.parent / "hierarchies" / f"adult_hierarchy_{column}.csv" for column in quasi}
    heads = ("parameters", "smallest class", "NCP", "distance linkage", "probabilistic linkage", "accuracy", "loss, points")
    penalties = []
    given = {
        "all": replace(plain, hierarchies=trees),
        "categories": replace(plain, hierarchies={c: t for c, t in trees.items() if c != "age"}),
    }
    for name in _asked(LEARNING_RUNS, only):
        rows = []
        for run in LEARNING_RUNS[name]:
            roles = plain if run.get("hierarchies") == "none" else given.get(ALONG.get(name, "none"), plain)
            rows.append(_learned_row(adult, roles.check(adult), name, run))
        _fill("method", name, _table(heads, rows))
        _fill_readme(name, f"{rows[0][0]}, Adult: {rows[0][2]}, {rows[0][3]}")
        penalties += [
            (f"Adult, {_said(name, run)}", row[2]) for run, row in zip(LEARNING_RUNS[name], rows) if run in ({"k": 10}, {"k": 100})
        ]
    if not only:
        _fill("measure", "ncp", _table(("release", "value"), penalties))


def fill_collections(reuters_folder: Path) -> None:
    """The pages of collections. Seed 1; the collection is the training part of Reuters, outsiders are documents of its test part."""
    from collection_figures import figures  # beside this file

    for kind, name, heads, rows in figures(reuters_folder):
        _fill(kind, name, _table(heads, rows))


def _asked(names: Iterable[str], only: Collection[str]) -> list[str]:
    """Those of the names that were asked for; all, where none was."""
    return [name for name in names if not only or name in only]


def _learned_row(adult: shoal.Table, roles: shoal.Roles, name: str, run: dict[str, Any]) -> tuple[str, ...]:
    given = {key: value for key, value in run.items() if key != "hierarchies"}
    release = shoal.protect(adult, name, roles=roles, seed=SEED, **given)
    scores = shoal.measure(adult, release, "k-anonymity", "ncp")
    hits = shoal.attack(adult, release, "distance-linkage", "probabilistic-linkage", records=2000, seed=SEED)
    learned = learn(adult, roles, [make("method", name, given)], SEED, ["decision-tree"])[0]
    return (
        ", ".join(f"{key} = {_words(value)}" for key, value in run.items()),
        f"{scores['k-anonymity'].value:,}",
        f"{scores['ncp'].value:.3f}",
        f"{hits['distance-linkage'].textbook.rate:.1%}",
        f"{hits['probabilistic-linkage'].textbook.rate:.1%}",
        f"{learned.released:.1%}",
        f"{learned.loss:.1f} (p = {learned.p_value:.3f})",
    )


def _method_row(census: shoal.Table, release: shoal.Release, run: dict[str, Any]) -> tuple[str, ...]:
    scores = shoal.measure(census, release, "k-anonymity", "il1s", "sse-ratio")
    hits = {name: f"{result.textbook.rate:.1%}" for name, result in shoal.attack(census, release, seed=SEED).items()}
    classes = scores["k-anonymity"]
    return (
        ", ".join(f"{key} = {_words(value)}" for key, value in run.items()),
        f"{classes.value:,}",
        f"{classes.details['uniques']:,}",
        f"{scores['il1s'].value:.3f}",
        f"{scores['sse-ratio'].value:.2%}",
        hits["distance-linkage"],
        hits["probabilistic-linkage"],
        hits["interval-disclosure"],
    )


def _fill(kind: Kind, name: str, table: str) -> None:
    page = page_of(kind, name)
    page.write_text(filled(page.read_text(encoding="utf-8"), "measured", table), encoding="utf-8")


def _fill_readme(name: str, figures: str) -> None:
    """The last cell of the method's row in README's table."""
    readme = DOCS.parent / "README.md"
    text = re.sub(rf"^(\| \[{name}\].*\| )[^|]*(\|)$", rf"\g<1>{figures} \g<2>", readme.read_text(encoding="utf-8"), flags=re.MULTILINE)
    readme.write_text(text, encoding="utf-8")


def _registered() -> Iterator[tuple[Kind, str, type[Any]]]:
    """shoal's own; the pages of a plug-in are its author's."""
    for kind in KINDS:
        for name, cls in known(kind).items():
            if cls.__module__.startswith("shoal."):
                yield kind, name, cls


def _said(name: str, run: dict[str, Any]) -> str:
    return " ".join([name, *(f"{key}={value}" for key, value in run.items())])


def _words(value: Any) -> str:
    """A parameter as it is typed."""
    return ",".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _number(value: float | None) -> str:
    if value is None:
        return "no value"
    if float(value).is_integer():
        return f"{int(value):,}"
    if abs(value) < 1e-9:
        return "0 (but for rounding)"
    return f"{value:,.1f}" if abs(value) >= 1000 else f"{value:.4g}"


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join("| " + " | ".join(str(cell).replace("|", "\\|") for cell in line) + " |" for line in lines)


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--census", type=Path)
    parser.add_argument("--adult", type=Path)
    parser.add_argument("--reuters", type=Path)
    parser.add_argument("--only", type=lambda names: names.split(","), default=())
    given = parser.parse_args()
    if given.check:
        if stale := out_of_date():
            sys.exit("Out of date, run python docs/generate.py: " + ", ".join(str(page.relative_to(DOCS)) for page in stale))
        return
    fill_parameters(given.only)
    SCHEMA.write_text(schema_text(), encoding="utf-8")
    if given.census:
        fill_measured(given.census, given.only)
        if not given.only:
            fill_households()
    if given.adult:
        fill_learned(given.adult, given.only)
    if given.reuters:
        fill_collections(given.reuters)


if __name__ == "__main__":
    main()
