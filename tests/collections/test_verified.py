"""What `verify` says of the file of a collection: honest ones of every method and option pass, and nothing can be put into one unseen."""

import io
import json
import zipfile

import numpy as np
import pytest

from shoal.checks.collections import BUILT, verify_collection
from shoal.checks.verify import verify
from shoal.collections import Builder, Space
from shoal.errors import DataError
from shoal.folders import sha256_of
from shoal.runs.collections import protect_space

LETTERS = [
    "the dog and the cat drank milk",
    "a dog bit the cat",
    "the horse ate grass and oats",
    "a cow ate grass in rain",
    "the dog slept on grass",
    "the cat and the horse ran in rain",
]


def made(tmp_path, method="spherical", given=None, space=None):
    space = space or Builder(keep="all", least=1).build(LETTERS, labels=["pets", "pets", "farm", "farm", "pets", "farm"])
    space.write(tmp_path / "space")
    return tmp_path / "run", protect_space(tmp_path / "space", method, tmp_path / "run", {"k": 2} | (given or {}), seed=1)


@pytest.mark.parametrize(
    ("method", "given"),
    [
        ("spherical", {}),
        ("spherical", {"labels": "released", "idf": "released"}),
        ("spherical", {"l": 2}),
        ("spherical", {"l": 2, "labels": "released"}),
        ("spherical", {"term_documents": 2, "digits": 1}),
        ("spherical", {"partition": "mdav", "swaps": 0}),
        ("spherical", {"partition": "grow", "components": 2}),
        ("semantic", {}),
        ("semantic", {"weighting": "none", "matching": "optimal", "rule": "nltk", "swaps": 0, "terms": 3}),
    ],
)
def test_what_was_honestly_made_passes(tmp_path, method, given):
    folder, _ = made(tmp_path, method, given)
    checks = verify(folder, folder / "certificate.json").checks
    assert [one.what for one in checks if not one.holds] == []


def test_a_space_that_nobody_built_of_texts_passes(tmp_path):
    weights = np.random.default_rng(1).random((8, 5))
    folder, _ = made(tmp_path, space=Space.of(weights / np.linalg.norm(weights, axis=1, keepdims=True)))
    assert verify(folder, folder / "certificate.json").holds


def test_how_a_collection_is_built_is_known_to_the_check():
    assert set(BUILT) == set(Builder.model_fields) - {"exclude"}


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return made(tmp_path_factory.mktemp("collection"))


def arrays(edit):
    def do(path):
        with np.load(path) as file:
            kept = dict(file)
        edit(kept)
        np.savez_compressed(path, **kept)

    return do


def text(key, *texts):
    encoded = [one.encode() for one in texts]
    return {key: np.frombuffer(b"".join(encoded), np.uint8), f"{key}_ends": np.cumsum([len(one) for one in encoded])}


def members(*more, first=(), comment=b""):
    """The same members, with others before and after them."""

    def do(path):
        with zipfile.ZipFile(path) as file:
            kept = [(one, file.read(one)) for one in file.namelist()]
        with zipfile.ZipFile(path, "w") as file:
            for name, content in [*first, *kept, *more]:
                file.writestr(name, content)
            file.comment = comment

    return do


def raw(edit):
    return lambda path: path.write_bytes(edit(path.read_bytes()))


def npy(array):
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def longer(key, edit):
    """A member with other bytes in its place."""

    def do(path):
        with zipfile.ZipFile(path) as file:
            kept = [(one, file.read(one)) for one in file.namelist()]
        with zipfile.ZipFile(path, "w") as file:
            for name, content in kept:
                file.writestr(name, edit(content) if name == f"{key}.npy" else content)

    return do


def in_a_gap(path):
    """A member that the directory of the archive no longer names."""
    members(("notes.txt", b"Robert Brown"))(path)
    content = path.read_bytes()
    at = content.rindex(b"PK\x01\x02")
    end = bytearray(content[-22:])
    end[8:12] = (int.from_bytes(end[8:10], "little") - 1).to_bytes(2, "little") * 2
    start = int.from_bytes(end[16:20], "little")
    end[12:16] = (at - start).to_bytes(4, "little")
    path.write_bytes(content[:at] + bytes(end))


def said(**change):
    """Other words in the file about how it was made."""

    def do(kept):
        steps = json.loads(kept["made_by"].tobytes())
        steps[0] |= change
        kept.update(text("made_by", json.dumps(steps)))

    return arrays(do)


