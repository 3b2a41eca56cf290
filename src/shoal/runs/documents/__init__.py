"""Documents from end to end: look through, decide, redact, check, certify. A case folder is private; what `redact_case` writes may leave."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from shoal.documents.case import Settings
from shoal.runs.documents.evaluating import evaluate_case
from shoal.runs.documents.look import Tally, detect_to_case, document_named
from shoal.runs.documents.redacting import Plan, in_general_words, mark_case, plan, redact_case

__all__ = [
    "Plan",
    "Tally",
    "detect_documents",
    "detect_to_case",
    "document_named",
    "evaluate_case",
    "evaluate_documents",
    "in_general_words",
    "mark_case",
    "plan",
    "redact_case",
    "redact_documents",
]


def detect_documents(source: str | Path, out: str | Path, **settings: Any) -> dict[str, Any]:
    """Look through a folder, a file or a table's `column`, and write a case folder; `settings` are those of `Settings`."""
    return detect_to_case(Settings(source=str(Path(source).absolute()), **settings), Path(out))


def redact_documents(case: str | Path, out: str | Path, **choices: Any) -> dict[str, Any]:
    """Write the redacted documents of a case; `choices` are those of `redact_case`. Returns the certificate and what failed."""
    return redact_case(Path(case), Path(out), **choices)


def evaluate_documents(case: str | Path, queries: str | Path) -> dict[str, Any]:
    """Ask originals and redacted documents the same queries, and attack the redacted ones."""
    return evaluate_case(Path(case), Path(queries))
