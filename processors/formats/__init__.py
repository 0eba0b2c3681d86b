"""Log formats: one question per format, whose answer is compiled, checked against the lines and applied without a model."""

from .known import KnownFormats
from .reader import FormatReader
from .survey import Survey

__all__ = ["FormatReader", "KnownFormats", "Survey"]
