"""Methods: one textbook algorithm, one class, one name, one reference."""

from shoal.methods.kactus import Kactus, KactusRefined
from shoal.methods.microaggregation import IndividualRanking, Mdav, MdavLarge, PcaProjection, VMdav, ZProjection
from shoal.methods.mondrian import BalancedMondrian, InfogainMondrian, Mondrian
from shoal.methods.noise import Noise
from shoal.methods.swapping import RankSwapping

METHODS = (
    Mdav,
    MdavLarge,
    VMdav,
    IndividualRanking,
    ZProjection,
    PcaProjection,
    RankSwapping,
    Noise,
    Mondrian,
    InfogainMondrian,
    BalancedMondrian,
    Kactus,
    KactusRefined,
)

__all__ = [
    "METHODS",
    "BalancedMondrian",
    "IndividualRanking",
    "InfogainMondrian",
    "Kactus",
    "KactusRefined",
    "Mdav",
    "MdavLarge",
    "Mondrian",
    "Noise",
    "PcaProjection",
    "RankSwapping",
    "VMdav",
    "ZProjection",
]
