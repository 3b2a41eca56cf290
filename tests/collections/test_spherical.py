"""Spherical microaggregation: known answers, fast = naive, the order of rows, promises on the written file, bad input."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from shoal.checks.collections import check_collection
from shoal.collections import Builder, CollectionRelease, Space, Spherical, unit_rows
from shoal.collections.spherical import centroids_of
from shoal.errors import DataError, ParameterError, PromiseBroken
from shoal.kernels.spherical.diversity import diverse_groups
from shoal.kernels.spherical.mdav import Rows, content_order, rows_of, spherical_groups, spherical_groups_naive
from shoal.kernels.spherical.refine import swap_passes
from shoal.kernels.spherical.svd import latent_points, mdav_of_directions
from shoal.promises import Promise
from shoal.runs.collections import write_release

TOY = ["a a b", "a b", "c d", "c d d", "e f", "e e f b"]


def rows(matrix) -> Rows:
    return rows_of(matrix.indptr, matrix.indices, matrix.data, matrix.shape[1])


def sets(groups) -> set[frozenset[int]]:
    return {frozenset(np.flatnonzero(groups == g).tolist()) for g in np.unique(groups)}


def lengths(matrix, groups):
    """|S| of each group's sum."""
    sums = np.array([matrix.toarray()[groups == g].sum(axis=0) for g in np.unique(groups)])
    return np.sqrt((sums**2).sum(axis=1))


def sse(matrix, groups) -> float:
    """(4.10), in closed form: n less the lengths of the sums."""
    return len(groups) - float(lengths(matrix, groups).sum())


def drawn(seed: int, n: int, width: int = 12) -> Space:
    """Few terms and few weights, so that ties, equal documents and documents without a common term are frequent."""
    rng = np.random.default_rng(seed)
    table = rng.integers(1, 4, (n, width)) * (rng.random((n, width)) < rng.uniform(0.1, 0.5))
    table[np.arange(n), rng.integers(0, width, n)] += 1
    return Space.of(unit_rows(table), labels=rng.integers(0, 3, n))


spaces = st.builds(drawn, st.integers(0, 2**32), st.integers(4, 60), st.integers(1, 25))
small_k = st.integers(2, 5)
methods = st.builds(
    Spherical,
    k=st.integers(2, 4),
    partition=st.sampled_from(["svd", "mdav", "grow"]),
    swaps=st.integers(0, 2),
    components=st.sampled_from([1, 5, 100]),
    block_above=st.sampled_from([5, 1000]),
    block_rows=st.just(10),
    term_documents=st.integers(1, 3),
    digits=st.sampled_from([None, 1, 2]),
)


# Known answers


def test_centroid_of_two_axes():
    """(4.7) put right: .70711 twice, and not the printed mean of .5."""
    matrix = sparse.csr_array(np.eye(2))
    assert centroids_of(matrix, np.zeros(2, np.int64)).toarray() == pytest.approx(np.array([[0.70711, 0.70711]]), abs=1e-5)
    assert sse(matrix, np.zeros(2)) == pytest.approx(0.585786, abs=1e-6)


@pytest.mark.parametrize("partition", ["svd", "mdav", "grow"])
@pytest.mark.parametrize("swaps", [0, 3])
def test_six_documents_by_hand(partition, swaps):
    space = Builder(stop_words="none", keep="all").build(TOY)
    method = Spherical(k=2, partition=partition, swaps=swaps)
    groups = method.groups(space)
    assert sets(groups) == {frozenset({0, 1}), frozenset({2, 3}), frozenset({4, 5})}
    release = method.protect(space, np.random.default_rng(1))
    direct = 1 - (space.matrix[release.source_row].toarray() * release.matrix(space.terms).toarray()).sum(axis=1)
    assert direct.sum() == pytest.approx(0.086315, abs=1e-6)
    first = release.matrix(space.terms).toarray()[release.source_row.tolist().index(0)]
    assert first[:2] == pytest.approx([0.907199, 0.420701], abs=1e-6)
    mean = unit_rows(space.matrix.sum(axis=0)[None, :]).toarray()[0]
    ssa = (1 - release.matrix(space.terms) @ mean).sum()
    assert ssa == pytest.approx(2.469154, abs=1e-6)
    assert direct.sum() / (direct.sum() + ssa) == pytest.approx(0.033777, abs=1e-6)
    within = 6 - sum(length**2 / 2 for length in lengths(space.matrix, groups))
    whole = 6 - float((space.matrix.sum(axis=0) ** 2).sum()) / 6
    assert within / whole == pytest.approx(0.042997, abs=1e-6)


