"""The methods of ATLAS by the names of its Tables 3 and 6."""

from collections.abc import Callable

from processors.advise.predictors.features import Encoders

from .cqr_stack import CqrStack
from .hras import Hras
from .isotonic import IsotonicMedian
from .meta_stack import MetaStack
from .method import Method
from .preliminary import ClusterExperts, RecencyEnsemble, ScaleExperts, SingleStage
from .recency import WeightedRecency
from .two_stage import TwoStage

SIX: dict[str, Callable[[Encoders], Method]] = {
    "CQR-Stack": lambda _: CqrStack(),
    "HRAS": Hras,
    "QMed+Iso": lambda _: IsotonicMedian(),
    "LGBM-Meta": lambda _: MetaStack(),
    "Two-Stage": lambda _: TwoStage(),
    "Weighted-Rec": lambda _: WeightedRecency(),
}
PRELIMINARY: dict[str, Callable[[Encoders], Method]] = {
    "M1 Single-Stage": lambda _: SingleStage(),
    "M2 CRR++": lambda _: ClusterExperts(),
    "M3 Scale-Bucket": lambda _: ScaleExperts(),
    "M4 Recency": lambda _: RecencyEnsemble(),
}
