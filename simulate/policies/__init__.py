"""The policies, by the names that the command line knows."""
