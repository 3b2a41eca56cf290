"""Pages as pictures of the characters that were read and kept, with a label where something was removed.

A box as wide as the name under it tells the name from a list of candidates, and so does a letter that stands where the name's width put
it, be it by a fraction of a pixel. So a line that lost something is set anew: its letters are drawn again in their own font, from whole
pixels, at distances that follow from what is kept, the labels, and the places where untouched lines begin.
"""

from __future__ import annotations

import ctypes
import math
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.arrays import BoolArray, FloatArray
from shoal.documents.formats.pdf import Line, Page
from shoal.errors import DataError

DPI = 150
LARGEST_PAGE = 40_000_000  # pixels; a larger one is drawn smaller
GAP = 0.25  # between words of a line set anew, in sizes of its letters
WIDE = 2.5  # from one letter to the next, in sizes: more is the gap before a column
GRID = DPI  # pixels; a line set anew begins on this grid where no untouched line shows the margin
LONGEST = 40_000  # pixels; a longer page is drawn smaller, and a longer line stands on no page
SMALLEST = 12  # pixels; letters of a label are not smaller

Picture = NDArray[np.uint8]
Numbers = FloatArray


@dataclass
class Places:
    """Where the characters of a line stand in the picture, and what draws them."""

    boxes: Numbers  # left, top, right, bottom of each character
    objects: list[Any]  # the text object that draws each, or None
    turn: int  # quarter turns of the picture after which the line runs from left to right
    x: Numbers  # origins and sizes of the letters after those turns
    y: Numbers
    sizes: Numbers
    size: float  # of the line: from the letters that stay, if any
    base: int
    starts: dict[int, float]  # the characters at which the line and its further columns begin


def pictures(file: Any, pages: Sequence[Page]) -> bytes:
    """A PDF of pictures. Its bytes depend on the pictures alone."""
    return _pdf(_drawn(file, i, page) for i, page in enumerate(pages))


