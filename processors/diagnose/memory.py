"""Whether PyTorch's out-of-memory message shows that other processes hold the GPU's memory.

Old form: `Tried to allocate X (GPU 0; T total capacity; A already allocated; F free; R reserved …)`. New form: `GPU 0 has a total
capacity of T of which F is free. … this process has P memory in use. Of the allocated memory A is allocated by PyTorch`. In a container the
driver may not know the process: P is then 0, and A is used.
"""

import re

_UNITS = {"bytes": 2**-30, "KiB": 2**-20, "MiB": 2**-10, "GiB": 1.0, "TiB": 1024.0}
_SIZE = r"(\d{1,9}(?:\.\d{1,6})?) (bytes|KiB|MiB|GiB|TiB)"
_SIZES = {
    "wanted": re.compile(rf"Tried to allocate {_SIZE}"),
    "total": re.compile(rf"(?:total capacity of {_SIZE}|{_SIZE} total capacity)"),
    "free": re.compile(rf"{_SIZE} (?:is )?free"),
    "own": re.compile(
        rf"(?:this process has {_SIZE} memory in use|{_SIZE} reserved in total|allocated memory {_SIZE} is allocated by PyTorch)"
    ),
}
FOREIGN_SHARE = 0.3
"""Share of the GPU held by other processes above which the job itself is not the cause."""


def held_by_others(message: str) -> bool:
    """Return whether other processes hold most of the missing memory: the job would have fitted on a GPU of its own."""
    sizes = {}
    for name, pattern in _SIZES.items():
        found = [[group for group in one.groups() if group] for one in pattern.finditer(message)]
        if not found:
            return False
        sizes[name] = max(float(number) * _UNITS[unit] for number, unit in found)
    wanted, total, own = sizes["wanted"], sizes["total"], sizes["own"]
    return own > 0 and own + wanted < total and total - sizes["free"] - own > FOREIGN_SHARE * total
