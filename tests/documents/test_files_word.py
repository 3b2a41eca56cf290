"""Word files made by python-docx, with every place that is known to keep a name after it was removed from the page."""

import io
import zipfile

import pytest
from docx import Document as Docx
from docx.opc.constants import RELATIONSHIP_TYPE
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls
from docx.shared import Pt

from shoal.document import Edit
from shoal.documents.formats.read import read_document
from shoal.documents.leaks import leaks
from shoal.errors import DataError, PromiseBroken
from tests.documents.writing import write_letter

NAME = "Zimmerwald"
W = nsdecls("w")


def saved(document, path):
    document.save(str(path))
    return path


def redact(path, folder, word=NAME, label="Pers_1"):
    document = read_document(path, "letter")
    edits = []
    at = document.text.find(word)
    while at >= 0:
        edits.append(Edit(at, at + len(word), label))
        at = document.text.find(word, at + 1)
    assert edits
    return document, write_letter(path, edits, folder)


def everything(path):
    """All members' bytes and names, as one lower-case text."""
    with zipfile.ZipFile(path) as file:
        return "\n".join(name + file.read(name).decode("latin-1") for name in file.namelist()).lower()


def paragraph(document, xml):
    found = parse_xml(
        f'<w:p {nsdecls("w", "r", "wp", "a")} xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math" '
        f'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" xmlns:v="urn:schemas-microsoft-com:vml" '
        f'xmlns:wps="http://schemas.microsoft.com/office/word/2010/wordprocessingShape">{xml}</w:p>'
    )
    document.element.body.insert(0, found)


def split_runs(document):
    line = document.add_paragraph("Dear Mr ")
    line.add_run("Zim").bold = True
    line.add_run("merw").italic = True
    line.add_run("ald, good day")


def in_table(document):
    document.add_table(1, 2).cell(0, 1).text = f"Mr {NAME}"


def in_nested_table(document):
    document.add_table(1, 1).cell(0, 0).add_table(1, 1).cell(0, 0).text = NAME


def in_header(document):
    document.sections[0].header.paragraphs[0].text = f"To {NAME}"


def in_first_page_footer(document):
    document.sections[0].different_first_page_header_footer = True
    document.sections[0].first_page_footer.paragraphs[0].text = f"{NAME} & Sons"


def in_comment(document):
    run = document.add_paragraph("See here").runs[0]
    document.add_comment(run, text=f"Ask {NAME}", author=f"Ann {NAME}", initials="AZ")


def in_properties(document):
    document.core_properties.author = NAME
    document.core_properties.last_modified_by = NAME
    document.core_properties.keywords = f"letter, {NAME}"


def in_tracked_deletion(document):
    mark = 'w:id="1" w:author="Zimmerwald" w:date="2020-01-01T00:00:00Z"'
    paragraph(
        document, f"<w:r><w:t>Dear </w:t></w:r><w:del {mark}><w:r><w:delText>Zimmerwald</w:delText></w:r></w:del><w:r><w:t>all</w:t></w:r>"
    )


def in_tracked_insertion(document):
    mark = 'w:id="2" w:author="Ann" w:date="2020-01-01T00:00:00Z"'
    paragraph(document, f"<w:r><w:t>Dear Zimm</w:t></w:r><w:ins {mark}><w:r><w:t>erwald</w:t></w:r></w:ins>")


def in_moved_text(document):
    paragraph(document, '<w:moveFrom w:id="3" w:author="A"><w:r><w:t>Zimmerwald</w:t></w:r></w:moveFrom>')


def around_a_deletion(document):
    paragraph(
        document,
        '<w:r><w:t>Zimm</w:t></w:r><w:del w:id="4" w:author="A"><w:r><w:delText>xx</w:delText></w:r></w:del><w:r><w:t>erwald</w:t></w:r>',
    )


def in_link(document):
    relation = document.part.relate_to("mailto:zimmerwald@example.org?subject=Zimmerwald", RELATIONSHIP_TYPE.HYPERLINK, is_external=True)
    paragraph(document, f'<w:hyperlink r:id="{relation}" w:tooltip="Write to Zimmerwald"><w:r><w:t>write</w:t></w:r></w:hyperlink>')


