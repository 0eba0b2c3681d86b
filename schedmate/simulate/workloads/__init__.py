"""Traces made from a seed."""
