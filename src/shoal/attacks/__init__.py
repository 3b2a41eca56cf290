"""Attacks: what an intruder still gets, beside what blind guessing would."""

from shoal.attacks.interval import IntervalDisclosure
from shoal.attacks.linkage_by_distance import DistanceLinkage
from shoal.attacks.linkage_by_likelihood import ProbabilisticLinkage

ATTACKS = (DistanceLinkage, ProbabilisticLinkage, IntervalDisclosure)

__all__ = ["ATTACKS", "DistanceLinkage", "IntervalDisclosure", "ProbabilisticLinkage"]