def test_whoever_knows_all_but_one_can_compute_the_last():
    """x2 = (2 c.x1) c - x1: the release does not hide it, and the docstring says so."""
    space = Builder(stop_words="none", keep="all").build(TOY)
    release = Spherical(k=2).protect(space, np.random.default_rng(1))
    rows = release.matrix(space.terms).toarray()[np.argsort(release.source_row)]
    known, last = space.matrix.toarray()[0], space.matrix.toarray()[1]
    assert 2 * (rows[0] @ known) * rows[0] - known == pytest.approx(last)


def test_of_rows_equally_far_the_one_least_like_the_sum_starts_the_second_group():
    """Row 0 is least like the sum and takes its twin; all others share no term with it; of those, row 5 is least like the sum."""
    table = np.array(
        [[1, 0, 0, 0, 0], [1, 0, 0, 0, 0], [0, 3, 1, 0, 0], [0, 3, 0, 1, 0], [0, 3, 0, 1, 1], [0, 0, 0, 4, 3], [0, 3, 0, 2, 0]]
    )
    matrix = unit_rows(table)
    groups = spherical_groups(rows(matrix), 2)
    assert groups[0] == groups[1] == 0
    assert groups[5] == 1


def test_growth_takes_the_row_most_like_the_sum():
    """Row 0 starts and takes row 1. Row 3 is more like row 0 alone (.63 to .56), row 2 more like the sum of both (1.46 to 1.17)."""
    corner = np.array([[1, 0, 0, 0], [0.866, 0.5, 0, 0.2], [0.574, 0.819, 0, 0.2], [0.643, 0, 0.766, 0.2]])
    matrix = unit_rows(np.vstack((corner, np.tile([0, 0, 0, 1], (10, 1)))))
    assert frozenset({0, 1, 3}) in sets(spherical_groups(rows(matrix), 3))
    assert frozenset({0, 1, 2}) in sets(spherical_groups(rows(matrix), 3, "sum"))


def test_swaps_put_two_strangers_right():
    matrix = unit_rows(np.array([[3, 1, 0, 0], [3, 0, 1, 0], [0, 1, 0, 3], [1, 0, 0, 3]]))
    found = swap_passes(rows(matrix), np.array([0, 1, 1, 0]), 2)
    assert sets(found) == {frozenset({0, 1}), frozenset({2, 3})}


def test_a_move_where_a_group_can_spare_one():
    matrix = unit_rows(np.array([[3, 1, 0], [3, 0, 1], [3, 1, 1], [0, 1, 3], [0, 0, 3]]))
    found = swap_passes(rows(matrix), np.array([0, 0, 1, 1, 1]), 2)
    assert sets(found) == {frozenset({0, 1, 2}), frozenset({3, 4})}


def test_singular_points_keep_the_products_when_no_direction_is_left_out():
    space = drawn(5, 20, 6)
    points = latent_points(rows(space.matrix), 100)
    assert points @ points.T == pytest.approx((space.matrix @ space.matrix.T).toarray(), abs=1e-4)


def test_groups_of_one_label_exchange_rows():
    matrix = unit_rows(np.array([[3, 1, 0], [3, 1.1, 0], [1, 3, 0], [1.1, 3, 0], [0, 0, 1], [0, 1, 9]]))
    groups = diverse_groups(rows(matrix), np.array([0, 0, 1, 1, 2, 2]), np.array([0, 0, 1, 1, 0, 1]), 2)
    labels = [{0: 0, 1: 0, 2: 1, 3: 1, 4: 0, 5: 1}[row] for row in np.argsort(groups, kind="stable")]
    assert sorted(np.bincount(groups).tolist()) == [2, 2, 2]
    assert [set(labels[i : i + 2]) for i in (0, 2, 4)] == [{0, 1}] * 3
    assert frozenset({4, 5}) in sets(groups)


