"""OpenTelemetry's logs on Kafka: recognised, read, and split into chunks of the jobs that they are of."""

from .chunks import MOST_LINES, Split, split
from .recognise import is_otlp
from .request import LARGEST

__all__ = ["LARGEST", "MOST_LINES", "Split", "is_otlp", "split"]