def put(**change):
    return arrays(lambda kept: kept.update({key: one(kept[key]) if callable(one) else one for key, one in change.items()}))


EDITS = {
    "an array more": put(original=np.array(["Robert Brown is ill"])),
    "a member more": members(("notes.txt", b"Robert Brown")),
    "a folder": members(("Robert Brown/", b"")),
    "a comment": members(comment=b"Robert Brown"),
    "the rows twice": members(first=[("assignment.npy", npy(np.zeros(6, np.int32)))]),
    "something before the archive": raw(lambda content: b"Robert Brown" + content),
    "something behind the archive": raw(lambda content: content + b"Robert Brown"),
    "a member that the archive does not name": in_a_gap,
    "bytes behind an array": longer("data", lambda content: content + b"Robert Brown"),
    "a remark in the head of an array": longer("data", lambda content: content.replace(b" " * 12 + b"\n", b"#Robert Brow\n", 1)),
    "labels that were withheld": arrays(lambda kept: kept.update(text("labels", *"abcdef"))),
    "weights of terms that were withheld": arrays(lambda kept: kept.update(idf=np.ones(len(kept["terms_ends"])))),
    "columns outside the terms": put(indices=lambda old: old + 1000),
    "columns before the terms": put(indices=lambda old: old - 1),
    "starts turned round": put(indptr=lambda old: old[::-1].copy()),
    "negative weights": put(data=lambda old: -old),
    "weights that are no numbers": put(data=lambda old: old * np.nan),
    "a weight of zero": put(data=lambda old: np.concatenate([[0.0], old[1:]])),
    "a term twice": arrays(lambda kept: kept.update(text("terms", *["x"] * len(kept["terms_ends"])))),
    "letters of no term": put(terms=lambda old: np.concatenate([old, old[:5]])),
    "a term that no row has": arrays(lambda kept: kept.update(terms_ends=np.append(kept["terms_ends"], kept["terms_ends"][-1]))),
    "terms of another kind": arrays(lambda kept: kept.update(text("terms_are", "meanings"))),
    "a second text of how it was made": arrays(
        lambda kept: kept.update(text("made_by", kept["made_by"].tobytes().decode(), "Robert Brown"))
    ),
    "something more about the step": said(note="Robert Brown"),
    "another summary": said(summary="Robert Brown"),
    "other promises": said(promises=[]),
    "numbers that are words": put(data=lambda old: old.astype("S8")),
    "another shape": put(shape=np.array([99, 99])),
}


def refusal(path, certificate):
    """What does not hold, or the sentence that says it is no release; neither quotes what was put in."""
    try:
        found = [f"{one.what}: {one.found}" for one in verify_collection(path, certificate) if not one.holds]
    except DataError as refused:
        found = [str(refused)]
    return found if not any("Brown" in one for one in found) else []


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS)
def test_what_is_put_into_a_release_is_seen(run, tmp_path, edit):
    folder, certificate = run
    path = tmp_path / "release.npz"
    path.write_bytes((folder / "release.npz").read_bytes())
    assert all(one.holds for one in verify_collection(path, certificate))
    edit(path)
    update = {"sha256": sha256_of(path)}
    forged = certificate.model_copy(update={"release": certificate.release.model_copy(update=update)})
    assert refusal(path, forged)


@pytest.mark.parametrize(
    "update",
    [
        lambda one: {"steps": (one.steps[0].model_copy(update={"parameters": one.steps[0].parameters | {"swaps": 99, "components": 7}}),)},
        lambda one: {"steps": (one.steps[0].model_copy(update={"parameters": one.steps[0].parameters | {"labels": "released"}}),)},
        lambda one: {"steps": ()},
        lambda one: {"steps": one.steps * 2},
        lambda one: {"built": {"anything": [1, "Robert Brown"]}},
        lambda one: {"built": {}},
        lambda one: {"built": one.built | {"tokens": ["Robert Brown"]}},
        lambda one: {"built": one.built | {"most": True}},
        lambda one: {"built": one.built | {"exclude": ["brown"]}},
    ],
)
def test_a_certificate_that_says_other_than_the_file_is_seen(run, update):
    folder, certificate = run
    assert not all(one.holds for one in verify_collection(folder / "release.npz", certificate.model_copy(update=update(certificate))))