def in_field(document):
    paragraph(
        document,
        '<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText> AUTHOR Zimmerwald </w:instrText></w:r>'
        '<w:r><w:fldChar w:fldCharType="separate"/></w:r><w:r><w:t>Zimmerwald</w:t></w:r><w:r><w:fldChar w:fldCharType="end"/></w:r>',
    )


def in_text_box(document):
    box = "<w:txbxContent><w:p><w:r><w:t>Zimmer</w:t></w:r><w:r><w:t>wald</w:t></w:r></w:p></w:txbxContent>"
    paragraph(
        document,
        f'<w:r><mc:AlternateContent><mc:Choice Requires="wps"><w:drawing><wp:inline><wp:docPr id="1" name="Box" descr="Portrait of Zimmerwald"/>'
        f"<a:graphic><a:graphicData><wps:wsp><wps:txbx>{box}</wps:txbx></wps:wsp></a:graphicData></a:graphic></wp:inline></w:drawing></mc:Choice>"
        f"<mc:Fallback><w:pict><v:shape alt='Zimmerwald'><v:textbox>{box}</v:textbox></v:shape></w:pict></mc:Fallback></mc:AlternateContent></w:r>",
    )


def in_content_control(document):
    paragraph(
        document,
        '<w:sdt><w:sdtPr><w:alias w:val="Zimmerwald"/><w:tag w:val="Zimmerwald"/></w:sdtPr>'
        "<w:sdtContent><w:r><w:t>Zimmerwald</w:t></w:r></w:sdtContent></w:sdt>",
    )


def in_bookmark(document):
    paragraph(document, f'<w:bookmarkStart w:id="9" w:name="{NAME}"/><w:r><w:t>Hello {NAME}</w:t></w:r><w:bookmarkEnd w:id="9"/>')


def in_formula(document):
    paragraph(document, "<m:oMath><m:r><m:t>Zimmerwald</m:t></m:r></m:oMath>")


def in_style(document):
    style = document.styles.add_style(f"{NAME} letterhead", 1)
    style.font.size, style.font.name = Pt(9), f"{NAME} Sans"
    document.add_paragraph(f"Signed {NAME}", style=style)


def in_table_caption(document):
    table = document.add_table(1, 1)
    table._tbl.tblPr.append(parse_xml(f'<w:tblDescription {W} w:val="Payments to {NAME}"/>'))
    table.cell(0, 0).text = "none"


def with_soft_hyphens(document):
    document.add_paragraph("Dear Zim\u00admer\u200bwald")


def with_no_break_hyphen(document):
    paragraph(document, "<w:r><w:t>Zimmerwald</w:t><w:noBreakHyphen/><w:t>Smith</w:t></w:r>")


PLACES = [
    split_runs, in_table, in_nested_table, in_header, in_first_page_footer, in_comment, in_properties, in_tracked_deletion, in_tracked_insertion,
    in_moved_text, around_a_deletion, in_link, in_field, in_text_box, in_content_control, in_bookmark, in_formula, in_style, in_table_caption,
    with_soft_hyphens, with_no_break_hyphen,
]  # fmt: skip


@pytest.mark.parametrize("place", PLACES, ids=lambda place: place.__name__)
def test_a_name_is_read_wherever_it_stands_and_does_not_leave(place, tmp_path):
    made = Docx()
    made.add_paragraph("A letter about the weather.")
    place(made)
    path = saved(made, tmp_path / "in.docx")
    document, written = redact(path, tmp_path / "out")
    assert NAME in document.text
    assert NAME.lower() not in everything(written)
    assert leaks(written, [NAME]) == []
    assert "A letter about the weather." in [p.text for p in Docx(str(written)).paragraphs]  # another library opens it


def test_the_same_searcher_finds_the_name_in_every_original(tmp_path):
    """So that an empty answer above means something."""
    for place in PLACES:
        made = Docx()
        place(made)
        assert leaks(saved(made, tmp_path / f"{place.__name__}.docx"), [NAME]), place.__name__


