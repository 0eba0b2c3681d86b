"""The scheduling advisor: what a job is, what it will need, how long it will run (SchedMate §3.1)."""
