"""Merging layers, kinds of one's own, capitals, spaCy."""

from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.contracts import Detector
from shoal.document import ADDRESS, LOCATION, ORGANIZATION, PERSON, PHONE, UNKNOWN, Document, Finding
from shoal.documents.detectors.capitals import Capitals
from shoal.documents.detectors.detect import default_detectors, detect, merge
from shoal.documents.detectors.kinds import OwnKinds, kinds_of, read_kinds
from shoal.documents.detectors.recognizers import Recognizers
from shoal.documents.detectors.spacy_layer import SpacyLayer, installed_pipelines
from shoal.documents.detectors.tagger import Tagger
from shoal.errors import DataError, UnknownNameError


@dataclass(frozen=True)
class Told:
    """Finds what it is told."""

    name: ClassVar[str] = "told"
    findings: tuple[Finding, ...]

    def detect(self, document: Document) -> list[Finding]:
        return list(self.findings)


def test_names_that_overlap_are_one_and_say_both_reasons():
    found = merge(
        [("a", Finding(0, 10, PERSON, 0.5, "x")), ("b", Finding(5, 20, ORGANIZATION, 0.9, "y")), ("c", Finding(12, 14, UNKNOWN, 0.99, "z"))]
    )
    assert found == [Finding(0, 20, ORGANIZATION, 0.99, "a: x; b: y; c: z")]


def test_a_form_keeps_its_stretch_and_a_name_the_rest():
    found = merge([("a", Finding(5, 10, PHONE, 0.9, "x")), ("b", Finding(0, 20, PERSON, 0.5, "y"))])
    assert found == [Finding(0, 5, PERSON, 0.5, "b: y"), Finding(5, 10, PHONE, 0.9, "a: x"), Finding(10, 20, PERSON, 0.5, "b: y")]


SPANS = st.lists(
    st.tuples(st.integers(0, 40), st.integers(1, 12), st.sampled_from([PERSON, LOCATION, UNKNOWN, PHONE, ADDRESS]), st.floats(0.01, 1)),
    max_size=12,
)


@given(SPANS)
def test_merging_covers_the_same_characters_once(spans):
    given_ = [(str(i % 3), Finding(start, start + length, kind, sure, "r")) for i, (start, length, kind, sure) in enumerate(spans)]
    found = merge(given_)
    covered = [i for one in found for i in range(one.start, one.end)]
    assert len(covered) == len(set(covered))
    assert set(covered) == {i for _, one in given_ for i in range(one.start, one.end)}
    assert found == sorted(found, key=lambda one: one.start)


@given(SPANS, st.text("ab A.,-\n", min_size=60, max_size=60))
def test_findings_never_overlap_whatever_the_text(spans, text):
    found = detect(
        Document("d", text), [Told(tuple(Finding(start, start + length, kind, sure, "r") for start, length, kind, sure in spans))]
    )
    assert all(0 <= one.start < one.end <= len(text) for one in found)
    assert all(before.end <= after.start for before, after in pairwise(found))


@pytest.mark.parametrize(
    ("text", "told", "whole"),
    [
        ("Yes, Prof. Dr. Smith came", "Smith", "Prof. Dr. Smith"),
        ("Willemine ten Pas came", "Willemine", "Willemine ten Pas"),
        ("Mohmad R. Vizirov came", "Mohmad", "Mohmad R. Vizirov"),
        ("Eino Hauta-aho came", "Eino Hauta", "Eino Hauta-aho"),
        ("The Smith, came", "Smith,", "Smith"),
        ("He met Smith in Rome", "Smith", "Smith"),
    ],
)
def test_persons_are_found_whole(text, told, whole):
    start = text.index(told)
    found = detect(Document("d", text), [Told((Finding(start, start + len(told), PERSON, 0.9, "r"),))])
    assert [text[one.start : one.end] for one in found] == [whole]


def test_a_threshold_leaves_out_what_is_less_sure():
    told = Told((Finding(0, 4, PERSON, 0.3, "r"), Finding(5, 9, PERSON, 0.8, "r")))
    assert [one.start for one in detect(Document("d", "Anna Bert"), [told], threshold=0.5)] == [5]


def test_default_layers_are_detectors_and_unknown_ones_are_refused():
    found = default_detectors(("recognizers", "tagger", "capitals"))
    assert [one.name for one in found] == ["recognizers", "tagger", "capitals"]
    assert all(isinstance(one, Detector) for one in found)
    with pytest.raises(UnknownNameError, match="Did you mean 'tagger'"):
        default_detectors(("taggr",))


