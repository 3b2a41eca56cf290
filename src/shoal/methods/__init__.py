"""Methods: one textbook algorithm, one class, one name, one reference."""

from shoal.methods.microaggregation import IndividualRanking, Mdav, MdavLarge, PcaProjection, VMdav, ZProjection
from shoal.methods.noise import Noise
from shoal.methods.swapping import RankSwapping

METHODS = (Mdav, MdavLarge, VMdav, IndividualRanking, ZProjection, PcaProjection, RankSwapping, Noise)

__all__ = ["METHODS", "IndividualRanking", "Mdav", "MdavLarge", "Noise", "PcaProjection", "RankSwapping", "VMdav", "ZProjection"]
