"""shoal: release sensitive tables and documents safely, with the evidence beside them.

Names are loaded when they are first used, so that `import shoal` stays light.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.2.0"

_WHERE = {
    "Table": "shoal.table",
    "read_table": "shoal.files",
    "write_table": "shoal.writing",
    "Roles": "shoal.roles",
    "suggest_roles": "shoal.suggest",
    "Release": "shoal.release",
    "Score": "shoal.score",
    "AttackResult": "shoal.score",
    "Knowledge": "shoal.score",
    "ShoalError": "shoal.errors",
    "protect": "shoal.api",
    "measure": "shoal.api",
    "attack": "shoal.api",
    "risk": "shoal.api",
    "lattice_near": "shoal.api",
    "patterns_of": "shoal.runs.patterns",
    "invented_patients": "shoal.example",
    "invented_visits": "shoal.example",
    "invented_survey": "shoal.example",
    "detect_documents": "shoal.runs.documents",
    "redact_documents": "shoal.runs.documents",
    "evaluate_documents": "shoal.runs.documents",
    "Case": "shoal.documents.case",
}

if TYPE_CHECKING:
    from shoal.api import attack as attack
    from shoal.api import lattice_near as lattice_near
    from shoal.api import measure as measure
    from shoal.api import protect as protect
    from shoal.api import risk as risk
    from shoal.documents.case import Case as Case
    from shoal.errors import ShoalError as ShoalError
    from shoal.example import invented_patients as invented_patients
    from shoal.example import invented_survey as invented_survey
    from shoal.example import invented_visits as invented_visits
    from shoal.files import read_table as read_table
    from shoal.release import Release as Release
    from shoal.roles import Roles as Roles
    from shoal.runs.documents import detect_documents as detect_documents
    from shoal.runs.documents import evaluate_documents as evaluate_documents
    from shoal.runs.documents import redact_documents as redact_documents
    from shoal.runs.patterns import patterns_of as patterns_of
    from shoal.score import AttackResult as AttackResult
    from shoal.score import Knowledge as Knowledge
    from shoal.score import Score as Score
    from shoal.suggest import suggest_roles as suggest_roles
    from shoal.table import Table as Table
    from shoal.writing import write_table as write_table

__all__ = ["__version__", *_WHERE]


def __getattr__(name: str) -> Any:
    if name in _WHERE:
        return getattr(import_module(_WHERE[name]), name)
    raise AttributeError(f"module 'shoal' has no attribute '{name}'")


def __dir__() -> list[str]:
    return __all__
