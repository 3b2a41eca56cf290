"""A small folder of files of many kinds, and what is in a folder after a run: for tests of who does the work."""

import io
import json
from email.message import EmailMessage
from pathlib import Path

from docx import Document as Docx

LETTER = "Dear Prof. Smith,\n\nMaria Gonzalez of Imagine Inc. will call you from 212-555-0147 on 12 March 2019. The Quibble was late.\n"


def write_mixed(folder: Path) -> Path:
    """Letters as text, page, message and Word file, in folders too; one that cannot be read, two that may be called the same."""
    (folder / "deep").mkdir(parents=True)
    for number in range(6):
        (folder / f"letter-{number}.txt").write_text(f"{LETTER}\nGonzalez was seen in Springfield, room {number}.\n")
    for name in ("page.html", "page.htm", "deep/page.html"):
        (folder / name).write_text(f"<html><title>Smith</title><body><p>{LETTER}</p><p>{name[:4]}</p></body></html>")
    message = EmailMessage()
    message["From"], message["To"], message["Subject"] = "Maria Gonzalez <maria@example.org>", "smith@example.com", "About Prof. Smith"
    message.set_content(LETTER)
    (folder / "message.eml").write_bytes(message.as_bytes())
    word, held = Docx(), io.BytesIO()
    word.add_paragraph(LETTER)
    word.save(held)
    (folder / "deep" / "letter.docx").write_bytes(held.getvalue())
    (folder / "broken.docx").write_bytes(b"PK\x03\x04 no")
    return folder


def kept_in(folder: Path) -> dict[str, bytes]:
    """Every file below a folder, but for the secret, which each run draws anew, and the date of a certificate."""
    files = {path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}
    files.pop("private/secret.json", None)
    if "certificate.json" in files:
        certificate = json.loads(files["certificate.json"])
        del certificate["created"]
        files["certificate.json"] = json.dumps(certificate).encode()
    return files
