"""PDF files made by reportlab and pypdf. The output is pictures: what a picture shows is tested by comparing pictures."""

import io
import sys

import numpy as np
import pypdfium2
import pytest
from PIL import Image, ImageDraw
from pypdf import PdfReader, PdfWriter
from pypdf.annotations import FreeText, Text
from pypdf.generic import DecodedStreamObject, NameObject
from reportlab.lib.pagesizes import A4
from reportlab.pdfgen import canvas

from shoal.document import Edit
from shoal.documents.formats.read import read_document
from shoal.documents.leaks import leaks
from shoal.errors import DataError
from tests.documents.writing import write_letter

NAME = "Zimmerwald"


def drawn(*lines, font="Helvetica", size=12, **words):
    """A page with a line of text every 20 points."""
    out = io.BytesIO()
    page = canvas.Canvas(out, pagesize=A4, invariant=1)
    page.setTitle(words.get("title", "")), page.setAuthor(words.get("author", ""))
    page.setFont(font, size)
    for i, line in enumerate(lines):
        page.drawString(72, 760 - 20 * i, line)
    page.showPage()
    page.save()
    return out.getvalue()


def written(tmp_path, content, name="in.pdf"):
    path = tmp_path / name
    path.write_bytes(content)
    return path


def redact(path, folder, *words, label="Pers_1"):
    document = read_document(path, "letter")
    found = [Edit(i, i + len(w), label) for w in words or (NAME,) for i in range(len(document.text)) if document.text.startswith(w, i)]
    assert found
    return document, write_letter(path, found, folder)


def picture(path, page=0):
    return np.array(pypdfium2.PdfDocument(path)[page].render(scale=150 / 72, grayscale=True).to_pil())


def shown(path, page=0):
    """The picture that is a page of an output."""
    return np.array(PdfReader(path).pages[page].images[0].image)


def test_the_name_is_gone_from_page_text_and_properties(tmp_path):
    path = written(tmp_path, drawn(f"Dear {NAME}, good day.", "It rains.", title=f"Letter to {NAME}", author=NAME))
    document, out = redact(path, tmp_path / "out")
    assert {"page 1", "properties"} <= {part.name for part in document.parts}
    assert out.name == "letter.pdf"
    assert (tmp_path / "out" / "letter.pdf.txt").read_text() == "Dear Pers_1, good day.\nIt rains.\n"
    assert leaks(out, [NAME]) == []
    reader = PdfReader(out)
    assert [page.extract_text() for page in reader.pages] == [""]
    assert reader.metadata is None
    assert leaks(path, [NAME])


def test_the_picture_shows_what_was_kept_and_where(tmp_path):
    path = written(tmp_path, drawn(f"Dear {NAME}, good day.", "It rains."))
    _, out = redact(path, tmp_path / "out")
    before, after = picture(path), shown(out)
    assert before.shape == after.shape
    rains = slice(round((841.9 - 752) * 150 / 72), round((841.9 - 734) * 150 / 72))  # the second line, at 740 points
    assert np.abs(before[rains].astype(int) - after[rains]).max() < 40  # untouched but for the number of greys
    assert (after < 128).sum() > 200  # and something is drawn


def test_the_picture_does_not_tell_names_apart(tmp_path):
    """Two letters to different people, in a font where their names are equally wide, give the same file."""
    outputs = []
    for name in ("Zimmerwald", "Fitzgerald"):
        path = written(tmp_path, drawn(f"Dear {name}, good day.", f"Yours, {name}", "(no reply)", font="Courier"), f"{name}.pdf")
        outputs.append(redact(path, tmp_path / f"out {name}", name)[1].read_bytes())
    assert outputs[0] == outputs[1]


