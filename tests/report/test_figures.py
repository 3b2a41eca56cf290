"""The pictures and pages are well formed, escape what they are given, and survive a certificate that says little."""

import math
import random
import re
import xml.etree.ElementTree as ET
from typing import Any

import pytest

from shoal.certificate import TableCertificate
from shoal.report.comparison import ComparisonRow, comparison_report
from shoal.report.drawing import DARK, STYLE, decimal, number, percent, percent_range, standalone
from shoal.report.figures import BeforeAfter, Rate, RiskUtility, before_after, class_sizes, frontier, linkage_rates, loss_bars, ru_map
from shoal.report.private_page import RiskGroup, Riskiest
from shoal.report.table_pages import internal_report, public_report

SCRIPT = "<script>alert('x')</script>"
NAMES = [
    "age", "zip", "доход_домохозяйства_до_налогов", "世帯主の年間総所得（税引前）", "الدخل_السنوي", "straße", SCRIPT,
    'a"b&c', "bad\x00\x1bchar\ud800",
    *(f"questionnaire_item_{i:02d}_how_often_in_the_last_month" for i in range(21)),
]  # fmt: skip
MEDIA_LINK = re.compile(r"https?://|\bsrc=|\bhref=|url\(|@import|<script|<link|\bon\w+=", re.IGNORECASE)


def certificate(names: list[str], **changed: Any) -> TableCertificate:
    return TableCertificate(**parts([name.encode("utf-8", "replace").decode() for name in names]) | changed)


def parts(columns: list[str]) -> dict[str, Any]:
    draw = random.Random(7)
    return {
        "shoal": "0.2.0", "created": "2026-11-15",
        "release": {"file": "release.csv", "sha256": "ab34" * 16, "rows": 1080, "columns": [*columns, "diagnosis"]},
        "roles": {"quasi": columns, "confidential": ["diagnosis"], "weight": [], "household": [], "other": [], "identifiers_removed": 1},
        "steps": [
            {"method": "mdav", "parameters": {"k": 5, "standardize": "sd", "plan": {"a": [1, None]}}, "columns": columns,
             "guarantees": ["k-anonymity"], "summary": "Replace records by the mean of groups of at least k."},
        ],
        "promises": [{"what": "k-anonymity", "value": 5, "unit": "rows", "columns": columns, "about": None, "sentence": "k", "found": 5,
                      "holds": True}],
        "measures": [
            {"name": "il1s", "title": "Mean scaled difference", "value": 0.115, "better": "lower", "bounds": [0, None], "interval": None,
             "note": "", "per_column": {name: draw.random() ** 4 for name in columns}, "details": {}},
            {"name": "k-anonymity", "title": "Smallest class", "value": 5, "better": "higher", "bounds": [1, None], "interval": None,
             "note": "", "per_column": {}, "details": {"uniques": 0, "classes": 171, "histogram": {"5": 121, "6": 34, "7": 16}}},
            {"name": "propensity", "title": "Propensity score", "value": None, "better": "lower", "bounds": [0, 0.25], "interval": None,
             "note": "Needs two numeric columns.", "per_column": {}, "details": {}},
        ],
        "attacks": [
            {"name": "distance-linkage", "title": "Distance-based record linkage", "risk": "linkage", "tried": 1080, "hit": 308.9, "strict_hit": 120,
             "rate": 0.286, "interval": [0.26, 0.31], "chance": 0.00093, "note": "", "details": {}},
            {"name": "interval", "title": "Interval disclosure", "risk": "interval", "tried": 1080, "hit": 0, "strict_hit": 0,
             "rate": 0.0, "interval": [0.0, 0.0034], "chance": 0.05, "note": "", "details": {}},
        ],
        "summary": {"loss": 0.115, "loss_measure": "il1s", "risk": 0.286, "risk_low": 0.26, "risk_high": 0.31,
                    "risk_attack": "distance-linkage", "disclosure_risk": 0.276, "score": 0.25},
        "warnings": ["noise does not give k-anonymity; 1,080 of 1,080 records are unique."],
        "versions": {"shoal": "0.1.0", "python": "3.11.7", "numpy": "2.4.6"},
    }  # fmt: skip


def bins(column: str, labels: list[str]) -> BeforeAfter:
    draw = random.Random(len(labels))
    weights = [draw.random() + 0.01 for _ in labels]
    moved = [w + draw.random() / 10 for w in weights]
    return BeforeAfter(column, tuple(labels), tuple(w / sum(weights) for w in weights), tuple(m / sum(moved) for m in moved))


