"""How ids follow from input.

Every record made carries an id that is a function of what it was made from. Made twice, after a crash or a replay, it is the
same record, and every reader can recognise the repeat.
"""

from .base import Position
from .incarnation import JobReference


def derived_id(kind: str, job: str, position: Position, line: int = 0) -> str:
    """Return the id of a record of `kind` that was made for `job` from `line` (0: the whole message) at `position`."""
    return f"{kind}/{job}/{position.topic}/{position.partition}/{position.offset}/{line}"


def decision_id(action: str, job: str | JobReference, attempt: int, cause: str) -> str:
    """Return the id of a decision: the same cause in the same attempt never leads to a second one."""
    return f"{action}/{job}/{attempt}/{cause}"
