"""Evictions in favour of jobs that wait: the policy, what a job would lose, and the choice of victims."""
