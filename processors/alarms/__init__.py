"""Alarms: what goes wrong with a running job, from the numbers that the tracker makes of its log.

People read them, and none is a verdict: the job runs. Hangs and idle GPUs are in `processors/activity`.
"""