def test_groups_of_one_label_are_joined_where_others_can_spare_none():
    matrix = unit_rows(np.array([[3, 1, 0], [3, 1, 0], [1, 3, 0], [1, 3, 0], [0, 0, 1], [0, 1, 9]]))
    groups = diverse_groups(rows(matrix), np.array([0, 0, 1, 1, 2, 2]), np.array([0, 0, 0, 1, 0, 1]), 2)
    assert sets(groups) == {frozenset({0, 1, 2, 3}), frozenset({4, 5})}


def test_terms_of_one_document_can_be_withheld():
    matrix = unit_rows(np.array([[2, 1, 0], [2, 0, 1], [0, 3, 0], [0, 0, 1]]))
    table = centroids_of(matrix, np.array([0, 0, 1, 1]), term_documents=2)
    assert table.toarray().tolist() == [[1, 0, 0], [0, 0, 0]]
    release = Spherical(k=2, term_documents=2).protect(Space.of(np.eye(4)), np.random.default_rng(0))
    assert release.matrix().shape == (4, 0)
    assert "2 groups of 2 share no term that may be shown" in release.warnings[0]


def test_rounding_gives_numbers_a_person_would_write():
    weights = centroids_of(unit_rows(np.array([[1, 2, 3, 0.001], [1, 2, 3, 0.001]])), np.zeros(2, np.int64), digits=2).data
    assert weights.tolist() == [0.27, 0.53, 0.8, 0.00027]


# What must hold for any space


@given(spaces, small_k, st.sampled_from(["seed", "sum"]))
def test_fast_and_naive_are_the_same(space, k, gather):
    fast, naive = spherical_groups(rows(space.matrix), k, gather), spherical_groups_naive(rows(space.matrix), k, gather)
    assert fast.tolist() == naive.tolist()
    sizes = np.bincount(fast)
    assert sizes.min() >= min(k, len(space))
    assert sizes.max() <= max(2 * k - 1, len(space) if len(space) < 2 * k else 0)


@given(spaces, small_k, st.integers(0, 2**32), st.sampled_from(["seed", "sum"]))
def test_mdav_by_the_definition(space, k, seed, gather):
    """The same in dense whole numbers, written as the algorithm is told; ties go to the order in which the kernel says rows stand."""
    shuffled = space.take(np.random.default_rng(seed).permutation(len(space)))
    table = np.rint(shuffled.matrix.toarray() * 2**22).astype(np.int64)
    left = content_order(rows(shuffled.matrix)).tolist()
    expected = set()
    while len(left) >= 2 * k:
        to_sum = dict(zip(left, (table[left] @ table[left].sum(axis=0)).tolist()))
        towards = to_sum
        for _ in range(2 if len(left) >= 3 * k else 1):
            first = min(left, key=lambda i: (towards[i], to_sum[i]))
            members = [first]
            left.remove(first)
            while len(members) < k:
                base = table[members].sum(axis=0) if gather == "sum" else table[first]
                best = max(left, key=lambda i: table[i] @ base)
                members.append(best)
                left.remove(best)
            base = table[members].sum(axis=0) if gather == "sum" else table[first]
            towards = {i: int(table[i] @ base) for i in left}
            expected.add(frozenset(members))
    if left:
        expected.add(frozenset(left))
    assert sets(spherical_groups(rows(shuffled.matrix), k, gather)) == expected


@given(spaces, st.integers(2, 4), st.integers(1, 3))
def test_swaps_never_make_it_worse_and_keep_sizes(space, k, passes):
    before = spherical_groups(rows(space.matrix), k)
    after = swap_passes(rows(space.matrix), before, k, passes)
    assert sse(space.matrix, after) <= sse(space.matrix, before) + 1e-9
    if len(space) >= 2 * k:
        assert k <= np.bincount(after).min() <= np.bincount(after).max() <= 2 * k - 1


@given(spaces, st.integers(2, 4))
def test_groups_along_directions_have_their_sizes(space, k):
    sizes = np.bincount(mdav_of_directions(latent_points(rows(space.matrix), 5), k))
    assert sizes.min() >= k or len(space) < 2 * k
    assert sizes.sum() == len(space)


