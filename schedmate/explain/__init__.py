"""One attempt of a job as a page that an operator would send to a colleague."""

from .facts import JobFacts, gather
from .page import markdown, plain

__all__ = ["JobFacts", "gather", "markdown", "plain"]
