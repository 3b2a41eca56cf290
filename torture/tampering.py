"""Tampering with what was handed over: edits of certificates, of released files, of folders, of signatures.

Every kind says whether the files alone can show it: then `verify` must refuse it without a signer, too. With the signer every kind must be refused.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import shutil
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from shoal.errors import ShoalError
from torture.certificate_edits import EDITS, Edit
from torture.file_edits import CHANGES, Change
from torture.runner import Outcome
from torture.subjects import place, shoal, table, write_originals

NAME = "tampering"
RECODE = ["protect", "patients.csv", "--roles", "roles.toml", "-m", "recoding", "-p", "k=4", "-p", "suppress=0.1"]
RECODE += ["--hierarchy", "age=width 10 from 0, then 20, 40"]
SUBJECTS = {"table": "run", "recoded": "recoded", "documents": "out", "collection": "shared"}


@dataclass(frozen=True)
class Kind:
    """One kind of tampering with one kind of release."""

    name: str
    subject: str
    shown: bool  # whether the files alone can show it
    do: Callable[[Path], None]


def share(n: int) -> int:
    """Every kind once: there is nothing to draw. A small slice has every seventh."""
    return len(KINDS) if n >= 1000 else -(-len(KINDS) // 7)


def run(number: int, seed: int) -> Outcome:
    """One kind, verified with and without the signer."""
    kind = KINDS[number * 7 % len(KINDS) if len(KINDS) % 7 else number]
    named = f"{kind.subject}: {kind.name}"
    stage = _stage()
    folder = stage / "tampered"
    shutil.copytree(stage / SUBJECTS[kind.subject], folder, symlinks=True)
    try:
        kind.do(folder)
        passes = {signer: _passes(folder, stage / "key.pub" if signer else None) for signer in (True, False)}
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    if passes[True]:
        return Outcome(named, "passes with the signer")
    return Outcome(named, "passes without a signer, though the files show it" if kind.shown and passes[False] else "")


def warm() -> None:
    """What is tampered with is made, and passes as it is."""
    _stage()


def _passes(folder: Path, signer: Path | None) -> bool:
    """Whether `shoal verify` would be content. A refusal in its own words is a no."""
    from shoal.checks.verify import verify

    with suppress(ShoalError, OSError):
        return verify(folder, folder / "certificate.json", signer).holds
    return False


_STAGES: list[Path] = []


def _stage() -> Path:
    if not _STAGES:
        stage = place("tampering")
        write_originals(stage)
        (stage / "patients.csv").write_text(table(120))
        here = Path.cwd()
        os.chdir(stage)
        try:
            for command in (
                ["key", "key"],
                ["key", "other"],
                ["run", "recipe.toml", "-o", "run", "--sign", "key"],
                [*RECODE, "-o", "recoded", "--sign", "key"],
                ["documents", "detect", "letters", "-o", "case"],
                ["documents", "redact", "case", "-o", "out", "--sign", "key"],
                ["collection", "build", "texts.jsonl", "--column", "text", "-p", "least=1", "-p", "keep=all", "-o", "space"],
                ["collection", "protect", "space", "-m", "spherical", "-p", "k=2", "-o", "shared", "--sign", "key"],
            ):
                said = io.StringIO()
                if shoal(command, said):
                    raise RuntimeError(f"{command} does not work: {said.getvalue()}")
        finally:
            os.chdir(here)
        for folder in SUBJECTS.values():
            if not (_passes(stage / folder, stage / "key.pub") and _passes(stage / folder, None)):
                raise RuntimeError(f"{folder} does not verify before anything is done to it")
        _STAGES.append(stage)
    return _STAGES[0]


def _edited(edit: Edit) -> Callable[[Path], None]:
    """The certificate changed, and written as shoal writes it."""

    def do(folder: Path) -> None:
        path = folder / "certificate.json"
        certificate = json.loads(path.read_text(encoding="utf-8"))
        before = json.dumps(certificate)
        edit.do(certificate)
        if json.dumps(certificate) == before:
            raise RuntimeError(f"'{edit.name}' changes nothing")
        path.write_text(json.dumps(certificate, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")

    return do


def _changed(change: Change, relisted: bool) -> Callable[[Path], None]:
    """A file changed; and its hash in the certificate with it, where `relisted`."""

    def do(folder: Path) -> None:
        change.do(folder)
        if relisted:
            path = folder / "certificate.json"
            certificate = json.loads(path.read_text(encoding="utf-8"))
            for part in [*certificate["files"], *([certificate["release"]] if "release" in certificate else [])]:
                if (folder / part["file"]).is_file():
                    part["sha256"] = hashlib.sha256((folder / part["file"]).read_bytes()).hexdigest()
            path.write_text(json.dumps(certificate, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")

    return do


def _kinds() -> list[Kind]:
    found = [Kind(f"certificate: {one.name}", subject, one.shown, _edited(one)) for subject, edits in EDITS.items() for one in edits]
    for subject, changes in CHANGES.items():
        for one in changes:
            found.append(Kind(one.name, subject, one.shown, _changed(one, relisted=False)))
            if one.shown_when_relisted is not None:
                found.append(Kind(f"{one.name}, and its hash with it", subject, one.shown_when_relisted, _changed(one, relisted=True)))
    return found


KINDS = _kinds()
