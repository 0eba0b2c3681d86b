"""Passes the path of the last checkpoint to a restarted job, in its comment at the scheduler.

The path is what the job printed. It is passed to that job alone, and only where it is plainly a path: nothing that a shell, a
scheduler's command or its output would read as anything else.
"""

import re

CHECKPOINT_VARIABLE = "SCHEDMATE_CHECKPOINT"
"""The environment variable in which a job that starts again finds the path, where the scheduler can set one."""
WORD = "schedmate-checkpoint="
_NOTE = re.compile(rf"(?:^|\s){WORD}\S*")


def is_tellable(path: str) -> bool:
    """True for a path that may be passed to its job."""
    return bool(re.fullmatch(r"[A-Za-z0-9_./@:+~%-][A-Za-z0-9_./@:+~%=-]{0,1023}", path, flags=re.ASCII))


def add_note(comment: str, path: str) -> str:
    """Return a comment with the path of the newest checkpoint in the place of an older one. What the job's user wrote there stays."""
    return f"{_NOTE.sub('', comment).strip()} {WORD}{path}".strip()
