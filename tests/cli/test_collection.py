"""The verbs for collections at the keyboard: texts become a space, the space a release that can be searched."""

import json
import stat

import numpy as np
import pytest

TOPICS = {
    "oil": "oil barrel crude price pipeline refinery production tanker export market",
    "corn": "corn wheat crop farmer harvest grain price soil rain market",
    "ship": "ship port cargo vessel tanker harbour sea captain export crew",
}


@pytest.fixture
def letters(desk):
    rng = np.random.default_rng(1)
    for topic, words in TOPICS.items():
        (desk / "letters" / topic).mkdir(parents=True)
        for number in range(10):
            text = " ".join(rng.choice(words.split(), 14))
            (desk / "letters" / topic / f"{number}.txt").write_text(f"{text} the and of")
    return desk / "letters"


@pytest.fixture
def space(letters, desk, shoal):
    ran = shoal("collection", "build", letters, "-o", desk / "space", "--labels", "folders", "-p", "keep=all", "--json")
    assert ran.code == 0
    assert json.loads(ran.out)["documents"] == 30
    assert json.loads(ran.out)["labels"] == 3
    return desk / "space"


@pytest.fixture
def run(space, desk, shoal):
    assert shoal("collection", "protect", space, "--method", "spherical", "-p", "k=3", "-o", desk / "run").code == 0
    return desk / "run"


def test_from_texts_to_a_release_that_is_verified_and_searched(run, desk, shoal):
    certificate = json.loads((run / "certificate.json").read_text())
    assert [(one["what"], one["value"], one["holds"]) for one in certificate["promises"]] == [("k-anonymity", 3, True)]
    assert certificate["release"]["rows"] == 30
    assert {one["name"]: one["risk"] for one in certificate["attacks"]} == {
        "document-linkage": "linkage", "term-linkage": "linkage", "last-member": "reconstruction"
    }  # fmt: skip
    assert {one["name"] for one in certificate["not_tried"]} == {"concept-linkage", "membership"}
    assert shoal("verify", run / "release.npz", run / "certificate.json").code == 0
    found = json.loads(shoal("collection", "query", run, "crude barrel", "--json").out)
    assert found[0]["rows"] >= 3
    assert {"crude", "barrel"} & set(found[0]["terms"])
    assert "No cluster" in shoal("collection", "query", run, "zebra").err
    assert "Attacks" in shoal("collection", "attack", run).out
    assert "normalised-loss" in shoal("collection", "measure", run).out


def test_a_query_is_cut_as_the_documents_were(desk, shoal):
    """The terms of a space of stems are stems, so words of a query must become stems, too; words left out by name stay with the owner."""
    path = desk / "news.jsonl"
    texts = [
        "the price of a company",
        "prices of companies drill",
        "company drilled at a price",
        "corn crops",
        "a crop of corn",
        "corn, crop",
    ]
    path.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
    built = ("-p", "keep=all", "-p", "reduce=stems", "-p", "exclude=baker")
    assert shoal("collection", "build", path, "-o", desk / "s", "--column", "text", *built).code == 0
    assert shoal("collection", "protect", desk / "s", "--method", "spherical", "-p", "k=3", "-o", desk / "r").code == 0
    found = json.loads(shoal("collection", "query", desk / "r", "prices companies drilling", "--json").out)
    assert found[0]["rows"] == 3
    assert {"price", "compani"} <= set(found[0]["terms"])
    certificate = (desk / "r" / "certificate.json").read_text()
    assert json.loads(certificate)["built"]["reduce"] == "stems"
    assert "baker" not in certificate


def test_what_leaves_holds_no_name_no_file_and_no_order(run, letters):
    for path in (run / "certificate.json", run / "report.html"):
        assert str(letters) not in path.read_text()
        assert "0.txt" not in path.read_text()
    with np.load(run / "release.npz") as file:
        assert not {"names", "source_row", "idf", "labels"} & set(file.files)
    assert stat.S_IMODE((run / "private").stat().st_mode) == 0o700
    assert stat.S_IMODE((run / "private" / "run.json").stat().st_mode) == 0o600


def test_a_release_that_was_tampered_with(run, shoal):
    with np.load(run / "release.npz") as file:
        parts = dict(file)
    parts["assignment"] = parts["assignment"].copy()
    parts["assignment"][0] = (parts["assignment"][0] + 1) % (parts["assignment"].max() + 1)
    np.savez(run / "release.npz", **parts)
    assert shoal("verify", run / "release.npz", run / "certificate.json").code == 1


