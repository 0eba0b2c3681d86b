"""Forecasts of demand compared on public traces: `python -m benchmarks.forecast`."""
