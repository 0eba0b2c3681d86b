"""The scheduling advisor: what a job is, and what it will need (SchedMate §3.1)."""
