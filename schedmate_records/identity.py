"""How ids follow from input.

The id of a derived record is a function of its input. A record that is made again after a crash or a replay has the same id, so readers
recognise the repeat.
"""

from .base import Position
from .incarnation import JobReference


def derived_id(kind: str, job: str, position: Position, line: int = 0) -> str:
    """Return the id of a record of `kind` that was made for `job` from `line` (0: the whole message) at `position`."""
    return f"{kind}/{job}/{position.topic}/{position.partition}/{position.offset}/{line}"


def decision_id(action: str, job: str | JobReference, attempt: int, cause: str) -> str:
    """Return the id of a decision: the same cause in the same attempt never leads to a second one."""
    return f"{action}/{job}/{attempt}/{cause}"
