"""How many GPUs the high-priority jobs of each organisation will want in the next hours, with intervals (GFS, section 3.2)."""

from .demand import DemandHistory, Windows
from .forecast import Calibrated, Forecast, Forecaster
from .network import OrgLinearSettings
from .org_linear import OrgLinear

__all__ = ["Calibrated", "DemandHistory", "Forecast", "Forecaster", "OrgLinear", "OrgLinearSettings", "Windows"]
