"""The certificate: what was promised, what was found, what it cost and what an attacker still gets, as frozen, versioned types.

There is one kind for tables, one for documents and one for collections. None holds an original value, a seed or a source row. Its JSON schema
is in docs/certificate.schema.json.
"""

from __future__ import annotations

import dataclasses
import datetime
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

import shoal
from shoal.errors import DataError
from shoal.old_certificates import of_format_1
from shoal.parsing import parse_certificate
from shoal.promises import Checked, Promise, Unit
from shoal.release import Leaving, Step, finding_of
from shoal.score import AttackResult, Better, Needs, Risk, Score
from shoal.versions import made_by

FORMAT = 3
CORE_MEASURES = ("k-anonymity", "l-diversity", "cell-loss", "il")  # what no certificate of a table goes without
DELIMITER = r"^[\x01-\x09\x0b\x0c\x0e-!#-\x7f]$"  # one plain character that neither ends a line nor quotes
One = TypeVar("One", bound="Certificate")


class Part(BaseModel):
    """A part of a certificate: frozen, and of known fields only."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class StepPart(Part):
    """One method applied."""

    method: str
    parameters: dict[str, Any]
    columns: tuple[str, ...]
    guarantees: tuple[str, ...]
    summary: str
    outcome: dict[str, Any] = {}  # what a method that searches says of what it found, such as whether nothing better exists

    @property
    def finding(self) -> str:
        """What its search found, in one line; empty where nothing was searched."""
        return finding_of(self.outcome)

    @staticmethod
    def of(step: Step) -> StepPart:
        """From a release's step."""
        return StepPart(
            method=step.method,
            parameters=plain(dict(step.parameters)),
            columns=step.columns,
            guarantees=step.guarantees,
            summary=step.summary,
            outcome=plain(dict(step.outcome)),
        )


class PromisePart(Part):
    """A promise, what its number counts and in which unit, and what was counted on the written file."""

    what: str
    value: float
    unit: str  # of its number
    counts: Unit = "rows"
    ignores: tuple[str, ...] = ()
    columns: tuple[str, ...]
    about: str | None
    sentence: str
    found: float
    holds: bool

    @staticmethod
    def of(promise: Promise, checked: Checked) -> PromisePart:
        """A promise and its check."""
        return PromisePart(
            what=promise.what,
            value=promise.value,
            unit=promise.number,
            counts=promise.unit,
            ignores=promise.ignores,
            columns=promise.columns,
            about=promise.about,
            sentence=promise.sentence,
            found=plain(checked.found),
            holds=checked.holds,
        )

    @property
    def promise(self) -> Promise:
        """What was promised, to be counted again."""
        return Promise(self.what, self.value, self.columns, self.about, self.counts, self.ignores)


class MeasurePart(Part):
    """A score, without anything about single records."""

    name: str
    title: str
    value: float | None
    better: Better
    bounds: tuple[float | None, float | None] = (None, None)
    interval: tuple[float, float] | None = None
    note: str = ""
    per_column: dict[str, float] = {}
    details: dict[str, Any] = {}
    needs: Needs = "original"  # computed from the release alone, or held against the original
    step: float | None = None  # in which it comes under 100 records; None: it is withheld then

    @staticmethod
    def of(score: Score) -> MeasurePart:
        """From a score."""
        return MeasurePart(**plain(score.public()))


class AttackPart(Part):
    """An attack, beside what blind guessing would have hit, without anything about single records."""

    name: str
    title: str
    risk: Risk
    unit: Unit = "rows"  # what was tried
    tried: int
    hit: float
    strict_hit: float
    rate: float
    interval: tuple[float, float]
    apart: int | None = None  # what the interval counts, where several are found together
    chance: float
    note: str = ""
    details: dict[str, Any] = {}

    @staticmethod
    def of(result: AttackResult) -> AttackPart:
        """From a result."""
        return AttackPart(**plain(result.public()))


class NotTried(Part):
    """An attack that does not apply, and why: an attack that was not tried is not a low risk."""

    name: str
    why: str


