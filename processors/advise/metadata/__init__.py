"""What a training job is, read from its source tree and its command; nothing of it is run."""

from .extract import Job, extract

__all__ = ["Job", "extract"]
