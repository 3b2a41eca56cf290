"""The documents' certificate: its count of what is left is counted, and its files and numbers are held against what is there."""

import base64
import os
import socket
from email.message import EmailMessage

import pytest

import shoal
from shoal.checks.documents import verify_documents
from shoal.checks.leftovers import WrittenDocument, long_enough, search_written
from shoal.folders import sha256_of

LETTER = "Prof. Smith asked Maria Gonzalez of Imagine Inc. to call 212-555-0147. Smith was not amused."


def docx(path, *runs):
    from docx import Document

    document = Document()
    paragraph = document.add_paragraph()
    for run in runs:
        paragraph.add_run(run)
    document.save(str(path))


def mail(path, text, subject="A letter"):
    message = EmailMessage()
    message["Subject"] = subject
    message.set_content(text, cte="base64")
    path.write_bytes(bytes(message))


def found(folder, removed, may=(), row=None):
    files = tuple(path.name for path in folder.iterdir())
    return search_written(folder, [WrittenDocument(files, tuple(removed), tuple(may), row)]).found


@pytest.mark.parametrize(
    "write",
    [
        lambda folder: (folder / "1.txt").write_text("It was Maria\n Gonzalez."),
        lambda folder: (folder / "1.md").write_text("It was **MARIA GONZALEZ**."),
        lambda folder: (folder / "1.html").write_text("<p>It was <b>Ma</b>ria&nbsp;Gonzalez</p>"),
        lambda folder: (folder / "1.html").write_text("<p>It was<!-- Maria Gonzalez --></p>"),
        lambda folder: docx(folder / "1.docx", "It was Mar", "ia Gonz", "alez"),
        lambda folder: mail(folder / "1.eml", "It was Maria Gonzalez."),
        lambda folder: mail(folder / "1.eml", "x", subject="Maria Gonzalez é"),
        lambda folder: (folder / "Maria Gonzalez.txt").write_text("x"),
    ],
)
def test_every_kind_of_file_is_read_by_its_own_means(tmp_path, write):
    write(tmp_path)
    assert found(tmp_path, ["Maria Gonzalez", "Nobody Else"]) == 1
    assert found(tmp_path, ["Maria Gonzal", "aria Gonzalez"]) == 0


@pytest.mark.parametrize(
    ("text", "removed", "may", "left"),
    [
        ("Brown and the brown dog", ["Brown"], [], 1),
        ("the brown dog", ["Brown"], [], 0),
        ("Smith and Pers_1", ["Smith"], ["Pers_1", "Smith"], 0),
        ("Smith and Smith", ["Smith"], ["Pers_1", "Smith"], 1),
        ("Smithson", ["Smith"], [], 0),
        ("Al and 12", ["Al", "12"], [], 0),
        ("call 5550147", ["5550147"], [], 1),
        ("Gonza\u0301lez", ["Gonz\u00e1lez"], [], 1),
    ],
)
def test_what_counts_as_left(tmp_path, text, removed, may, left):
    (tmp_path / "1.txt").write_text(text, encoding="utf-8")
    assert found(tmp_path, removed, may) == left


def test_what_is_too_short_is_counted():
    assert [long_enough(text) for text in ("Al", "Ann", "1234", "12345", "김철", "...")] == [False, True, False, True, True, False]


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_rows_are_searched_where_they_stand(tmp_path, ending):
    from shoal.table import Table
    from shoal.writing import write_table

    path = tmp_path / f"documents.{ending}"
    write_table(Table.of({"note": ["kept Smith", 'a "quoted"\nline', "Pers_1"]}), path)
    rows = [WrittenDocument((path.name,), ("Smith",), ("Pers_1",), 2), WrittenDocument((path.name,), ("Gonzalez",), (), 0)]
    assert search_written(tmp_path, rows).found == 0
    assert search_written(tmp_path, [WrittenDocument((path.name,), ("Smith",), (), 0)]).found == 1