def thirty_runs() -> list[RiskUtility]:
    draw = random.Random(3)
    runs = []
    for i, name in enumerate(NAMES):
        loss = draw.random()
        risk = max(0.001, 0.8 - loss + draw.gauss(0, 0.08))
        runs.append(RiskUtility(f"{name} k={i}", loss, min(risk, 1), max(0, risk - 0.03), min(1, risk + 0.03)))
    return runs


HISTOGRAM = {1: 40, 2: 12, 3: 9, 4: 7, 5: 30, 6: 21, 7: 19, 9: 10, 12: 8, 15: 5, 22: 3, 60: 1, 400: 1, 70000: 1}
FIGURES = {
    "map of none": ru_map([]),
    "map of one": ru_map([RiskUtility("mdav k=5", 0.115, 0.286, 0.26, 0.31)]),
    "map of thirty": ru_map(thirty_runs()),
    "map of equals": ru_map([RiskUtility(str(i), 0.3, 0.3, 0.3, 0.3) for i in range(30)]),
    "map of zeros": ru_map([RiskUtility("none", 0, 0, 0, 0)]),
    "map beyond": ru_map([RiskUtility("far", 1.7, -0.2, math.nan, 2), RiskUtility("lost", math.nan, math.inf, 0, 0)]),
    "classes none": class_sizes({}, 5),
    "classes zero": class_sizes({5: 0}, 5),
    "classes unique": class_sizes({1: 1080}, None),
    "classes kept": class_sizes({5: 121, 6: 34}, 5),
    "classes binned": class_sizes(HISTOGRAM, 7),
    "before none": before_after(BeforeAfter("empty", (), (), ())),
    "before one": before_after(bins("one", ["all"])),
    "before zeros": before_after(BeforeAfter("zero", ("a", "b"), (0.0, 0.0), (0.0, math.nan))),
    "before names": before_after(bins(SCRIPT, NAMES)),
    "before many": before_after(bins("zip", [str(8000 + i) for i in range(500)])),
    "rates none": linkage_rates([]),
    "rates one": linkage_rates([Rate(SCRIPT, 0.286, 0.26, 0.31, 0.00093)]),
    "rates edge": linkage_rates([Rate("none", 0, None, None, None), Rate("all", 1, 1, 1, 1), Rate("odd", math.nan, 0, 0, 0)]),
    "rates odd": linkage_rates([Rate("odd", 0.5, math.nan, 1, math.nan)]),
    "bars none": loss_bars([]),
    "bars zero": loss_bars([("a", 0.0), ("b", 0.0)]),
    "bars odd": loss_bars([("a", math.nan), ("b", -1.0), ("c", math.inf)]),
    "bars names": loss_bars([(name, 10.0**-i) for i, name in enumerate(NAMES)], SCRIPT),
    "bars many": loss_bars([(f"column {i}", i / 100) for i in range(100)]),
}


@pytest.fixture(params=FIGURES)
def figure(request: pytest.FixtureRequest) -> str:
    return FIGURES[str(request.param)]


def test_a_figure_is_well_formed_and_accessible(figure: str) -> None:
    root = ET.fromstring(figure)
    assert root.tag == "svg"
    assert root.get("role") == "img"
    assert [child.tag for child in root][:2] == ["title", "desc"]
    assert all(child.text for child in list(root)[:2])
    figure.encode("utf-8")


def test_a_figure_fetches_nothing_and_lets_no_markup_through(figure: str) -> None:
    assert not MEDIA_LINK.search(figure)


def test_every_coordinate_is_a_finite_number_inside_the_picture(figure: str) -> None:
    root = ET.fromstring(figure)
    _, _, width, height = map(float, (root.get("viewBox") or "").split())
    for mark in root.iter():
        for name, limit in (("x", width), ("x1", width), ("x2", width), ("cx", width), ("y", height), ("y1", height), ("cy", height)):
            if mark.get(name) is not None:
                assert 0 <= float(mark.get(name, "")) <= limit, (mark.tag, mark.attrib)
        for name in ("width", "height"):
            assert float(mark.get(name, "0")) >= 0


def test_colours_are_variables_with_a_fallback(figure: str) -> None:
    for root in ET.fromstring(figure).iter():
        for name in ("fill", "stroke"):
            assert re.fullmatch(r"none|var\(--[a-z-]+,#[0-9a-f]{6}\)", root.get(name, "none"))


