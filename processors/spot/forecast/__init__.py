"""How many GPUs the high-priority jobs of each organisation will want in the next hours, with intervals (GFS, section 3.2)."""

from processors.spot.forecast.demand import DemandHistory, Windows
from processors.spot.forecast.forecast import Calibrated, Forecast, Forecaster
from processors.spot.forecast.network import OrgLinearSettings
from processors.spot.forecast.org_linear import OrgLinear

__all__ = ["Calibrated", "DemandHistory", "Forecast", "Forecaster", "OrgLinear", "OrgLinearSettings", "Windows"]
