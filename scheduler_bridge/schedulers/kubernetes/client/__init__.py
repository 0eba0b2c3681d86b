"""Kubernetes through the official client: jobs of all known kinds, Pods and Nodes, time limits, errors, list and watch."""
