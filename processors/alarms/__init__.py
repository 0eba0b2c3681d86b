"""Alarms: what goes wrong with a running job, from the numbers that the tracker makes of its log.

They are told to people, and none is a verdict: the job runs. Hangs and idle GPUs are in `processors/activity`.
"""