def letter_to(name, turn):
    """What stands where the width of the name put it: after it, in a column, justified, in the middle, at the right, touching it, alone."""
    held = io.BytesIO()
    page = canvas.Canvas(held, pagesize=A4, invariant=1)
    page.setFont("Helvetica", 11)
    page.drawString(72, 760, f"The patient Mr. {name}, AVATAR, was seen in clinic on a fine day.")
    page.drawString(72, 740, f"Mr. {name} junior")
    page.drawString(300, 740, "Ward 7")
    for i, line in enumerate(("This line has no name in it and stays as it is.", f"We think that {name} should come back, and")):
        text = page.beginText(72, 700 - 12 * i)
        text.setCharSpace((300 - page.stringWidth(line)) / (len(line) - 1))
        text.textLine(line)
        text.setCharSpace(0)
        page.drawText(text)
    page.drawCentredString(300, 660, f"To {name} and family")
    page.drawRightString(520, 640, f"signed: {name}")
    page.setFont("Times-Italic", 11)
    page.drawString(72, 620, f"(of{name}f)")
    page.drawString(72, 611, "jumping right below it")
    page.drawString(72, 590, name)
    page.showPage()
    page.save()
    writer = PdfWriter(clone_from=held)
    writer.pages[0].rotate(turn)
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue()


@pytest.mark.parametrize("turn", [0, 90, 180, 270])
@pytest.mark.parametrize("label", ["Person_17", "\u2588" * 6])
def test_no_pixel_depends_on_the_width_of_a_name(label, turn, tmp_path):
    """An intruder redacts the letter with each name of a list and compares: the files are the same."""
    outputs = set()
    for name in ("Li", "Fitch", "Okonkwo", "Mitchell", "Fenwright", "Quillfeather"):
        path = written(tmp_path, letter_to(name, turn), f"{name}.pdf")
        outputs.add(redact(path, tmp_path / f"out {name}", name, label=label)[1].read_bytes())
    assert len(outputs) == 1


def test_a_line_set_anew_looks_as_before(tmp_path):
    """The kept words before a name are drawn in their own font and size, where they stood, to a few pixels."""
    path = written(tmp_path, drawn(f"Dear Anna and Bert, {NAME}", "It rains."))
    _, out = redact(path, tmp_path / "out")
    line = slice(round((841.9 - 772) * 150 / 72), round((841.9 - 756) * 150 / 72)), slice(145, 320)  # before the name
    before, after = picture(path)[line] < 128, shown(out)[line] < 128
    assert after.sum() == pytest.approx(before.sum(), rel=0.1)
    assert np.abs(np.flatnonzero(after.any(axis=1))[[0, -1]] - np.flatnonzero(before.any(axis=1))[[0, -1]]).max() <= 1
    assert np.abs(np.flatnonzero(after.any(axis=0))[[0, -1]] - np.flatnonzero(before.any(axis=0))[[0, -1]]).max() <= 3


def test_labels_can_be_read(tmp_path):
    """A half word at a line's end leaves only a comma or nothing: its label is as high as that of another line."""
    path = written(tmp_path, drawn(NAME, "Zimmer-", "wald, .", f"Dear {NAME}, good day."))
    _, out = redact(path, tmp_path / "out")
    grey = shown(out) == 221
    heights = [grey[round((841.9 - y - 14) * 150 / 72) : round((841.9 - y + 5) * 150 / 72)].any(axis=1).sum() for y in (760, 740, 700)]
    assert min(heights) == max(heights) >= 20


def test_words_cut_at_the_end_of_a_line(tmp_path):
    document, out = redact(written(tmp_path, drawn("We wrote to Zimmer-", "wald last week.")), tmp_path / "out")
    assert NAME in document.text
    assert leaks(out.with_name("letter.pdf.txt"), [NAME, "Zimmer"]) == []
    document, out = redact(
        written(tmp_path, drawn("We wrote to John", "Zimmerwald last week."), "b.pdf"), tmp_path / "out2", "John\nZimmerwald"
    )
    assert out.with_name("letter.pdf.txt").read_text().split() == ["We", "wrote", "to", "Pers_1", "last", "week."]


def test_pictures_hidden_text_and_outlines_of_letters_do_not_leave(tmp_path):
    shot = Image.new("L", (400, 60), 255)
    ImageDraw.Draw(shot).text((5, 5), "A PHOTOGRAPH OF ZIMMERWALD", fill=0, font_size=24)
    held = io.BytesIO()
    page = canvas.Canvas(held, pagesize=A4)
    page.drawString(72, 700, "Only this line is text.")
    page.drawInlineImage(shot, 72, 400, 400, 60)
    page.line(72, 300, 90, 340)  # a stroke of a letter drawn by hand
    page.setFillColorRGB(1, 1, 1)
    page.drawString(72, 200, f"white words about {NAME}")
    page.showPage()
    page.save()
    document, out = redact(written(tmp_path, held.getvalue()), tmp_path / "out")
    assert f"white words about {NAME}" in document.text
    after = shown(out)
    below = after[round((841.9 - 690) * 150 / 72) :]
    rest = below[: round(480 * 150 / 72)]
    assert rest.min() == 255  # the photograph, and the stroke, are not there


