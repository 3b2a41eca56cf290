"""Measures: what a release costs in usefulness, and what its classes give away."""

from shoal.measures.anonymity import (
    AverageClassSize,
    AverageRisk,
    Discernibility,
    DistinctLDiversity,
    EntropyLDiversity,
    KAnonymity,
    MaximumRisk,
    RecursiveLDiversity,
    TCloseness,
    Uniqueness,
)
from shoal.measures.cells import CellLoss
from shoal.measures.certainty import NCP
from shoal.measures.loss import IL, IL1, IL2, IL3, IL4, IL5, PIL, IL1s, IL2s, IL3s, IL5s, ILs
from shoal.measures.squares import SSA, SSE, SST, DistributionDistance, EarthMoversDistance, SSERatio

MEASURES = (
    KAnonymity,
    Uniqueness,
    AverageRisk,
    MaximumRisk,
    DistinctLDiversity,
    EntropyLDiversity,
    RecursiveLDiversity,
    TCloseness,
    Discernibility,
    AverageClassSize,
    CellLoss,
    NCP,
    IL1s,
    IL2s,
    IL3s,
    IL5s,
    ILs,
    SSE,
    SSA,
    SST,
    SSERatio,
    DistributionDistance,
    EarthMoversDistance,
    PIL,
    IL1,
    IL2,
    IL3,
    IL4,
    IL5,
    IL,
)

__all__ = ["MEASURES", *sorted(cls.__name__ for cls in MEASURES)]
