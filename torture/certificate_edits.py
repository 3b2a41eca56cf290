"""Edits of certificates, and whether the files beside them, or the certificate itself, contradict each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple


class Edit(NamedTuple):
    """One edit of a certificate as JSON."""

    name: str
    shown: bool
    do: Callable[[dict[str, Any]], None]


def _put(name: str, shown: bool, value: Any, *path: Any) -> Edit:
    """The edit that sets one value."""

    def do(certificate: dict[str, Any]) -> None:
        place: Any = certificate
        for key in path[:-1]:
            place = place[key]
        place[path[-1]] = value(place[path[-1]]) if callable(value) else value

    return Edit(name, shown, do)


def _measure(certificate: dict[str, Any], name: str) -> Any:
    return next(one for one in certificate["measures"] if one["name"] == name)


def _of_measure(name: str, shown: bool, measure: str, value: Any, *path: Any) -> Edit:
    def do(certificate: dict[str, Any]) -> None:
        _put(name, shown, value, *path).do(_measure(certificate, measure))

    return Edit(name, shown, do)


def _both(name: str, shown: bool, *edits: Edit) -> Edit:
    def do(certificate: dict[str, Any]) -> None:
        for edit in edits:
            edit.do(certificate)

    return Edit(name, shown, do)


def _move_to_other(certificate: dict[str, Any]) -> None:
    certificate["roles"]["other"].append(certificate["roles"]["quasi"].pop())


def _repeat_promise(certificate: dict[str, Any]) -> None:
    certificate["promises"].append(dict(certificate["promises"][0], columns=["age"], sentence="k-anonymity over age"))


EVERYWHERE = [
    _put("promises removed", True, [], "promises"),
    _put("found raised", True, lambda old: old + 1, "promises", 0, "found"),
    _put("holds turned over", True, False, "promises", 0, "holds"),
    _put("sentence changed", True, "everybody is safe", "promises", 0, "sentence"),
    _put("promise of another kind", True, "l-diversity", "promises", 0, "what"),
    _put("warnings removed", False, [], "warnings"),
    _put("date changed", False, "1999-01-01", "created"),
    _put("version changed", False, "9.9.9", "shoal"),
    _put("versions removed", False, {}, "versions"),
    _put("a file not listed", True, lambda old: old[:-1], "files"),
    _put("no file listed", True, [], "files"),
    _put("a file listed that is not there", True, lambda old: [*old, {"file": "more.txt", "sha256": "0" * 64}], "files"),
    _put("a file listed twice", True, lambda old: [*old, old[0]], "files"),
    _put("a file listed that lies outside", True, lambda old: [*old, {"file": "../key.pub", "sha256": "0" * 64}], "files"),
    _put("a hash replaced", True, "0" * 64, "files", 0, "sha256"),
    _put("format of an earlier version", True, 2, "format"),
    _put("format as a text", True, "3", "format"),
]
EVIDENCE = [
    _put("k raised", True, lambda old: old + 1, "promises", 0, "value"),
    _put("k lowered", True, lambda old: old - 1, "promises", 0, "value"),
    _both("k raised, in the step too", True, _put("", True, 9, "promises", 0, "value"), _put("", True, 9, "steps", 0, "parameters", "k")),
    _both(
        "k and what was found raised everywhere",
        True,
        _put("", True, 9, "promises", 0, "value"),
        _put("", True, 9, "promises", 0, "found"),
        _put("", True, 9, "steps", 0, "parameters", "k"),
    ),
    _put("steps removed", True, [], "steps"),
    _put("method nobody knows", False, "perfect-privacy", "steps", 0, "method"),
    _put("parameter changed", True, lambda old: old + 4, "steps", 0, "parameters", "k"),
    _put("guarantee added", True, ["k-anonymity", "t-closeness"], "steps", 0, "guarantees"),
    _put("guarantees removed", True, [], "steps", 0, "guarantees"),
    _put("summary of a method changed", True, "Perfectly safe.", "steps", 0, "summary"),
    _put("attacks removed", False, [], "attacks"),
    _put("rows changed", True, lambda old: old + 1, "release", "rows"),
    _put("hash of the release replaced", True, "f" * 64, "release", "sha256"),
    _put("another file named as the release", True, "report.html", "release", "file"),
    _put("rate of an attack lowered alone", True, 0.0, "attacks", 0, "rate"),
    _put("title of an attack changed", True, "Nothing", "attacks", 0, "title"),
    _put("measures removed", False, [], "measures"),
]
TABLE = [
    _put("method renamed", True, "noise", "steps", 0, "method"),
    _put("quasi emptied", True, [], "roles", "quasi"),
    Edit("a quasi-identifier moved to other", True, _move_to_other),
    _put("columns of a step emptied", True, [], "steps", 0, "columns"),
    _put("columns of a promise fewer", True, ["age"], "promises", 0, "columns"),
    Edit("a promise over fewer columns added", True, _repeat_promise),
    _put("unit of a promise changed", True, "persons", "promises", 0, "counts"),
    _put("unit of the number changed", True, "patients", "promises", 0, "unit"),
    _put("columns ignored by a promise", True, ["age"], "promises", 0, "ignores"),
    _put("confidential columns emptied", True, [], "roles", "confidential"),
    _put("identifiers removed raised", False, 5, "roles", "identifiers_removed"),
    _put("a target named that is not there", True, "wealth", "roles", "target"),
    _put("delimiter changed", True, ";", "release", "delimiter"),
    _put("missing token changed to a confidential value", True, "angina", "release", "missing"),
    _put("missing token changed to a value that nothing counts", False, "f", "release", "missing"),
    _put("columns renamed", True, lambda old: ["ages", *old[1:]], "release", "columns"),
    _put("columns in another order", True, lambda old: old[::-1], "release", "columns"),
    _of_measure("smallest class raised", True, "k-anonymity", 7.0, "value"),
    _of_measure("unique records lowered or raised", True, "k-anonymity", 4, "details", "uniques"),
    _of_measure("histogram changed", True, "k-anonymity", {"9": 9}, "details", "histogram"),
    _of_measure("number of classes changed", True, "k-anonymity", 2, "details", "classes"),
    _of_measure("l raised", True, "l-diversity", 3.0, "value"),
    _of_measure("l of a column raised", True, "l-diversity", lambda old: dict.fromkeys(old, 4.0), "per_column"),
    _of_measure("title of a measure changed", True, "cell-loss", "No loss", "title"),
    _of_measure("better turned over", True, "cell-loss", "higher", "better"),
    _of_measure("value outside its bounds", True, "cell-loss", -1.0, "value"),
    _of_measure("loss lowered in one place", True, "cell-loss", 0.0, "value"),
    _both("loss lowered everywhere", False, _of_measure("", False, "cell-loss", 0.0, "value"), _put("", False, 0.0, "summary", "loss")),
    _put("measure there twice", True, lambda old: [*old, old[0]], "measures"),
    _put("risk lowered in the summary alone", True, 0.0, "summary", "risk"),
    _both(
        "risk lowered everywhere",
        False,
        *(_put("", False, 0.0, "attacks", 0, key) for key in ("hit", "strict_hit", "rate")),
        _put("", False, [0.0, 0.1], "attacks", 0, "interval"),
        *(_put("", False, 0.0, "summary", key) for key in ("risk", "risk_low")),
        _put("", False, 0.1, "summary", "risk_high"),
    ),
    _put("what leaves removed", False, [], "leaves"),
    _put("name changed", False, "Another hospital", "name"),
    _put("unit counts persons", True, "persons", "unit", "counted"),
    _put("rows of the unit raised", True, 1000, "unit", "rows"),
    _put("more persons than rows", True, 10_000, "unit", "persons"),
    _put("an attack said not to have been tried", False, lambda old: [*old, {"name": "households", "why": "none"}], "not_tried"),
    _put("tried lowered", True, 1, "attacks", 0, "tried"),
    _put("blind guessing above 1", True, 2.0, "attacks", 0, "chance"),
]
OUTCOME = ("steps", 0, "outcome")
DOCUMENTS = [
    _put("documents written raised", True, 30, "documents", "written"),
    _put("style changed", False, "black-box", "style"),
    _put("removed emptied", False, [], "removed"),
    _put("mentions raised", True, 1000, "removed", 0, "mentions"),
    _put("searched raised", False, 10_000, "searched"),
    _put("rules changed", False, 0.1, "rules", "accept"),
    _put("rules surer than what they removed", True, 1.0, "rules", "accept"),
    _put("nobody behind what was removed", True, lambda old: [one | {"entities": 0} for one in old], "removed"),
    _put("a kind that is a name", True, "Robert Brown", "removed", 0, "kind"),
    _both(
        "more searched than there are letters",
        True,
        _put("", True, 100_000, "searched"),
        _put("", True, {"generalize by person": 1}, "blocks"),
    ),
]
COLLECTION = [
    _put("method renamed", True, "semantic", "steps", 0, "method"),
    _put("clusters changed", True, lambda old: old + 1, "release", "clusters"),
    _put("terms changed", True, lambda old: old + 1, "release", "terms"),
    _put("how it was built changed", False, None, "built"),
    _put("how it was built anything", True, {"anything": ["Robert Brown"]}, "built"),
    _put("excluded words told", True, ["brown"], "built", "exclude"),
    _put("swaps that the file does not tell of", True, 99, "steps", 0, "parameters", "swaps"),
    _put("labels said to be released", True, "released", "steps", 0, "parameters", "labels"),
]
RECODED = [
    _put("a gap where all was proven", False, lambda old: old | {"optimal": "not proven", "gap": 0.3}, *OUTCOME),
    _put("said to be proven, with a gap", True, lambda old: old | {"optimal": "proven", "gap": 0.3}, *OUTCOME),
    _put("not proven without a gap", True, "not proven", *OUTCOME, "optimal"),
    _put("more nodes said to be in the lattice", False, 10**12, *OUTCOME, "nodes"),
    _put("fewer nodes than none", True, -1, *OUTCOME, "nodes"),
    _put("a finding that no search tells", True, lambda old: old | {"certainty": "perfect"}, *OUTCOME),
    _put("levels of fewer columns", True, {"age": 0}, *OUTCOME, "levels"),
    _put("levels that are none", True, "fine", *OUTCOME, "levels"),
    _put("the names of groups emptied", True, {}, "release", "labels"),
    _put("a group's name for another one's values", False, lambda old: dict(zip(old, [*old.values()][::-1])), "release", "labels", "age"),
    _put("a group that no cell has", True, lambda old: old | {"[900, 910)": "[900..909]"}, "release", "labels", "age"),
    _put("a group's values that are no cell", True, lambda old: dict.fromkeys(old, "{"), "release", "labels", "age"),
    _put("hierarchies said to be none", False, [], "roles", "hierarchies"),
]
EDITS = {
    "table": [*EVERYWHERE, *EVIDENCE, *TABLE],
    "recoded": RECODED,
    "documents": [*EVERYWHERE, *DOCUMENTS],
    "collection": [*EVERYWHERE, *EVIDENCE, *COLLECTION],
}
