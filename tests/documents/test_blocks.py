"""Risky blocks: clusters of hits by hand and beside scikit-learn's DBSCAN, borders, scores."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.documents.risk.blocks import background, blocks, clusters, score
from shoal.documents.risk.terms import Hits, RiskTerms
from shoal.errors import ParameterError

TERMS = ["gun", "bomb", "mass destruction"]


def hits_of(text: str) -> Hits:
    return RiskTerms(TERMS).find(text)


def test_clusters_by_hand():
    places = np.array([0, 2, 4, 30, 60, 62, 63, 70])
    assert clusters(places, 100, reach=5, least=3, density=0.0) == [(0, 2), (4, 6)]
    assert clusters(places, 100, reach=7, least=3, density=0.0) == [(0, 2), (4, 7)]  # 70 is at the rim of 63
    assert clusters(places, 100, reach=5, least=2, density=0.0) == [(0, 2), (4, 6)]
    assert clusters(places, 100, reach=5, least=1, density=0.0) == [(0, 2), (3, 3), (4, 6), (7, 7)]
    assert clusters(places, 100, reach=5, least=4, density=0.0) == []
    # 0 has three hits in six words, 60 three in eleven: .4 is asked for
    assert clusters(places, 100, reach=5, least=3, density=0.4) == [(0, 2)]
    assert clusters(np.zeros(0, np.int64), 0, reach=5, least=1, density=0.0) == []


@given(
    places=st.sets(st.integers(0, 200), min_size=1, max_size=60).map(lambda found: np.array(sorted(found))),
    reach=st.integers(1, 20),
    least=st.integers(1, 6),
)
@settings(max_examples=150, deadline=None)
def test_clusters_are_those_of_dbscan(places, reach, least):
    """scikit-learn's, which knows nothing of one dimension; a hit at the rim of two clusters belongs to the first in both."""
    from sklearn.cluster import DBSCAN

    labels = DBSCAN(eps=reach, min_samples=least).fit_predict(places[:, None].astype(float))
    expected = [(int(np.flatnonzero(labels == label)[0]), int(np.flatnonzero(labels == label)[-1])) for label in range(labels.max() + 1)]
    assert clusters(places, 201, reach, least, 0.0) == sorted(expected)


def test_a_block_by_hand():
    text = "It was a quiet day. The gun and the bomb were there. Mr. X had a gun. " + "Nothing happened then. " * 20
    hits = hits_of(text)
    assert background([hits]) == 3 / 77
    (block,) = blocks(text, hits, TERMS, usual=3 / 77, reach=10)
    assert text[block.start : block.end] == "The gun and the bomb were there. Mr. X had a gun."
    assert [text[start:end] for start, end, _ in block.terms] == ["gun", "bomb", "gun"]
    assert [term for _, _, term in block.terms] == ["gun", "bomb", "gun"]
    density = (3 + 20 * 3 / 77) / (12 + 20)
    assert block.score == pytest.approx(density / (density + 3 / 77))


def test_borders():
    text = "First line\nThe gun, the bomb\nand a gun here. Another sentence follows.\nlast"
    hits = hits_of(text)
    spans = {border: blocks(text, hits, TERMS, 0.01, border=border)[0] for border in ("word", "sentence", "paragraph")}
    found = {border: text[block.start : block.end] for border, block in spans.items()}
    assert found == {
        "word": "gun, the bomb\nand a gun",
        "sentence": "The gun, the bomb\nand a gun here.",
        "paragraph": "The gun, the bomb\nand a gun here. Another sentence follows.",
    }
    wrapped = text.replace("First line\n", "First line\n\n")  # now lines are lines, and paragraphs have a blank one between them
    (block,) = blocks(wrapped, hits_of(wrapped), TERMS, 0.01, border="paragraph")
    assert wrapped[block.start : block.end] == "The gun, the bomb\nand a gun here. Another sentence follows.\nlast"


def test_scores_have_a_meaning():
    long = 100_000
    assert score(round(0.01 * long), long, 0.01) == pytest.approx(0.5, abs=1e-3)
    assert score(round(0.04 * long), long, 0.01) == pytest.approx(0.8, abs=1e-3)
    assert score(round(0.09 * long), long, 0.01) == pytest.approx(0.9, abs=1e-3)
    assert score(3, 6, 0.05) < score(30, 60, 0.05)  # a short block is not believed as much
    assert score(0, 10, 0.0) == 0.0
    assert score(3, 10, 0.0) == 1.0


def test_dense_everywhere_means_no_block_stands_out():
    text = "gun bomb " * 200
    hits = hits_of(text)
    assert blocks(text, hits, TERMS, background([hits])) == []


def test_nothing_to_find():
    assert blocks("", hits_of(""), TERMS, 0.0) == []
    assert background([]) == 0.0
    assert background([hits_of("")]) == 0.0


@pytest.mark.parametrize(
    ("given_", "sentence"),
    [
        ({"reach": 0}, "reach must be 1 word or more, got 0."),
        ({"least": 0}, "least must be 1 hit or more, got 0."),
        ({"times": 0.0}, "times must be more than 0, got 0."),
        ({"usual": 2.0}, "usual is a share, from 0 to 1, got 2."),
    ],
)
def test_bad_parameters(given_, sentence):
    with pytest.raises(ParameterError, match=sentence):
        blocks("gun", hits_of("gun"), TERMS, **{"usual": 0.1, **given_})


WORDS = st.lists(
    st.sampled_from(["gun", "bomb", "mass destruction", "a", "cat", "sat", "there.", "It", "was\n", "so!\n\n", "Mr."]), max_size=80
)


@given(words=WORDS, border=st.sampled_from(["sentence", "paragraph", "word"]), reach=st.integers(1, 15), least=st.integers(1, 4))
@settings(max_examples=200, deadline=None)
def test_blocks_of_any_text(words, border, reach, least):
    text = " ".join(words)
    hits = hits_of(text)
    found = blocks(text, hits, TERMS, background([hits]), reach=reach, least=least, times=1.0, border=border)
    inside = 0
    for block in found:
        assert 0 <= block.start < block.end <= len(text)
        assert 0 < block.score <= 1
        assert len(block.terms) >= 1
        assert all(block.start <= start < end <= block.end for start, end, _ in block.terms)
        assert not text[block.end - 1].isspace()
        inside += len(block.terms)
    assert all(one.end <= other.start for one, other in pairwise(found))
    # every hit of a cluster is in a block
    clustered = clusters(hits.word, hits.words, reach, least, background([hits]))
    assert inside >= sum(last - first + 1 for first, last in clustered)
