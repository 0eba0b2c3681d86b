"""Models that processors call, behind narrow protocols."""
