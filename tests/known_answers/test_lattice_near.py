"""Six patients whose lattice has six nodes, all counted by hand; persons; and Adult, whose optimum the spec has."""

import pytest

import shoal
from shoal.errors import ShoalError
from shoal.report.lattice import in_words, lattice_page, looked_at, verdict_on
from shoal.roles import Roles
from shoal.table import Table
from tests.data import data_path

TREES = {"age": [["20", "young", "*"], ["30", "young", "*"], ["40", "old", "*"]], "sex": [["a", "*"], ["b", "*"]]}
ROLES = Roles(quasi=("age", "sex"), confidential=("ill",), hierarchies=TREES)
SIX = Table.of({"age": [20, 20, 30, 30, 40, 40], "sex": list("abaabb"), "ill": ["no", "yes", "no", "no", "yes", "yes"]})


def told(lattice):
    return {node.levels: (node.state, round(node.loss * 12, 9), node.suppressed, node.smallest, *node.l, *node.t) for node in lattice.nodes}


def test_six_patients():
    """k = 2, one may be suppressed. Young and b is one patient, who costs 2 of 12 cells; three young with a cost a half each."""
    lattice = shoal.lattice_near(SIX, roles=ROLES, k=2, suppress=0.2)
    assert told(lattice) == {
        (1, 0): ("optimum", 3.5, 1, 2, 1, 0.5),
        (0, 1): ("kept", 6, 0, 2, 1, 0.5),  # ages alone: one of two at 20 is ill, none at 30, both at 40
        (2, 0): ("kept", 6, 0, 3, 1, 0.5),  # a, of whom none is ill, and b
        (1, 1): ("kept", 8, 0, 2, 1, 0.5),
        (2, 1): ("kept", 12, 0, 6, 2, 0),
        (0, 0): ("lacking", 4, 2, 2, 1, 0.5),  # two stand alone
    }
    assert [node.levels for node in lattice.nodes] == [(1, 0), (0, 1), (2, 0), (1, 1), (2, 1), (0, 0)]
    assert (lattice.limit, lattice.records, lattice.unit, lattice.size, lattice.left_out, lattice.gap) == (1, 6, "rows", 6, 0, None)
    assert [one.groups for one in lattice.columns] == [(3, 2, 1), (2, 1)]
    assert lattice.columns[0].named == ((), ("young",), ("*",))  # old is one age, and telling it would tell the age
    assert in_words(lattice, lattice.nodes[0]) == "age 1, sex 0"
    assert in_words(lattice, lattice.nodes[1]) == "age 1→0, sex 0→1"
    assert looked_at(lattice) == "The lattice has 6 nodes; 6 nodes are shown: all of it."
    assert verdict_on(lattice).startswith("With k = 2, recoding loses 0.292 (iyengar) and suppresses 1 of 6 rows, where 1 may be.")


def test_what_is_asked_beyond_k_decides_who_is_suppressed():
    """Two answers in every class: only all ages without sex keep it, and the young of any sex, without the old two."""
    lattice = shoal.lattice_near(SIX, roles=ROLES, k=2, l=2, suppress=0.4)
    assert told(lattice)[1, 1] == ("optimum", (4 * 0.5 + 4) + 2 * 2, 2, 4, 2, 0.25)
    assert told(lattice)[2, 1] == ("kept", 12, 0, 6, 2, 0)
    assert told(lattice)[2, 0] == ("lacking", 12, 6, 0, 0, 0)


def test_fewer_nodes_are_the_nearest():
    lattice = shoal.lattice_near(SIX, roles=ROLES, k=2, suppress=0.2, nodes=3)
    assert [node.steps for node in lattice.nodes] == [0, 1, 1]
    assert looked_at(lattice).endswith(
        "Of the other 3 no figures were counted; the search for the optimum looked at them or ruled them out."
    )
    assert len(shoal.lattice_near(SIX, roles=ROLES, k=2, suppress=0.2, nodes=1).nodes) == 1


def test_persons_are_counted():
    """Every patient comes twice: classes have as many persons, where rows are twice as many; where ages differ within a person, rows are suppressed."""
    twice = Table.of({name: SIX.column(name).to_pylist() * 2 for name in SIX.columns} | {"who": list(range(6)) * 2})
    roles = Roles(quasi=("age", "sex"), confidential=("ill",), person=("who",), hierarchies=TREES)
    alike = shoal.lattice_near(twice, roles=roles, k=2, suppress=0.2)
    assert told(alike) == told(shoal.lattice_near(SIX, roles=ROLES, k=2, suppress=0.2))
    assert (alike.unit, alike.records_are, alike.records) == ("persons", "persons", 6)
    older = Table.of(
        {**{name: twice.column(name).to_pylist() for name in twice.columns}, "age": [20, 20, 30, 30, 40, 40, 30, 20, 30, 30, 40, 40]}
    )
    apart = shoal.lattice_near(older, roles=roles, k=2, suppress=0.2)
    assert (apart.unit, apart.records_are, apart.records) == ("persons", "rows", 12)
    assert told(apart)[1, 0][3] == 2  # persons: 40 and b are two, with four rows
    assert told(apart)[2, 0][3] == 3


def test_the_page_holds_no_cell():
    page = lattice_page(shoal.lattice_near(SIX, roles=ROLES, k=2, suppress=0.2))
    assert "young" in page
    assert not any(
        word in page for word in ("<script", "http:", "https:", "src=", "@import", "url(", ">old<", "such as old", ">yes<", ">no<")
    )
    assert page.count("<title>") > 6
    assert "Private." in page


def test_what_recoding_refuses_is_refused():
    for parameters, says in (
        ({"k": 7}, "6 rows, fewer than k = 7"),
        ({"k": 2, "suppress": 1}, "less than 1"),
        ({"k": 2, "l": 3}, "2 values of 'ill'"),
        ({"k": 2, "highest": {"age": 0, "sex": 0}}, "At no levels"),
        ({"kk": 2}, "Did you mean 'k'"),
    ):
        with pytest.raises(ShoalError, match=says):
            shoal.lattice_near(SIX, roles=ROLES, **parameters)


@pytest.mark.parametrize(
    ("suppress", "levels", "loss"), [(0.04, (0, 3, 0, 1, 1, 1, 1, 2, 0), 0.2928158759), (0.0, (0, 4, 1, 1, 3, 2, 2, 1, 0), 0.6355438)]
)
def test_adult(suppress, levels, loss):
    """Nine columns, k = 5, as the spec has them; and protect releases the same levels."""
    adult = shoal.read_table(data_path("adult/adult_30162.csv"))
    roles = Roles(
        quasi=adult.columns, hierarchies={name: data_path(f"adult/hierarchies/adult_hierarchy_{name}.csv") for name in adult.columns}
    )
    lattice = shoal.lattice_near(adult, roles=roles, k=5, suppress=suppress, nodes=25)
    assert lattice.optimum.levels == levels
    assert lattice.optimum.loss == pytest.approx(loss)
    assert lattice.optimum.smallest >= 5
    assert all(node.loss > lattice.optimum.loss for node in lattice.nodes[1:] if node.state == "kept")
    assert {node.state for node in lattice.nodes} == {"optimum", "kept", "lacking"}
    assert lattice.size == 12960
