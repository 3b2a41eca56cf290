"""Small things to torture: a table with its recipe, letters with their case, a space; and folders to do it in, cleared away when their process is dead."""

from __future__ import annotations

import io
import json
import os
import shutil
import sys
import tempfile
import zipfile
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

SECRET = "Quxfordsecret"  # planted in cells and texts: no message may hold it
PREFIX = "shoal-torture-"
MEMORY, ROOM = Path("/dev/shm"), 1 << 30  # files that are read once need no disk

ROLES = """identifier = ["name"]
quasi = ["age", "zip", "sex"]
confidential = ["diagnosis", "income"]
"""
RECIPE = f"""input = "patients.csv"
name = "Invented patients"
[roles]
{ROLES}
[[step]]
method = "mdav"
k = 3
[[measure]]
name = "k-anonymity"
[[attack]]
name = "distance-linkage"
"""
QUERIES = """random = ["b.txt"]
[[utility]]
name = "treatment"
words = "treatment hospital"
[[risk]]
name = "people"
words = "patient telephone"
relevant = ["a.txt"]
threshold = 0.1
"""
KINDS = """[kinds.ward-number]
label = "Ward"
patterns = ['W-\\\\d{3}']
context = ["ward"]
confidence = 0.9
[kinds.project]
words = ["Blue Heron"]
"""
TERMS = "# terms\nweapon\nsurgery  # surgery.n.01\ninfection\n"
HIERARCHY = "angina;heart;all\nstroke;heart;all\nasthma;lungs;all\ncough;lungs;all\n" + f"{SECRET};other;all\n"
LETTER = (
    f"Dear Mr Robert {SECRET},\n\nYour treatment by Dr Alice Zimmerwald at St Mary Hospital, ward W-123, ended on 3 March 2021.\n"
    f"Write to alice@example.org or call +44 20 7946 0958. The infection needed surgery.\n\nYours, Helen {SECRET}\n"
)
MAIL = (
    f"From: Helen {SECRET} <helen@example.org>\r\nTo: Robert Brown <robert@example.org>\r\nSubject: Results of {SECRET}\r\n"
    'Date: Mon, 1 Mar 2021 10:00:00 +0000\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary="edge"\r\n\r\n'
    f"--edge\r\nContent-Type: text/plain; charset=utf-8\r\n\r\nDear Robert, the patient {SECRET} was treated in hospital.\r\n"
    "--edge\r\nContent-Type: text/html\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n<p>Dear =52obert Brown</p>\r\n"
    '--edge\r\nContent-Type: text/plain\r\nContent-Disposition: attachment; filename="note.txt"\r\nContent-Transfer-Encoding: base64\r\n\r\n'
    "VGhlIG5hbWUgaXMgQWxpY2UgWmltbWVyd2FsZC4=\r\n--edge--\r\n"
)
PAGE = (
    f"<!DOCTYPE html><html><head><title>{SECRET}</title><style>p {{color: red}}</style></head><body><h1>Letter</h1>"
    f"<p title='by Helen {SECRET}'>Dear <b>Rob</b>ert Brown, call &#43;44 20 7946 0958.</p><!-- {SECRET} --><table><tr><td>1</td></tr></table>"
    "<script>var name = 1;</script><a href='mailto:alice@example.org'>write</a></body></html>"
)


