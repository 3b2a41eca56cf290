"""The zip file a Word document is: its parts, how they refer to each other, and a new one built from a few of them."""

from __future__ import annotations

import io
import posixpath
import re
import zipfile
import zlib
from collections.abc import Iterator
from typing import Any

from shoal.errors import DataError

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
REL = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
PACKAGE = "[Content_Types].xml"
MOST_FILES, MOST_BYTES = 10_000, 500 << 20  # unpacked; a zip bomb has more
# Words that every file of a kind holds: names of looks, fonts, types.
BUILT_IN_STYLE = re.compile(
    r"(?i)(normal|title|subtitle|caption|header|footer|strong|emphasis|quote|intense (quote|emphasis|reference)|subtle (emphasis|reference)"
    r"|book title|no spacing|hyperlink|page number|line number|body text.{0,16}|(footnote|endnote|annotation) (text|reference)|macro"
    r"|heading \d|toc \d|toc heading|list( (bullet|number|continue|paragraph))?( \d)?|table (grid|normal)|normal table|plain text|date|no list"
    r"|((light|medium|dark|colorful) (list|grid|shading)|grid table|list table|plain table)( \d)?( (light|dark|colorful))?( accent \d)?"
    r"|default paragraph font|block text|signature|style \d+)( char)?"
)
_FONTS = (
    "arial|arial black|arial narrow|book antiqua|bookman old style|calibri|calibri light|cambria|cambria math|candara|century|century gothic|"
    "comic sans ms|consolas|constantia|corbel|courier|courier new|franklin gothic book|garamond|georgia|helvetica|liberation mono|"
    "liberation sans|liberation serif|lucida console|lucida sans unicode|aptos|aptos display|palatino linotype|segoe ui|symbol|tahoma|times|"
    "times new roman|trebuchet ms|verdana|wingdings|dejavu sans|dejavu serif|noto sans|noto serif|open sans|roboto"
)
FONTS = frozenset(_FONTS.split("|"))
_RELATION = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/"
_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml."
_XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'


class Package:
    """The parts of a .docx, unpacked in memory. `read` are those whose text has been taken."""

    def __init__(self, raw: bytes, name: str) -> None:
        self.name = name
        self.files = _unpacked(raw, name)
        self.read: set[str] = set()
        mains = [target for kind, target in self.relations("").values() if kind == "officeDocument"]
        self.main = next((target for target in mains if target in self.files and target.startswith("word/")), "")
        if not self.main:
            raise DataError(f"{name} is a zip file but not a Word document. Give the documents that are in it.")
        self.parts = self.relations(self.main)

    def tree(self, name: str) -> Any:
        """A part as XML, with nothing fetched from elsewhere and no entity expanded."""
        try:
            from lxml import etree
        except ImportError:
            raise DataError("Reading Word needs an extra: pip install 'shoal[documents]'.") from None
        parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, remove_comments=True, remove_pis=True)
        try:
            root = etree.fromstring(self.files[name], parser)
        except etree.XMLSyntaxError:
            raise DataError(f"{self.name} is damaged: a part of it is not XML. Open it in Word and save it again.") from None
        if root.getroottree().docinfo.doctype:
            raise DataError(f"{self.name} declares entities, which no Word document does. Open it in Word and save it again.")
        return root

    def optional(self, kind: str) -> Any:
        """The part of a kind that the main one refers to, if there is one."""
        name = next((target for type_, target in self.parts.values() if type_ == kind), "")
        if name not in self.files:
            return None
        self.read.add(name)
        return self.tree(name)

    def relations(self, name: str) -> dict[str, tuple[str, str]]:
        """What a part refers to inside the package: id to (kind, name)."""
        folder, file = posixpath.split(name)
        links = posixpath.join(folder, "_rels", f"{file}.rels")
        if links not in self.files:
            return {}
        return {
            link.get("Id", ""): (link.get("Type", "").rpartition("/")[2], _joined(folder, link.get("Target", "")))
            for link in self.tree(links)
            if link.get("TargetMode") != "External"
        }

    def outside_targets(self) -> Iterator[tuple[str, str]]:
        """Every address outside the package: (the part that refers to it, the address)."""
        for name in sorted(self.files):
            if name.endswith(".rels"):
                for link in self.tree(name):
                    if link.get("TargetMode") == "External":
                        yield name, link.get("Target", "")


def _joined(folder: str, target: str) -> str:
    return target.lstrip("/") if target.startswith("/") else posixpath.normpath(posixpath.join(folder, target))


def _unpacked(raw: bytes, name: str) -> dict[str, bytes]:
    if raw.startswith(b"\xd0\xcf\x11\xe0"):
        raise DataError(f"{name} is encrypted, or an old .doc. Open it in Word, take the password off and save it as .docx.")
    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as file:
            members = [member for member in file.infolist() if not member.filename.endswith("/")]
            if len(members) > MOST_FILES or sum(member.file_size for member in members) > MOST_BYTES:
                raise DataError(f"{name} unpacks to more than {MOST_BYTES >> 20} MB or {MOST_FILES:,} files. It is not read.")
            if any(member.flag_bits & 1 for member in members):
                raise DataError(f"{name} is encrypted. Take the password off first.")
            files: dict[str, bytes] = {}
            room = MOST_BYTES
            for member in members:
                with file.open(member) as stream:
                    files[member.filename] = stream.read(room + 1)  # the stated size may be a lie
                room -= len(files[member.filename])
                if room < 0:
                    raise DataError(f"{name} unpacks to more than {MOST_BYTES >> 20} MB. It is not read.")
            return files
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, OSError, EOFError, ValueError, RuntimeError):
        raise DataError(f"{name} is not a Word document, or is damaged. Open it in Word and save it again.") from None


def build_package(trees: dict[str, Any]) -> bytes:
    """A .docx of these parts and nothing else. Its bytes depend on nothing but them: no dates, no author, no program."""
    from lxml import etree

    files = {name: etree.tostring(tree, xml_declaration=True, encoding="UTF-8", standalone=True) for name, tree in trees.items()}
    kinds = {name: re.sub(r"\d+$", "", name.rpartition("/")[2].removesuffix(".xml")) for name in files}
    types = "".join(
        f'<Override PartName="/{name}" ContentType="{_TYPE}{"document.main" if kind == "document" else kind}+xml"/>'
        for name, kind in kinds.items()
    )
    parts = "".join(
        f'<Relationship Id="{name.rpartition("/")[2].removesuffix(".xml")}" Type="{_RELATION}{kind}" Target="{name.removeprefix("word/")}"/>'
        for name, kind in kinds.items()
        if kind != "document"
    )
    space = "http://schemas.openxmlformats.org/package/2006"
    start = (
        f'{_XML}<Types xmlns="{space}/content-types"><Default Extension="rels" '
        f'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>{types}</Types>'
    )
    top = f'<Relationship Id="document" Type="{_RELATION}officeDocument" Target="word/document.xml"/>'
    relations = f'{_XML}<Relationships xmlns="{space}/relationships">{{}}</Relationships>'
    files = {
        PACKAGE: start.encode(),
        "_rels/.rels": relations.format(top).encode(),
        "word/_rels/document.xml.rels": relations.format(parts).encode(),
        **files,
    }
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            file.writestr(entry, content)
    return buffer.getvalue()
