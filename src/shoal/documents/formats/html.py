"""Web pages. Text leaves, inside tags known to do nothing but lay it out; attributes, comments and scripts do not."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping, Sequence

from shoal.document import Edit
from shoal.documents.formats.pieces import Collector, Opened, seen
from shoal.documents.formats.read import decode
from shoal.errors import DataError

_BLOCKS = (
    "address article aside blockquote body caption center dd details div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 head "
    "header hr html legend li main nav ol option p pre section select summary table tbody td tfoot th thead title tr ul br button textarea"
)
_KEPT = (
    "article aside blockquote body br caption center dd div dl dt figcaption figure footer h1 h2 h3 h4 h5 h6 head header hr html li main nav "
    "ol p pre section table tbody td tfoot th thead title tr ul abbr b big cite code del em i ins kbd mark q s samp small span strike strong "
    "sub sup tt u var"
)
BLOCKS, KEPT = set(_BLOCKS.split()), set(_KEPT.split())
DROPPED = {"script", "style", "template", "svg", "math", "object", "iframe", "noframes", "canvas", "audio", "video"}
VOID = {"br", "hr", "img", "input", "meta", "link", "base", "area", "col", "embed", "source", "track", "wbr", "param"}
# Attributes that can hold words; classes, identifiers and styles are the page maker's own. None of them leaves.
TELLING = {
    "href",
    "src",
    "title",
    "alt",
    "content",
    "value",
    "placeholder",
    "cite",
    "action",
    "summary",
    "label",
    "name",
    "download",
    "srcset",
}
_CHARSET = re.compile(rb"(?i)<meta[^>]{0,200}charset\s*=\s*[\"']?([a-z0-9_-]{2,20})")


def open_page(raw: bytes, name: str, declared: str | None = None) -> Opened:
    """Take an HTML file apart."""
    found = _CHARSET.search(raw[:4096])
    text = decode(raw, name, declared or (found.group(1).decode() if found else None))
    try:
        from lxml import etree
    except ImportError:
        raise DataError("Reading web pages needs an extra: pip install 'shoal[documents]'.") from None
    reader = _Reader()
    parser = etree.HTMLParser(target=reader, huge_tree=True)
    try:
        parser.feed(seen(text))
        parser.close()
    except etree.LxmlError:
        raise DataError(f"{name} cannot be read as a web page. Open it in a browser and save it again.") from None
    pieces = reader.out.finish()

    def save() -> list[tuple[str, bytes]]:
        head = '<!DOCTYPE html>\n<meta charset="utf-8">\n'
        return [(".html", (head + "".join(reader.written) + "\n").encode("utf-8"))]

    return Opened(pieces, save, reader.out.left_out)


class _Reader:
    """Told tag by tag what is in the old page, it builds the new one; a text's place in `written` is filled when it is put back."""

    def __init__(self) -> None:
        self.out = Collector()
        self.written: list[str] = []
        self.dropping: list[str] = []
        self.within: list[str] = []  # open elements that change how text is read: pre, textarea, title
        self.waiting: list[str] = []  # text since the last tag: entities come one by one

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        self._flush()
        for key, value in attributes.items():
            if key in TELLING or key.startswith(("data-", "aria-")):
                self.out.show("link" if key in ("href", "src", "action", "cite") else "attribute", value)
        if tag in DROPPED:
            if tag not in ("script", "style", "template"):
                self.out.left_out.append("embedded object")
            self.dropping.append(tag)
        elif tag in ("img", "embed"):
            self.out.left_out.append("picture")
        if self.dropping:
            return
        if tag in BLOCKS:
            self.out.end()
        if tag in ("pre", "textarea", "title"):
            self.within.append(tag)
        if tag in KEPT:
            spans = "".join(
                f' {key}="{attributes[key]}"' for key in ("colspan", "rowspan") if re.fullmatch("[0-9]{1,4}", attributes.get(key, ""))
            )
            self.written.append(f"<{tag}{spans}>")
        elif tag in BLOCKS:
            self.written.append("<br>")

    def end(self, tag: str) -> None:
        self._flush()
        if tag in self.dropping:
            while self.dropping.pop() != tag:
                pass
            return
        if self.dropping or tag in VOID:
            return
        if tag in BLOCKS:
            self.out.end()
        if tag in self.within:
            self.within.remove(tag)
        if tag in KEPT:
            self.written.append(f"</{tag}>")

    def data(self, data: str) -> None:
        if not self.dropping:
            self.waiting.append(data)

    def _flush(self) -> None:
        data = seen("".join(self.waiting))
        self.waiting.clear()
        if not {"pre", "textarea"} & set(self.within):
            data = re.sub(r"[ \t\n]+", " ", data)
            if not self.out.pieces or self.out.pieces[-1].text.endswith((" ", "\n")):
                data = data.removeprefix(" ")
        if not data:
            return
        place = len(self.written)
        self.written.append("")

        def put(new: str, _: Sequence[Edit]) -> None:
            self.written[place] = html.escape(new, quote=False)

        self.out.add("title" if "title" in self.within else "body", data, put)

    def comment(self, text: str) -> None:
        self.out.show("comment", text)

    def pi(self, target: str, text: str | None = None) -> None:
        self.out.show("comment", f"{target} {text or ''}")

    def close(self) -> None:
        self._flush()
