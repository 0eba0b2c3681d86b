"""An event file as TensorBoard reads it."""

from pathlib import Path

from tensorboardX import SummaryWriter

from .series import Series


def write_events(series: Series, directory: Path) -> int:
    """Write the values of `series` into a new event file below `directory`; return how many there were."""
    count = 0
    with SummaryWriter(str(directory)) as writer:
        for value in series.values():
            writer.add_scalar(value.name, value.value, value.step, walltime=value.at)
            count += 1
    return count