@given(spaces, methods, st.integers(0, 2**32))
def test_rows_of_a_cluster_are_the_same_to_the_byte_and_at_least_k(space, method, seed):
    release = method.protect(space, np.random.default_rng(seed))
    contents = [row.tobytes() for row in release.matrix().toarray()]
    assert min(contents.count(content) for content in set(contents)) >= method.k
    assert len({(content, cluster) for content, cluster in zip(contents, release.assignment.tolist())}) == release.centroids.shape[0]
    assert np.bincount(release.assignment, minlength=release.centroids.shape[0]).min() >= method.k
    assert sorted(release.source_row.tolist()) == list(range(len(space)))
    assert set(release.terms) <= set(space.terms)
    assert np.diff(release.centroids.tocsc().indptr).all()  # no term without use


@given(spaces, methods, st.integers(0, 2**32), st.sampled_from([1, 2]))
def test_the_order_of_rows_changes_nothing(space, method, seed, l):  # noqa: E741
    method = method.model_copy(update={"l": min(l, len(set(space.labels)))})
    shuffled = space.take(np.random.default_rng(seed).permutation(len(space)))
    here, there = (method.protect(one, np.random.default_rng(0)) for one in (space, shuffled))
    contents = [sorted(row.tobytes() for row in release.matrix(space.terms).toarray()) for release in (here, there)]
    assert contents[0] == contents[1]


@given(spaces, st.integers(2, 3), st.integers(2, 3))
def test_groups_hold_enough_labels(space, k, l):  # noqa: E741
    if len(set(space.labels)) < l:
        return
    release = Spherical(k=k, l=l, labels="released").protect(space, np.random.default_rng(0))
    for cluster in range(release.centroids.shape[0]):
        there = np.flatnonzero(release.assignment == cluster)
        assert len(there) >= k
        assert len({release.labels[row] for row in there}) >= l
    assert [space.labels[row] for row in release.source_row] == list(release.labels)


# Files


def test_written_checked_and_read(tmp_path):
    space = drawn(3, 40)
    release = Spherical(k=3, l=2, labels="released").protect(space, np.random.default_rng(0))
    release.write(tmp_path / "release.npz")
    again = CollectionRelease.read(tmp_path / "release.npz", release.source_row)
    assert (again.centroids != release.centroids).nnz == 0
    assert again.assignment.tolist() == release.assignment.tolist()
    assert (again.terms, again.labels, again.made_by, again.idf) == (release.terms, release.labels, release.made_by, None)
    found = check_collection(tmp_path / "release.npz", again.promises)
    assert [one.promised for one in found] == [3, 2]
    assert all(one.holds for one in found)
    assert (sparse.load_npz(tmp_path / "release.npz") != release.centroids).nnz == 0
    assert not {*space.names} & {*str(again.made_by).split()}


def test_idf_is_released_only_where_asked(tmp_path):
    space = Builder(stop_words="none", keep="all").build(TOY)
    release = Spherical(k=2, idf="released").protect(space, np.random.default_rng(0))
    release.write(tmp_path / "release.npz")
    assert CollectionRelease.read(tmp_path / "release.npz").idf == pytest.approx(space.idf)


@pytest.mark.parametrize("broken", ["moved", "differs", "unused", "labels"])
def test_a_broken_promise_writes_nothing(tmp_path, broken):
    space = drawn(3, 40)
    release = Spherical(k=3, l=2, labels="released").protect(space, np.random.default_rng(0))
    assignment, centroids, labels = release.assignment.copy(), release.centroids, list(release.labels)
    if broken == "moved":
        there = np.flatnonzero(assignment == 0)
        assignment[there[2:]] = 1
    elif broken == "differs":  # one row with a centroid of its own that differs in the last bit of one weight
        extra = centroids[[0]].copy()
        extra.data[0] = np.nextafter(extra.data[0], 2)
        centroids = sparse.vstack([centroids, extra], format="csr")
        assignment[np.flatnonzero(assignment == 0)[0]] = centroids.shape[0] - 1
    elif broken == "unused":
        centroids = sparse.vstack([centroids, sparse.csr_array(np.eye(1, centroids.shape[1]))], format="csr")
    else:
        for row in np.flatnonzero(assignment == 0):
            labels[row] = "same"
    wrong = CollectionRelease(centroids, assignment, release.terms, release.made_by, release.source_row, tuple(labels))
    with pytest.raises(PromiseBroken, match="Nothing was released"):
        write_release(wrong, tmp_path / "release.npz")
    assert not list(tmp_path.iterdir())


