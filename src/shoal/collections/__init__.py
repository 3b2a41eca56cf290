"""Collections: documents as vectors, released so that none can be told from k - 1 others."""

from shoal.collections.attacks import ConceptLinkage, DocumentLinkage, LastMember, Membership, TermLinkage
from shoal.collections.build import Builder, TermWeights
from shoal.collections.clusters import TopicAgreement
from shoal.collections.contracts import CollectionAttack, CollectionMeasure, CollectionMethod
from shoal.collections.measures import (
    Distances,
    EuclideanLoss,
    NormalisedLoss,
    OneClass,
    SemanticLoss,
    SoleTerms,
    SphericalLoss,
    UniqueLabels,
    Words,
)
from shoal.collections.queries import QueryAgreement
from shoal.collections.release import CollectionRelease
from shoal.collections.semantic import Semantic
from shoal.collections.space import Space, unit_rows
from shoal.collections.spherical import Spherical

METHODS: tuple[type[CollectionMethod], ...] = (Spherical, Semantic)
MEASURES: tuple[type[CollectionMeasure], ...] = (
    NormalisedLoss,
    SphericalLoss,
    EuclideanLoss,
    SemanticLoss,
    Words,
    Distances,
    QueryAgreement,
    TopicAgreement,
    SoleTerms,
    OneClass,
    UniqueLabels,
)
ATTACKS: tuple[type[CollectionAttack], ...] = (DocumentLinkage, TermLinkage, ConceptLinkage, Membership, LastMember)

__all__ = ["ATTACKS", "MEASURES", "METHODS", "Builder", "CollectionRelease", "Semantic", "Space", "Spherical", "TermWeights", "unit_rows"]