def test_annotations_forms_bookmarks_attachments_and_metadata(tmp_path):
    writer = PdfWriter(clone_from=io.BytesIO(drawn("A page about the weather.")))
    writer.add_annotation(0, Text(rect=(50, 550, 200, 650), text=f"Ask {NAME} about this", title_bar=f"{NAME} junior"))
    writer.add_annotation(0, FreeText(text=f"Free {NAME}", rect=(50, 50, 200, 100)))
    writer.add_attachment(f"{NAME}.txt", b"secret")
    writer.add_outline_item(f"About {NAME}", 0)
    writer.add_metadata({"/Author": NAME, "/Custom": f"for {NAME}"})
    writer.add_uri(0, f"https://example.org/{NAME}", (10, 10, 20, 20))
    held = io.BytesIO()
    writer.write(held)
    path = written(tmp_path, held.getvalue())
    document, out = redact(path, tmp_path / "out")
    names = {part.name for part in document.parts}
    assert {"comment", "author", "bookmark", "properties", "link", "attachment's name", "attached file (left out)"} <= names
    beside = out.with_name("letter.pdf.txt").read_text()
    assert "Ask Pers_1 about this" in beside
    assert leaks(out, [NAME]) == []
    assert NAME.encode() not in out.read_bytes()
    assert len(leaks(path, [NAME])) >= 1


def test_filled_in_forms(tmp_path):
    held = io.BytesIO()
    page = canvas.Canvas(held, pagesize=A4)
    page.drawString(72, 700, "Name:")
    page.acroForm.textfield(name="who", value=NAME, x=120, y=690)
    page.showPage()
    page.save()
    document, out = redact(written(tmp_path, held.getvalue()), tmp_path / "out")
    assert "form field" in {part.name for part in document.parts}
    assert "Pers_1" in out.with_name("letter.pdf.txt").read_text()
    assert leaks(out, [NAME]) == []


def test_earlier_versions_do_not_leave(tmp_path):
    first = drawn(f"Dear {NAME}, good day.")
    writer = PdfWriter(io.BytesIO(first), incremental=True)
    new = DecodedStreamObject()
    new.set_data(b"BT /F1 12 Tf 72 700 Td (Dear all) Tj ET")
    writer.pages[0][NameObject("/Contents")] = writer._add_object(new)
    held = io.BytesIO()
    writer.write(held)
    content = held.getvalue()
    assert content.count(b"%%EOF") > 1
    document, out = redact(written(tmp_path, content), tmp_path / "out", "all")
    assert NAME not in document.text  # nobody sees it
    assert leaks(out, [NAME]) == []
    assert out.read_bytes().count(b"%%EOF") == 1


def test_a_scan_is_never_called_safe(tmp_path):
    shot = Image.new("L", (600, 800), 255)
    ImageDraw.Draw(shot).text((20, 20), "Dear Zimmerwald", fill=0, font_size=30)
    shot.save(tmp_path / "scan.pdf")
    with pytest.raises(DataError, match="No text was found"):
        read_document(tmp_path / "scan.pdf")


def test_a_scan_with_its_reading_behind_it_becomes_text(tmp_path):
    held = io.BytesIO()
    page = canvas.Canvas(held, pagesize=A4)
    page.drawInlineImage(Image.new("L", (100, 100), 200), 0, 0, 595, 842)
    text = page.beginText(72, 700)
    text.setTextRenderMode(3)
    text.textLine(f"Dear {NAME}, good day.")
    page.drawText(text)
    page.showPage()
    page.save()
    _, out = redact(written(tmp_path, held.getvalue()), tmp_path / "out")
    assert out.name == "letter.txt"
    assert out.read_text() == "Dear Pers_1, good day.\n"


