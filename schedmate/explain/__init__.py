"""One attempt of a job as a page that an operator would send to a colleague."""

from .facts import Facts, gather
from .page import markdown, plain

__all__ = ["Facts", "gather", "markdown", "plain"]