def test_promises_nobody_can_count_are_not_made(tmp_path):
    space = drawn(3, 40)
    release = Spherical(k=3, l=2).protect(space, np.random.default_rng(0))
    assert [promise.what for promise in release.promises] == ["k-anonymity"]
    release.write(tmp_path / "release.npz")
    with pytest.raises(DataError, match="no check for the promise"):
        check_collection(tmp_path / "release.npz", [Promise("l-diversity", 2, ("vector",), "label")])


def test_files_that_are_no_release(tmp_path):
    with pytest.raises(DataError, match="There is no file"):
        CollectionRelease.read(tmp_path / "none.npz")
    (tmp_path / "bad.npz").write_bytes(b"PK\x03\x04")
    for read in (CollectionRelease.read, lambda path: check_collection(path, ())):
        with pytest.raises(DataError, match="damaged"):
            read(tmp_path / "bad.npz")


# Bad input, and the smallest


@pytest.mark.parametrize(
    ("method", "space", "says"),
    [
        (Spherical(k=5), Space.of(np.eye(3)), "3 documents, fewer than k = 5. Use k of at most 3"),
        (Spherical(k=2), Space.of(np.eye(1)), "One document cannot be hidden"),
        (Spherical(l=2), Space.of(np.eye(3)), "the space has none"),
        (Spherical(labels="released"), Space.of(np.eye(3)), "the space has none"),
        (Spherical(l=3), Space.of(np.eye(3), labels="aab"), "2 different labels, fewer than l = 3"),
        (Spherical(idf="released"), Space.of(np.eye(3)), "idf cannot be released"),
    ],
)
def test_asked_for_too_much(method, space, says):
    with pytest.raises((DataError, ParameterError), match=says):
        method.protect(space, np.random.default_rng(0))


def test_parameters_are_checked():
    with pytest.raises(ParameterError, match="k must be 2 or more"):
        Spherical(k=1)
    with pytest.raises(ParameterError, match="partition"):
        Spherical.parse({"partition": "best"})


@pytest.mark.parametrize("partition", ["svd", "mdav", "grow"])
@pytest.mark.parametrize("n", [2, 3, 4, 5, 6, 7])
def test_a_vocabulary_of_one_and_few_documents(partition, n):
    release = Spherical(k=2, partition=partition).protect(Space.of(np.ones((n, 1))), np.random.default_rng(0))
    assert set(release.matrix().toarray().ravel()) == {1.0}
    assert np.bincount(release.assignment).min() >= 2


@pytest.mark.parametrize("partition", ["svd", "mdav", "grow"])
def test_documents_that_share_nothing(partition):
    release = Spherical(k=3, partition=partition).protect(Space.of(np.eye(10)), np.random.default_rng(0))
    assert np.bincount(release.assignment).min() >= 3


def test_kernels_refuse_what_they_cannot_group():
    eye = sparse.csr_array(np.eye(4))
    with pytest.raises(ValueError, match="k must be 1 or more"):
        spherical_groups(rows(eye), 0)
    with pytest.raises(ValueError, match="k = 2 to 3 rows"):
        swap_passes(rows(eye), np.array([0, 1, 1, 1]), 2)
    with pytest.raises(ValueError, match="fewer than l"):
        diverse_groups(rows(eye), np.zeros(4, np.int64), np.zeros(4, np.int64), 2)
    with pytest.raises(ValueError, match="from 0 to 1"):
        rows(sparse.csr_array(np.diag([1.0, math.inf])))
    assert mdav_of_directions(np.eye(4, dtype=np.float32), 5).tolist() == [0, 0, 0, 0]


def test_progress_is_told():
    seen = []
    Spherical(k=2).protect(drawn(1, 50), np.random.default_rng(0), lambda what, done, of: seen.append((what, done == of)))
    assert ("refining", False) in seen
    assert any(what == "grouping" for what, _ in seen)
