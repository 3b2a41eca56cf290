"""Whatever the release: in every class, each value of a counted set is drawn as often as it was there."""

from collections import Counter, defaultdict

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal import cell
from shoal.methods import Mondrian
from shoal.randomness import chance_for, rng_for
from shoal.roles import Roles
from shoal.runs.sample import sample
from shoal.table import Table

QUASI = ("number", "word")
rows = st.lists(st.tuples(st.integers(-3, 9) | st.none(), st.sampled_from(["a", "b|c", "*", "{d}"]) | st.none()), min_size=4, max_size=60)


@settings(max_examples=60, deadline=None)
@given(rows=rows, k=st.integers(2, 4), seed=st.integers(0, 2**32))
def test_marginals_of_a_class_are_its_counts(rows, k, seed):
    table = Table.of({"number": pa.array([n for n, _ in rows], pa.int64()), "word": pa.array([w for _, w in rows], pa.string())})
    roles = Roles(quasi=QUASI).check(table)
    release = Mondrian(k=k, publish="counts").protect(table, roles, chance_for(seed, "protect"))
    points = sample(release.table, rng_for(seed, "draw"))
    said = [tuple(release.table.column(c)[i].as_py() for c in QUASI) for i in range(len(rows))]
    seen: dict[tuple[str | None, ...], list[Counter[str | None]]] = defaultdict(lambda: [Counter(), Counter()])
    truth: dict[tuple[str | None, ...], list[Counter[str | None]]] = defaultdict(lambda: [Counter(), Counter()])
    for j, column in enumerate(QUASI):
        drawn = points.column(column).cast(pa.string()).to_pylist()
        original = table.column(column).cast(pa.string()).to_pylist()
        for i, one in enumerate(said):
            seen[one][j][drawn[i]] += 1
            truth[one][j][original[release.source_row[i]]] += 1
    assert seen == truth
    for one, (numbers, words) in seen.items():
        for text, counted in zip(one, (numbers, words)):
            parsed = cell.read(text)
            times = counted.total() // sum(parsed.counts)
            assert {v: times * c for v, c in zip(parsed.values, parsed.counts)} == dict(counted)


@settings(max_examples=60, deadline=None)
@given(counts=st.lists(st.integers(1, 5), min_size=2, max_size=6), size=st.integers(1, 40), seed=st.integers(0, 2**32))
def test_any_class_is_as_near_to_its_counts_as_whole_rows_allow(counts, size, seed):
    text = cell.write_set([f"v{i}" for i in range(len(counts))], counts)
    drawn = Counter(sample(Table.of({"x": [text] * size}), rng_for(seed, "draw")).column("x").to_pylist())
    assert drawn.total() == size
    for i, count in enumerate(counts):
        assert abs(drawn[f"v{i}"] - size * count / sum(counts)) < 1 + 1e-9
        if size % sum(counts) == 0:
            assert drawn[f"v{i}"] == size * count // sum(counts)
