"""The table of running jobs that `schedmate top` shows."""
