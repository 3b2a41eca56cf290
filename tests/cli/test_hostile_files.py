"""Files and certificates made to mislead: nothing outside the folder is opened, every reader finds the same rows, and nothing crashes."""

import base64
import hashlib
import json
import os
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from shoal.certificate import TableFile
from shoal.checks.form import BLOCK, check_form
from shoal.checks.verify import Verified, verify
from shoal.errors import DataError
from shoal.example import invented_patients
from shoal.registry import make
from shoal.roles import Roles
from shoal.runs.recipe import Recipe
from shoal.runs.run import protect_to_folder
from shoal.writing import write_table

ROLES = Roles(quasi=("age", "sex"), confidential=("diagnosis",), identifier=("name",), other=("visits",))


@pytest.fixture(scope="module")
def runs(tmp_path_factory) -> Path:
    """The same patients, released as CSV and as Parquet."""
    place = tmp_path_factory.mktemp("hostile")
    for kind in ("csv", "parquet"):
        write_table(invented_patients(120), place / f"patients.{kind}")
        recipe = Recipe(place / f"patients.{kind}", ROLES, (make("method", "mondrian", {"k": 4}),), (), ())
        protect_to_folder(recipe, place / kind)
    return place


@pytest.fixture
def copy(runs, tmp_path) -> Path:
    shutil.copytree(runs, tmp_path / "runs")
    return tmp_path / "runs"