class FilePart(Part):
    """A written file, by its bytes."""

    file: str
    sha256: str


class Certificate(Part):
    """What all certificates say."""

    shoal: str
    format: Literal[3] = 3
    created: str
    files: tuple[FilePart, ...] = ()  # every public file but this one and its signature
    promises: tuple[PromisePart, ...] = ()
    warnings: tuple[str, ...] = ()
    versions: dict[str, str] = {}

    @classmethod
    def now(cls: type[One], **parts: Any) -> One:
        """A certificate of today, with the versions it was made by."""
        return cls(shoal=shoal.__version__, created=datetime.date.today().isoformat(), versions=made_by(), **parts)

    @property
    def text(self) -> str:
        """As JSON."""
        return json.dumps(self.model_dump(mode="json"), indent=2, allow_nan=False, ensure_ascii=False) + "\n"

    @property
    def broken(self) -> tuple[PromisePart, ...]:
        """Promises that do not hold."""
        return tuple(one for one in self.promises if not one.holds)


class Evidence(Part):
    """What was done, measured and attacked: of tables and collections."""

    steps: tuple[StepPart, ...] = ()
    measures: tuple[MeasurePart, ...] = ()
    attacks: tuple[AttackPart, ...] = ()
    not_tried: tuple[NotTried, ...] = ()

    def measure(self, name: str) -> MeasurePart | None:
        """A measure by name, if it was taken."""
        return next((one for one in self.measures if one.name == name), None)


class TableFile(FilePart):
    """The released table."""

    rows: int
    parts: int = 0  # files, where the release is a folder of them; its hash is that of their list, as sha256sum writes it
    columns: tuple[str, ...]
    delimiter: Annotated[str, Field(pattern=DELIMITER)] = ","
    decimal: Literal[".", ","] = "."  # the mark before decimals
    missing: str = ""  # how a missing cell is written
    dates: dict[str, str] = {}  # columns whose dates are not written year first, and how
    formulas: Literal["keep", "escape"] = "keep"  # escape: an apostrophe stands before text that a spreadsheet program would run
    cells: tuple[str, ...] = ()
    labels: dict[str, dict[str, str | None]] = {}  # names of groups, by column, and the cell each is; null: what it holds is not told


class RolesPart(Part):
    """Which column was what. Identifiers are counted, not named."""

    quasi: tuple[str, ...] = ()
    confidential: tuple[str, ...] = ()
    weight: tuple[str, ...] = ()
    household: tuple[str, ...] = ()
    other: tuple[str, ...] = ()
    identifiers_removed: int = 0
    left_out: int = 0  # columns without a role
    target: str | None = None
    hierarchies: tuple[str, ...] = ()


class LeavesPart(Part):
    """A released column that gives a protected one away, equals an identifier, or is different in nearly every row."""

    column: str
    why: Literal["tells", "rank", "identifier", "unique"]
    about: str | None = None  # the protected column
    share: float | None = None  # of rows for which it tells the right value, or |Spearman|
    guessing: float | None = None

    @staticmethod
    def of(leaving: Leaving) -> LeavesPart:
        """From what was found in a release."""
        return LeavesPart(**dataclasses.asdict(leaving))


class UnitPart(Part):
    """What was counted, and how many there are of each in the release."""

    counted: Unit = "rows"
    rows: int = 0
    persons: int | None = None
    households: int | None = None
    one_row_each: Literal["known", "not known", "no"] = "not known"  # whether a row is a person
    warning: str = ""  # what the count may not mean; it stands first among the warnings too
    households_told: float | None = None  # share of released households that no other looks like


class Summary(Part):
    """One loss, the worst risk over all attacks, the same for outliers, and the thesis's DR and Score where they can be had, all as shares of 1."""

    loss: float | None = None
    loss_measure: str | None = None
    risk: float | None = None
    risk_low: float | None = None
    risk_high: float | None = None
    risk_attack: str | None = None
    risk_how: str = ""  # which form of that attack: its scale, its family, one-to-one
    outliers: int = 0  # records farthest from the column medians that were tried
    outlier_risk: float | None = None  # the highest rate of any attack on them
    outlier_low: float | None = None
    outlier_high: float | None = None
    outlier_attack: str | None = None
    disclosure_risk: float | None = None
    information_loss: float | None = None
    score: float | None = None