def test_footnotes_and_parts_of_other_programs(tmp_path):
    made = Docx()
    made.add_paragraph("Text")
    notes = f'<w:footnotes {W}><w:footnote w:id="2"><w:p><w:r><w:t>See Zimmer</w:t></w:r><w:r><w:t>wald 1917</w:t></w:r></w:p></w:footnote></w:footnotes>'
    path = saved(made, tmp_path / "in.docx")
    with zipfile.ZipFile(path) as file:
        relations = file.read("word/_rels/document.xml.rels").decode()
        others = {name: file.read(name) for name in file.namelist() if name != "word/_rels/document.xml.rels"}
    kind = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    new = f'<Relationship Id="rId90" Type="{kind}/footnotes" Target="footnotes.xml"/>'
    new += (
        f'<Relationship Id="rId91" Type="{kind}/attachedTemplate" Target="file:///C:/{NAME}/t.dot" TargetMode="External"/></Relationships>'
    )
    with zipfile.ZipFile(path, "w") as file:
        for name, content in others.items():
            file.writestr(name, content)
        file.writestr("word/_rels/document.xml.rels", relations.replace("</Relationships>", new))
        file.writestr("word/footnotes.xml", notes)
        file.writestr("customXml/item9.xml", "<a>Zimmerwald</a>")
        file.writestr("docProps/custom.xml", "<Properties><property name='client'>Zimmerwald</property></Properties>")
        file.writestr("word/people.xml", '<w15:people xmlns:w15="http://x"><w15:person w15:author="Zimmerwald"/></w15:people>')
        file.writestr("word/glossary/document.xml", "<a>Zimmerwald</a>")
        file.writestr("word/embeddings/Zimmerwald.bin", b"\x00Zimmerwald")
        file.writestr("word/media/image1.png", b"\x89PNG Zimmerwald")
    document, written = redact(path, tmp_path / "out")
    names = {part.name for part in document.parts}
    assert {"body", "footnote", "properties", "people", "hidden part", "embedded file (left out)", "picture (left out)"} <= names
    assert NAME.lower() not in everything(written)
    assert "See Pers_1 1917" in read_document(written).text


def test_looks_stay(tmp_path):
    made = Docx()
    made.add_heading("Report", 1)
    split_runs(made)
    made.add_table(2, 2).style = "Table Grid"
    _, written = redact(saved(made, tmp_path / "in.docx"), tmp_path / "out")
    again = Docx(str(written))
    assert again.paragraphs[0].style.name == "Heading 1"
    assert [run.text for run in again.paragraphs[1].runs] == ["Dear Mr ", "Pers_1", "", ", good day"]
    assert again.paragraphs[1].runs[1].bold
    assert again.tables[0].style.name == "Table Grid"


def test_page_numbers_stay_fields(tmp_path):
    made = Docx()
    made.add_paragraph(NAME)
    footer = made.sections[0].footer.paragraphs[0]._p
    footer.append(parse_xml(f'<w:r {W}><w:fldChar w:fldCharType="begin"/></w:r>'))
    footer.append(parse_xml(f"<w:r {W}><w:instrText> PAGE </w:instrText></w:r>"))
    footer.append(parse_xml(f'<w:r {W}><w:fldChar w:fldCharType="separate"/></w:r>'))
    footer.append(parse_xml(f"<w:r {W}><w:t>7</w:t></w:r>"))
    footer.append(parse_xml(f'<w:r {W}><w:fldChar w:fldCharType="end"/></w:r>'))
    _, written = redact(saved(made, tmp_path / "in.docx"), tmp_path / "out")
    assert 'instr="page"' in everything(written)


