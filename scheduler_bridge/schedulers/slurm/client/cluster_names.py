"""Splits names such as `beta/4711` into a cluster and the name that Slurm knows there."""

from schedmate_records.cluster_names import LOCAL

from .errors import SlurmRefused


def split(name: str) -> tuple[str, str]:
    """Return the cluster (`LOCAL` for none) and the name that Slurm knows there."""
    cluster, slash, own = name.partition("/")
    if not slash:
        return LOCAL, name
    if not cluster:
        raise SlurmRefused("a cluster before the slash", repr(name[:40]), "name jobs as 4711, or beta/4711")
    return cluster, own