def said(run: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((run / "certificate.json").read_text(encoding="utf-8"))
    return found


def checked(run: Path, certificate: dict[str, Any] | None = None) -> Verified:
    """With the hashes of the certificate made to fit the files."""
    about = certificate or said(run)
    for one in [*about["files"], about["release"]]:
        if one["file"].isprintable() and len(one["file"]) < 256 and (run / one["file"]).is_file():
            one["sha256"] = hashlib.sha256((run / one["file"]).read_bytes()).hexdigest()
    (run / "certificate.json").write_text(json.dumps(about), encoding="utf-8")
    return verify(run, run / "certificate.json")


def broken(found: Verified) -> list[str]:
    return [one.what for one in found.checks if not one.holds]


def test_both_hold_as_they_are(copy):
    assert checked(copy / "csv").holds
    assert checked(copy / "parquet").holds


@pytest.mark.parametrize("name", ["../secret.csv", "/etc/passwd", "private/run.json", "..", "", "a\0b", "a" * 300, "a\\b", "x\x1b[1A"])
def test_a_release_outside_the_folder_is_never_opened(copy, name):
    (copy / "secret.csv").write_text("Robert Brown,AIDS\nx,y\n")
    about = said(copy / "csv")
    about["release"]["file"] = about["files"][0]["file"] = name
    found = checked(copy / "csv", about)
    assert broken(found) == ["names that lead elsewhere, or are listed twice"]
    assert "Brown" not in repr(found)


def test_a_header_that_was_removed_is_not_shown(copy):
    path = copy / "csv" / "release.csv"
    first = path.read_text().splitlines(keepends=True)[1:]
    path.write_text("".join(first))
    found = checked(copy / "csv")
    columns = next(one for one in found.checks if one.what == "columns")
    assert columns.found == "4 other names"
    assert not any(cell in repr(found.checks) for cell in first[0].strip().split(",") if len(cell) > 3)


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_two_columns_of_one_name(copy, kind):
    run, about = copy / kind, said(copy / kind)
    about["release"]["columns"].append("age")
    if kind == "csv":
        lines = (run / "release.csv").read_text().splitlines()
        (run / "release.csv").write_text("\n".join([lines[0] + ",age", *(f"{line},P{i}" for i, line in enumerate(lines[1:]))]) + "\n")
    else:
        table = pq.read_table(run / "release.parquet")
        pq.write_table(table.append_column("age", pa.array([f"P{i}" for i in range(len(table))])), run / "release.parquet")
    assert "columns of a name that another has" in broken(checked(run, about))


READ_OTHERWISE: dict[str, Callable[[bytes], bytes]] = {
    "line feeds with returns": lambda raw: raw.replace(b"\n", b"\r\n"),
    "returns alone": lambda raw: raw.replace(b"\n", b"\r"),
    "a return before a cell": lambda raw: raw[:40].replace(b"\n", b"\n\r") + raw[40:],
    "blank lines": lambda raw: raw.replace(b"\n", b"\n\n", 5),
    "blank lines at the end": lambda raw: raw + b"\n\n",
    "a blank line at the begin": lambda raw: b"\n" + raw,
    "a blank line after a quote that quotes nothing": lambda raw: raw[:-1] + b'"\n\n',
    "a zero byte": lambda raw: raw[:-1] + b"\0\n",
    "a byte-order mark": lambda raw: b"\xef\xbb\xbf" + raw,
    "no last line end": lambda raw: raw[:-1],
    "not UTF-8": lambda raw: raw[:-1] + b"\xff\n",
}


@pytest.mark.parametrize("kind", READ_OTHERWISE)
def test_csv_that_others_read_otherwise(copy, kind):
    path = copy / "csv" / "release.csv"
    path.write_bytes(READ_OTHERWISE[kind](path.read_bytes()))
    form = check_form(path, TableFile(**said(copy / "csv")["release"]))
    assert not all(one.holds for one in form)
    with suppress(DataError):
        assert not checked(copy / "csv").holds


@pytest.mark.parametrize("ahead", range(BLOCK - 5, BLOCK + 1))
def test_lines_inside_cells_are_cells_wherever_a_block_ends(tmp_path, ahead):
    path, about = tmp_path / "release.csv", TableFile(file="release.csv", sha256="", rows=2, columns=("a", "b"))
    begin = b"a,b\n" + b"x" * (ahead - 6) + b",y\n"
    path.write_bytes(begin + b'"\r\n\n""z",""""\n')
    assert all(one.holds for one in check_form(path, about))
    for odd in (b"y\r,z\n", b'"y",z\n\n', b'y"",z\n', b'"y" ,z\n'):
        path.write_bytes(begin + odd)
        assert not all(one.holds for one in check_form(path, about))


def test_cells_of_every_kind_are_written_as_they_are_held_to_be(tmp_path):
    from shoal.table import Table

    cells = ["", " a", "b\r\nc", '"', '""', "d,e", "\n\n", "\r", None, 'f"g', "é"]
    for columns in ({"one": cells}, {"one": cells, 'tw"o\n': cells[::-1]}):
        write_table(Table.of(pa.table(columns)), tmp_path / "release.csv")
        about = TableFile(file="release.csv", sha256="", rows=len(cells), columns=tuple(columns))
        assert all(one.holds for one in check_form(tmp_path / "release.csv", about))


def test_a_parquet_file_under_the_name_of_csv(copy):
    about = said(copy / "csv")
    shutil.copy(copy / "parquet" / "release.parquet", copy / "csv" / "release.csv")
    assert "kind of file" in broken(checked(copy / "csv", about))


def _bytes_between(path: Path) -> None:
    raw = path.read_bytes()
    footer = int.from_bytes(raw[-8:-4], "little")
    path.write_bytes(raw[: -8 - footer] + b"Robert Brown" + raw[-8 - footer :])


def _words(path: Path) -> None:
    table = pq.read_table(path)
    pq.write_table(table.replace_schema_metadata({b"names": b"Robert Brown"}), path)


def _words_of_a_column(path: Path) -> None:
    table = pq.read_table(path)
    named = table.schema.field("visits").with_metadata({"name": "Robert Brown"})
    pq.write_table(table.cast(table.schema.set(table.schema.get_field_index("visits"), named)), path)


def _idle_text(path: Path) -> None:
    table = pq.read_table(path)
    place, cells = table.schema.get_field_index("diagnosis"), table.column("diagnosis").combine_chunks().dictionary_encode()
    cells = cells.combine_chunks() if isinstance(cells, pa.ChunkedArray) else cells
    more = pa.array([*cells.dictionary.to_pylist(), "Robert Brown"])
    pq.write_table(table.set_column(place, "diagnosis", pa.DictionaryArray.from_arrays(cells.indices, more)), path)


@pytest.mark.parametrize("hide", [_bytes_between, _words, _words_of_a_column, _idle_text])
def test_what_no_cell_of_a_parquet_file_shows(copy, hide):
    path = copy / "parquet" / "release.parquet"
    hide(path)
    assert b"Robert Brown" in path.read_bytes() or hide in (_words, _words_of_a_column)
    assert "parts that shoal does not write" in broken(checked(copy / "parquet"))


def test_many_texts_of_a_parquet_file_are_all_of_cells(tmp_path):
    path, cells = tmp_path / "release.parquet", [f"{i % 90_000:030}" for i in range(200_000)]
    pq.write_table(pa.table({"a": cells, "b": [[one, None] for one in cells]}), path, row_group_size=120_000)
    about = TableFile(file="release.parquet", sha256="", rows=len(cells), columns=("a", "b"))
    assert all(one.holds for one in check_form(path, about))


def test_what_is_passed_over_is_what_it_should_be(copy):
    run = copy / "csv"
    recipe = (run / "recipe.toml").read_bytes()
    (run / "recipe.toml").unlink()
    os.mkfifo(run / "recipe.toml")
    assert not checked(run).holds
    (run / "recipe.toml").unlink()
    (run / "recipe.toml").mkdir()
    assert not checked(run).holds
    (run / "recipe.toml").rmdir()
    (run / "recipe.toml").write_bytes(recipe)
    shutil.rmtree(run / "private")
    (run / "private").write_text("Robert Brown")
    assert not checked(run).holds


def _measure(about: dict[str, Any], name: str) -> dict[str, Any]:
    return next(one for one in about["measures"] if one["name"] == name)


def _deep(levels: int) -> Any:
    return json.loads("[" * levels + "]" * levels)


ODD: dict[str, Callable[[dict[str, Any]], object]] = {
    "a delimiter of two": lambda about: about["release"].update(delimiter=",,"),
    "a delimiter that quotes": lambda about: about["release"].update(delimiter='"'),
    "no delimiter": lambda about: about["release"].update(delimiter=""),
    "rows as a text": lambda about: about["release"].update(rows="120"),
    "holds as a text": lambda about: about["promises"][0].update(holds="true"),
    "found as a truth value": lambda about: about["promises"][0].update(found=True),
    "a number of 400 digits": lambda about: _measure(about, "k-anonymity")["details"].update(uniques=10**400),
    "codes that are a number": lambda about: _measure(about, "l-diversity")["details"].update(codes={"diagnosis": 5}),
    "not a number": lambda about: _measure(about, "k-anonymity")["details"].update(uniques=float("nan")),
    "nested deeply": lambda about: _measure(about, "k-anonymity")["details"].update(uniques=_deep(300)),
    "a parameter named self": lambda about: about["steps"][0]["parameters"].update({"self": 1}),
    "half a letter": lambda about: about["release"].update(file="\ud800"),
    "format 1": lambda about: about.update(format=1),
    "format 2": lambda about: about.update(format=2),
    "format as a text": lambda about: about.update(format="3"),
    "format with decimals": lambda about: about.update(format=3.0),
    "no format": lambda about: about.pop("format"),
}


@pytest.mark.parametrize("kind", ODD)
def test_odd_certificates_end_in_a_sentence(copy, kind):
    about = said(copy / "csv")
    ODD[kind](about)
    with pytest.raises(DataError, match=r"certificate|format 3"):
        checked(copy / "csv", about)


def test_lists_of_numbers_are_shown(copy, capsys):
    from shoal.cli.verbs import verify as shown
    from shoal.engines.choice import Choice

    about = said(copy / "csv")
    _measure(about, "k-anonymity")["details"]["uniques"] = [1, 2]
    _measure(about, "cell-loss")["name"] = "signed by the hospital"
    assert not checked(copy / "csv", about).holds
    assert not shown(copy / "csv", copy / "csv" / "certificate.json", None, Choice(), json=False)
    assert "signed by the hospital" not in capsys.readouterr().err


def test_signatures_are_written_in_one_way():
    pytest.importorskip("cryptography", reason="the extra sign is not installed")
    from shoal.signing import is_signature

    written = base64.b64encode(bytes(range(64)))
    assert is_signature(written)
    assert is_signature(written + b"\n")
    for odd in (
        b" " + written,
        written + b"\n\n",
        written + b"\r\n",
        written[:-3] + b"x==",
        written[:-1],
        written + b"\nRobert Brown",
        b"",
    ):
        assert not is_signature(odd)


WEAK = (
    "00" * 32,
    "01" + "00" * 31,
    "ec" + "ff" * 30 + "7f",
    "ed" + "ff" * 31,
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
)


@pytest.mark.parametrize("point", WEAK)
def test_keys_under_which_anybody_can_sign(tmp_path, point):
    pytest.importorskip("cryptography", reason="the extra sign is not installed")
    from shoal.signing import Signer

    spki = base64.b64encode(bytes.fromhex("302a300506032b6570032100" + point)).decode()
    (tmp_path / "weak.pub").write_text(f"-----BEGIN PUBLIC KEY-----\n{spki}\n-----END PUBLIC KEY-----\n")
    with pytest.raises(DataError, match=r"anybody can sign|no public key"):
        Signer.read(tmp_path / "weak.pub")