def test_dark_palette_renames_every_light_colour() -> None:
    assert "prefers-color-scheme: dark" in STYLE
    light = set(re.findall(r"(--[a-z-]+):", STYLE.split("@media")[0]))
    assert light == set(re.findall(r"(--[a-z-]+):", DARK))
    assert {"--ink", "--accent", "--before", "--warn", "--grid"} <= light


def test_a_standalone_figure_is_an_svg_file() -> None:
    root = ET.fromstring(standalone(FIGURES["classes kept"]))
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert "prefers-color-scheme" in (root[0].text or "")


@pytest.mark.parametrize(
    ("value", "said"),
    [(1080, "1,080"), (1080.0, "1,080"), (0, "0"), (0.0052, "0.0052"), (0.286, "0.286"), (308.9, "308.9"), (0.9996, "0.9996"),
     (-0.5, "−0.5"), (0.00000321, "3.2×10⁻⁶"), (1234567.8, "1,234,567.8"), (None, "n/a"), (math.nan, "n/a"), (math.inf, "∞"), (2.5, "2.5")],
)  # fmt: skip
def test_numbers_read_kindly(value: float | None, said: str) -> None:
    assert number(value) == said


@pytest.mark.parametrize(
    ("share", "said"),
    [(0.382, "38.2 %"), (0, "0 %"), (1, "100 %"), (0.00093, "0.093 %"), (0.9998, "99.98 %"), (0.999999, "> 99.99 %"), (1e-7, "< 0.01 %"),
     (0.005, "0.50 %"), (None, "n/a")],
)  # fmt: skip
def test_shares_read_kindly_and_only_nothing_is_zero(share: float | None, said: str) -> None:
    assert percent(share).replace("\u00a0", " ") == said


def test_ranges_and_decimals() -> None:
    assert percent_range(0.26, 0.31) == "26.0–31.0\u00a0%"
    assert percent_range(None, 0.31) == "n/a"
    assert [decimal(v) for v in (0.29, 0.0052, 1.0, None)] == ["0.290", "0.0052", "1", "n/a"]


def test_frontier_worked_by_hand() -> None:
    runs = [RiskUtility("", loss, risk, 0, 1) for loss, risk in ((0.1, 0.9), (0.2, 0.5), (0.3, 0.5), (0.6, 0.1))]
    assert frontier(runs) == [0, 1, 3]
    assert frontier([runs[1], runs[1]]) == [0, 1]  # equals do not beat each other


def test_names_on_the_map_do_not_overlap() -> None:
    boxes = []
    for text in ET.fromstring(ru_map([RiskUtility(f"mdav k={i}", 0.02 * i, 0.6 - 0.02 * i, 0.5, 0.7) for i in range(30)])).iter("text"):
        if text.get("paint-order"):
            words = "".join(text.itertext())[len(text[0].text or "") :]
            wide = 5.5 * len(words)  # narrower than any estimate: what overlaps here overlaps on paper
            left = float(text.get("x", "")) - {"start": 0.0, "middle": wide / 2, "end": wide}[text.get("text-anchor", "")]
            boxes.append((left, float(text.get("y", "")), left + wide))
    assert len(boxes) >= 20
    for i, (left, y, right) in enumerate(boxes):
        assert not any(left < r and x < right and abs(y - v) < 11 for x, v, r in boxes[:i])


def test_no_bar_straddles_the_promised_k_and_uniques_warn() -> None:
    picture = class_sizes(HISTOGRAM, 7)
    assert "5–6" in picture
    assert "7–9" in picture
    unique = next(r for r in ET.fromstring(picture).iter("rect") if "of 1 record" in "".join(r.itertext()))
    assert "--warn" in unique.get("fill", "")
    assert "promised k = 5" in class_sizes({5: 1}, 5)
    assert "promised" not in class_sizes({5: 1}, None)


def test_a_cut_name_stays_apart_from_its_neighbours() -> None:
    shown = [t.text or "".join(t.itertext()) for t in ET.fromstring(FIGURES["bars names"]).iter("text") if t.get("text-anchor") == "end"]
    assert len(shown) == len(set(shown)) == len(NAMES)


def test_before_after_refuses_uneven_shares() -> None:
    with pytest.raises(ValueError, match="2 labels, 1 before and 2 after"):
        BeforeAfter("age", ("a", "b"), (1.0,), (0.5, 0.5))


# ---- pages -------------------------------------------------------------------------------------------------------------------

