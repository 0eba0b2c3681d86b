"""Names of what belongs to a Slurm cluster other than the local one: `beta/4711` is the job 4711 of the cluster beta.

Numbers of jobs mean nothing without their cluster. Those of the local cluster, the one of slurm.conf, stand alone.
"""

from .errors import SlurmRefused

LOCAL = ""
"""The cluster of slurm.conf."""


def qualified(cluster: str, name: str) -> str:
    """Return a name with its cluster before it; an empty one stays empty."""
    return f"{cluster}/{name}" if cluster and name else name


def qualified_all(cluster: str, names: str) -> str:
    """Return names that are separated by commas, each with its cluster before it."""
    return ",".join(qualified(cluster, name) for name in names.split(","))


def split(name: str) -> tuple[str, str]:
    """Return the cluster (`LOCAL` for none) and the name that Slurm knows there."""
    cluster, slash, own = name.partition("/")
    if not slash:
        return LOCAL, name
    if not cluster:
        raise SlurmRefused("a cluster before the slash", repr(name[:40]), "name jobs as 4711, or beta/4711")
    return cluster, own