def test_a_page_without_text_is_left_out_and_said(tmp_path):
    held = io.BytesIO()
    page = canvas.Canvas(held, pagesize=A4)
    page.drawString(72, 700, f"Dear {NAME}")
    page.showPage()
    page.drawInlineImage(Image.new("L", (100, 100), 0), 0, 0, 595, 842)
    page.showPage()
    page.save()
    document, out = redact(written(tmp_path, held.getvalue()), tmp_path / "out")
    assert "page 2, on which no text was found (left out)" in {part.name for part in document.parts}
    assert len(PdfReader(out).pages) == 2
    assert (shown(out, 1) < 128).mean() < 0.05  # a sentence, and not the black picture


@pytest.mark.parametrize("turn", [90, 180, 270])
def test_turned_pages(turn, tmp_path):
    writer = PdfWriter(clone_from=io.BytesIO(drawn(f"Dear {NAME}, good day.", "It rains.")))
    writer.pages[0].rotate(turn)
    held = io.BytesIO()
    writer.write(held)
    path = written(tmp_path, held.getvalue())
    _, out = redact(path, tmp_path / "out")
    before, after = picture(path), shown(out)
    assert before.shape == after.shape
    assert (after < 128).sum() > 100
    assert leaks(out, [NAME]) == []


def test_encrypted_and_broken(tmp_path):
    writer = PdfWriter(clone_from=io.BytesIO(drawn("x")))
    writer.encrypt("secret", algorithm="RC4-128")
    held = io.BytesIO()
    writer.write(held)
    with pytest.raises(DataError, match="encrypted"):
        read_document(written(tmp_path, held.getvalue()))
    for content in (b"%PDF-1.4\nnothing", b"hello", drawn("x")[:200]):
        with pytest.raises(DataError, match=r"not a PDF, or is damaged|No text was found"):
            read_document(written(tmp_path, content, "b.pdf"))


def test_two_columns_do_not_run_into_each_other(tmp_path):
    held = io.BytesIO()
    page = canvas.Canvas(held, pagesize=A4)
    for i in range(5):
        page.drawString(72, 700 - 20 * i, "Mr Li came to see us")
        page.drawString(320, 700 - 20 * i, "A second column here")
    page.showPage()
    page.save()
    path = written(tmp_path, held.getvalue())
    _, out = redact(path, tmp_path / "out", "Li", label="A_very_long_label_for_one_person_only")
    scale = 150 / 72
    right = slice(round(318 * scale), None)
    rows = slice(round((841.9 - 715) * scale), round((841.9 - 600) * scale))
    assert (shown(out)[rows, right] < 128).sum() == pytest.approx((picture(path)[rows, right] < 128).sum(), rel=0.35)


def test_a_broken_file_is_not_quoted_in_a_log(tmp_path, caplog, capsys):
    content = drawn("Dear all", title=NAME).replace(b"/Title (", b"/Title Zimmerwald (")
    assert "Dear all" in read_document(written(tmp_path, content)).text
    assert NAME not in caplog.text
    assert NAME not in "".join(capsys.readouterr())


def test_without_the_extra(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pypdfium2", None)
    with pytest.raises(DataError, match=r"Reading PDF needs an extra: pip install 'shoal\[documents\]'"):
        read_document(written(tmp_path, drawn("x")))


@pytest.mark.parametrize("size", [1_000_000, 99_999_999])
def test_letters_of_absurd_size_end_in_a_sentence(size, tmp_path):
    path = written(tmp_path, drawn(f"Dear Prof. {NAME}, call us", size=size))
    with pytest.raises(DataError, match="Leave it out") as error:
        redact(path, tmp_path / "out")
    assert NAME not in str(error.value)


def test_a_page_like_a_thread(tmp_path):
    writer = PdfWriter(clone_from=io.BytesIO(drawn(f"Dear {NAME}")))
    writer.pages[0].mediabox.upper_right = (40_000_000, 900)
    held = io.BytesIO()
    writer.write(held)
    _, out = redact(written(tmp_path, held.getvalue()), tmp_path / "out")
    assert max(shown(out).shape) <= 40_000
    assert not leaks(out, [NAME])


def test_a_renderer_that_gives_up_is_a_sentence(tmp_path, monkeypatch):
    def greedy(*_):
        raise MemoryError

    monkeypatch.setattr("shoal.documents.formats.pdf_pictures.pictures", greedy)
    with pytest.raises(DataError, match="cannot be drawn anew"):
        redact(written(tmp_path, drawn(f"Dear {NAME}")), tmp_path / "out")
