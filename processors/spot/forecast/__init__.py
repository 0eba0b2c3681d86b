"""Forecasts the GPUs that the high-priority jobs of each organisation need in the next hours, with intervals (GFS, section 3.2)."""

from .demand import DemandHistory, Windows
from .forecast import Calibrated, Forecast, Forecaster

__all__ = ["Calibrated", "DemandHistory", "Forecast", "Forecaster", "Windows"]
