"""Analyses as one page of HTML that needs nothing else: it can be mailed, printed, and looked at without a network."""

from .page import page

__all__ = ["page"]
