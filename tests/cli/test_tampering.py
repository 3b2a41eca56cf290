"""Edits of a certificate and of what lies beside it: what the files can show is refused without a signer, everything with one."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from shoal.checks.verify import verify
from shoal.errors import DataError
from shoal.example import invented_patients
from shoal.folders import sha256_of
from shoal.registry import make
from shoal.roles import Roles
from shoal.runs.recipe import Recipe
from shoal.runs.run import protect_to_folder
from shoal.writing import write_table

pytest.importorskip("cryptography", reason="the extra sign is not installed")

from shoal.signing import new_key

QUASI = ("age", "sex", "zip")
Edit = Callable[[dict[str, Any]], object]


@pytest.fixture(scope="module")
def signed(tmp_path_factory) -> Path:
    """A signed run of 300 patients, in a folder with its keys."""
    place = tmp_path_factory.mktemp("signed")
    write_table(invented_patients(300), place / "patients.csv")
    new_key(place / "key")
    new_key(place / "other")
    roles = Roles(quasi=QUASI, confidential=("diagnosis",), identifier=("name",), other=("visits",))
    names = ("k-anonymity", "t-closeness", "average-risk", "discernibility", "uniqueness")
    recipe = Recipe(
        place / "patients.csv",
        roles,
        (make("method", "mondrian", {"k": 4, "l": 2}),),
        tuple(make("measure", name) for name in names),
        (make("attack", "distance-linkage"), make("attack", "probabilistic-linkage")),
    )
    protect_to_folder(recipe, place / "run", sign=place / "key")
    return place


@pytest.fixture
def copy(signed, tmp_path) -> Path:
    """A copy to bend."""
    shutil.copytree(signed / "run", tmp_path / "run")
    for name in ("key.pub", "other.pub"):
        shutil.copy(signed / name, tmp_path / name)
    return tmp_path


def holds(place: Path, signer: str | None = None, what: str = "release.csv") -> bool:
    """Whether verify says so; a refusal to read is no yes."""
    try:
        return verify(place / "run" / what, place / "run" / "certificate.json", place / signer if signer else None).holds
    except DataError:
        return False


def bend(place: Path, edit: Edit) -> None:
    path = place / "run" / "certificate.json"
    said = json.loads(path.read_text(encoding="utf-8"))
    before = json.dumps(said)
    edit(said)
    assert json.dumps(said) != before, "the edit changes nothing"
    path.write_text(json.dumps(said, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def measure(said: dict[str, Any], name: str) -> dict[str, Any]:
    return next(one for one in said["measures"] if one["name"] == name)


def _promises_of(said: dict[str, Any], **changed: Any) -> None:
    said["promises"][0].update(changed)


def link(**parameters: Any) -> dict[str, Any]:
    """A step as a link is."""
    summary = f"Numbers of {parameters['by']}s are kept where at least {parameters['k']} look alike."
    return {"method": "link", "parameters": parameters, "columns": [], "guarantees": [], "summary": summary}


SHOWN: dict[str, Edit] = {
    "promises removed": lambda said: said["promises"].clear(),
    "one promise removed": lambda said: said["promises"].pop(),
    "k raised": lambda said: _promises_of(said, value=9),
    "k and what was found raised": lambda said: _promises_of(said, value=9, found=9),
    "k lowered": lambda said: _promises_of(said, value=3),
    "found raised": lambda said: _promises_of(said, found=said["promises"][0]["found"] + 1),
    "holds denied": lambda said: _promises_of(said, holds=False),
    "a sentence that says more": lambda said: _promises_of(said, sentence="k-anonymity over everything"),
    "a unit that says more": lambda said: _promises_of(said, unit="persons"),
    "rows called persons": lambda said: _promises_of(said, counts="persons", unit="persons"),
    "columns of a promise": lambda said: _promises_of(said, columns=["age"], sentence="k-anonymity over age"),
    "a promise nobody made": lambda said: said["promises"].append(
        {**said["promises"][0], "columns": ["sex"], "sentence": "k-anonymity over sex", "found": 100, "value": 100}
    ),
    "quasi emptied": lambda said: said["roles"].update(quasi=[]),
    "quasi called other": lambda said: said["roles"].update(quasi=["age"], other=["visits", "sex", "zip"]),
    "a role given twice": lambda said: said["roles"].update(other=["visits", "age"]),
    "confidential called other": lambda said: said["roles"].update(confidential=[], other=["visits", "diagnosis"]),
    "a column that is not there": lambda said: said["roles"].update(quasi=[*QUASI, "height"]),
    "a method renamed": lambda said: said["steps"][0].update(method="kactus"),
    "a method renamed to a kin": lambda said: said["steps"][0].update(method="infogain-mondrian"),
    "a parameter raised": lambda said: said["steps"][0]["parameters"].update(k=9),
    "a parameter unknown": lambda said: said["steps"][0]["parameters"].update(epsilon=1),
    "a guarantee added": lambda said: said["steps"][0]["guarantees"].append("differential-privacy"),
    "a summary of a method": lambda said: said["steps"][0].update(summary="Makes everything safe."),
    "steps removed": lambda said: said["steps"].clear(),
    "rows": lambda said: said["release"].update(rows=301),
    "the hash": lambda said: said["release"].update(sha256="0" * 64),
    "columns": lambda said: said["release"]["columns"].pop(),
    "a delimiter": lambda said: said["release"].update(delimiter=";"),
    "files unlisted": lambda said: said["files"].clear(),
    "the report unlisted": lambda said: said["files"].pop(),
    "an older format without files": lambda said: (said.update(format=2), said.pop("files")),
    "the measured k": lambda said: measure(said, "k-anonymity").update(value=9),
    "uniques": lambda said: measure(said, "k-anonymity")["details"].update(uniques=7),
    "a histogram": lambda said: measure(said, "k-anonymity")["details"].update(histogram={"300": 1}),
    "the average risk": lambda said: measure(said, "average-risk").update(value=0.001),
    "the measured t": lambda said: measure(said, "t-closeness").update(value=0.01),
    "the measured l of a column": lambda said: measure(said, "l-diversity")["per_column"].update(diagnosis=8.0),
    "discernibility": lambda said: measure(said, "discernibility").update(value=300.0),
    "which way is better": lambda said: measure(said, "cell-loss").update(better="higher"),
    "a title": lambda said: measure(said, "cell-loss").update(title="Bits of safety"),
    "a measure removed": lambda said: said["measures"].remove(measure(said, "k-anonymity")),
    "a rate without its hits": lambda said: said["attacks"][0].update(rate=0.001),
    "hits beyond tried": lambda said: said["attacks"][0].update(hit=1000.0),
    "an attack named twice": lambda said: said["attacks"].append(said["attacks"][0]),
    "the strongest attack removed": lambda said: said["attacks"].remove(max(said["attacks"], key=lambda one: one["rate"])),
    "the summary's risk": lambda said: said["summary"].update(risk=0.0),
    "the summary's loss": lambda said: said["summary"].update(loss=0.0),
    "the summary's attack": lambda said: said["summary"].update(risk_attack="nobody"),
    "what is counted": lambda said: said["unit"].update(counted="persons", persons=300),
    "rows of the unit": lambda said: said["unit"].update(rows=3000),
    "an interval that is too sure": lambda said: said["attacks"][0].update(interval=[said["attacks"][0]["rate"]] * 2),
    "a form of an attack that found more": lambda said: said["attacks"][0]["details"]["forms"][0].update(rate=0.99),
    "a later step over the same columns": lambda said: said["steps"].append(
        {**said["steps"][0], "method": "rank-swapping", "parameters": {"p": 5.0}, "guarantees": []}
    ),
    "a value that a promise takes for none": lambda said: said["promises"][1].update(ignores=["", "flu"]),
    "an order of letters": lambda said: measure(said, "t-closeness")["details"].update(distance={"diagnosis": "ordered"}),
    "levels that no cell has": lambda said: measure(said, "t-closeness")["details"].update(
        distance={"diagnosis": "ordered"}, levels={"diagnosis": ["nothing"]}
    ),
    "dates in a form that no date has": lambda said: said["release"].update(dates={"visits": "%M.%H"}),
    "a link that nobody made": lambda said: said["steps"].append(link(by="person", k=3)),
    "a link in other words": lambda said: said["steps"].append({**link(by="household", k=3), "summary": "Households are safe."}),
    "cells in a column that is not there": lambda said: said["release"].update(cells=["height"]),
    "a column that leaves and is not there": lambda said: said["leaves"].append({"column": "height", "why": "unique", "about": None}),
    "persons told where rows are counted": lambda said: said["unit"].update(persons=7),
    "rows said to be persons": lambda said: said["unit"].update(one_row_each="known"),
    "households without a column": lambda said: said["unit"].update(households=9, households_told=0.0),
    "a field nobody knows": lambda said: said.update(approved=True),
}

BELIEVED: dict[str, Edit] = {
    "the day": lambda said: said.update(created="2001-01-01"),
    "versions": lambda said: said["versions"].update(numpy="0"),
    "warnings emptied": lambda said: said["warnings"].clear() if said["warnings"] else said["warnings"].append("All is well."),
    "the name of the data": lambda said: said.update(name="Census"),
    "identifiers removed": lambda said: said["roles"].update(identifiers_removed=0),
    "a loss in both places": lambda said: (said["summary"].update(loss=0.01), measure(said, "cell-loss").update(value=0.01)),
    "a note of an attack": lambda said: said["attacks"][0].update(note="It failed."),
    "a reason not to try": lambda said: said["not_tried"].append({"name": "learned-linkage", "why": "It would fail."}),
}


def test_what_was_signed_holds(copy):
    assert holds(copy)
    assert holds(copy, "key.pub")
    assert holds(copy, "key.pub", "")
    found = verify(copy / "run" / "release.csv", copy / "run" / "certificate.json", copy / "key.pub")
    assert found.signed_by is not None
    assert any("distance-linkage" in sentence for sentence in found.believed)


@pytest.mark.parametrize("kind", SHOWN)
def test_what_the_files_can_show_is_refused_by_everybody(copy, kind):
    bend(copy, SHOWN[kind])
    assert not holds(copy)
    assert not holds(copy, "key.pub")


@pytest.mark.parametrize("kind", BELIEVED)
def test_what_no_file_can_show_is_refused_where_it_was_signed(copy, kind):
    bend(copy, BELIEVED[kind])
    assert not holds(copy, "key.pub")


def test_a_key_twice_says_two_things(copy):
    path = copy / "run" / "certificate.json"
    path.write_text(path.read_text(encoding="utf-8").replace('"kind": "table"', '"name": "a",\n  "kind": "table"'), encoding="utf-8")
    assert not holds(copy)


@pytest.mark.parametrize("what", ["", "release.csv"])
def test_files_beside_the_certificate(copy, what):
    run = copy / "run"
    (run / "report.html").write_text("<p>Everything is safe.</p>")
    assert not holds(copy, what=what)


@pytest.mark.parametrize("step", [None, link(by="person", k=3)], ids=["alone", "called numbers of persons"])
def test_a_column_of_names_is_seen(copy, step):
    """Also where the certificate lists it, with the hash of the file that has it."""
    release = copy / "run" / "release.csv"
    lines = release.read_text().splitlines()
    release.write_text("\n".join([lines[0] + ",who", *(f"{line},Person {i}" for i, line in enumerate(lines[1:]))]) + "\n")

    def listed(said: dict[str, Any]) -> None:
        digest = sha256_of(release)
        said["release"].update(sha256=digest, columns=[*said["release"]["columns"], "who"])
        next(one for one in said["files"] if one["file"] == "release.csv").update(sha256=digest)
        said["steps"] += [step] if step else []

    bend(copy, listed)
    assert not holds(copy)


def test_a_release_that_is_a_link_or_a_pipe(copy):
    release = copy / "run" / "release.csv"
    shutil.move(release, copy / "elsewhere.csv")
    release.symlink_to(copy / "elsewhere.csv")
    assert not holds(copy)
    assert not holds(copy, what="")
    release.unlink()
    os.mkfifo(release)
    assert not holds(copy)
    assert not holds(copy, what="")


@pytest.mark.parametrize("name", ["names.csv", ".hidden", "Ada Lovelace/", "more/names.csv"])
def test_what_is_not_listed_is_not_handed_over(copy, name):
    path = copy / "run" / name
    path.mkdir(parents=True) if name.endswith("/") else (path.parent.mkdir(exist_ok=True), path.write_text("x"))
    assert not holds(copy, "key.pub", "")
    assert holds(copy, "key.pub")  # the file that was handed over alone is what it was


def test_signatures_that_are_none(copy, signed):
    assert not holds(copy, "other.pub")
    signature = copy / "run" / "certificate.sig"
    kept = signature.read_bytes()
    signature.write_bytes(b"A" + kept[1:] if kept[:1] != b"A" else b"B" + kept[1:])
    assert not holds(copy, "key.pub")
    signature.unlink()
    assert not holds(copy, "key.pub")
    assert holds(copy)
