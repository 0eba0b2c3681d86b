"""Kinds of jobs, one a file: how each is read, stopped and released through its own fields."""
