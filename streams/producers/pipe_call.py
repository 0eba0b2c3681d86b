"""Arguments of a pipe: job and command. An error in them is a warning, and the command runs.

Part of `schedmate-pipe.pyz`: Python 3.8, standard library only.
"""

from __future__ import annotations

from .environment import UnknownJob, identify
from .pipe_options import UsageError, number

# Not the one of `typing`, which takes a quarter of the time that the start of a pipe may cost a job.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from .environment import Identity

VARIABLE = "SCHEDMATE_PRODUCER__"
NUMBERS: dict[str, int | float] = {
    "spool_mb": 512,
    "hold_seconds": 0.02,
    "close_seconds": 5.0,
    "chunk_lines": 500,
    "chunk_seconds": 0.5,
}
"""Settings of `[producer]` that a pipe needs, with their defaults. Whole numbers stay whole."""


def identified(
    options: Mapping[str, str], environment: Mapping[str, str], faults: list[str], clusters: Collection[str] = ()
) -> Identity | None:
    """Return whose lines these are; None where nothing states the job. A number that is none is left out; `faults` gets a sentence each."""
    numbers: dict[str, int | None] = {}
    for name in ("attempt", "rank"):
        try:
            numbers[name] = number(options, name)
        except UsageError as error:
            faults.append(f"{error}: it is left out")
    env = dict(environment)
    while True:
        try:
            found = identify(
                env,
                job=options.get("job"),
                attempt=numbers.get("attempt"),
                rank=numbers.get("rank"),
                node=options.get("node"),
                clusters=clusters,
            )
        except UnknownJob as error:
            if error.variable not in env:
                faults.append(f"nothing is shipped: {error}")
                return None
            faults.append(f"{error}; it is left out")
            del env[error.variable]
        except Exception as error:  # noqa: BLE001  whatever it is: the job must run
            faults.append(f"nothing is shipped: {type(error).__name__}: {error}")
            return None
        else:
            # Without its rank it is unknown whether it is all of the job.
            certain = len(env) == len(environment) and ("rank" not in options or numbers.get("rank") is not None)
            found.whole, found.part = found.whole and certain, found.part and certain
            return found


def checked_number(name: str, value: object, faults: list[str]) -> int | float:
    """Return the value of a setting of `NUMBERS`. One that the settings would refuse has its default, and `faults` gets a sentence."""
    default = NUMBERS[name]
    least = 0 if name.endswith(("hold_seconds", "close_seconds")) else 1e-9
    if isinstance(value, (str, int, float)) and not isinstance(value, bool):
        try:
            read = int(value) if isinstance(default, int) else float(value)
        except (ValueError, OverflowError):
            read = -1
        if least <= read < 1e9:
            return read
    faults.append(f"expected a positive number for producer.{name}, got {short_repr(value)}: it is {default:g}")
    return default


def short_repr(value: object) -> str:
    """Return the beginning of a value from a settings file, for a message."""
    try:
        return repr(value)[:80]
    except RecursionError:
        return "values nested too deeply"
