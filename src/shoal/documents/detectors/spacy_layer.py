"""Names by any spaCy pipeline that is installed and has an `ner` component. Nothing is downloaded and none is needed."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from typing import Any, ClassVar

from shoal.document import LOCATION, ORGANIZATION, PERSON, Document, Finding
from shoal.documents.detectors.tagger import stretches
from shoal.errors import DataError, did_you_mean

KIND = {"PERSON": PERSON, "PER": PERSON, "ORG": ORGANIZATION, "GPE": LOCATION, "LOC": LOCATION, "FAC": LOCATION}
_NOT_NEEDED = ("tagger", "parser", "attribute_ruler", "lemmatizer", "morphologizer", "senter", "trainable_lemmatizer")


def installed_pipelines() -> list[str]:
    """Names of the spaCy pipelines installed here; none when spaCy is not."""
    if find_spec("spacy") is None:
        return []
    from spacy.util import get_installed_models

    return sorted(get_installed_models())


@lru_cache(maxsize=2)
def load_pipeline(name: str) -> Any:
    """A pipeline by name or folder, without the parts that names do not need."""
    if find_spec("spacy") is None:
        raise DataError("spaCy is not installed. Leave its layer out, or install spaCy and one of its pipelines as spacy.io/models says.")
    import spacy

    try:
        pipeline = spacy.load(name)
    except (OSError, ValueError):
        known = installed_pipelines()
        raise DataError(
            f"No spaCy pipeline named '{name}' can be loaded.{did_you_mean(name, known)} Installed: {', '.join(known) or 'none'}."
        ) from None
    if "ner" not in pipeline.pipe_names:
        raise DataError(f"The spaCy pipeline '{name}' has no 'ner' component, so it finds no names. Use another, or leave the layer out.")
    pipeline.select_pipes(disable=[part for part in pipeline.pipe_names if part in _NOT_NEEDED])
    return pipeline


@dataclass(frozen=True)
class SpacyLayer:
    """Finds persons, organizations and places by an installed spaCy pipeline."""

    name: ClassVar[str] = "spacy"
    pipeline: str
    confidence: float = 0.85  # spaCy says no chances of its own

    def detect(self, document: Document) -> list[Finding]:
        return list(self._found(document.text, load_pipeline(self.pipeline)))

    def _found(self, text: str, pipeline: Any) -> Iterator[Finding]:
        for start, end in stretches(text):
            for entity in pipeline(text[start:end]).ents:
                kind = KIND.get(entity.label_)
                if kind is not None:
                    because = f"{self.pipeline} says {entity.label_}" if "/" not in self.pipeline else f"the pipeline says {entity.label_}"
                    yield Finding(start + entity.start_char, start + entity.end_char, kind, self.confidence, because)
