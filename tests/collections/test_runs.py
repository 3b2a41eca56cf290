"""Runs of collections: the certificate beside the file, and what is refused."""

from dataclasses import replace

import numpy as np
import pytest

from shoal.certificate import AttackPart, CollectionCertificate, MeasurePart, read_certificate
from shoal.checks.collections import verify_collection
from shoal.collections import Builder, CollectionRelease, Spherical
from shoal.collections.queries import answers, query_words
from shoal.errors import DataError, PromiseBroken
from shoal.promises import Promise
from shoal.published import Rounding
from shoal.runs.collections import CollectionSubject, load_collection, protect_space, write_release
from shoal.runs.evidence import attack_all, measure_all

LETTERS = ["oil barrel price", "oil barrel crude", "crude barrel price", "corn crop rain", "corn harvest rain", "harvest crop rain"]


@pytest.fixture
def space():
    return Builder(keep="all", exclude=("baker",)).build(LETTERS, labels=["oil"] * 3 + ["corn"] * 3)


@pytest.fixture
def run(space, tmp_path):
    space.write(tmp_path / "space")
    certificate = protect_space(tmp_path / "space", "spherical", tmp_path / "run", {"k": 3}, seed=1)
    assert read_certificate(tmp_path / "run" / "certificate.json") == certificate
    return tmp_path / "run", certificate


def test_the_certificate_is_typed_and_says_what_was_not_tried(run):
    _, certificate = run
    assert isinstance(certificate, CollectionCertificate)
    assert [(one.what, one.value, one.unit, one.found, one.holds) for one in certificate.promises] == [("k-anonymity", 3, "rows", 3, True)]
    assert {one.name for one in certificate.not_tried} == {"concept-linkage", "membership"}
    assert certificate.built is not None
    assert certificate.built["tokens"] == "letters"
    assert "exclude" not in certificate.built  # somebody's name, perhaps
    assert any("compute the last, in 100%" in warning for warning in certificate.warnings)
    assert any("hold one class only" in warning for warning in certificate.warnings)


@pytest.mark.parametrize(
    ("forged", "wrong"),
    [
        ({"rows": 7}, "rows"),
        ({"clusters": 3}, "clusters"),
        ({"terms": 9}, "terms"),
        ({"sha256": "0" * 64}, "bytes (sha-256)"),
    ],
)
def test_a_certificate_about_something_else(run, forged, wrong):
    folder, certificate = run
    assert all(one.holds for one in verify_collection(folder / "release.npz", certificate))
    other = certificate.model_copy(update={"release": certificate.release.model_copy(update=forged)})
    assert [one.what for one in verify_collection(folder / "release.npz", other) if not one.holds] == [wrong]


def test_a_promise_that_was_forged(run):
    folder, certificate = run
    found = certificate.promises[0].model_copy(update={"found": 5})
    checks = verify_collection(folder / "release.npz", certificate.model_copy(update={"promises": (found,)}))
    assert [one.what.endswith("as certified") for one in checks if not one.holds] == [True]
    more = certificate.promises[0].model_copy(update={"value": 4.0})
    assert not all(one.holds for one in verify_collection(folder / "release.npz", certificate.model_copy(update={"promises": (more,)})))


def test_a_broken_promise_leaves_no_file(space, tmp_path):
    release = Spherical(k=3).protect(space, np.random.default_rng(1))
    for promise, refusal in ((Promise("k-anonymity", 4, ("vector",)), PromiseBroken), (Promise("t-closeness", 1, ("vector",)), DataError)):
        wrong = replace(release, made_by=(replace(release.made_by[0], promises=(promise,)),))
        with pytest.raises(refusal):
            write_release(wrong, tmp_path / "release.npz")
        assert not (tmp_path / "release.npz").exists()


def test_a_file_that_does_not_say_what_its_terms_are(run):
    folder, _ = run
    with np.load(folder / "release.npz") as file:
        parts = {key: file[key] for key in file.files if not key.startswith("terms_are")}
    np.savez(folder / "release.npz", **parts)
    with pytest.raises(DataError, match="words or meanings"):
        CollectionRelease.read(folder / "release.npz")


def test_evidence_is_the_same_when_asked_again(run):
    folder, certificate = run
    held = load_collection(folder)
    subject = CollectionSubject(held.space, held.release)
    rounding = Rounding.of(certificate)
    measured = [rounding.measure(MeasurePart.of(score)) for score in measure_all(subject, (), held.secret)]
    attacked = [rounding.attack(AttackPart.of(result)) for result in attack_all(subject, (), held.secret).results]
    assert (measured, attacked) == ([*certificate.measures], [*certificate.attacks])


def test_members_are_no_outsiders(space):
    release = Spherical(k=3).protect(space, np.random.default_rng(1))
    with pytest.raises(DataError, match="2 outsiders are in the collection"):
        CollectionSubject(space, release, space.take([0, 4]))


def test_a_query_without_a_certificate_is_cut_into_plain_words(space):
    release = Spherical(k=3).protect(space, np.random.default_rng(1))
    found = answers(release, query_words("The price of OIL", None))
    assert [(one.rows, set(one.terms)) for one in found] == [(3, {"oil", "barrel", "price", "crude"})]
