"""Metric tracker: step, step time, throughput and loss from the newest reports (SchedMate §3.2)."""
