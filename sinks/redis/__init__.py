"""Now: the state of every job and node in Redis."""
