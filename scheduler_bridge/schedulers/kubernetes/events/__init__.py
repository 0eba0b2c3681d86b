"""Job events from Kubernetes, by list and watch of its Jobs and Pods."""
