"""Tables as kernels take them: Adult with its hierarchies, and trees made up over a few codes."""

import csv
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.coded_hierarchy import CodedHierarchy
from tests.data import data_path

QUASI = ("sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation")


class CodedTable(NamedTuple):
    """Distinct combinations with their rows; the last column is the class where there is one."""

    codes: NDArray[np.int32]
    rows: NDArray[np.int64]
    hierarchies: list[CodedHierarchy]
    target: NDArray[np.int64]


def adult_coded() -> CodedTable:
    """Eight columns of Adult and whether the salary is high, which tells combinations apart too."""
    with data_path("adult", "adult_30162.csv").open() as file:
        table = list(csv.DictReader(file, delimiter=";"))
    hierarchies, columns = [], []
    for name in QUASI:
        with data_path("adult", "hierarchies", f"adult_hierarchy_{name}.csv").open() as file:
            lines = list(csv.reader(file, delimiter=";"))
        code = {line[0]: i for i, line in enumerate(lines)}
        nodes = np.array([np.unique(labels, return_inverse=True)[1].reshape(-1) for labels in zip(*lines)], np.int32)
        leaves = np.array([np.bincount(level)[level] for level in nodes])
        hierarchies.append(CodedHierarchy(nodes, (leaves - 1) / max(len(lines) - 1, 1)))
        columns.append([code[row[name]] for row in table])
    columns.append([int(row["salary-class"] == ">50K") for row in table])
    combinations, rows = np.unique(np.array(columns, np.int32).T, axis=0, return_counts=True)
    return CodedTable(np.ascontiguousarray(combinations[:, :-1]), rows, hierarchies, combinations[:, -1].astype(np.int64))


def made_hierarchy(rng: np.random.Generator, codes: int, deepest: int = 4) -> CodedHierarchy:
    """A random tree, under whose nodes are also leaves that the table does not have. A level may change nothing."""
    node = np.arange(codes)
    leaves = rng.integers(1, 3, codes)
    nodes, sizes = [node], [np.ones(codes, np.int64)]
    leaves[0] += codes == 1
    for _ in range(int(rng.integers(0, deepest))):
        up = np.unique(rng.integers(0, node.max() + 1, node.max() + 1), return_inverse=True)[1].reshape(-1)
        node = up[node] if rng.random() < 0.8 or node.max() == 0 else node
        nodes.append(node)
        sizes.append(np.bincount(node, leaves)[node].astype(np.int64))
    nodes.append(np.zeros(codes, np.int64))
    sizes.append(np.full(codes, leaves.sum()))
    return CodedHierarchy(np.array(nodes, np.int32), (np.array(sizes) - 1) / max(int(leaves.sum()) - 1, 1))
