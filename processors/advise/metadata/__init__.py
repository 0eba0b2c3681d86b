"""What a training job is, read from its source tree and its command; nothing of it is run."""

from .bounded import Answer, ask, extract
from .job import Job

__all__ = ["Answer", "Job", "ask", "extract"]
