"""Whose memory is it: what PyTorch's out-of-memory message says about other processes on the GPU.

Old form: `Tried to allocate X (GPU 0; T total capacity; A already allocated; F free; R reserved …)`. New form: `GPU 0 has a total
capacity of T of which F is free. … this process has P memory in use. Of the allocated memory A is allocated by PyTorch`. In a container the
driver may not know the process: P is then 0, and A the better word.
"""

import re

_UNIT = {"bytes": 2**-30, "KiB": 2**-20, "MiB": 2**-10, "GiB": 1.0, "TiB": 1024.0}
_SIZE = r"(\d{1,9}(?:\.\d{1,6})?) (bytes|KiB|MiB|GiB|TiB)"
_WANTED = re.compile(rf"Tried to allocate {_SIZE}")
_TOTAL = re.compile(rf"(?:total capacity of {_SIZE}|{_SIZE} total capacity)")
_FREE = re.compile(rf"{_SIZE} (?:is )?free")
_OWN = re.compile(
    rf"(?:this process has {_SIZE} memory in use|{_SIZE} reserved in total|allocated memory {_SIZE} is allocated by PyTorch)"
)

FOREIGN = 0.3
"""Share of the GPU that others hold above which the failure is not of the job's own making."""


def _gib(pattern: re.Pattern[str], message: str) -> float | None:
    """Return the largest size that `pattern` finds; None where it finds none."""
    found = [[group for group in one.groups() if group is not None] for one in pattern.finditer(message)]
    return max((float(number) * _UNIT[unit] for number, unit in found), default=None)


def held_by_others(message: str) -> bool:
    """Return whether most of what the job lacked is held by other processes: it would have fitted on a GPU of its own."""
    wanted, total, free, own = (_gib(pattern, message) for pattern in (_WANTED, _TOTAL, _FREE, _OWN))
    if not (wanted and total and own) or free is None:
        return False
    return own + wanted < total and total - free - own > FOREIGN * total