class TableCertificate(Certificate, Evidence):
    """Of a released table."""

    kind: Literal["table"] = "table"
    name: str = ""  # of the data, as its keeper wants it called
    release: TableFile
    roles: RolesPart
    unit: UnitPart = UnitPart()
    leaves: tuple[LeavesPart, ...] = ()  # what leaves unprotected, worst first
    summary: Summary


class CollectionFile(FilePart):
    """The released vectors."""

    rows: int
    clusters: int
    terms: int


class CollectionCertificate(Certificate, Evidence):
    """Of an anonymous collection."""

    kind: Literal["collection"] = "collection"
    release: CollectionFile
    built: dict[str, Any] | None = None  # how documents were cut into terms, so that queries can be cut the same way


class RemovedPart(Part):
    """What was removed of one kind."""

    kind: str
    mentions: int
    entities: int
    by: dict[str, int]
    surest: float
    least_sure: float


class DocumentsCertificate(Certificate):
    """Of redacted documents: numbers, never a text, a name or a file's old name."""

    kind: Literal["documents"] = "documents"
    source: Literal["files", "column"]
    documents: dict[str, int]  # written, not written
    style: str
    numbering: str
    removed: tuple[RemovedPart, ...]
    again: int  # further places where the same words stood
    blocks: dict[str, int]
    reasons: dict[str, int]
    stays: dict[str, int]
    left_out: int
    rules: dict[str, Any]
    searched: int  # removed texts looked for in the written files
    too_short_to_search: int
    perhaps_in: int  # documents in which a removed text may still stand: in lower case, or inside a longer word


AnyCertificate = TableCertificate | CollectionCertificate | DocumentsCertificate
_ANY: TypeAdapter[AnyCertificate] = TypeAdapter(Annotated[AnyCertificate, Field(discriminator="kind")])


def read_certificate(path: Path) -> AnyCertificate:
    """A certificate from its file, of this version's format or of an earlier one, or a sentence saying that it is none."""
    given = _given(path)
    if given.get("format") == 1:
        given = {**of_format_1(path, given), "format": FORMAT}
    if given.get("format") == 2:  # it listed no report, and is not verified without
        given = {**given, "format": FORMAT}
    return _certificate(path, given)


def read_current(path: Path) -> AnyCertificate:
    """A certificate of this version's format alone: what an earlier one did not say cannot be held against anything."""
    given = _given(path)
    if type(given.get("format")) is not int or given["format"] != FORMAT:
        raise DataError(f"{path} is not of format {FORMAT}, and cannot be verified. Its keeper writes it anew with `shoal report run/`.")
    return _certificate(path, given)


def _given(path: Path) -> dict[str, Any]:
    try:
        given = parse_certificate(path.read_text(encoding="utf-8"))
        if isinstance(given, dict):
            return given
    except FileNotFoundError:
        raise DataError(f"There is no file {path}.") from None
    except (ValueError, RecursionError, OSError):
        pass
    raise DataError(f"{path} is not a certificate written by shoal.")


def _certificate(path: Path, given: Mapping[str, Any]) -> AnyCertificate:
    """Strictly as JSON: a text or a truth value is no number."""
    try:
        return _ANY.validate_json(json.dumps(given), strict=True)
    except ValueError:  # pydantic's own is one
        raise DataError(f"{path} is not a certificate written by shoal.") from None


def schema() -> dict[str, Any]:
    """The JSON schema of all certificates."""
    return _ANY.json_schema()


def plain(value: Any) -> Any:
    """JSON without numpy types, NaN or infinities."""
    if isinstance(value, Mapping):
        return {str(key): plain(inner) for key, inner in value.items()}
    if isinstance(value, np.ndarray) or (isinstance(value, Sequence) and not isinstance(value, str | bytes)):
        return [plain(inner) for inner in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not np.isfinite(value):
        return None
    return value