def _drawn(file: Any, index: int, page: Page) -> tuple[float, float, Picture]:
    from pypdfium2 import raw as pdfium

    source = file[index]
    width, height = source.get_size()
    scale = min(DPI / 72, math.sqrt(LARGEST_PAGE / max(width * height, 1)), LONGEST / max(width, height, 1))
    for thing in list(source.get_objects(filter=[pdfium.FPDF_PAGEOBJ_IMAGE], max_depth=1)):
        source.remove_obj(thing)
    source.gen_content()
    out: Picture = np.full((math.ceil(height * scale), math.ceil(width * scale)), 255, dtype=np.uint8)
    text_page = source.get_textpage()
    places = [_places(text_page.raw, source, line, out.shape, scale) for line in page.lines]
    changed = _changed(page.lines, places)
    stay = {_address(thing) for place, new in zip(places, changed) if not new for thing in place.objects if thing}
    for thing in source.get_objects(filter=[pdfium.FPDF_PAGEOBJ_TEXT]):  # what is not drawn leaves no trace beside what is
        if _address(thing.raw) not in stay:
            pdfium.FPDFTextObj_SetTextRenderMode(thing.raw, pdfium.FPDF_TEXTRENDERMODE_INVISIBLE)
    bitmap = source.render(scale=scale, draw_annots=False, may_draw_forms=False, grayscale=True)
    drawing: Picture = np.array(bitmap.to_numpy()).reshape(bitmap.height, bitmap.width, -1)[:, :, 0]
    for place, new in zip(places, changed):
        for box in () if new else place.boxes:
            cut = _inside(box, out.shape)
            out[cut] = np.minimum(out[cut], drawing[cut])
    _set_anew(file, page.lines, places, changed, out)
    text_page.close()
    source.close()
    if not page.lines:
        label = _label("This page held no text that could be read. It was left out.", 24, 34)
        out[20 : 20 + label.shape[0], 20 : 20 + label.shape[1]] = label[: out.shape[0] - 20, : out.shape[1] - 20]
    return (
        out.shape[1] / scale,
        out.shape[0] / scale,
        (out // 17 * 17).astype(np.uint8),
    )  # sixteen greys are enough to read, and a quarter of the size


def _places(handle: Any, page: Any, line: Line, shape: tuple[int, ...], scale: float) -> Places:
    from pypdfium2 import raw as pdfium

    n = len(line.characters)
    found, origins, matrices, sizes = np.zeros((n, 4)), np.zeros((n, 2)), np.zeros((n, 4)), np.zeros(n)
    corner, point, matrix = [ctypes.c_double() for _ in range(4)], [ctypes.c_double() for _ in range(2)], pdfium.FS_MATRIX()
    objects: list[Any] = []
    for row, i in enumerate(line.characters):
        if pdfium.FPDFText_GetCharBox(handle, i, *[ctypes.byref(one) for one in corner]):
            found[row] = [one.value for one in corner]  # left, right, bottom, top
        if pdfium.FPDFText_GetCharOrigin(handle, i, *[ctypes.byref(one) for one in point]):
            origins[row] = [one.value for one in point]
        if pdfium.FPDFText_GetMatrix(handle, i, ctypes.byref(matrix)):
            matrices[row] = matrix.a, matrix.b, matrix.c, matrix.d
        sizes[row] = pdfium.FPDFText_GetFontSize(handle, i) * math.hypot(*matrices[row, 2:]) * scale
        objects.append(pdfium.FPDFText_GetTextObject(handle, i))
    # Where the page's own coordinates fall in the picture, whatever its rotation and crop.
    x, y = ctypes.c_int(), ctypes.c_int()
    device = []
    for corner_of_page in ((0, 0), (1000, 0), (0, 1000)):
        pdfium.FPDF_PageToDevice(page.raw, 0, 0, shape[1] * 64, shape[0] * 64, 0, *corner_of_page, ctypes.byref(x), ctypes.byref(y))
        device.append((x.value / 64, y.value / 64))
    origin, right, up = (np.array(one) for one in device)
    along, across = (right - origin) / 1000, (up - origin) / 1000
    first = origin + found[:, [0]] * along + found[:, [2]] * across
    second = origin + found[:, [1]] * along + found[:, [3]] * across
    boxes = np.hstack([np.minimum(first, second), np.maximum(first, second)])
    inked = np.array([bool(thing) and not letter.isspace() for thing, letter in zip(objects, line.text)], dtype=np.bool_)
    kept = inked & ~_removed(line)
    known = kept if kept.any() else inked if inked.any() else np.ones(n, dtype=np.bool_)
    to_x, to_y = np.median(matrices[known, :2], axis=0) @ np.array([along, across])
    turn = (0 if to_x >= 0 else 2) if abs(to_x) >= abs(to_y) else (1 if to_y > 0 else 3)
    at_x, at_y = (origin + origins[:, [0]] * along + origins[:, [1]] * across).T
    at_x, at_y = ((at_x, at_y), (at_y, shape[1] - at_x), (shape[1] - at_x, shape[0] - at_y), (shape[0] - at_y, at_x))[turn]
    size = min(max(round(float(np.median(sizes[known])), 2), 6.0), 200.0)
    starts: dict[int, float] = {}
    last = None
    for i in np.flatnonzero(inked).tolist():
        if last is None or (at_x[i] - at_x[last] > WIDE * size and kept[last] and i > last + 1):
            starts[i] = float(at_x[i])
        last = i
    base = math.floor(float(np.median(at_y[known])) + 0.5)
    return Places(boxes, objects, turn, at_x, at_y, np.clip(np.round(sizes, 2), 2, 200), size, base, starts)


def _address(handle: Any) -> int:
    return ctypes.cast(handle, ctypes.c_void_p).value or 0


def _changed(lines: Sequence[Line], places: Sequence[Places]) -> list[bool]:
    """The lines to set anew: those with an edit, and those drawn by the same objects as one of these."""
    objects = [{_address(thing) for thing in place.objects if thing} for place in places]
    changed = [bool(line.edits) for line in lines]
    drawn = set().union(*(own for own, new in zip(objects, changed) if new))
    while True:
        more = [i for i, own in enumerate(objects) if not changed[i] and own & drawn]
        if not more:
            return changed
        for i in more:
            changed[i] = True
            drawn |= objects[i]


def _inside(box: FloatArray, shape: tuple[int, ...]) -> tuple[slice, slice]:
    """The pixels of a box, one more on each side; none where it has no area, as a space."""
    if box[2] - box[0] < 0.01 or box[3] - box[1] < 0.01:
        return slice(0, 0), slice(0, 0)
    left, top = max(math.floor(box[0]) - 1, 0), max(math.floor(box[1]) - 1, 0)
    return slice(top, min(math.ceil(box[3]) + 1, shape[0])), slice(left, min(math.ceil(box[2]) + 1, shape[1]))


def _removed(line: Line) -> BoolArray:
    gone = np.zeros(len(line.text), dtype=np.bool_)
    for edit in line.edits:
        gone[edit.start : edit.end] = True
    return gone


def _set_anew(file: Any, lines: Sequence[Line], places: Sequence[Places], changed: Sequence[bool], out: Picture) -> None:
    """Put each changed line where it begins, narrower if it would run into what stands beside it or out of the page."""
    from PIL import Image

    edges = [sorted({x for p, new in zip(places, changed) if not new and p.turn == turn for x in p.starts.values()}) for turn in range(4)]
    begins = [
        (_begin(min(p.starts.values()), edges[p.turn]) if new else round(min(p.starts.values()))) if p.starts else None
        for p, new in zip(places, changed)
    ]
    for line, place, new, begin in zip(lines, places, changed, begins):
        if not new or begin is None:
            continue
        frame = np.rot90(out, place.turn)
        further = [x for x in edges[place.turn] if x > begin + 2]
        strip, above = _strip(file, line, place, {i: _begin(x, further) - begin for i, x in place.starts.items()})
        room = frame.shape[1] - 10
        for other, start in zip(places, begins):
            if start is not None and start > begin and other.turn == place.turn and abs(other.base - place.base) < place.size:
                room = min(room, start - 4)
        width = min(strip.shape[1], max(room - begin, 20), frame.shape[1] - begin)
        if width < 1:
            continue
        if width < strip.shape[1]:
            strip = np.asarray(Image.fromarray(strip).resize((width, strip.shape[0])), dtype=np.uint8)
        top = place.base - above
        strip = strip[max(-top, 0) : max(frame.shape[0] - top, 0)]
        top = max(top, 0)
        cut = (slice(top, top + strip.shape[0]), slice(begin, begin + width))
        frame[cut] = np.minimum(frame[cut], strip)


def _begin(x: float, edges: Sequence[float]) -> int:
    """Where a line or column that began at x begins now: a line in the middle or at the right stood where its width put it."""
    before = [edge for edge in edges if edge <= x + 2]
    return round(before[-1]) if before else max(math.floor((x + 2) / GRID) * GRID, GRID // 2)


def _strip(file: Any, line: Line, place: Places, columns: dict[int, int]) -> tuple[Picture, int]:
    """A line's words and labels one after another, and how far its letters stand above the base."""
    size = place.size
    above, below = math.ceil(1.1 * size), math.ceil(0.4 * size)
    gone = _removed(line)
    cursor, pending = 0, 0
    words: list[tuple[int, float, float, Any, str]] = []
    pasted: list[tuple[int, int, Picture]] = []
    for start, end, label in _runs(line, gone):
        if label is None and not line.text[start:end].strip():
            pending = round(GAP * size) if cursor else 0
            continue
        cursor = max(cursor + pending, columns.get(start, 0) if cursor else 0)
        pending = 0
        if label is not None:
            piece = _label(label, round(size), round(1.1 * size))
            pasted.append((cursor, above - round(0.85 * size), piece))
            cursor += piece.shape[1]
            continue
        at = start
        while at < end:
            font, letter, high = _font(place.objects[at]), float(place.sizes[at]), round(place.y[at] - place.base)
            advance = _advance(font, line.text[at], letter)
            if not advance:  # the font does not say how to draw it
                piece = _letters(line.text[at], round(letter))
                pasted.append((cursor, above - round(letter), piece))
                cursor += piece.shape[1]
                at += 1
                continue
            stop, width = at, 0.0
            while advance and stop < end:
                width += advance
                stop += 1
                same = stop < end and _address(_font(place.objects[stop])) == _address(font) and place.sizes[stop] == letter
                same = same and round(place.y[stop] - place.base) == high
                advance = _advance(font, line.text[stop], letter) if same else 0.0
            words.append((cursor, below - high, letter, font, line.text[at:stop]))
            cursor += math.ceil(width)
            at = stop
    if cursor > LONGEST:
        raise DataError("A line of this PDF is many times as long as a page is wide, and cannot be drawn anew. Leave it out.")
    strip = _typeset(file, words, cursor + 4, above + below)
    for left, top, piece in pasted:
        top = max(top, 0)
        into = strip[top : top + piece.shape[0], left : left + piece.shape[1]]
        np.minimum(into, piece[: into.shape[0], : into.shape[1]], out=into)
    return strip, above


def _font(thing: Any) -> Any:
    from pypdfium2 import raw as pdfium

    return pdfium.FPDFTextObj_GetFont(thing) if thing else None


def _advance(font: Any, letter: str, size: float) -> float:
    """The width that the font gives a letter: spacing that fills a line, and with it the name's width, is not in it."""
    from pypdfium2 import raw as pdfium

    width = ctypes.c_float()
    if not font or not pdfium.FPDFFont_GetGlyphWidth(font, ord(letter), size, ctypes.byref(width)):
        return 0.0
    return max(width.value, 0.0)


def _typeset(file: Any, words: Sequence[tuple[int, float, float, Any, str]], width: int, height: int) -> Picture:
    """Words in the fonts of the page, each from a whole pixel: left, height of the base, size, font, text."""
    from pypdfium2 import raw as pdfium

    page = file.new_page(width, height)
    for left, base, size, font, text in words:
        thing = pdfium.FPDFPageObj_CreateTextObj(file.raw, font, size)
        code = (text + "\0").encode("utf-16-le")
        pdfium.FPDFText_SetText(thing, (ctypes.c_ushort * (len(code) // 2)).from_buffer_copy(code))
        pdfium.FPDFPageObj_Transform(thing, 1, 0, 0, 1, left + 1, base)
        pdfium.FPDFPage_InsertObject(page.raw, thing)
    bitmap = page.render(scale=1, draw_annots=False, may_draw_forms=False, grayscale=True)
    strip: Picture = np.array(bitmap.to_numpy()).reshape(bitmap.height, bitmap.width, -1)[:, :, 0]
    page.close()
    file.del_page(len(file) - 1)
    return strip


def _runs(line: Line, gone: BoolArray) -> Iterator[tuple[int, int, str | None]]:
    """A line as words, gaps and labels: (start, end, the label of what was removed there)."""
    at, edits = 0, {edit.start: edit for edit in line.edits}
    while at < len(line.text):
        if at in edits:
            edit = edits[at]
            if edit.replacement:
                yield at, edit.end, edit.replacement
            at = edit.end
            continue
        end, space = at, line.text[at].isspace()
        while end < len(line.text) and not gone[end] and line.text[end].isspace() == space:
            end += 1
        yield at, end, None
        at = end


def _label(text: str, size: int, height: int) -> Picture:
    """A text on grey; a row of blocks as a black bar."""
    if not text.strip("\u2588\u25a0 "):
        return np.zeros((height, max(round(len(text) * size * 0.5), 4)), dtype=np.uint8)
    return _letters(text, max(round(size * 0.75), SMALLEST), max(height, SMALLEST + 4), 221)


def _letters(text: str, size: int, height: int = 0, ground: int = 255) -> Picture:
    from PIL import Image, ImageDraw, ImageFont

    font = ImageFont.load_default(size=max(size, 6))
    height = height or round(size * 1.4)
    picture = Image.new("L", (math.ceil(font.getlength(text)) + 6, height), ground)
    ImageDraw.Draw(picture).text((3, height / 2), text, fill=0, font=font, anchor="lm")
    return np.asarray(picture, dtype=np.uint8)


def _pdf(pages: Iterator[tuple[float, float, Picture]]) -> bytes:
    """The shortest PDF that shows pictures: no dates, no names, nothing but a picture on each page."""
    objects: list[bytes] = [b"", b""]  # the catalogue and the list of pages come first, and are known last
    numbers = []
    for width, height, picture in pages:
        data = zlib.compress(picture.tobytes(), 6)
        kind = f"/Type/XObject/Subtype/Image/Width {picture.shape[1]}/Height {picture.shape[0]}/ColorSpace/DeviceGray/BitsPerComponent 8"
        objects.append(f"<<{kind}/Filter/FlateDecode/Length {len(data)}>>stream\n".encode() + data + b"\nendstream")
        content = f"q {width:.4f} 0 0 {height:.4f} 0 0 cm /P Do Q".encode()
        objects.append(f"<</Length {len(content)}>>stream\n".encode() + content + b"\nendstream")
        n = len(objects)
        box = f"/MediaBox[0 0 {width:.4f} {height:.4f}]"
        objects.append(f"<</Type/Page/Parent 2 0 R{box}/Resources<</XObject<</P {n - 1} 0 R>>>>/Contents {n} 0 R>>".encode())
        numbers.append(n + 1)
    objects[0] = b"<</Type/Catalog/Pages 2 0 R>>"
    objects[1] = f"<</Type/Pages/Count {len(numbers)}/Kids[{' '.join(f'{n} 0 R' for n in numbers)}]>>".encode()
    out = bytearray(b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n")
    places = []
    for i, content in enumerate(objects, 1):
        places.append(len(out))
        out += f"{i} 0 obj\n".encode() + content + b"\nendobj\n"
    start = len(out)
    out += f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n".encode() + b"".join(b"%010d 00000 n \n" % place for place in places)
    out += f"trailer\n<</Size {len(objects) + 1}/Root 1 0 R>>\nstartxref\n{start}\n%%EOF\n".encode()
    return bytes(out)
