"""The workload of a training job, read from its source tree and its command. Nothing of it is run."""

from .job import Job

__all__ = ["Job"]