def test_the_output_does_not_depend_on_what_was_removed(tmp_path):
    """The strongest thing to say of a file: it is the same, byte for byte, whoever stood in it."""
    outputs = []
    for name in ("Smith", "Bartholomew-Fitzgerald"):
        made = Docx()
        made.core_properties.author = name
        made.add_paragraph(f"Dear {name}, good day.")
        in_header(made)
        path = saved(made, tmp_path / f"{name}.docx")
        document = read_document(path, "letter")
        edits = [Edit(i, i + len(w), "Pers_1") for w in (name, NAME) for i in range(len(document.text)) if document.text.startswith(w, i)]
        outputs.append(write_letter(path, edits, tmp_path / f"out {len(name)}").read_bytes())
    assert outputs[0] == outputs[1]


def test_a_name_left_elsewhere_writes_nothing(tmp_path):
    made = Docx()
    made.add_paragraph(f"Dear {NAME}, ask ZIMMERWALD too.")
    path = saved(made, tmp_path / "in.docx")
    document = read_document(path)
    at = document.text.index(NAME)
    with pytest.raises(PromiseBroken, match="Nothing was written") as caught:
        write_letter(path, [Edit(at, at + len(NAME), "Pers_1")], tmp_path / "out")
    assert NAME.lower() not in str(caught.value).lower()
    assert list((tmp_path / "out").iterdir()) == []
    other = document.text.index("ZIMMERWALD")
    kept = write_letter(path, [Edit(at, at + len(NAME), "Pers_1")], tmp_path / "out", kept=[(other, other + len(NAME))])
    assert "ZIMMERWALD" in read_document(kept).text


def test_files_that_are_not_what_they_say(tmp_path, monkeypatch):
    def says(content, words):
        path = tmp_path / "x.docx"
        path.write_bytes(content)
        with pytest.raises(DataError, match=words):
            read_document(path)

    says(b"", "empty")
    says(b"hello", "not a Word document")
    says(b"\xd0\xcf\x11\xe0" + b"\x00" * 600, "encrypted, or an old .doc")
    plain = io.BytesIO()
    with zipfile.ZipFile(plain, "w") as file:
        file.writestr("a.txt", "x")
    says(plain.getvalue(), "zip file but not a Word document")
    made = io.BytesIO()
    Docx().save(made)
    says(made.getvalue(), "No text was found")
    says(made.getvalue()[:-40], "not a Word document, or is damaged")
    bomb = io.BytesIO()
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("word/document.xml", b"\x00" * (8 << 20))
    monkeypatch.setattr("shoal.documents.formats.package.MOST_BYTES", 4 << 20)
    says(bomb.getvalue(), "unpacks to more than 4 MB")
    lie = bytearray(bomb.getvalue())  # the sizes it states, in both its headers, are those of a small file
    for mark, place in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
        at = lie.index(mark) + place
        lie[at : at + 4] = (100).to_bytes(4, "little")
    says(bytes(lie), "unpacks to more than|damaged")


def test_entities_are_not_expanded(tmp_path):
    made = Docx()
    made.add_paragraph("x")
    path = saved(made, tmp_path / "x.docx")
    with zipfile.ZipFile(path) as file:
        parts = {name: file.read(name) for name in file.namelist()}
    body = parts["word/document.xml"].decode()
    head, rest = body.split("?>", 1)
    parts["word/document.xml"] = f'{head}?><!DOCTYPE d [<!ENTITY a "aaaa">]>{rest}'.encode()
    with zipfile.ZipFile(path, "w") as file:
        for name, content in parts.items():
            file.writestr(name, content)
    with pytest.raises(DataError, match="declares entities"):
        read_document(path)


def test_a_field_outside_any_paragraph(tmp_path):
    held = io.BytesIO()
    document = Docx()
    document.add_paragraph(f"Dear {NAME}")
    document.save(held)
    path = tmp_path / "a.docx"
    marks = b'<w:fldChar w:fldCharType="begin"/><w:instrText>PAGE</w:instrText><w:fldChar w:fldCharType="end"/>'
    with zipfile.ZipFile(held) as old, zipfile.ZipFile(path, "w") as new:
        for name in old.namelist():
            content = old.read(name)
            new.writestr(name, content.replace(b"<w:body>", marks + b"<w:body>" + marks) if name == "word/document.xml" else content)
    _, out = redact(path, tmp_path / "out")
    assert read_document(out).text.strip() == "Dear Pers_1"
