"""One attempt of a job as a page that an operator would send to a colleague."""

from .attempts import attempt_alarms, attempt_facts, attempt_state
from .facts import JobFacts, facts_of, gather
from .page import Section, markdown, plain, sections
from .records import JobRecords, in_force, read_records

__all__ = [
    "JobFacts",
    "JobRecords",
    "Section",
    "attempt_alarms",
    "attempt_facts",
    "attempt_state",
    "facts_of",
    "gather",
    "in_force",
    "markdown",
    "plain",
    "read_records",
    "sections",
]
