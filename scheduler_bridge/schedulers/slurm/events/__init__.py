"""Job events from Slurm, by looking at its list of jobs again and again (24 ms for 200 jobs)."""
