"""Methods: one textbook algorithm, one class, one name, one reference."""

from shoal.methods.anti_unification import AntiUnification, AntiUnificationSafe
from shoal.methods.coding import BottomCoding, TopCoding
from shoal.methods.density import Kde
from shoal.methods.full_domain import Datafly, Incognito, OptimalRecoding
from shoal.methods.kactus import Kactus, KactusRefined
from shoal.methods.kadet import Kadet
from shoal.methods.local_recoding import LocalRecoding
from shoal.methods.local_suppression import LocalSuppression
from shoal.methods.maps import CTca, KTca
from shoal.methods.microaggregation import IndividualRanking, Mdav, MdavLarge, PcaProjection, VMdav, ZProjection
from shoal.methods.mondrian import BalancedMondrian, InfogainMondrian, Mondrian
from shoal.methods.noise import Noise
from shoal.methods.recode import Recode
from shoal.methods.rounding import Rounding
from shoal.methods.specialization import Tdr, Tds
from shoal.methods.swapping import RankSwapping

METHODS = (
    Mdav,
    MdavLarge,
    VMdav,
    IndividualRanking,
    ZProjection,
    PcaProjection,
    CTca,
    KTca,
    Kde,
    RankSwapping,
    Noise,
    TopCoding,
    BottomCoding,
    Rounding,
    Recode,
    Mondrian,
    InfogainMondrian,
    BalancedMondrian,
    Kactus,
    KactusRefined,
    AntiUnification,
    AntiUnificationSafe,
    LocalRecoding,
    OptimalRecoding,
    LocalSuppression,
    Datafly,
    Incognito,
    Tds,
    Tdr,
    Kadet,
)

__all__ = [
    "METHODS",
    "AntiUnification",
    "AntiUnificationSafe",
    "BalancedMondrian",
    "BottomCoding",
    "CTca",
    "Datafly",
    "Incognito",
    "IndividualRanking",
    "InfogainMondrian",
    "KTca",
    "Kactus",
    "KactusRefined",
    "Kadet",
    "Kde",
    "LocalRecoding",
    "LocalSuppression",
    "Mdav",
    "MdavLarge",
    "Mondrian",
    "Noise",
    "OptimalRecoding",
    "PcaProjection",
    "RankSwapping",
    "Recode",
    "Rounding",
    "Tdr",
    "Tds",
    "TopCoding",
    "VMdav",
    "ZProjection",
]
