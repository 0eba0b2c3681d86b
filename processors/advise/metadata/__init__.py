"""The workload of a training job, read from its source tree and its command. Nothing of it is run."""

from .bounded import Answer, Job, ask, extract

__all__ = ["Answer", "Job", "ask", "extract"]
