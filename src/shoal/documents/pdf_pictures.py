"""Pages as pictures of the characters that were read and kept, with a label where something was removed.

A box as wide as the name under it tells the name from a list of candidates. So a line that lost something is set anew: its words
follow each other at one distance, and the label has the width of its own text.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Iterator, Sequence
from ctypes import byref, c_double, c_int
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.documents.pdf import Line, Page

DPI = 150
LARGEST_PAGE = 40_000_000  # pixels; a larger one is drawn smaller
GAP = 0.25  # between words of a line set anew, in heights of its letters
WIDE = 1.5  # a gap wider than this is a column's, and stays

Picture = NDArray[np.uint8]
Boxes = NDArray[np.float64]  # left, top, right, bottom of each character of a line, in pixels


def pictures(file: Any, pages: Sequence[Page]) -> bytes:
    """A PDF of pictures. Its bytes depend on the pictures alone."""
    return _pdf(_drawn(file, i, page) for i, page in enumerate(pages))


def _drawn(file: Any, index: int, page: Page) -> tuple[float, float, Picture]:
    from pypdfium2 import raw as pdfium

    source = file[index]
    width, height = source.get_size()
    scale = min(DPI / 72, math.sqrt(LARGEST_PAGE / max(width * height, 1)))
    for thing in list(source.get_objects(filter=[pdfium.FPDF_PAGEOBJ_IMAGE], max_depth=1)):
        source.remove_obj(thing)
    source.gen_content()
    bitmap = source.render(scale=scale, draw_annots=False, may_draw_forms=False, grayscale=True)
    drawing: Picture = np.array(bitmap.to_numpy()).reshape(bitmap.height, bitmap.width, -1)[:, :, 0]
    text_page = source.get_textpage()
    boxes = [_boxes(text_page.raw, source, line.characters, drawing.shape) for line in page.lines]
    text_page.close()
    source.close()
    out: Picture = np.full_like(drawing, 255)
    removed = [_removed(line) for line in page.lines]
    for places, gone in zip(boxes, removed):  # before anything is copied, so that no neighbour brings a trace of it along
        for box in places[gone]:
            drawing[_inside(box, drawing.shape)] = 255
    for line, places, gone in zip(page.lines, boxes, removed):
        if not gone.any():
            for box in places:
                cut = _inside(box, drawing.shape)
                out[cut] = np.minimum(out[cut], drawing[cut])
        else:
            _set_anew(line, places, gone, drawing, out, _room(places, boxes, drawing.shape[1]))
    if not page.lines:
        label = _label("This page held no text that could be read. It was left out.", 24)
        out[20 : 20 + label.shape[0], 20 : 20 + label.shape[1]] = label[: out.shape[0] - 20, : out.shape[1] - 20]
    return (
        out.shape[1] / scale,
        out.shape[0] / scale,
        (out // 17 * 17).astype(np.uint8),
    )  # sixteen greys are enough to read, and a quarter of the size


def _boxes(handle: Any, page: Any, characters: Sequence[int], shape: tuple[int, ...]) -> Boxes:
    from pypdfium2 import raw as pdfium

    found = np.zeros((len(characters), 4))
    corner = [c_double() for _ in range(4)]
    for row, i in enumerate(characters):
        if pdfium.FPDFText_GetCharBox(handle, i, *[byref(one) for one in corner]):
            found[row] = [one.value for one in corner]  # left, right, bottom, top
    # Where the page's own coordinates fall in the picture, whatever its rotation and crop.
    x, y = c_int(), c_int()
    device = []
    for point in ((0, 0), (1000, 0), (0, 1000)):
        pdfium.FPDF_PageToDevice(page.raw, 0, 0, shape[1] * 64, shape[0] * 64, 0, *point, byref(x), byref(y))
        device.append((x.value / 64, y.value / 64))
    origin, right, up = (np.array(point) for point in device)
    along, across = (right - origin) / 1000, (up - origin) / 1000
    first = origin + found[:, [0]] * along + found[:, [2]] * across
    second = origin + found[:, [1]] * along + found[:, [3]] * across
    return np.hstack([np.minimum(first, second), np.maximum(first, second)])


def _inside(box: NDArray[np.float64], shape: tuple[int, ...]) -> tuple[slice, slice]:
    """The pixels of a box, one more on each side; none where it has no area, as a space."""
    if box[2] - box[0] < 0.01 or box[3] - box[1] < 0.01:
        return slice(0, 0), slice(0, 0)
    left, top = max(math.floor(box[0]) - 1, 0), max(math.floor(box[1]) - 1, 0)
    return slice(top, min(math.ceil(box[3]) + 1, shape[0])), slice(left, min(math.ceil(box[2]) + 1, shape[1]))


def _removed(line: Line) -> NDArray[np.bool_]:
    gone = np.zeros(len(line.text), dtype=np.bool_)
    for edit in line.edits:
        gone[edit.start : edit.end] = True
    return gone


def _room(places: Boxes, all_boxes: Sequence[Boxes], width: int) -> float:
    """How far to the right a line may grow: to what stands beside it, or nearly to the edge."""
    here = places[places[:, 2] > places[:, 0]]
    if not len(here):
        return width - 10.0
    top, bottom, right = here[:, 1].min(), here[:, 3].max(), here[:, 2].max()
    limit = width - 10.0
    for other in all_boxes:
        if other is not places and len(other):
            beside = other[(other[:, 0] > right) & (other[:, 1] < bottom) & (other[:, 3] > top) & (other[:, 2] > other[:, 0])]
            if len(beside):
                limit = min(limit, float(beside[:, 0].min()) - 4)
    return limit


def _set_anew(line: Line, places: Boxes, gone: NDArray[np.bool_], drawing: Picture, out: Picture, room: float) -> None:
    """Words and labels one after another, from where the line began; narrower if they would run out of the page."""
    here = places[places[:, 2] > places[:, 0]]
    if not len(here):
        return
    stay = places[~gone & (places[:, 2] > places[:, 0])]
    known = stay if len(stay) else here // 8 * 8 + [0, 0, 8, 8]  # the shape of the letters that go is not to show in what stays
    size = min(max(float(np.median(known[:, 3] - known[:, 1])) * 1.8, 8.0), 200.0)
    middle = float(np.median((known[:, 1] + known[:, 3]) / 2))
    top = max(math.floor(min(known[:, 1].min(), middle - size * 0.45)) - 1, 0)
    bottom = min(math.ceil(max(known[:, 3].max(), middle + size * 0.45)) + 1, drawing.shape[0])
    begin = float(here[:, 0].min()) // 8 * 8 if gone[0] else float(here[:, 0].min())
    strip: Picture = np.full((bottom - top, drawing.shape[1] * 4), 255, dtype=np.uint8)
    cursor, pending = 0, 0.0
    for start, end, label in _runs(line, gone):
        if label is None and not line.text[start:end].strip():
            following = places[end:][places[end:, 2] > places[end:, 0]]
            before = places[:start][places[:start, 2] > places[:start, 0]]
            pending = GAP * size
            if len(following) and len(before) and following[0, 0] - before[-1, 2] > WIDE * size and not gone[start - 1]:
                pending = following[0, 0] - before[-1, 2]
            continue
        cursor += round(pending)
        pending = 0.0
        if label is not None:
            piece = _label(label, round(size), strip.shape[0])
        else:
            boxes = places[start:end][places[start:end, 2] > places[start:end, 0]]
            if not len(boxes):
                continue
            piece = np.full(
                (bottom - top, math.ceil(boxes[:, 2].max()) + 2 - max(math.floor(boxes[:, 0].min()) - 1, 0)), 255, dtype=np.uint8
            )
            left = max(math.floor(boxes[:, 0].min()) - 1, 0)
            for box in boxes:
                rows, columns = _inside(box, drawing.shape)
                cut = drawing[rows, columns]
                place = piece[rows.start - top : rows.stop - top, columns.start - left : columns.stop - left]
                np.minimum(place, cut[: place.shape[0], : place.shape[1]], out=place)
        fits = min(piece.shape[1], strip.shape[1] - cursor)
        strip[: piece.shape[0], cursor : cursor + fits] = np.minimum(strip[: piece.shape[0], cursor : cursor + fits], piece[:, :fits])
        cursor += fits
    if not cursor:
        return
    from PIL import Image

    strip = strip[:, :cursor]
    left = max(math.floor(begin) - 1, 0)
    width = min(cursor, max(int(room) - left, 20), out.shape[1] - left)
    if width < cursor:
        strip = np.asarray(Image.fromarray(strip).resize((width, strip.shape[0])), dtype=np.uint8)
    out[top:bottom, left : left + width] = np.minimum(out[top:bottom, left : left + width], strip[:, :width])


def _runs(line: Line, gone: NDArray[np.bool_]) -> Iterator[tuple[int, int, str | None]]:
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


def _label(text: str, size: int, height: int = 0) -> Picture:
    """A text on grey; a row of blocks as a black bar."""
    from PIL import Image, ImageDraw, ImageFont

    height = height or round(size * 1.4)
    if not text.strip("\u2588\u25a0 "):
        return np.zeros((height, max(round(len(text) * size * 0.5), 4)), dtype=np.uint8)
    font = ImageFont.load_default(size=max(min(size, height) * 0.75, 6))
    width = math.ceil(font.getlength(text)) + 6
    picture = Image.new("L", (width, height), 221)
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
