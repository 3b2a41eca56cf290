"""Section 2.5 on all thirteen Census columns: information loss, disclosure risk, and the risk-utility map of Figure 2.6."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

from experiments.data import data_path
from shoal import AttackResult, Knowledge, Roles, read_table
from shoal.attacks import DistanceLinkage, IntervalDisclosure, ProbabilisticLinkage
from shoal.contracts import Method
from shoal.measures import IL, PIL, IL1s, KAnonymity, SSERatio
from shoal.methods import IndividualRanking, Mdav, Noise, PcaProjection, RankSwapping, VMdav, ZProjection
from shoal.randomness import rng_for
from shoal.report.drawing import STYLE, standalone
from shoal.report.figures import RiskUtility, ru_map
from shoal.runs.recipe import apply_steps
from shoal.score import disclosure_risk

QUANTITIES = ("k", "sse", "il", "il1s", "pil", "id", "dbrl", "prl", "dr")

PROTOTYPE: Mapping[str, Method] = {
    "MDAV 3": Mdav(k=3),
    "MDAV 5": Mdav(k=5),
    "MDAV 10": Mdav(k=10),
    "MDAV 5, then swap refinement": Mdav(k=5, refine="swap"),
    "V-MDAV 5 (gamma .2)": VMdav(k=5, gamma=0.2),
    "individual ranking 5": IndividualRanking(k=5),
    "z-score projection 5": ZProjection(k=5),
    "principal-component projection 5": PcaProjection(k=5),
    "rank swap 10 %": RankSwapping(p=10),
    "noise .10": Noise(p=0.1),
}

ON_THE_MAP: Mapping[str, Method] = {
    **{f"MDAV {k}": Mdav(k=k) for k in (3, 5, 10, 20)},
    **{f"individual ranking {k}": IndividualRanking(k=k) for k in (5, 20)},
    **{f"rank swap {p} %": RankSwapping(p=p) for p in (1, 3, 5, 10, 15)},
    **{f"noise {p:.2f}": Noise(p=p) for p in (0.02, 0.05, 0.1, 0.16, 0.3)},
}


def assessed(method: Method, seed: int = 0) -> tuple[dict[str, float], tuple[float, float]]:
    """Every quantity in percent (k and IL1s as they are), and DR's interval from the ends of its parts' intervals."""
    table = read_table(data_path("casc", "census.csv"))
    roles = Roles(quasi=table.columns).check(table)
    release = apply_steps(table, roles, [method], seed)
    found = {
        name: measure.measure(table, release, roles).value or 0.0
        for name, measure in (("k", KAnonymity()), ("sse", SSERatio()), ("il", IL()), ("il1s", IL1s()), ("pil", PIL()))
    }
    found["sse"] *= 100
    attacks: dict[str, AttackResult] = {
        name: attack.attack(table, release, Knowledge(roles), rng_for(seed, name))
        for name, attack in (
            ("id", IntervalDisclosure()),
            ("dbrl", DistanceLinkage(scale="each", linking="nearest")),
            ("prl", ProbabilisticLinkage(assignment="best", share="estimated")),
        )
    }
    found |= {name: 100 * result.rate for name, result in attacks.items()}
    found["dr"] = disclosure_risk(found["dbrl"], found["prl"], found["id"])
    ends = [disclosure_risk(*(attacks[name].interval[side] for name in ("dbrl", "prl", "id"))) for side in (0, 1)]
    return found, (ends[0], ends[1])


def map_points(methods: Mapping[str, Method] = ON_THE_MAP) -> list[RiskUtility]:
    """Loss is IL1s, risk is DR, both in 0..1."""
    points = []
    for label, method in methods.items():
        found, (low, high) = assessed(method)
        points.append(RiskUtility(label, found["il1s"], found["dr"] / 100, low, high))
    return points


def map_files(points: Sequence[RiskUtility]) -> tuple[str, str]:
    """(SVG, HTML) of the map."""
    svg, title = ru_map(points), "R-U map of Census, as Figure 2.6 of Abril (2014)"
    says = "Loss is IL1s over 13 columns, risk is DR of (2.13). Down and left is better. The bars combine the ends of the three rates' 95 % intervals."
    head = f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{escape(title)}</title><style>{STYLE}'
    body = "body{margin:2rem auto;max-width:800px;font-family:system-ui,sans-serif;background:var(--page);color:var(--ink)}</style>"
    return standalone(svg), f"{head}{body}<h1>{escape(title)}</h1><p>{escape(says)}</p>{svg}</html>\n"
