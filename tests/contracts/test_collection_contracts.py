"""Everything registered for collections keeps its contract; and the checks themselves refuse what does not."""

from dataclasses import replace
from typing import ClassVar

import numpy as np
import pytest

from shoal.collections.attacks import DocumentLinkage
from shoal.collections.contracts import CollectionMethod
from shoal.collections.measures import Words
from shoal.collections.spherical import Spherical
from shoal.contracts import quiet
from shoal.errors import UnknownNameError
from shoal.promises import Promise
from shoal.registry import find, known
from shoal.testing_collections import _meanings, check_collection_attack, check_collection_measure, check_collection_method
from tests.documents.tiny_wordnet import write_wordnet


@pytest.fixture(autouse=True)
def wordnet(tmp_path_factory, monkeypatch):
    """A small one, so that the contracts of meanings are checked wherever tests run."""
    folder = tmp_path_factory.getbasetemp() / "wordnet-of-contracts"
    if not folder.exists():
        write_wordnet(folder)
    monkeypatch.setenv("SHOAL_WORDNET", str(folder))
    yield
    _meanings.cache_clear()


def names(kind):
    return pytest.mark.parametrize("name", sorted(known(kind)))


@names("collection-method")
def test_method(name):
    assert isinstance(known("collection-method")[name](), CollectionMethod)
    check_collection_method(known("collection-method")[name])


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("spherical", {"partition": "mdav", "swaps": 0, "k": 2}),
        ("spherical", {"partition": "grow", "term_documents": 2}),
        ("spherical", {"l": 2, "labels": "released", "digits": 2}),
        ("spherical", {"k": 24}),
        ("semantic", {"weighting": "none", "matching": "optimal", "k": 2}),
    ],
)
def test_method_with_other_parameters(name, parameters):
    check_collection_method(known("collection-method")[name], **parameters)


@names("collection-measure")
def test_measure(name):
    check_collection_measure(known("collection-measure")[name])


@names("collection-attack")
def test_attack(name):
    check_collection_attack(known("collection-attack")[name])


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("document-linkage", {"by": "cosine", "wanted": "row"}),
        ("document-linkage", {"documents": 5}),
        ("term-linkage", {"terms": 1, "wanted": "row"}),
        ("concept-linkage", {"wanted": "row"}),
        ("membership", {"by": "cosine"}),
    ],
)
def test_attack_with_other_parameters(name, parameters):
    check_collection_attack(known("collection-attack")[name], **parameters)


@pytest.mark.parametrize("what", ["method", "measure", "attack"])
def test_names_are_found_and_near_ones_suggested(what):
    kind = f"collection-{what}"
    assert all(find(kind, name) is cls and cls.name == name for name, cls in known(kind).items())
    nearly = next(iter(known(kind))) + "x"
    with pytest.raises(UnknownNameError, match=f"There is no {what} of collections named '{nearly}'. Did you mean"):
        find(kind, nearly)


# ---- things that break one clause each ------------------------------------------------------------------------------------------


class Broken(Spherical):
    """Spherical, but for one clause (Nobody 2024)."""

    name: ClassVar[str] = "broken"

    def protect(self, space, rng, progress=quiet):
        release = super().protect(space, rng, progress)
        return self.closed(replace(release, made_by=(replace(release.made_by[0], method=self.name),)))

    def closed(self, release):
        return release


class TooMuch(Broken):
    """Promises more than it keeps (Nobody 2024)."""

    def closed(self, release):
        return replace(release, made_by=(replace(release.made_by[0], promises=(Promise("k-anonymity", 20, ("vector",)),)),))


class InOrder(Broken):
    """Keeps the order of documents (Nobody 2024)."""

    def closed(self, release):
        order = np.argsort(release.source_row)
        return replace(release, assignment=release.assignment[order], source_row=release.source_row[order])


class OtherTerms(Broken):
    """Says that its words are meanings (Nobody 2024)."""

    def closed(self, release):
        return replace(release, terms_are="meanings")


class SilentLoss(Broken):
    """Leaves documents out and does not say so (Nobody 2024)."""

    def closed(self, release):
        kept = release.assignment < release.assignment.max()
        return replace(release, assignment=release.assignment[kept], source_row=release.source_row[kept], centroids=release.centroids[:-1])


@pytest.mark.parametrize(
    ("cls", "sentence"), [(TooMuch, "was counted"), (InOrder, "order"), (OtherTerms, "terms are words"), (SilentLoss, "no warning")]
)
def test_a_broken_method_is_refused(cls, sentence):
    check_collection_method(Broken)
    with pytest.raises(AssertionError, match=sentence):
        check_collection_method(cls)


class WrongWay(Words):
    """Says that more is better, and its class that neither is."""

    def measure(self, space, release, rng):
        return replace(super().measure(space, release, rng), better="higher")


class FirstDocument(Words):
    """Looks at the first document only."""

    def measure(self, space, release, rng):
        return replace(super().measure(space, release, rng), value=float(space.matrix[[0]].nnz))


class AllTheSame(Words):
    """Says that it does not apply, and measures all the same."""

    def applies(self, space, release):
        return "It never does."


@pytest.mark.parametrize(
    ("cls", "sentence"), [(WrongWay, "as its class says"), (FirstDocument, "order of documents"), (AllTheSame, "all the same")]
)
def test_a_broken_measure_is_refused(cls, sentence):
    with pytest.raises(AssertionError, match=sentence):
        check_collection_measure(cls)


class Cheat(DocumentLinkage):
    """Reads where the rows came from."""

    def attack(self, space, release, rng, progress=quiet, outsiders=None):
        found = super().attack(space, release, rng, progress, outsiders)
        return replace(found, hit=float(found.tried), interval=(0.0, 1.0), per_record=None)


class Boastful(DocumentLinkage):
    """Counts more hits than it tried."""

    def attack(self, space, release, rng, progress=quiet, outsiders=None):
        found = super().attack(space, release, rng, progress, outsiders)
        return replace(found, hit=found.tried + 1.0)


class OtherRisk(DocumentLinkage):
    """Its class names another risk than its results."""

    def attack(self, space, release, rng, progress=quiet, outsiders=None):
        return replace(super().attack(space, release, rng, progress, outsiders), risk="membership")


@pytest.mark.parametrize(("cls", "sentence"), [(Cheat, "blind guessing"), (Boastful, "hit <= tried"), (OtherRisk, "risk its class names")])
def test_a_broken_attack_is_refused(cls, sentence):
    with pytest.raises(AssertionError, match=sentence):
        check_collection_attack(cls)
