"""Nodes of a cluster, in our own columns or those of a public trace."""

from collections.abc import Iterator
from pathlib import Path

from ..cluster import NodeSpec
from ..reading import Row, TraceError, rows
from . import pai

MOST_GPUS = 64
"""Maximum GPUs of a node. A larger number in a trace is an error."""
MOST_NODES = 100_000
"""Maximum number that a row gives for nodes. A larger one is an error, and would use up memory."""
HELIOS_GPUS = 8
"""GPUs of each node of Helios."""


def read_nodes(path: Path) -> list[NodeSpec]:
    """Read the nodes of a cluster.

    Args:
        path: CSV with the column `gpus`, and optionally `partition`, `gpu_type`, `name`, `count`; `cluster_gpu_number.csv` of Helios, of
            which each virtual cluster gets its largest number of GPUs; `vc_config.csv` of Lucid; `cluster_machine_list` of Philly; or
            the node list of openb. A directory holds the tables of PAI.

    Raises:
        TraceError: The columns are unknown, or a value is not a number.
    """
    if path.is_dir():
        nodes = pai.nodes(path)
    else:
        found = list(rows(path))
        by_day = bool(found) and {"date", "total"} <= found[0].fields.keys()
        nodes = list(_helios(found)) if by_day else [node for row in found for node in _of_row(row)]
    if not nodes:
        raise TraceError(f"{path.name}: expected nodes, found none")
    return nodes


def _of_row(row: Row) -> list[NodeSpec]:
    if "num" in row.fields and "" in row.fields:
        return [NodeSpec(gpus=HELIOS_GPUS, partition=row.text(""))] * row.whole_number("num", MOST_NODES)
    if row.has("sn"):
        return [NodeSpec(gpus=row.whole_number("gpu", MOST_GPUS), gpu_type=row.text("model", ""), name=row.text("sn"))]
    if row.has("machineId"):
        return [NodeSpec(gpus=row.whole_number("number of GPUs", MOST_GPUS), name=row.text("machineId"))]
    spec = NodeSpec(
        gpus=row.whole_number("gpus", MOST_GPUS),
        gpu_type=row.text("gpu_type", ""),
        partition=row.text("partition", ""),
        name=row.text("name", ""),
    )
    return [spec] * (row.whole_number("count", MOST_NODES) if row.has("count") else 1)


def _helios(found: list[Row]) -> Iterator[NodeSpec]:
    for partition in found[0].fields:
        if partition not in {"date", "total"}:
            gpus = max(row.whole_number(partition, MOST_NODES) for row in found)
            yield from [NodeSpec(gpus=HELIOS_GPUS, partition=partition)] * (gpus // HELIOS_GPUS)
