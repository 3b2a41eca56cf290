"""Documents and what is found in them. Offsets are into `Document.text`, which holds every word that a file would give away."""

from dataclasses import dataclass
from typing import Literal

BLOCK = "block"  # a risky block, in decisions
# What a finding can be about. A kinds file may add others; these have labels of their own.
PERSON, ORGANIZATION, LOCATION, ADDRESS, DATE = "person", "organization", "location", "address", "date"
EMAIL, PHONE, URL, ACCOUNT, IDENTITY, UNKNOWN = "e-mail", "phone", "url", "account", "identity-number", "unknown"
LABELS = {
    PERSON: "Pers",
    ORGANIZATION: "Org",
    LOCATION: "Loc",
    ADDRESS: "Addr",
    DATE: "Date",
    EMAIL: "Email",
    PHONE: "Phone",
    URL: "Url",
    ACCOUNT: "Account",
    IDENTITY: "Id",
    UNKNOWN: "Name",
    "age": "Age",
    "money": "Money",
}


@dataclass(frozen=True, slots=True)
class Part:
    """A stretch of a document's text and where in the file it stands: 'body', 'header', 'comment', 'properties' and so on."""

    name: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Document:
    """One document as text. `digest` is the SHA-256 of the file it was read from, to notice a change."""

    name: str
    text: str
    kind: str = "txt"
    parts: tuple[Part, ...] = ()
    digest: str = ""


@dataclass(frozen=True, slots=True)
class Finding:
    """A stretch of text that should perhaps not leave, how sure that is (0 to 1), and why, in words that do not repeat the text."""

    start: int
    end: int
    kind: str
    confidence: float
    because: str


@dataclass(frozen=True, slots=True)
class Block:
    """A stretch with many risky terms: `terms` are (start, end, the risk term each stands for), `score` its density, 0 to 1."""

    start: int
    end: int
    score: float
    terms: tuple[tuple[int, int, str], ...]


@dataclass(frozen=True, slots=True)
class Decision:
    """What a person, or a rule given by one, decided about a stretch: it goes, stays, or (a block) is said in general words."""

    start: int
    end: int
    kind: str
    verdict: Literal["redact", "keep", "generalize"]
    reason: str = ""
    by: str = ""


@dataclass(frozen=True, slots=True)
class Edit:
    """Put `replacement` where text[start:end] stands."""

    start: int
    end: int
    replacement: str
