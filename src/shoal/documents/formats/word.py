"""Word files. The text is read into pieces while a new file is built from elements known to hold nothing but text and its looks.

Words split across runs, in tables, text boxes, headers, footers, notes and comments are pieces that leave. Tracked deletions, fields,
targets of links, names of authors, properties and every other part are read for whoever decides, and are in no output. Pictures and
embedded files hold what shoal cannot read: they are left out.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from shoal.document import Edit
from shoal.documents.formats.package import BUILT_IN_STYLE, FONTS, PACKAGE, REL, Package, W, build_package
from shoal.documents.formats.pieces import Collector, Opened, seen
from shoal.errors import DataError

# Kept with the properties they carry; everything that is not named here is unwrapped, read apart, or dropped.
BLOCKS = {"p", "r", "tbl", "tr", "tc", "footnote", "endnote"}
LOOKS = {"pPr", "rPr", "tblPr", "tblPrEx", "tblGrid", "trPr", "tcPr", "sectPr"}
MARKS = {"footnoteReference", "endnoteReference", "footnoteRef", "endnoteRef", "separator", "continuationSeparator"}
MARKS |= {"annotationRef", "commentReference", "commentRangeStart", "commentRangeEnd"}
UNWRAPPED = {"hyperlink", "sdt", "sdtContent", "ins", "moveTo", "smartTag", "customXml", "fldSimple", "dir", "bdo"}
UNWRAPPED |= {"ruby", "rt", "rubyBase", "AlternateContent"}
DELETED = {"del", "moveFrom"}
# Inside properties: histories of looks, and text or references that are no looks.
NOT_LOOKS = {"ins", "del", "moveFrom", "moveTo", "tblCaption", "tblDescription", "printerSettings", "cellIns", "cellDel", "cellMerge"}
STYLED = {"pStyle", "rStyle", "tblStyle", "basedOn", "next", "link", "numStyleLink", "styleLink"}
MATH = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
COUNTED_FIELDS = {"PAGE", "NUMPAGES", "SECTIONPAGES"}  # their codes say nothing and their results are numbers


@dataclass
class _Field:
    """A field between its begin and its end: its code, and whether the characters now read are its result."""

    code: str = ""
    in_result: bool = False


@dataclass
class _State:
    """What a part's walk remembers."""

    part: str
    fields: list[_Field] = field(default_factory=list)
    boxes: list[Any] = field(default_factory=list)  # text boxes met in a paragraph; they follow it


def open_word(raw: bytes, name: str) -> Opened:
    """Take a .docx apart."""
    package = Package(raw, name)
    return _Reader(package).open()


