"""The scheduling advisor: what a job is, what it will need, and what of it remains (SchedMate §3.1)."""
