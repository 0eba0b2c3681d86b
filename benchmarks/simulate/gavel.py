"""Speeds of pairs of jobs that Gavel measured."""

import gzip
import zlib
from pathlib import Path

import msgspec

from schedmate.simulate.interference import PackedSpeeds
from schedmate.simulate.job import PackedWorkload
from schedmate_records import NOT_JSON, UserError, in_words


def read_gavel_speeds(file: Path, gpu_type: str) -> PackedSpeeds:
    """Read measured pairs of jobs of one GPU in the format of Gavel's `simulation_throughputs.json.gz` (Narayanan et al., OSDI 2020).

    A pair of which one made no step (they do not fit into the memory together) has the speeds 0, 0: it cannot be packed.

    Args:
        file: The file.
        gpu_type: `k80`, `p100` or `v100`.

    Raises:
        UserError: The file cannot be read, or has no measurements of such GPUs.
    """
    try:
        with gzip.open(file) as stream:
            by_type = msgspec.json.decode(stream.read(), type=dict[str, dict[str, dict[str, float | list[float]]]])
    except (OSError, EOFError, zlib.error, *NOT_JSON) as error:
        raise UserError(f"expected throughputs of pairs in {file}: {in_words(error)}") from error
    if gpu_type not in by_type:
        raise UserError(f"expected one of {', '.join(sorted(by_type))} in {file}, got {gpu_type[:60]!r}")
    steps = {name: packed_with for name, packed_with in by_type[gpu_type].items() if name.endswith(", 1)")}
    alone = {name: packed_with.get("null") for name, packed_with in steps.items()}
    pairs: dict[tuple[PackedWorkload, PackedWorkload], tuple[float, float]] = {}
    for one, packed_with in steps.items():
        for other, packed in packed_with.items():
            own, others = alone[one], alone.get(other)
            if not isinstance(packed, list) or not isinstance(own, float) or not isinstance(others, float):
                continue
            if len(packed) != 2:
                raise UserError(
                    f"expected the speeds of two jobs for {one} packed with {other} in {file}, got {len(packed)}"
                )
            speeds = (packed[0] / own, packed[1] / others) if min(*packed, own, others) > 0 else (0.0, 0.0)
            pairs.setdefault((PackedWorkload(one), PackedWorkload(other)), speeds)
    return PackedSpeeds(pairs)
