"""A job's numbers, for tools that draw them otherwise."""

from .series import Series, Value, read_series

__all__ = ["Series", "Value", "read_series"]
