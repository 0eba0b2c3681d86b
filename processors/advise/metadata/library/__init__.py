"""Libraries whose functions decide which value a training uses: how the command line and configurations are read.

Each is modelled by what it returns for known arguments. What is not modelled stays a term that names the library's function.
"""

from collections.abc import Callable, Mapping
from typing import Any

from . import (
    argument_parsers,
    builtin_functions,
    configurations,
    dataclass_commands,
    flags,
    function_commands,
    gin,
    hydra,
    jax_loops,
    lightning_arguments,
    namespaces,
    paths,
    standard_library,
    structures,
    training,
)

Handler = Callable[..., Any]

EXTERNALS: Mapping[str, Handler] = {
    **builtin_functions.EXTERNALS,
    **standard_library.EXTERNALS,
    **namespaces.EXTERNALS,
    **paths.EXTERNALS,
    **argument_parsers.EXTERNALS,
    **function_commands.EXTERNALS,
    **flags.EXTERNALS,
    **dataclass_commands.EXTERNALS,
    **configurations.EXTERNALS,
    **hydra.EXTERNALS,
    **gin.EXTERNALS,
    **training.EXTERNALS,
    **jax_loops.EXTERNALS,
    **structures.EXTERNALS,
}
"""Functions by dotted name, called as `handler(program, arguments, keywords)`."""

METHODS: Mapping[str, Handler] = {
    **builtin_functions.METHODS,
    **argument_parsers.METHODS,
    **dataclass_commands.METHODS,
    **configurations.METHODS,
    **hydra.METHODS,
    **lightning_arguments.METHODS,
    **training.METHODS,
    **structures.METHODS,
    **paths.METHODS,
}
"""Methods by name, called as `handler(program, owner, arguments, keywords)`; `NotImplemented` where the owner is another."""

ATTRIBUTES: Mapping[str, Handler] = {
    **builtin_functions.ATTRIBUTES,
    **standard_library.ATTRIBUTES,
    **argument_parsers.ATTRIBUTES,
    **flags.ATTRIBUTES,
    **training.ATTRIBUTES,
}
"""Names that are values."""

PASSED_THROUGH = training.PASSED_THROUGH
"""Functions that give back what they are given, wrapped."""

__all__ = ["ATTRIBUTES", "EXTERNALS", "METHODS", "PASSED_THROUGH"]
