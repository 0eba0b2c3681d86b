"""Follows a Python program without running it."""
