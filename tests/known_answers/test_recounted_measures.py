"""What a certificate measures on the release alone is counted again from the written file; a figure that is changed a little is found out."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from shoal.certificate import MeasurePart, TableCertificate
from shoal.checks.combinations import cells_of, names_of, stretches
from shoal.checks.measures import CLASSES, HOUSEHOLDS, VALUES, columns_to_recount, recount_measures
from shoal.checks.values import Written
from shoal.files import read_table
from shoal.promises import Checked
from shoal.published import published
from shoal.registry import make
from shoal.roles import Roles
from shoal.runs.certify import ReleasedFiles, certify
from shoal.runs.evidence import Attacked, TableSubject, measure_all
from shoal.runs.recipe import apply_steps, ready
from shoal.runs.run import check_kept
from shoal.writing import write_table

ALL = (*CLASSES, *VALUES, HOUSEHOLDS)
QUASI = ("age", "town")
CASES: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    "cells": ("mondrian", {"k": 3}, {}),
    "diverse": ("mondrian", {"k": 3, "l": 2, "t": 0.5}, {"missing": {"illness": ("-9",), "pay": ("-9",)}}),
    "levels": ("mondrian", {"k": 3}, {"confidential": ("size",), "ordinal": {"size": ("small", "middle", "large")}}),
    "levels and a code": (
        "mondrian",
        {"k": 3},
        {"confidential": ("size",), "ordinal": {"size": ("small", "large", "huge")}, "missing": {"size": ("middle",)}},
    ),
    "tree": ("mondrian", {"k": 3}, {"hierarchies": {"town": [[f"t{i}", f"r{i % 2}", "*"] for i in range(5)]}}),
    "patterns": ("anti-unification", {"k": 3}, {}),
    "groups": ("mdav", {"k": 3, "columns": ("age",)}, {"quasi": ("age",), "confidential": ("illness", "pay")}),
    "noise": ("noise", {"columns": ("age",)}, {}),
    "dates": ("mondrian", {"k": 3}, {"confidential": ("since",), "kinds": {"since": "date:%d.%m.%Y"}}),
    "persons": ("mondrian", {"k": 3}, {"person": ("who",)}),
    "persons in several classes": ("rounding", {"base": 10, "columns": ("age",)}, {"person": ("who",)}),
    "households": ("mondrian", {"k": 3}, {"household": ("home",), "other": ("street",)}),
    "linked": ("mondrian", {"k": 20}, {"household": ("home",), "other": ("street",), "link": {"household": 2}}),
}


def survey(path: Path) -> Path:
    rng = np.random.default_rng(5)
    lines = ["age;town;illness;pay;size;since;who;home;street"]
    for i in range(150):
        age = "NA" if i % 11 == 0 else str(rng.integers(20, 60))
        illness = rng.choice(["flu", "cold", "-9", "NA", "Flu"])
        pay = rng.choice(["1,5", "-9", "NA", "0", "123456,75"])
        size = rng.choice(["small", "middle", "large"])
        since = f"{rng.integers(1, 29):02}.{rng.integers(1, 13):02}.{rng.integers(1990, 2020)}"
        lines.append(f"{age};t{rng.integers(5)};{illness};{pay};{size};{since};{i // 2};{i // 3};s{i // 3 % 4}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def certified(folder: Path, case: str, kind: str) -> tuple[TableCertificate, Path]:
    method, parameters, more = CASES[case]
    roles = Roles(**{"quasi": QUASI, "confidential": ("illness", "pay"), **more})
    step = make("method", method, parameters)
    table = read_table(survey(folder / "survey.csv"))
    if kind == "parquet":
        write_table(table, folder / "survey.parquet")
        table = read_table(folder / "survey.parquet")
    original, roles = ready(table, roles, (step,))
    release = apply_steps(original, roles, [step], 3)
    path = folder / f"release.{kind}"
    write_table(release.table, path)
    checked = check_kept(path, release)
    scores = measure_all(
        TableSubject(original, release, roles), [make("measure", name) for name in ALL if name != HOUSEHOLDS or roles.household], 3
    )
    return published(certify(original, release, roles, ReleasedFiles.of(path), checked, scores, Attacked((), {}))), path


def recount(certificate: TableCertificate, path: Path) -> tuple[list[Checked], list[str]]:
    about = certificate.release
    columns = columns_to_recount(certificate, names_of(path, about.delimiter))
    cells = cells_of(stretches(path, about.delimiter, columns), columns, written=Written(about.missing, about.dates, about.decimal))
    return recount_measures(certificate, cells)


def holds(certificate: TableCertificate, path: Path) -> bool:
    return all(one.holds for one in recount(certificate, path)[0])


@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize("case", CASES)
def test_every_figure_is_found_again_and_none_that_is_changed(tmp_path: Path, case: str, kind: str) -> None:
    certificate, path = certified(tmp_path, case, kind)
    found, believed = recount(certificate, path)
    assert [one for one in found if not one.holds] == []
    assert len(found) > 8
    assert (believed == []) == (not case.startswith("persons"))
    if not case.startswith("persons"):
        for changed in list(_changed(certificate)):
            assert not holds(changed, path)


def _changed(certificate: TableCertificate) -> Any:
    """The certificate with one figure more or less, one after the other."""
    for i, part in enumerate(certificate.measures):
        for other in _others(part):
            yield certificate.model_copy(update={"measures": (*certificate.measures[:i], other, *certificate.measures[i + 1 :])})
    if certificate.unit.households:
        yield certificate.model_copy(update={"unit": certificate.unit.model_copy(update={"households": certificate.unit.households + 1})})
        yield certificate.model_copy(update={"unit": certificate.unit.model_copy(update={"households_told": 0.123})})


def _others(part: MeasurePart) -> Any:
    if part.value is None:
        yield part.model_copy(update={"value": 1.0})
        return
    for value in (part.value * (1 + 1e-6) + 1e-6, part.value * (1 - 1e-6) - 1e-6, part.value + 1, None):
        yield part.model_copy(update={"value": value})
    for column, value in part.per_column.items():
        yield part.model_copy(update={"per_column": {**part.per_column, column: value + 1e-6}})
        yield part.model_copy(update={"per_column": {c: v for c, v in part.per_column.items() if c != column}})
    for key, value in part.details.items():
        if isinstance(value, int | float) and key != "c":
            yield part.model_copy(update={"details": {**part.details, key: value + 1}})
        elif key == "histogram":
            first = next(iter(value))
            yield part.model_copy(update={"details": {**part.details, key: {**value, first: value[first] + 1}}})
            yield part.model_copy(update={"details": {**part.details, key: {**value, "9999": 1}}})
        elif key == "unit":
            yield part.model_copy(update={"details": {**part.details, key: "persons"}})


def test_of_persons_the_file_shows_bounds(tmp_path: Path) -> None:
    certificate, path = certified(tmp_path, "persons", "csv")
    k = certificate.measure("k-anonymity")
    assert k is not None
    assert k.value is not None
    assert k.details["unit"] == "persons"
    found, believed = recount(certificate, path)
    assert {"uniqueness", "average-risk", "entropy-l-diversity", "recursive-l-diversity", "t-closeness"} <= set(believed)
    assert any("at most" in one.what for one in found)

    def with_k(**changes: Any) -> TableCertificate:
        details = {**k.details, **{key: value for key, value in changes.items() if key != "value"}}
        other = k.model_copy(update={"value": changes.get("value", k.value), "details": details})
        return certificate.model_copy(update={"measures": tuple(other if one is k else one for one in certificate.measures)})

    assert holds(with_k(), path)
    for changes in (
        {"value": 10_000},
        {"value": k.value + 1},
        {"classes": 0},
        {"rows": 1},
        {"unique_rows": 5},
        {"histogram": {"3": 1}},
        {"unit": "rows"},
    ):
        assert not holds(with_k(**changes), path)


def test_a_measure_of_a_plug_in_is_believed(tmp_path: Path) -> None:
    certificate, path = certified(tmp_path, "cells", "csv")
    more = MeasurePart(name="my-own", title="", value=7, better="lower", needs="release")
    assert recount(certificate.model_copy(update={"measures": (*certificate.measures, more)}), path)[1] == ["my-own"]
