"""Text, web pages, e-mail and columns of tables: made by the standard library, redacted, and looked at byte by byte."""

import base64
import io
import os
import sys
from email.message import EmailMessage
from pathlib import Path

import numpy as np
import pytest
from docx import Document as Docx

from shoal.document import Edit
from shoal.documents.formats.read import find_documents, read_document, read_table_column
from shoal.documents.formats.write import write_table_column
from shoal.documents.leaks import leaks
from shoal.errors import DataError, OutputError, ParameterError, PromiseBroken
from tests.documents.writing import write_letter

NAME = "Zimmerwald"


def redact(path, folder, word=NAME, label="Pers_1"):
    document = read_document(path, "letter")
    edits = [Edit(i, i + len(word), label) for i in range(len(document.text)) if document.text.startswith(word, i)]
    assert edits
    return document, write_letter(path, edits, folder)


@pytest.mark.parametrize(
    "raw",
    [
        "Grüße an Zimmerwald\r\nAdieu".encode(),
        "\ufeffGrüße an Zimmerwald\nAdieu".encode(),
        "Grüße an Zimmerwald\rAdieu".encode("cp1252"),
        "Grüße an Zimmerwald\nAdieu".encode("utf-16"),
        "Grüße an Zimmerwald\nAdieu".encode("utf-32"),
        "Grüße an Zim\u00admer\u200bwa\u200dld\nAdieu".encode(),
    ],
)
def test_text_in_any_encoding(raw, tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(raw)
    document, out = redact(path, tmp_path / "out")
    assert document.text == f"Grüße an {NAME}\nAdieu"
    assert out.read_bytes() == "Grüße an Pers_1\nAdieu".encode()


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        (b"", "is empty"),
        (b"  \n", "No text was found"),
        (b"\x00\x01binary", "zero bytes"),
        (b"%PDF-1.7 x", "begins like a PDF"),
        (b"PK\x03\x04zip", "begins like a zip"),
        (b"\x01\x02\x03\x04\x05\x06 words", "control characters"),
        (b"\xff\xfeabc", "does not go on so"),
        (b"caf\x81 \x8d", "neither UTF-8 nor Western"),
    ],
)
def test_what_is_no_text(raw, words, tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(raw)
    with pytest.raises(DataError, match=words):
        read_document(path)


def test_huge_and_missing_and_unknown(tmp_path):
    with pytest.raises(DataError, match="There is no file"):
        read_document(tmp_path / "a.txt")
    with (tmp_path / "big.txt").open("wb") as file:
        file.truncate(101 << 20)
    with pytest.raises(DataError, match="larger than 100 MB"):
        read_document(tmp_path / "big.txt")
    (tmp_path / "a.xyz").write_text("x")
    with pytest.raises(DataError, match="no kind shoal reads"):
        read_document(tmp_path / "a.xyz")
    with pytest.raises(DataError, match="not a plain file"):
        read_document(tmp_path)


def test_a_link_that_leads_nowhere_is_not_offered_again(tmp_path):
    (tmp_path / "dead.txt").symlink_to("gone.txt")
    (tmp_path / "loop.txt").symlink_to("loop.txt")
    assert [path.name for path in find_documents(tmp_path)] == ["dead.txt", "loop.txt"]
    for name in ("dead.txt", "loop.txt"):
        with pytest.raises(DataError, match="There is no file") as error:
            read_document(tmp_path / name)
        assert "Did you mean" not in str(error.value)


def test_finding_documents(tmp_path):
    inside = tmp_path / "in"
    (inside / "deep").mkdir(parents=True)
    for name in ("b.txt", "a.MD", "deep/c.pdf", "d.csv", ".hidden.txt", "~$lock.docx"):
        (inside / name).write_text("x")
    (tmp_path / "outside.txt").write_text("secret")
    os.symlink(tmp_path / "outside.txt", inside / "link.txt")
    os.symlink(inside / "b.txt", inside / "fine.txt")
    assert [path.relative_to(inside).as_posix() for path in find_documents(inside)] == ["a.MD", "b.txt", "deep/c.pdf", "fine.txt"]
    assert find_documents(inside / "b.txt") == [inside / "b.txt"]
    with pytest.raises(DataError, match="no file or folder"):
        find_documents(tmp_path / "inn")


PAGE = f"""<html><head><title>About {NAME}</title><meta name="author" content="{NAME}"><style>.{NAME} {{}}</style>
<script>var who = "{NAME}";</script></head>
<body><!-- ask {NAME} --><h1 id="{NAME}">Dear <b>Zim</b>mer<i>wald</i></h1>
<p title="{NAME}">See   &#90;imm<!-- or -->er&zwj;w&shy;ald &amp; <a href="mailto:{NAME}@x.org?subject=%5Aimmerwald">sons</a>. <img src="z.png" alt="{NAME}">
<table><tr><td colspan="2" data-who="{NAME}">Zimmerwald</td><td>cell</td></tr></table>
<pre>kept
  lines</pre><svg><text>{NAME}</text></svg><input value="{NAME}"><textarea>{NAME}</textarea>
<![CDATA[{NAME}]]><?php {NAME} ?><template>{NAME}</template></body></html>"""


def test_pages(tmp_path):
    path = tmp_path / "a.html"
    path.write_text(PAGE)
    document, out = redact(path, tmp_path / "out")
    assert {"title", "body", "comment", "attribute", "link", "picture (left out)"} <= {part.name for part in document.parts}
    assert f"Dear {NAME}\nSee {NAME} & sons." in document.text
    page = out.read_text()
    assert NAME.lower() not in page.lower()
    assert "immerwald" not in page
    assert "<h1>Dear <b>Pers_1</b><i></i></h1>" in page
    assert '<td colspan="2">' in page
    assert "kept\n  lines" in page
    assert leaks(out, [NAME]) == []
    assert {"across tags", "in an attribute", "as a word"} <= {leak.variant for leak in leaks(path, [NAME])}


def test_page_encodings(tmp_path):
    path = tmp_path / "a.htm"
    path.write_bytes('<meta charset="iso-8859-2"><p>Wałęsa wrote'.encode("iso-8859-2"))
    document, out = redact(path, tmp_path / "out", "Wałęsa")
    assert out.read_text(encoding="utf-8").endswith("<p>Pers_1 wrote</p></body></html>\n")
    assert "Wałęsa" in document.text


@pytest.mark.parametrize("text", ["<!--", "<a ", "<", "&", "</", "<![CDATA[", "<b>", "<a b='", "<!", "<![CD"])
def test_pages_made_to_take_forever(text, tmp_path):
    path = tmp_path / "a.html"
    path.write_text("Dear all " + text * 20_000)
    assert read_document(path).text.startswith("Dear all")


def mail():
    message = EmailMessage()
    message["From"] = f"Jürgen {NAME} <zimmerwald@example.org>"
    message["To"] = f"{NAME} Junior <j@example.org>"
    message["Subject"] = f"Grüße von {NAME} " * 6
    message["Message-ID"] = f"<1@{NAME}.org>"
    message["Received"] = f"from {NAME}.org (10.0.0.1)"
    message["X-Originating-User"] = NAME
    message.set_content(f"Dear {NAME},\n\nünder uns\n" + "x " * 60 + NAME, cte="quoted-printable")
    message.add_alternative(f"<p>Dear <b>Zim</b>merwald</p><!-- {NAME} -->", subtype="html", cte="base64")
    return message


def test_mail(tmp_path):
    message = mail()
    letter = Docx()
    letter.core_properties.author = NAME
    letter.add_paragraph(f"Attached words of {NAME}")
    held = io.BytesIO()
    letter.save(held)
    message.add_attachment(held.getvalue(), maintype="application", subtype="octet-stream", filename=f"{NAME}.docx")
    message.add_attachment(b"\x89PNG" + NAME.encode(), maintype="image", subtype="png", filename="p.png")
    message.add_attachment(f"notes on {NAME}".encode(), maintype="text", subtype="plain", filename="n.txt")
    inner = EmailMessage()
    inner["From"], inner["Subject"] = NAME, "inner"
    inner.set_content(f"inner words of {NAME}\n")
    message.add_attachment(inner)
    path = tmp_path / "a.eml"
    path.write_bytes(message.as_bytes())
    document = read_document(path, "letter")
    names = {part.name for part in document.parts}
    assert {"from", "to", "subject", "body", "attachment:1", "attachment:2", "attachment:3 from", "received", "message-id"} <= names
    assert {"attachment's name", "attachment:1 properties", "attachment of a kind that is not read (left out)"} <= names
    edits = [
        Edit(i, i + len(NAME), "Pers_1") for i in range(len(document.text)) if document.text[i : i + len(NAME)].lower() == NAME.lower()
    ]
    out = write_letter(path, edits, tmp_path / "out")
    assert leaks(out, [NAME]) == []
    raw = out.read_bytes().lower()
    assert b"immerwald" not in raw
    assert b"received" not in raw
    again = read_document(out)
    assert "Jürgen Pers_1 <Pers_1@example.org>" in again.text
    assert "inner words of Pers_1" in again.text
    assert "Attached words of Pers_1" in again.text
    assert again.text.count("Dear Pers_1") == 2
    assert leaks(path, [NAME])


def test_messages_inside_messages(tmp_path):
    inner, outer = mail(), mail()
    innermost = mail()
    inner.add_attachment(innermost)
    outer.add_attachment(inner)
    path = tmp_path / "a.eml"
    path.write_bytes(outer.as_bytes())
    document = read_document(path, "letter")
    edits = [Edit(i, i + 10, "Pers_1") for i in range(len(document.text)) if document.text[i : i + 10].lower() == NAME.lower()]
    out = write_letter(path, edits, tmp_path / "out")
    assert read_document(out).text.count("Dear Pers_1") == 6
    assert leaks(out, [NAME]) == []


def test_what_is_no_mail(tmp_path):
    path = tmp_path / "a.eml"
    for raw in (b"just words", b"%PDF-1.4", b"\x00\x01"):
        path.write_bytes(raw)
        with pytest.raises(DataError, match="not an e-mail"):
            read_document(path)


@pytest.mark.parametrize("charset", ["undefined", "punycode", "idna", "rot13", "utf-99", "", "\udce9"])
def test_mail_in_encodings_that_are_none(charset, tmp_path):
    path = tmp_path / "a.eml"
    named = charset.encode("utf-8", "surrogateescape")
    for raw in (
        b"Subject: =?" + named + b"?q?x=E9?= of " + NAME.encode() + b"\n\nx",
        b"Subject: x\nContent-Type: text/plain; charset=" + named + b"\n\nDear " + NAME.encode() + b" \xe9\n",
        b"Subject: x\nContent-Type: text/html; charset="
        + named
        + b"\nContent-Transfer-Encoding: 8bit\n\n<p>Dear "
        + NAME.encode()
        + b" \xe9\n",
    ):
        path.write_bytes(raw)
        assert NAME in read_document(path).text


def test_an_attachment_whose_name_cannot_be_read(tmp_path):
    path = tmp_path / "a.eml"
    path.write_bytes(
        b"Subject: x\nContent-Type: multipart/mixed; boundary=edge\n\n--edge\nContent-Type: text/html\n"
        b"Content-Disposition: attachment; filename*=utf-99''a%E9.html; filename*0*=utf-99''x\n\n<p>Dear " + NAME.encode() + b"\n--edge--\n"
    )
    with pytest.raises(DataError, match="breaks the rules of e-mail"):
        read_document(path)


def test_a_message_found_by_its_encodings(tmp_path):
    """The searcher decodes what a mail program would."""
    path = tmp_path / "a.eml"
    hidden = base64.b64encode(f"words about {NAME}".encode()).decode()
    for body in (
        f"Subject: =?utf-8?b?{base64.b64encode(NAME.encode()).decode()}?=\n\nx",
        "Subject: =?utf-8?q?=5Aimmer?= =?utf-8?q?wald?=\n\nx",
        f"Subject: x\nContent-Transfer-Encoding: base64\n\n{hidden}\n",
        "Subject: x\nContent-Transfer-Encoding: quoted-printable\n\nDear Zimm=\nerwald\n",
        "Subject: x\n\nDear Zimmer-\nwald\n",
    ):
        path.write_text(body)
        assert leaks(path, [NAME]), body


def test_edits_must_fit(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("Dear Zimmerwald")
    for edits in ([Edit(5, 99, "x")], [Edit(5, 5, "x")], [Edit(0, 6, "x"), Edit(5, 15, "y")]):
        with pytest.raises(ParameterError, match="overlaps another or lies outside"):
            write_letter(path, edits, tmp_path / "out")


def test_nothing_is_overwritten_and_nothing_half_written(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text(f"Dear {NAME}")
    redact(path, tmp_path / "out")
    with pytest.raises(OutputError, match="is there already"):
        redact(path, tmp_path / "out")
    assert [p.name for p in (tmp_path / "out").iterdir()] == ["letter.txt"]
    (tmp_path / "file").write_text("x")
    with pytest.raises(OutputError, match="cannot be written"):
        redact(path, tmp_path / "file")


def test_the_name_of_the_file_is_searched_too(tmp_path):
    path = tmp_path / f"{NAME} letter.txt"
    path.write_text(f"Dear {NAME}")
    with pytest.raises(PromiseBroken, match="the file's name"):
        write_letter(path, [Edit(5, 15, "Pers_1")], tmp_path / "out", called=path.name)


def test_names_that_are_words(tmp_path):
    """A name in lower case is reported, and does not stop the writing; 'Al' is not in 'also'."""
    path = tmp_path / "a.txt"
    path.write_text("Al Brown shot a brown bear, also in Alabama.")
    out = write_letter(path, [Edit(0, 2, "Pers_1"), Edit(3, 8, "Pers_2")], tmp_path / "out")
    assert out.read_text() == "Pers_1 Pers_2 shot a brown bear, also in Alabama."
    assert [leak.variant for leak in leaks(out, ["Al", "Brown"])] == ["in lower case"]


def test_columns_of_tables(tmp_path):
    path = tmp_path / "notes.csv"
    path.write_text(f'id,note\n1,"Saw {NAME}, well"\n2,\n3,"Nothing, ""really"""\n4,007\n')
    documents = read_table_column(path, "note")
    assert [(d.name, d.text) for d in documents] == [
        ("row-1", f"Saw {NAME}, well"),
        ("row-2", ""),
        ("row-3", 'Nothing, "really"'),
        ("row-4", "007"),
    ]
    edits = [[Edit(4, 14, "Pers_1")], [], [], []]
    rows = read_table_column(path, "note")
    out = write_table_column(rows, "note", edits, tmp_path / "out" / "notes.csv", np.random.default_rng(1)).paths[0]
    assert sorted(d.text for d in read_table_column(out, "note")) == ["", "007", 'Nothing, "really"', "Saw Pers_1, well"]
    assert NAME not in out.read_text()
    assert "id" not in out.read_text().splitlines()[0]
    with pytest.raises(ParameterError, match="4 rows but edits for 1"):
        write_table_column(rows, "note", [[]], tmp_path / "out" / "b.csv", np.random.default_rng(1))
    with pytest.raises(DataError, match="no column 'nte'"):
        read_table_column(path, "nte")
    path.write_text(f"note\n{NAME} and {NAME}\n")
    with pytest.raises(PromiseBroken):
        write_table_column(
            read_table_column(path, "note"), "note", [[Edit(0, 10, "x")]], tmp_path / "out" / "c.csv", np.random.default_rng(1)
        )
    assert not Path(tmp_path / "out" / "c.csv").exists()


def test_without_the_extra(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "lxml", None)
    path = tmp_path / "a.html"
    path.write_text("<p>x")
    with pytest.raises(DataError, match="needs an extra"):
        read_document(path)
    held = tmp_path / "a.docx"
    Docx().save(str(held))
    with pytest.raises(DataError, match="Reading Word needs an extra"):
        read_document(held)