def test_classes_and_members_of_another_space(letters, space, run, desk, shoal):
    assert shoal("collection", "build", letters, "-o", desk / "test", "--labels", "folders", "--like", space).code == 0
    assert shoal("collection", "protect", desk / "test", "--method", "spherical", "-p", "k=3", "-o", desk / "testrun").code == 0
    assert "classification" in shoal("collection", "measure", run, "--test", desk / "testrun").out
    ran = shoal("collection", "attack", run, "--outsiders", desk / "test", "--attack", "membership")
    assert "are in the collection" in ran.err  # members are no outsiders
    path = desk / "others.jsonl"
    rng = np.random.default_rng(5)
    path.write_text("".join(json.dumps({"text": " ".join(rng.choice(TOPICS["oil"].split(), 20))}) + "\n" for _ in range(12)))
    assert shoal("collection", "build", path, "-o", desk / "others", "--column", "text", "--like", space).code == 0
    assert "membership" in shoal("collection", "attack", run, "--outsiders", desk / "others", "--attack", "membership").out


def test_small_collections_are_protected_and_say_what_could_not_be_measured(desk, shoal):
    path = desk / "t.jsonl"
    rng = np.random.default_rng(2)
    path.write_text(
        "".join(json.dumps({"text": " ".join(rng.choice(words.split(), 9))}) + "\n" for words in TOPICS.values() for _ in range(4))
    )
    assert shoal("collection", "build", path, "-o", desk / "s", "--column", "text", "-p", "keep=all", "-p", "exclude=price").code == 0
    ran = shoal("collection", "protect", desk / "s", "--method", "spherical", "-p", "k=4", "-o", desk / "r")
    assert ran.code == 0
    certificate = json.loads((desk / "r" / "certificate.json").read_text())
    without = [one for one in certificate["measures"] if one["value"] is None and not one["note"].startswith("Withheld")]
    assert {one["name"]: one["better"] for one in without} == {
        "semantic-loss": "lower", "topic-agreement": "higher", "one-class-clusters": "lower", "unique-labels": "lower"
    }  # fmt: skip
    assert all(one["note"] for one in without)
    assert "price" not in shoal("collection", "query", desk / "r", "market").out
    ran = shoal("collection", "protect", desk / "s", "--method", "spherical", "-p", "k=4", "-p", "term_documents=12", "-o", desk / "none")
    assert "Nothing is left" in ran.err
    assert not (desk / "none").exists()


def test_a_space_whose_numbers_lead_outside(space, desk, shoal):
    with np.load(space / "space.npz") as file:
        parts = dict(file)
    parts["indices"] = parts["indices"].copy()
    parts["indices"][0] = 999_999
    np.savez(space / "space.npz", **parts)
    ran = shoal("collection", "protect", space, "--method", "spherical", "-o", desk / "x")
    assert ran.code == 2
    assert "damaged" in ran.err


def test_documents_that_are_the_same_are_counted(desk, shoal):
    path = desk / "t.jsonl"
    path.write_text("".join(json.dumps({"text": words}) + "\n" for words in TOPICS.values() for _ in range(3)))
    shoal("collection", "build", path, "-o", desk / "s", "--column", "text", "-p", "keep=all")
    ran = shoal("collection", "protect", desk / "s", "--method", "spherical", "-p", "k=3", "-o", desk / "r")
    assert "6 documents are the same as another" in ran.err


def test_a_column_of_lines(desk, shoal):
    path = desk / "t.jsonl"
    path.write_text("".join(json.dumps({"text": words, "class": topic}) + "\n" for topic, words in TOPICS.items() for _ in range(3)))
    ran = shoal("collection", "build", path, "-o", desk / "s", "--column", "text", "--label", "class", "-p", "keep=all", "--json")
    assert json.loads(ran.out)["documents"] == 9
    assert shoal("collection", "build", path, "-o", desk / "s2", "--column", "txt").code == 2


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("build", "nowhere", "-o", "x"), "no file or folder"),
        (("build", "letters", "-o", "x", "-p", "least=0"), "least must be 1 or more"),
        (("build", "letters", "-o", "x", "-p", "colour=red"), "no parameter 'colour'"),
        (("build", "letters", "-o", "x", "--labels", "odd"), "none or folders"),
        (("build", "letters", "-o", "x", "--label", "class"), "--column"),
        (("protect", "letters", "--method", "spherical", "-o", "x"), "not a space"),
        (("protect", "space", "--method", "sferical", "-o", "x"), "Did you mean 'spherical'"),
        (("protect", "space", "--method", "spherical", "-p", "k=31", "-o", "x"), "31"),
        (("protect", "space", "--method", "spherical", "-p", "k=1", "-o", "x"), "k must be 2 or more"),
        (("measure", "space"), "not a run folder"),
        (("query", "space", "oil"), "no file"),
    ],
)
def test_bad_words(space, desk, shoal, monkeypatch, words, says):
    monkeypatch.chdir(desk)
    ran = shoal("collection", *words)
    assert ran.code == 2
    assert says in ran.err
    assert "Traceback" not in ran.err
    assert not (desk / "x").exists()


def test_a_space_that_changed(run, space, shoal, desk):
    (space / "space.npz").write_bytes(b"something else")
    assert "has changed" in shoal("collection", "measure", run).err