def place(name: str) -> Path:
    """A folder of this process; those of processes that are gone are removed first."""
    here = MEMORY if in_memory() else Path(tempfile.gettempdir())
    for old in here.glob(f"{PREFIX}*"):
        pid = old.name.removeprefix(PREFIX).partition("-")[0]
        if pid.isdecimal() and not Path(f"/proc/{pid}").exists():
            shutil.rmtree(old, ignore_errors=True)
    return Path(tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-{name}-", dir=here))


def in_memory() -> bool:
    """Whether there is a disk of memory with room enough."""
    return os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free > ROOM


def table(rows: int = 24) -> str:
    """Patients; every name, and one diagnosis, is a word that no message may hold."""
    sick = ("angina", "stroke", "asthma", "cough", SECRET)
    lines = [
        f"{SECRET} {i},{20 + 7 * i % 60},{1000 + 37 * i % 90},{'fm'[i % 2]},{sick[i % 5]},{1000 + 113 * i % 997}.{i % 10}5"
        for i in range(rows)
    ]
    return "name,age,zip,sex,diagnosis,income\n" + "\n".join(lines) + "\n"


def word_file() -> bytes:
    """A Word file, in as few parts as it can have, with what often is in one: a header, a comment, properties, a link."""
    w = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
    kinds = "application/vnd.openxmlformats-officedocument.wordprocessingml"
    link = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    head = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>'
    parts = {
        "[Content_Types].xml": f'{head}<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        '<Default Extension="xml" ContentType="application/xml"/>'
        f'<Override PartName="/word/document.xml" ContentType="{kinds}.document.main+xml"/>'
        f'<Override PartName="/word/header1.xml" ContentType="{kinds}.header+xml"/>'
        f'<Override PartName="/word/comments.xml" ContentType="{kinds}.comments+xml"/></Types>',
        "_rels/.rels": f'{head}<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
        f'<Relationship Id="r1" Type="{link}/officeDocument" Target="word/document.xml"/></Relationships>',
        "word/_rels/document.xml.rels": f'{head}<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
        f'<Relationship Id="r1" Type="{link}/header" Target="header1.xml"/>'
        f'<Relationship Id="r2" Type="{link}/comments" Target="comments.xml"/>'
        f'<Relationship Id="r3" Type="{link}/hyperlink" Target="mailto:alice@example.org" TargetMode="External"/></Relationships>',
        "word/document.xml": f'{head}<w:document {w} xmlns:r="{link}"><w:body><w:p><w:r><w:t>Dear Mr Robert </w:t></w:r>'
        f"<w:r><w:t>{SECRET[:4]}</w:t></w:r><w:r><w:t>{SECRET[4:]}</w:t></w:r></w:p>"
        '<w:tbl><w:tr><w:tc><w:p><w:r><w:t>Alice Zimmerwald</w:t></w:r></w:p></w:tc></w:tr></w:tbl><w:p><w:hyperlink r:id="r3">'
        "<w:r><w:t>write</w:t></w:r></w:hyperlink></w:p></w:body></w:document>",
        "word/header1.xml": f"{head}<w:hdr {w}><w:p><w:r><w:t>St Mary Hospital</w:t></w:r></w:p></w:hdr>",
        "word/comments.xml": f'{head}<w:comments {w}><w:comment w:id="0" w:author="Helen {SECRET}"><w:p><w:r><w:t>Sure?</w:t></w:r></w:p>'
        "</w:comment></w:comments>",
    }
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as file:
        for name, text in parts.items():
            file.writestr(zipfile.ZipInfo(name), text)
    return out.getvalue()


def pdf_file() -> bytes:
    """One page of two lines, with a title and a note."""
    text = f"BT /F1 12 Tf 72 760 Td (Dear Robert {SECRET}, of St Mary Hospital.) Tj 0 -20 Td (Yours, Alice Zimmerwald) Tj ET".encode()
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 300 400] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> /Annots [6 0 R] >>",
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(text), text),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        b"<< /Type /Annot /Subtype /Text /Rect [10 10 30 30] /Contents (Ask Helen) >>",
        f"<< /Title (Letter to {SECRET}) >>".encode(),
    ]
    out, starts = b"%PDF-1.4\n", []
    for number, one in enumerate(objects, 1):
        starts.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, one)
    table_at = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1) + b"".join(b"%010d 00000 n \n" % start for start in starts)
    return out + b"trailer << /Size %d /Root 1 0 R /Info 7 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, table_at)


def write_originals(folder: Path) -> None:
    """patients.csv with roles and a recipe, letters/ of three documents, texts.jsonl for a space, and what goes with them."""
    files = {
        "patients.csv": table(),
        "roles.toml": ROLES,
        "recipe.toml": RECIPE,
        "queries.toml": QUERIES,
        "kinds.toml": KINDS,
        "terms.txt": TERMS,
        "hierarchy.csv": HIERARCHY,
        "letters/a.txt": LETTER,
        "letters/b.txt": LETTER.replace("Zimmerwald", "Kowalski").replace("Robert", "Peter"),
        "letters/c.eml": MAIL,
        "texts.jsonl": "".join(json.dumps({"text": text}) + "\n" for text in texts()),
    }
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8", newline="")


def texts() -> list[str]:
    """Short texts of three topics, for a space."""
    topics = ("oil price barrel market", "hospital doctor patient treatment", "river fish water shoal")
    return [" ".join([*topics[i % 3].split()[: 2 + i % 3], topics[i % 3].split()[i % 4]]) for i in range(12)]


def shoal(arguments: Sequence[str | Path], said: io.StringIO | None = None) -> int:
    """The command, run here: its exit code. What it prints goes to `said`, or nowhere."""
    from shoal.cli import main

    words = said or io.StringIO()
    before, sys.argv = sys.argv, ["shoal", *map(str, arguments)]
    try:
        with redirect_stdout(words), redirect_stderr(words):
            main()
    except SystemExit as stopped:
        return stopped.code if isinstance(stopped.code, int) else 1
    finally:
        sys.argv = before
    return 0
