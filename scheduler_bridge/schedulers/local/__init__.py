"""A scheduler of this machine, for the demo and for tests."""