COLUMNS = [bins(name, [f"{i}0–{i}9" for i in range(8)]) for name in NAMES]
RISKIEST = Riskiest(
    (
        RiskGroup(1.0, "distance-linkage", 1, 1, ("age",), ("93.5",), ((41, ("99",)),), "No other row looks like it.", "Top-code it."),
        RiskGroup(0.25, SCRIPT, 2, 4, ("age",), (SCRIPT,), ((977, ("21",)), (12, ("22",))), "1 in 4.", "Ask for l.", stands_out="age"),
    ), 3, 2,
)  # fmt: skip
RUNS = [ComparisonRow(p.label, p.loss, p.risk, p.risk_low, p.risk_high, 5, (p.loss + p.risk) / 2) for p in thirty_runs()]
PAGES = {
    "public": public_report(certificate(["age", "zip"]), COLUMNS[:3]),
    "public names": public_report(certificate(NAMES), COLUMNS),
    "public bare": public_report(certificate([], steps=[], promises=[], measures=[], attacks=[], summary={}, warnings=[], versions={}), []),
    "internal": internal_report(certificate(NAMES), COLUMNS, RISKIEST),
    "internal bare": internal_report(certificate([], steps=[], promises=[], measures=[], attacks=[], summary={}), [], Riskiest()),
    "comparison": comparison_report(RUNS),
    "comparison one": comparison_report(RUNS[:1]),
    "comparison unknown": comparison_report([ComparisonRow("x", math.nan, math.nan, math.nan, math.nan, 1, math.nan)]),
    "comparison empty": comparison_report([]),
}


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_well_formed_and_needs_nothing_else(name: str) -> None:
    page = PAGES[name]
    assert page.startswith("<!DOCTYPE html>")
    ET.fromstring(page)  # written so that it is XML too, which catches every unclosed tag
    assert not MEDIA_LINK.search(page)
    assert "Content-Security-Policy" in page
    assert "default-src 'none'" in page.replace("&#x27;", "'")
    assert "prefers-color-scheme: dark" in page
    assert ">nan" not in page
    assert "None" not in page
    page.encode("utf-8")


def test_public_report_says_the_verdict_the_numbers_and_how_to_check() -> None:
    page = PAGES["public"].replace("\u00a0", " ")
    for words in ("Holds for rows only", "1,080 rows", "28.6 %", "26.0–31.0 %", "0.093 %", "Needs two numeric columns.",
                  "records are unique", "shoal verify release.csv certificate.json", "ab34" * 16, "numpy 2.4.6",
                  "120 of the hits without a tie"):  # fmt: skip
        assert words in page
    order = [page.index(h) for h in ("<h1>", 'class="tiles"', 'class="card facts"', "Warnings:", "In pictures")]
    order += [page.index(h) for h in ("What is promised", "What was done", "<h2>Measures", "<h2>Attacks", "Check it yourself", "SHA-256")]
    assert order == sorted(order)


def test_a_broken_promise_is_the_first_thing_said() -> None:
    broken = [{**parts(["age"])["promises"][0], "found": 3, "holds": False}]
    page = public_report(certificate(["age"], promises=broken), [])
    assert "Do not publish this file." in page
    assert "Holds for" not in page
    assert "k-anonymity promised 5, found 3 rows" in page


def test_an_attack_no_better_than_chance_is_called_so() -> None:
    weak = certificate(["age"], attacks=parts(["age"])["attacks"][1:], summary={"risk_attack": "interval"})
    assert "cannot be told from blind guessing" in public_report(weak, [])


def test_only_the_internal_report_has_records() -> None:
    assert "Internal: do not publish" in PAGES["internal"]
    assert "Riskiest records" in PAGES["internal"]
    assert "row 977" in PAGES["internal"]
    assert "&lt;script&gt;" in PAGES["internal"]
    for name, page in PAGES.items():
        if not name.startswith("internal"):
            assert "Riskiest" not in page
            assert "Internal" not in page


def test_comparison_ranks_by_score_and_says_who_is_beaten() -> None:
    rows = [ComparisonRow("worse", 0.5, 0.5, 0.4, 0.6, 3, 0.5), ComparisonRow("better", 0.1, 0.2, 0.1, 0.3, 5, 0.15)]
    page = comparison_report(rows)
    table = page[page.index("<tbody>") :]
    assert table.index("better") < table.index("worse")
    assert "1 of 2 runs is beaten by no other" in page
