"""Libraries whose functions decide which values a training uses. A function that is not listed stays a term that names it.

Each file lists its functions as `HANDLERS` and its methods as `METHODS`. A key holds one or more names, separated by blanks.
"""

from collections.abc import Mapping
from typing import Any

from . import argument_parsers, commands, configurations, hydra, python, training

_ALL = (python, argument_parsers, commands, configurations, hydra, training)
HANDLERS: Mapping[str, Any] = {
    name: each for module in _ALL for listed, each in module.HANDLERS.items() for name in listed.split()
}
"""Functions by dotted name, called as `handler(program, *arguments, **keywords)`; a `property` gives the value of a name."""
METHODS: Mapping[str, Any] = {
    name: each for module in _ALL for listed, each in module.METHODS.items() for name in listed.split()
}
"""Methods by name, called as `handler(program, owner, *arguments, **keywords)`; `NotImplemented` if the owner is of another kind."""
