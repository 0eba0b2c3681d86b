"""The cases, one family a file."""