class _Reader:
    def __init__(self, package: Package) -> None:
        from lxml import etree

        self.etree: Any = etree
        self.package = package
        self.out = Collector()
        self.written: dict[str, Any] = {}  # the new package: name to tree
        self.references: dict[str, str] = {}  # header and footer references of the body: old id to new
        self.styles: dict[str, str] = {}
        self.fonts: dict[str, str] = {}  # of the theme, which itself does not leave: "major" and "minor" to a font's name

    def open(self) -> Opened:
        package = self.package
        body = package.tree(package.main)
        if not body.tag.startswith(W):
            raise DataError(f"{package.name} is saved as Strict Open XML. Save it as an ordinary Word document (.docx).")
        package.read.add(package.main)
        self._fonts()
        self._styles()
        stories: list[tuple[str, str, str]] = []  # part, old file, new file
        for kind in ("header", "footer"):
            files = [(id_, target) for id_, (type_, target) in package.parts.items() if type_ == kind and target in package.files]
            for i, (id_, target) in enumerate(files, 1):
                self.references[id_] = f"{kind}{i}"
                stories.append((kind, target, f"word/{kind}{i}.xml"))
        for kind in ("footnotes", "endnotes", "comments"):
            found = [target for type_, target in package.parts.values() if type_ == kind and target in package.files]
            stories += [(kind.removesuffix("s"), target, f"word/{kind}.xml") for target in found[:1]]
        self._story("body", body, "word/document.xml")
        for part, target, new in stories:
            self._story(part, package.tree(target), new)
            package.read.add(target)
        self._numbering()
        self._settings()
        self._rest()
        return Opened(self.out.finish(), lambda: [(".docx", build_package(self.written))], self.out.left_out)

    def _story(self, part: str, old: Any, new_name: str) -> None:
        """The body, a header, all footnotes: a tree of blocks."""
        state = _State(part)
        new = self._element(old)
        self.written[new_name] = new
        for child in old:
            if child.tag == f"{W}body":
                self._blocks(child, self._element(child, new), state)
            elif child.tag == f"{W}comment":
                self.out.show("author", child.get(f"{W}author"))
                self._blocks(child, self._element(child, new, {f"{W}id": child.get(f"{W}id", "0"), f"{W}author": ""}), state)
            else:
                self._block(child, new, state)

    def _blocks(self, old: Any, new: Any, state: _State) -> None:
        for child in old:
            self._block(child, new, state)

    def _block(self, old: Any, new: Any, state: _State) -> None:
        """One element of the old tree into the new one: kept, unwrapped, read apart, or dropped."""
        if not isinstance(old.tag, str):
            return
        name = old.tag.rpartition("}")[2]
        if old.tag.startswith(MATH):
            if name == "t":
                self._text(old.text or "", new, state.part)
            self._blocks(old, new, state)
        elif name == "p" and old.tag.startswith(W):
            self._paragraph(old, new, state)
        elif name in LOOKS:
            looks = self._looks(old)
            if looks is not None:
                new.append(looks)
        elif name in BLOCKS and old.tag.startswith(W):
            kept = {f"{W}{key}": old.get(f"{W}{key}") for key in ("id", "type") if old.get(f"{W}{key}")}
            self._blocks(old, self._element(old, new, kept), state)
        elif name in MARKS:
            self._element(old, new, {f"{W}id": old.get(f"{W}id")} if old.get(f"{W}id") else {})
        elif name in DELETED:
            self.out.show("author", old.get(f"{W}author"))
            self.out.show("deleted", "".join(node.text or "" for node in old.iter(f"{W}t", f"{W}delText")))
        elif name in UNWRAPPED:
            self._unwrap(name, old, new, state)
        else:
            self._leaf(name, old, new, state)

    def _paragraph(self, old: Any, new: Any, state: _State) -> None:
        self._blocks(old, self._element(old, new), state)
        self.out.end()
        while state.boxes:  # a text box becomes paragraphs of their own, after the one it hangs on
            box = state.boxes.pop(0)
            inner = _State("text box")
            self._blocks(box, new, inner)

    def _unwrap(self, name: str, old: Any, new: Any, state: _State) -> None:
        if name == "AlternateContent":  # the same thing twice, for newer and older programs: the first is read
            old = next(iter(old), old)
        elif name == "fldSimple":
            code = old.get(f"{W}instr", "")
            if _is_counted(code):
                self._counted_field(code, new)
                return
            self.out.show("field", code)
        elif name in ("ins", "moveTo"):
            self.out.show("author", old.get(f"{W}author"))
        elif name == "hyperlink":
            self.out.show("link", old.get(f"{W}tooltip"))
        elif name == "sdt":
            for element in old.iter(f"{W}alias", f"{W}tag"):
                self.out.show("field", element.get(f"{W}val"))
        self._blocks(old, new, state)

    def _leaf(self, name: str, old: Any, new: Any, state: _State) -> None:
        """What stands inside a run."""
        inside = state.fields[-1] if state.fields else None
        if name == "fldChar":
            self._field_mark(old.get(f"{W}fldCharType"), old, new, state)
        elif name == "instrText":
            if inside is not None:
                inside.code += old.text or ""
        elif any(f.in_result and _is_counted(f.code) for f in state.fields):
            return
        elif name == "t":
            self._text(old.text or "", new, state.part)
        elif name == "noBreakHyphen":
            self._text("\u2011", new, state.part)
        elif name == "tab":
            self._element(old, new)
            self.out.mark(state.part, "\t")
        elif name in ("br", "cr"):
            self._element(old, new, {f"{W}type": "page"} if old.get(f"{W}type") == "page" else {})
            self.out.mark(state.part, "\n")
        elif name in ("drawing", "pict", "object"):
            self._drawing(old, state)
        elif name == "altChunk":
            self.out.left_out.append("embedded file")
        elif name == "sdtPr":
            for element in old.iter(f"{W}docPart", f"{W}dataBinding", f"{W}listItem"):
                for value in element.attrib.values():
                    self.out.show("field", value)

    def _text(self, text: str, new: Any, part: str) -> None:
        text = seen(text)
        if not text:
            return
        if new.tag != f"{W}r":  # a formula's text, outside any run
            new = self.etree.SubElement(new, f"{W}r")
        element = self.etree.SubElement(new, f"{W}t")
        element.set("{http://www.w3.org/XML/1998/namespace}space", "preserve")
        element.text = text

        def put(becomes: str, _: Sequence[Edit]) -> None:
            element.text = becomes

        self.out.add(part, text, put)

    def _field_mark(self, what: str | None, old: Any, new: Any, state: _State) -> None:
        if what == "begin":
            state.fields.append(_Field())
            for element in old.iter(f"{W}name", f"{W}helpText", f"{W}statusText", f"{W}default", f"{W}listEntry"):
                self.out.show("field", element.get(f"{W}val"))
        elif what in ("separate", "end") and state.fields:
            inside = state.fields[-1]
            if not inside.in_result:
                inside.in_result = True
                if _is_counted(inside.code):
                    if new.tag == f"{W}r":  # a field outside any run is seen on no page
                        self._counted_field(inside.code, new.getparent())
                else:
                    self.out.show("field", inside.code)
            if what == "end":
                state.fields.pop()

    def _counted_field(self, code: str, paragraph: Any) -> None:
        element = self.etree.SubElement(paragraph, f"{W}fldSimple", {f"{W}instr": code.split()[0].upper()})
        self.etree.SubElement(self.etree.SubElement(element, f"{W}r"), f"{W}t").text = "1"

    def _drawing(self, old: Any, state: _State) -> None:
        """Text boxes are kept as paragraphs, once; alternative texts are shown; the picture itself is left out."""
        boxes = [box for box in old.iter(f"{W}txbxContent") if not any(a.tag.endswith("}Fallback") for a in box.iterancestors())]
        outer = [box for box in boxes if not any(a in boxes for a in box.iterancestors(f"{W}txbxContent"))]
        state.boxes += outer
        for element in old.iter():
            if isinstance(element.tag, str) and not any(True for _ in element.iterancestors(f"{W}txbxContent")):
                for key in ("descr", "title", "alt", "string"):
                    self.out.show("alternative text", element.get(key))
                if element.tag.endswith("}t") and not element.tag.startswith(W):
                    self.out.show("drawing", element.text)
        if not outer:
            self.out.left_out.append("picture or drawing")

    def _looks(self, old: Any) -> Any:
        """Properties of a block: only Word's own elements and attributes, styles by their new names."""
        if not isinstance(old.tag, str) or not old.tag.startswith(W):
            return None
        name = old.tag[len(W) :]
        if name in ("tblCaption", "tblDescription"):
            self.out.show("alternative text", old.get(f"{W}val"))
        if name in NOT_LOOKS or name.endswith("Change"):
            return None
        kept = {k: v for k, v in old.attrib.items() if k.startswith(W) and not k[len(W) :].startswith("rsid")}
        if name == "rFonts":
            for key in [key for key in kept if key.endswith("Theme")]:
                font = self.fonts.get(kept.pop(key)[:5])
                if font and key != f"{W}cstheme":
                    kept[key.removesuffix("Theme")] = font
            kept = {key: value for key, value in kept.items() if value.lower() in FONTS}  # a font can be called after a house
        if name in STYLED:
            if kept.get(f"{W}val") not in self.styles:
                return None
            kept[f"{W}val"] = self.styles[kept[f"{W}val"]]
        if name in ("headerReference", "footerReference"):
            id_ = self.references.get(old.get(f"{REL}id", ""))
            if id_ is None:
                return None
            kept[f"{REL}id"] = id_
        new = self._element(old, None, kept)
        new.extend(child for child in map(self._looks, old) if child is not None)
        return new

    def _fonts(self) -> None:
        theme = self.package.optional("theme")
        for element in [] if theme is None else theme.iter():
            if isinstance(element.tag, str) and element.tag.endswith(("}majorFont", "}minorFont")):
                latin = next((child.get("typeface") for child in element if child.tag.endswith("}latin")), None)
                if latin:
                    self.fonts[element.tag.rpartition("}")[2][:5]] = latin

    def _styles(self) -> None:
        """Styles by number: a style can be called after anybody."""
        old = self.package.optional("styles")
        if old is None:
            return
        kept = self._used(old)
        self.styles = {id_: f"S{i}" for i, id_ in enumerate(kept, 1)}
        new = self._element(old)
        for child in old:
            if child.tag != f"{W}docDefaults" and not (child.tag == f"{W}style" and child.get(f"{W}styleId") in self.styles):
                continue
            style = self._looks(child)
            for element in list(style):
                if element.tag == f"{W}name" and not BUILT_IN_STYLE.fullmatch(element.get(f"{W}val", "")):
                    self.out.show("style", element.get(f"{W}val"))
                    element.set(f"{W}val", f"Style {len(new)}")
                elif element.tag in (f"{W}aliases", f"{W}rsid"):
                    style.remove(element)
            if child.tag == f"{W}style":
                style.set(f"{W}styleId", self.styles[child.get(f"{W}styleId", "")])
            new.append(style)
        self.written["word/styles.xml"] = new

    def _used(self, styles: Any) -> list[str]:
        """The styles that something wears, those they rest on, and those worn where nothing is said."""
        used = {style.get(f"{W}styleId", "") for style in styles.iter(f"{W}style") if style.get(f"{W}default") in ("1", "true", "on")}
        for name, content in self.package.files.items():
            if name.endswith(".xml") and "styles" not in name:
                used |= {
                    id_.decode("utf-8", "replace") for id_ in re.findall(rb":(?:p|r|tbl|num)Style(?:Link)? [\w:]*val=\"([^\"]*)\"", content)
                }
        rests: dict[str, list[str]] = {}
        for style in styles.iter(f"{W}style"):
            rests[style.get(f"{W}styleId", "")] = [e.get(f"{W}val", "") for e in style if e.tag in (f"{W}basedOn", f"{W}link")]
        waiting = sorted(used)
        while waiting:
            for id_ in rests.get(waiting.pop(), []):
                if id_ not in used:
                    used.add(id_)
                    waiting.append(id_)
        return [id_ for id_ in rests if id_ in used]

    def _numbering(self) -> None:
        """Lists. What stands before an item can be words."""
        old = self.package.optional("numbering")
        if old is None or old.tag != f"{W}numbering":
            return
        new = self._looks(old)
        for element in list(new.iter(f"{W}numPicBullet", f"{W}name", f"{W}nsid", f"{W}tmpl", f"{W}lvlPicBulletId")):
            element.getparent().remove(element)
        for element in new.iter(f"{W}lvlText"):
            text = seen(element.get(f"{W}val", ""))
            if re.search(r"[^\W\d_]{2}", text):

                def put(becomes: str, _: Sequence[Edit], element: Any = element) -> None:
                    element.set(f"{W}val", becomes)

                self.out.end()
                self.out.add("numbering", text, put)
        self.written["word/numbering.xml"] = new

    def _settings(self) -> None:
        """Of the settings, those that change how a page looks."""
        old = self.package.optional("settings")
        if old is None:
            return
        kept = {f"{W}{key}" for key in ("evenAndOddHeaders", "defaultTabStop", "compat", "footnotePr", "endnotePr", "mirrorMargins")}
        new = self._element(old)
        new.extend(self._looks(child) for child in old if child.tag in kept)
        self.written["word/settings.xml"] = new
        for element in old.iter(f"{W}docVar", f"{W}query", f"{W}connectString"):
            self.out.show("properties", element.get(f"{W}val"))

    def _rest(self) -> None:
        """What leaves with no output is shown where it holds words, and counted where it does not."""
        package = self.package
        for source, target in package.outside_targets():
            self.out.show("link" if "document" in source or "header" in source or "footer" in source else "properties", target)
        for name in sorted(set(package.files) - package.read):
            if (
                name.endswith(".rels")
                or name == PACKAGE
                or name.endswith(("fontTable.xml", "webSettings.xml", "/styles.xml", "stylesWithEffects.xml"))
            ):
                continue
            if not name.endswith(".xml"):
                self.out.left_out.append("picture" if name.startswith(("word/media/", "docProps/thumbnail")) else "embedded file")
                continue
            part = "properties" if name.startswith("docProps/") else "people" if name.endswith("people.xml") else "hidden part"
            for element in package.tree(name).iter():
                if isinstance(element.tag, str):
                    self.out.show(part, element.text)
                    if part != "properties":
                        for key, value in element.attrib.items():
                            if key.endswith(("}author", "}userId")):
                                self.out.show(part, value)

    def _element(self, old: Any, parent: Any = None, attributes: dict[str, Any] | None = None) -> Any:
        if parent is None:
            return self.etree.Element(old.tag, attributes or {}, nsmap={"w": W[1:-1], "r": REL[1:-1]})
        return self.etree.SubElement(parent, old.tag, attributes or {})


def _is_counted(code: str) -> bool:
    words = code.split()
    return bool(words) and words[0].upper() in COUNTED_FIELDS