def test_a_file_that_no_document_has_or_that_cannot_be_read_is_a_defect(tmp_path):
    (tmp_path / "1.docx").write_bytes(b"PK\x03\x04 Maria")
    for files in (("1.docx",), ()):
        with pytest.raises(shoal.errors.PromiseBroken) as refused:
            search_written(tmp_path, [WrittenDocument(files, ("Maria",))])
        assert "Maria" not in str(refused.value)


# ---- what verify refuses ------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    desk = tmp_path_factory.mktemp("desk")
    (desk / "letters").mkdir()
    (desk / "letters" / "a.txt").write_text(LETTER)
    (desk / "letters" / "b.txt").write_text("Smith wrote to anna.berg@example.org.")
    shoal.detect_documents(desk / "letters", desk / "case")
    return desk / "case"


@pytest.fixture
def out(made, tmp_path):
    return tmp_path / "out", shoal.redact_documents(made, tmp_path / "out").certificate


def broken(out, certificate):
    return [one.what for one in verify_documents(out, certificate) if not one.holds]


def bind(path):
    with socket.socket(socket.AF_UNIX) as one:
        place = os.getcwd()
        os.chdir(path.parent)  # the name of a socket must be short
        try:
            one.bind(path.name)
        finally:
            os.chdir(place)


def replaced_by_link(out):
    file = next((out / "documents").iterdir())
    (out.parent / "elsewhere.txt").write_bytes(file.read_bytes())
    file.unlink()
    file.symlink_to(out.parent / "elsewhere.txt")


def folder_behind_a_link(out):
    (out / "documents").rename(out.parent / "elsewhere")
    (out / "documents").symlink_to(out.parent / "elsewhere")


def replaced_by_pipe(out):
    file = next((out / "documents").iterdir())
    file.unlink()
    os.mkfifo(file)


TAMPERING = {
    "the report is replaced": lambda out: (out / "report.html").write_text("<p>All is well.</p>"),
    "the report is gone": lambda out: (out / "report.html").unlink(),
    "a document is a link": replaced_by_link,
    "the folder is a link": folder_behind_a_link,
    "the report is a link": lambda out: [
        (out / "report.html").rename(out.parent / "r"),
        (out / "report.html").symlink_to(out.parent / "r"),
    ],
    "a broken link": lambda out: (out / "more").symlink_to("nowhere"),
    "a pipe": lambda out: os.mkfifo(out / "pipe"),
    "a document is a pipe": replaced_by_pipe,
    "a socket": lambda out: bind(out / "socket"),
    "an empty folder": lambda out: (out / "documents" / "Maria Gonzalez").mkdir(),
    "a hidden file": lambda out: (out / ".note").write_text("Maria"),
    "a file in a folder": lambda out: [(out / "more").mkdir(), (out / "more" / "x").write_text("x")],
    "a file that is not UTF-8": lambda out: (out / os.fsdecode(b"\xff.txt")).write_text("x"),
    "a document is a folder": lambda out: [next((out / "documents").iterdir()).unlink(), (out / "documents" / "x").mkdir()],
}


@pytest.mark.parametrize("tamper", TAMPERING.values(), ids=TAMPERING)
def test_tampering_with_files_is_seen(out, tamper):
    folder, certificate = out
    assert not broken(folder, certificate)
    tamper(folder)
    assert broken(folder, certificate)


def test_a_hard_link_and_a_signature_are_fine(out):
    folder, certificate = out
    file = next((folder / "documents").iterdir())
    os.link(file, folder.parent / "same")
    (folder / "certificate.sig").write_text(base64.b64encode(b"x").decode())
    assert not broken(folder, certificate)


def with_removed(**update):
    return lambda one: {"removed": (one.removed[0].model_copy(update=update), *one.removed[1:])}


def with_promise(**update):
    return lambda one: {"promises": (one.promises[0].model_copy(update=update),)}


