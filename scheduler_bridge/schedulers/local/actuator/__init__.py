"""A scheduler of this machine: processes as jobs, slots as nodes. It runs `schedmate demo` and many tests."""

from .actuator import LocalActuator
from .jobs import StreamOutput
from .scheduler import LocalScheduler

__all__ = ["LocalActuator", "LocalScheduler", "StreamOutput"]
