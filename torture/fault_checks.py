"""What must be true of the folders after a fault, whatever happened: looked at with shoal's own readers and `shoal verify`."""

from __future__ import annotations

import hashlib
import json
import stat
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from shoal.errors import ShoalError

REPORTED = ("run/certificate.json", "run/report.html", "run/private/report.html")
KEPT = ("map.json", "written.json", "report.html")  # of every redaction, in case/private/redactions


@dataclass(frozen=True)
class Seen:
    """A folder after a command, and the hashes of the files that were in it before."""

    work: Path
    before: Mapping[str, str]
    command: str
    code: int

    @property
    def new(self) -> Path:
        """What the command was asked to make."""
        return self.work / "new"

    def changed(self, *prefixes: str) -> list[str]:
        """Files below some places that are not what they were."""
        now = snapshot(self.work)
        return [name for name, digest in self.before.items() if name.startswith(prefixes) and now.get(name) != digest]


def snapshot(work: Path) -> dict[str, str]:
    """Every file with the hash of its bytes."""
    return {
        path.relative_to(work).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(work.rglob("*"))
        if path.is_file()
    }


def leftovers(seen: Seen) -> list[str]:
    """What lies about that was not there before and is not what was asked for."""
    known = {*seen.before, *(parent.as_posix() for name in seen.before for parent in Path(name).parents)}
    found = []
    for path in sorted(seen.work.rglob("*")):
        name = path.relative_to(seen.work).as_posix()
        if name in known or name == "case/decisions.jsonl" or (seen.new.exists() and name.startswith("case/private/redactions/0")):
            continue
        if name.partition("/")[0] != "new" or path.name.startswith(".") or path.name.endswith(".part") or path.name == "first.jsonl":
            found.append(name)
    return found


def readable_secrets(work: Path) -> list[str]:
    """Private files that somebody else could open; folders above them that nobody else can enter hide them."""
    found = []
    for path in work.rglob("*"):
        parts = path.relative_to(work).parts
        private = "private" in parts or parts[0] in ("case", "space") or (parts[0] == "new" and (work / "new" / "case.toml").exists())
        if not private or not path.is_file():
            continue
        above = [work.joinpath(*parts[:i]) for i in range(1, len(parts))]
        hidden = any(not stat.S_IMODE(folder.stat().st_mode) & 0o077 for folder in above)
        mode = stat.S_IMODE(path.stat().st_mode)
        settled = not any(part.startswith(".") for part in parts)
        if (mode & 0o077 and not hidden) or (settled and parts[0] != "space" and mode != 0o600):
            found.append(f"{'/'.join(parts)} has mode {mode:o}")
    return found


def _always(seen: Seen) -> str:
    if changed := seen.changed("letters", "patients.csv", "recipe.toml", "space", "before"):
        return f"originals changed: {', '.join(changed)}"
    if secrets := readable_secrets(seen.work):
        return f"secrets that others can read: {', '.join(secrets[:3])}"
    if seen.code == 0 and seen.command not in ("report", "mark") and not seen.new.exists():
        return "nothing was written, and the exit code says all is well"
    return ""


def _verified(release: Path, certificate: Path) -> str:
    from shoal.checks.verify import verify

    found = verify(release, certificate)
    checks = found if isinstance(found, list) else found.checks
    broken = [one.what for one in checks if not one.holds]
    return f"verify says no: {', '.join(broken)}" if broken else ""


def _open_to_readers(folder: Path) -> str:
    """What may leave can be read, whatever the umask was."""
    for path in [folder, *folder.rglob("*")]:
        if "private" in path.relative_to(folder).parts:
            continue
        mode, right = stat.S_IMODE(path.stat().st_mode), 0o755 if path.is_dir() else 0o644
        if mode != right:
            return f"{path.name} has mode {mode:o}"
    return ""


def _said(check: Callable[[Seen], str]) -> Callable[[Seen], str]:
    """A check whose readers may refuse: then something is damaged."""

    def checked(seen: Seen) -> str:
        try:
            return _always(seen) or check(seen)
        except (ShoalError, OSError, ValueError) as error:
            return f"damaged: {type(error).__name__}: {error}"

    return checked