EDITS = {
    "no promise": lambda one: {"promises": ()},
    "the promise twice": lambda one: {"promises": one.promises * 2},
    "another promise": with_promise(what="k-anonymity"),
    "a higher bound": with_promise(value=5.0),
    "something was found": with_promise(found=1.0),
    "it does not hold": with_promise(holds=False),
    "another sentence": with_promise(sentence="nothing at all"),
    "more documents": lambda one: {"documents": {"written": 3, "not written": 0}},
    "no documents": lambda one: {"documents": {}},
    "fewer than none": lambda one: {"documents": {"written": 2, "not written": -1}},
    "more mentions": lambda one: with_removed(mentions=one.removed[0].mentions + 1)(one),
    "others decided": with_removed(by={"person": 1000}),
    "surer than sure": with_removed(surest=1.5),
    "less sure than least": with_removed(least_sure=1.0, surest=0.2),
    "more entities than mentions": with_removed(entities=1000),
    "a kind twice": lambda one: {"removed": one.removed + one.removed[:1]},
    "nothing removed": lambda one: {"removed": ()},
    "other reasons": lambda one: {"reasons": {"privacy": 1000}},
    "more searched": lambda one: {"searched": one.searched + 1000},
    "nothing searched": lambda one: {"searched": 0, "too_short_to_search": 0},
    "perhaps in more than there are": lambda one: {"perhaps_in": 3},
    "blocks of no kind": lambda one: {"blocks": {"open by undecided": 1}},
    "blocks by a score that was not given": lambda one: {"blocks": {"keep by rule": 1}},
    "stays of no kind": lambda one: {"stays": {"whatever": 1}},
    "undecided ones stayed": lambda one: {"stays": {"undecided, left as they are": 1}},
    "another style": lambda one: {"style": "none"},
    "other rules": lambda one: {"rules": {}},
    "a file twice": lambda one: {"files": one.files + one.files[:1]},
    "less sure than the rule": lambda one: {"rules": one.rules | {"accept": 1.0}},
    "surer than undecided": lambda one: {
        "removed": tuple(kind.model_copy(update={"by": {"undecided": kind.mentions}}) for kind in one.removed)
    },
    "nobody behind what went": lambda one: {"removed": tuple(kind.model_copy(update={"entities": 0}) for kind in one.removed)},
    "nobody behind one kind": with_removed(entities=0),
    "a kind that is a name": with_removed(kind="Robert Brown"),
    "more searched than there are letters": lambda one: {"searched": 100_000, "blocks": {"generalize by person": 1}},
    "the report unlisted": lambda one: {"files": tuple(file for file in one.files if file.file != "report.html")},
}


@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS)
def test_a_certificate_that_contradicts_itself_is_seen(out, edit):
    folder, certificate = out
    assert broken(folder, certificate.model_copy(update=edit(certificate)))


def without_report(folder, one):
    (folder / "report.html").unlink()
    return [file for file in one.files if file.file != "report.html"]


def renamed(name):
    def edit(folder, one):
        old = next(file for file in one.files if file.file.startswith("documents/"))
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / old.file).rename(folder / name)
        return [file for file in one.files if file != old] + [old.model_copy(update={"file": name})]

    return edit


def rewritten(content):
    def edit(folder, one):
        old = next(file for file in one.files if file.file.startswith("documents/"))
        (folder / old.file).write_bytes(content)
        return [file if file != old else old.model_copy(update={"sha256": sha256_of(folder / old.file)}) for file in one.files]

    return edit


@pytest.mark.parametrize(
    "edit",
    [
        without_report,
        renamed("documents/letter.txt.exe"),
        renamed("documents/letter"),
        renamed("documents/letter.pdf"),
        renamed("letters/letter.txt"),
        renamed("documents/../documents/letter.txt"),
        rewritten(b""),
        rewritten(b" \n\n"),
    ],
)
def test_files_that_were_listed_anew_are_seen(out, edit):
    folder, certificate = out
    assert broken(folder, certificate.model_copy(update={"files": tuple(edit(folder, certificate))}))