def test_no_error_holds_document_text():
    secret = Document("d", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!" * 5)
    slow = OwnKinds(kinds_of({"kinds": {"slow": {"patterns": ["(a|aa|aaa)*b(?=zz)|(a+)+$"]}}}).kinds, seconds=0.2)
    with pytest.raises(DataError, match="takes too long") as error:
        slow.detect(secret)
    assert "aaaa" not in str(error.value)


# Kinds of one's own


def test_patterns_words_and_context(tmp_path):
    file = tmp_path / "kinds.toml"
    file.write_text(
        """
        [kinds.patient-number]
        label = "Patient"
        patterns = ['PN-\\d{6}']
        [kinds.code]
        patterns = ['\\b\\d{4}\\b']
        context = ["ward"]
        confidence = 0.6
        [kinds.project]
        words = ["Blue Heron", "Skua"]
        """
    )
    kinds = read_kinds(file)
    text = "PN-123456 left ward 1234. " + "x " * 60 + "In 1999 the BLUE  heron and Skua's plan; Skuas not."
    found = [(one.kind, text[one.start : one.end], one.confidence) for one in kinds.detect(Document("d", text))]
    assert found == [("patient-number", "PN-123456", 0.9), ("code", "1234", 0.6), ("project", "BLUE  heron", 0.9), ("project", "Skua", 0.9)]
    assert kinds.labels == {"patient-number": "Patient", "code": "Code", "project": "Project"}
    assert default_detectors((), kinds=file) == [kinds]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("x = 1", "a table \\[kinds"),
        ("[kinds]", "a table \\[kinds"),
        ("[kinds.a]\npatterns = ['(']", "not a regular expression"),
        (f"[kinds.a]\npatterns = ['x{{{'9' * 5000}}}']", "cannot be used"),
        ("[kinds.a]\npatterns = ['x*']", "fits an empty text"),
        ("[kinds.a]\npatterns = 'x'", "list of texts"),
        ("[kinds.a]\nwords = [1]", "list of texts"),
        ("[kinds.a]\n", "needs patterns or words"),
        ("[kinds.a]\npattern = ['x']", "Did you mean 'patterns'"),
        ("[kinds.a]\nwords = ['x']\nconfidence = 2", "confidence"),
        ("[kinds.a]\nwords = ['x']\nconfidence = true", "confidence"),
        ("[kinds.a]\nwords = ['x']\nlabel = 'a b'", "label"),
        ("[kinds.'A b']\nwords = ['x']", "small letters"),
        ("[kinds]\na = 1", "must be a table"),
        ("[kinds", "is not valid TOML"),
    ],
)
def test_bad_kinds_files_get_a_sentence(tmp_path, text, says):
    file = tmp_path / "kinds.toml"
    file.write_text(text)
    with pytest.raises(DataError, match=says):
        read_kinds(file)


def test_a_missing_or_binary_kinds_file(tmp_path):
    with pytest.raises(DataError, match="no kinds file"):
        read_kinds(tmp_path / "nowhere.toml")
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(DataError, match="not UTF-8 text"):
        read_kinds(tmp_path / "binary.toml")


# Capitals


def test_capitals_find_unknown_words_anywhere_and_names_at_the_start_of_sentences():
    text = "The house of Zxyqua was sold. Nobody knew. Zxyqua Brothers left. I saw it on Monday. LONDON CALLING"
    found = [text[one.start : one.end] for one in Capitals().detect(Document("d", text))]
    assert found == ["Zxyqua", "Zxyqua Brothers", "LONDON"] or found == ["Zxyqua", "Zxyqua Brothers", "LONDON CALLING"]
    assert all(one.kind == UNKNOWN for one in Capitals().detect(Document("d", text)))


# spaCy: a tiny pipeline trained here, so that none has to be installed


@pytest.fixture(scope="module")
def pipeline(tmp_path_factory):
    spacy = pytest.importorskip("spacy", reason="spaCy is not installed; its layer is optional")
    from spacy.training import Example

    nlp = spacy.blank("en")
    ner = nlp.add_pipe("ner")
    told = [("Anna lives in Rome", [(0, 4, "PERSON"), (14, 18, "GPE")]), ("Rome saw Anna", [(0, 4, "GPE"), (9, 13, "PERSON")])]
    told.append(("nothing to see here", []))
    for _, entities in told:
        for *_, label in entities:
            ner.add_label(label)
    examples = [Example.from_dict(nlp.make_doc(text), {"entities": entities}) for text, entities in told]
    nlp.initialize(lambda: examples)
    for _ in range(60):
        nlp.update(examples)
    folder = tmp_path_factory.mktemp("pipeline")
    nlp.to_disk(folder)
    return str(folder)


def test_a_spacy_pipeline_is_a_layer(pipeline):
    text = "Anna lives in Rome"
    found = detect(Document("d", text), [SpacyLayer(pipeline)])
    assert [(one.kind, text[one.start : one.end]) for one in found] == [(PERSON, "Anna"), (LOCATION, "Rome")]
    assert all(one.because.startswith("spacy: the pipeline says") for one in found)


def test_a_pipeline_without_names_or_that_is_not_there(tmp_path):
    spacy = pytest.importorskip("spacy", reason="spaCy is not installed; its layer is optional")
    spacy.blank("en").to_disk(tmp_path / "blank")
    with pytest.raises(DataError, match="no 'ner' component"):
        SpacyLayer(str(tmp_path / "blank")).detect(Document("d", "x"))
    with pytest.raises(DataError, match="can be loaded"):
        SpacyLayer("en_nothing_sm").detect(Document("d", "x"))


def test_without_spacy_the_layer_says_so_and_is_left_out():
    if installed_pipelines():
        pytest.skip("a spaCy pipeline is installed here")
    assert [one.name for one in default_detectors()] == ["recognizers", "tagger"]


def test_layers_agree_in_one_finding():
    text = "Yesterday Mr. Quentin Smith spoke in Paris."
    found = detect(Document("d", text), [Recognizers(), Tagger(), Capitals()])
    person = next(one for one in found if one.kind == PERSON)
    assert text[person.start : person.end] == "Mr. Quentin Smith"
    assert {part.split(":")[0] for part in person.because.split("; ")} == {"recognizers", "tagger", "capitals"}
