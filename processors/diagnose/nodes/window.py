"""How far apart a sign of trouble on a node and a failure may be."""

BEFORE_S = 600.0
"""A cause on the node comes at most so long before the failure shows: a collective's time limit is ten minutes by default."""
AFTER_S = 60.0
"""Kernel messages arrive late, and clocks differ."""