def _protect(seen: Seen) -> str:
    from shoal.runs.run import load_run

    if changed := seen.changed("run", "case"):
        return f"another run changed: {', '.join(changed)}"
    if not seen.new.exists():
        return ""
    load_run(seen.new)
    missing = [name for name in ("report.html", "private/report.html") if not (seen.new / name).is_file()]
    return (
        f"missing: {', '.join(missing)}"
        if missing
        else _verified(seen.new / "release.csv", seen.new / "certificate.json") or _open_to_readers(seen.new)
    )


def _report(seen: Seen) -> str:
    from shoal.runs.run import load_run

    if changed := seen.changed("run/release.csv", "run/private/run.json", "run/private/source_rows.npy", "case"):
        return f"what should stay changed: {', '.join(changed)}"
    load_run(seen.work / "run")
    new = [name for name in REPORTED if name in seen.changed("run")]
    if new and len(new) < len(REPORTED):
        return f"old and new together: of {', '.join(REPORTED)} only {', '.join(new)} changed"
    if seen.code == 0 and not new:
        return "nothing was renewed, and the exit code says all is well"
    return _verified(seen.work / "run/release.csv", seen.work / "run/certificate.json")


def _redact(seen: Seen) -> str:
    if not (seen.work / "case/decisions.jsonl").exists() or seen.changed(
        "case/decisions.jsonl", "case/findings.jsonl", "case/case.toml", "run"
    ):
        return "the case itself changed"
    if _verified(seen.work / "before", seen.work / "before/certificate.json"):
        return "the redaction before this one is damaged"
    if lost := seen.changed("case/private"):
        return f"what was kept of the redaction before is lost: {', '.join(lost)}"
    kept = {path.name.partition("-")[2]: path for path in (seen.work / "case/private/redactions").glob("[0-9]*-*")}
    for path in kept.values():
        for name in KEPT[:2]:
            json.loads((path / name).read_text(encoding="utf-8"))
    if not seen.new.exists():
        return ""
    mark = hashlib.sha256((seen.new / "certificate.json").read_bytes()).hexdigest()[:16]
    if mark not in kept or any(not (kept[mark] / name).is_file() for name in KEPT):
        return "published, and who is behind its numbers was not kept"
    return _verified(seen.new, seen.new / "certificate.json") or _open_to_readers(seen.new)


def _detect(seen: Seen) -> str:
    from shoal.documents.case import Case

    if changed := seen.changed("run", "case"):
        return f"another case changed: {', '.join(changed)}"
    if not seen.new.exists():
        return ""
    if len(list(Case(seen.new).findings())) != 3:
        return "the new case does not have all documents"
    missing = [name for name in ("preview/index.html", "private/secret.json", "private/files.json") if not (seen.new / name).is_file()]
    mode = stat.S_IMODE(seen.new.stat().st_mode)
    return f"missing: {', '.join(missing)}" if missing else "" if mode == 0o700 else f"the case has mode {mode:o}"


def _mark(seen: Seen) -> str:
    from shoal.documents.case import Case

    if changed := [name for name in seen.changed("case", "run") if name != "case/decisions.jsonl"]:
        return f"changed: {', '.join(changed)}"
    lines = (seen.work / "case/decisions.jsonl").read_bytes()
    size = next(
        size
        for size in range(len(lines), -1, -1)
        if hashlib.sha256(lines[:size]).hexdigest() == seen.before["case/decisions.jsonl"] or not size
    )
    if not size:
        return "decisions that were taken before are gone"
    if seen.code == 0 and size == len(lines):
        return "nothing was decided, and the exit code says all is well"
    Case(seen.work / "case").decisions()
    return ""


def _collection(seen: Seen) -> str:
    from shoal.runs.collections import load_collection

    if changed := seen.changed("run", "case"):
        return f"another run changed: {', '.join(changed)}"
    if not seen.new.exists():
        return ""
    load_collection(seen.new)
    return _verified(seen.new / "release.npz", seen.new / "certificate.json") or _open_to_readers(seen.new)


CHECKS: dict[str, Callable[[Seen], str]] = {
    "protect": _said(_protect),
    "report": _said(_report),
    "redact": _said(_redact),
    "detect": _said(_detect),
    "mark": _said(_mark),
    "collection protect": _said(_collection),
}
