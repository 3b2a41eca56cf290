"""Pictures of learned linkage: every column and set is drawn, strange names are escaped, and they stay out of the public report."""

from itertools import combinations
from xml.etree import ElementTree

import numpy as np

from shoal.report.telling_columns import MOST_DRAWN, lattice, leak_bars
from tests.report.test_figures import certificate

NAMES = ["age", "income", "<zip>", "a & b", "e", "f"]


def measure(n):
    sets = [list(some) for size in range(n + 1) for some in combinations(NAMES[:n], size)]
    return [{"columns": some, "value": (len(some) / n) ** 2} for some in sets]


def test_a_small_lattice_is_drawn_whole():
    """Figure 5.8 of the thesis: sixteen sets of four columns, thirty-two lines between them."""
    root = ElementTree.fromstring(lattice(measure(4)))
    assert len(root.findall("circle")) == 16
    assert len(root.findall("line")) == 32
    labels = [text.text or "".join(text.itertext()) for text in root.findall("text")]
    assert any(label.endswith("0000") for label in labels)
    assert any(label.endswith("1111") for label in labels)


def test_a_large_lattice_leaves_out_what_weighs_little():
    """Figure 5.9: sets of weight 0.1 or more, with none and all."""
    root = ElementTree.fromstring(lattice(measure(6)))
    assert 2 < len(root.findall("circle")) <= MOST_DRAWN
    assert "left out" in root.find("desc").text


def test_bars_name_every_column_and_escape_names():
    found = {"rate_of_all": 0.8, "rate_alone": dict(zip(NAMES, np.linspace(0, 0.3, 6))), "rate_without": dict.fromkeys(NAMES, 0.5)}
    svg = leak_bars(found)
    root = ElementTree.fromstring(svg)
    assert "&lt;zip&gt;" in svg
    assert len([text for text in root.findall("text") if text.get("text-anchor") == "end"]) == 6


def test_nothing_to_draw_is_said():
    assert "No record" in leak_bars({})
    assert "no fuzzy measure" in lattice([])


def test_the_internal_report_blames_columns_and_the_public_one_does_not():
    from shoal.report.private_page import Riskiest
    from shoal.report.table_pages import internal_report, public_report

    found = {
        "words": ["Protect age more."], "weights": {"age": 1.0}, "rate_of_all": 0.5, "rate_alone": {"age": 0.5}, "rate_without": {},
        "measure": measure(2),
    }  # fmt: skip
    page = internal_report(certificate([]), [], Riskiest(), None, [found])
    assert "Protect age more." in page
    assert "Weights of sets of columns" in page
    assert "Protect age more." not in public_report(certificate([]), [])


def test_equal_weights_are_one_line():
    """ "learned weight 0.125" stood there eight times."""
    from shoal.report.private_page import telling_columns

    same = telling_columns({"weights": dict.fromkeys("abcdefgh", 0.125)})
    assert "All 8 columns weigh the same" in same
    assert same.count("0.125") == 1
    assert "<table" not in same
    unequal = telling_columns({"weights": {"a": 0.25, "b": 0.75}})
    assert unequal.index("0.75") < unequal.index("0.25")
