"""The interference monitor: jobs that run slower since another was packed on their GPUs."""
