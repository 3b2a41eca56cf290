"""Attacks: what an intruder still gets, beside what blind guessing would."""

from shoal.attacks.households import HouseholdLinkage
from shoal.attacks.interval import IntervalDisclosure
from shoal.attacks.linkage_by_distance import DistanceLinkage
from shoal.attacks.linkage_by_likelihood import ProbabilisticLinkage
from shoal.attacks.linkage_learned import LearnedLinkage

ATTACKS = (DistanceLinkage, ProbabilisticLinkage, LearnedLinkage, HouseholdLinkage, IntervalDisclosure)

__all__ = ["ATTACKS", "DistanceLinkage", "HouseholdLinkage", "IntervalDisclosure", "LearnedLinkage", "ProbabilisticLinkage"]
