"""Kubernetes: its client, what watches its jobs, and what acts on them."""
