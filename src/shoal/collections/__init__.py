"""Collections: documents as vectors, released so that none can be told from k - 1 others."""

from shoal.collections.build import Builder, TermWeights
from shoal.collections.release import CollectionRelease
from shoal.collections.semantic import Semantic
from shoal.collections.space import Space, unit_rows
from shoal.collections.spherical import Spherical

__all__ = ["Builder", "CollectionRelease", "Semantic", "Space", "Spherical", "TermWeights", "unit_rows"]
