"""Counts, exact sums, row ids and keyed draws, each worked by hand or held against a published value."""

from fractions import Fraction

import numpy as np
import pytest

from shoal.counts import Counts
from shoal.errors import DataError
from shoal.randomness import Key, chance_for, hashed, hashed_texts
from shoal.rows import numbered, row_ids
from shoal.table import Table

KEY = Key(*np.frombuffer(bytes(range(16)), np.uint64))  # of the published test vectors
VECTORS = {0: 0x726FDB47DD0E0E31, 8: 0x93F5F5799A932462, 15: 0xA129CA6149BE45E5}  # Aumasson & Bernstein 2012, by length of the message


@pytest.mark.parametrize("length", VECTORS)
def test_siphash_gives_its_published_values(length):
    letters = np.arange(length, dtype=np.uint8)
    assert int(hashed_texts(letters, np.array([0]), np.array([length]), KEY)[0]) == VECTORS[length]


def test_a_word_hashes_like_its_eight_bytes():
    assert int(hashed(np.frombuffer(bytes(range(8)), np.uint64), KEY)[0]) == VECTORS[8]


def test_counts_of_five_rows():
    table = Table.of({"sex": ["f", "m", "f", None, "f"], "age": [30, 20, 30, 20, 25], "name": list("abcde")})
    counts = Counts.of(table, ["sex", "age"])
    assert list(zip(*(counts.table.column(c).to_pylist() for c in ("sex", "age")), counts.rows.tolist())) == [
        ("f", 25, 1),
        ("f", 30, 2),
        ("m", 20, 1),
        (None, 20, 1),
    ]
    assert counts.total == 5
    assert counts.places(table).tolist() == [1, 2, 1, 3, 0]


def test_a_batch_finds_its_combinations_and_a_stranger_does_not():
    counts = Counts.of(Table.of({"x": [3, 1, 3], "y": ["b", "a", "b"]}), ["x", "y"])
    assert counts.places(Table.of({"y": ["b", "a"], "x": [3, 1]})).tolist() == [1, 0]
    with pytest.raises(DataError, match="'x' has values that were not there"):
        counts.places(Table.of({"x": [2], "y": ["a"]}))


def test_counts_of_parts_add_up():
    parts = [Table.of({"x": [1, 2, 2]}), Table.of({"x": [2, 5]})]
    merged = Counts.merged([Counts.of(part, ["x"]) for part in parts])
    assert merged.table.column("x").to_pylist() == [1, 2, 5]
    assert merged.rows.tolist() == [1, 3, 1]


def test_moments_of_two_columns():
    table = Table.of({"x": [1.0, 2.0, 3.0, None], "y": [2.0, 4.0, 9.0, 100.0]})
    moments = table.moments(["x", "y"])
    assert moments.means.tolist() == pytest.approx([2.0, 28.75], abs=1e-6)
    assert moments.deviations.tolist() == pytest.approx([1.0, float(np.std([2, 4, 9, 100], ddof=1))], rel=1e-6)
    assert moments.covariances[0, 1] == pytest.approx(float(Fraction(7, 2)), rel=1e-6)  # over the three rows that have both


def test_moments_keep_a_small_spread_far_from_zero():
    far = [1e15 + step for step in (0.0, 1.0, 2.0)]
    assert Table.of({"x": far}).moments(["x"]).deviations[0] == pytest.approx(1.0)


def test_equal_rows_are_numbered_and_the_rest_follows_from_the_row():
    chance = chance_for(7)
    table = Table.of({"x": [1, 2, 1, 3], "y": ["a", "b", "a", None]})
    ids = row_ids(table, chance)
    assert len(set(ids.tolist())) == 4
    turned = row_ids(table.take(np.array([3, 1, 2, 0])), chance)
    assert sorted(turned.tolist()) == sorted(ids.tolist())
    assert turned[0] == ids[3]
    assert turned[1] == ids[1]
    assert row_ids(table, chance_for(8)).tolist() != ids.tolist()


def test_typed_values_hash_apart():
    chance = chance_for(1)
    one = [int(row_ids(Table.of({"x": [value]}), chance)[0]) for value in (1, "1", True, None, 1.5)]
    assert len(set(one)) == 5


def test_interchangeable_rows_get_ids_of_their_own():
    ids = numbered(np.array([10, 20], np.uint64), np.array([3, 1]))
    assert len(set(ids.tolist())) == 4
    assert ids[0] == 10
    assert ids[3] == 20


def test_draws_are_uniform_and_normal():
    ids = np.arange(200_000, dtype=np.uint64)
    chance = chance_for(3, "noise")
    uniform, normal = chance.uniform(ids, "u"), chance.normal(ids, "n")
    assert 0 <= uniform.min() < uniform.max() < 1
    assert abs(uniform.mean() - 0.5) < 0.003
    assert abs(normal.mean()) < 0.01
    assert abs(normal.std() - 1) < 0.01
    assert abs(np.corrcoef(uniform, chance.uniform(ids, "other"))[0, 1]) < 0.01
