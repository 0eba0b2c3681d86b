"""One attempt of a job as a page that an operator would send to a colleague."""

from .facts import JobFacts, gather
from .page import Section, markdown, plain, sections

__all__ = ["JobFacts", "Section", "gather", "markdown", "plain", "sections"]
