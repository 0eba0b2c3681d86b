"""Failures of real programs, provoked on purpose, with the truth known by construction. See README.md."""
